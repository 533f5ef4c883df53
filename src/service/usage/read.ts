/** Reads what was used. An API key reads that of its own data app. */
import type { ApiKeyCaller, ServiceCaller } from '../../model/guest/caller.js';
import { Refusal } from '../../model/refusal.js';
import { whole } from '../../model/slices.js';
import { mostUsageRows, type ToldUsage, type UsageGroup, type UsageStep } from '../../model/usage.js';
import { loadDataApp } from '../data-apps/data-apps.js';
import type { Store } from '../store/store.js';

type Deps = { readonly store: Store };

export type ReadUsage = {
  readonly from: string;
  readonly to: string;
  readonly step?: UsageStep | undefined;
  readonly by: readonly UsageGroup[];
  readonly clientId?: string | undefined;
  readonly dataAppName?: string | undefined;
};

/** Throws DATA_APP_NOT_FOUND, also for the data app of another key. */
const dataAppOf = async (
  store: Store,
  caller: ApiKeyCaller | ServiceCaller,
  name: string | undefined,
): Promise<string | undefined> => {
  if (caller.kind === 'serviceToken') return name === undefined ? undefined : (await loadDataApp(store, name)).id;
  if (name === undefined || name === caller.dataAppName) return caller.dataAppId;
  throw new Refusal('DATA_APP_NOT_FOUND', `This key reads the data app ${JSON.stringify(caller.dataAppName)} alone.`);
};

const timeOf = ({ from, to }: ReadUsage) => {
  const time = { from: new Date(from), to: new Date(to) };
  if (time.from < time.to) return time;
  throw new Refusal('INVALID_REQUEST_BODY', 'to: must be later than from. It is the first moment that is left out.');
};

/** Throws DATA_APP_NOT_FOUND. */
export const readUsage =
  ({ store }: Deps) =>
  async (caller: ApiKeyCaller | ServiceCaller, asked: ReadUsage): Promise<ToldUsage> => {
    const { step = null, by, clientId, dataAppName } = asked;
    const dataAppId = await dataAppOf(store, caller, dataAppName);
    const limit = mostUsageRows + 1;
    const rows = await store.usage.read({ ...timeOf(asked), step, by, dataAppId, clientId, limit });
    const names = new Map((await whole(store.dataApps.list(null))).map(({ id, name }) => [id, name]));
    return {
      rows: rows
        .slice(0, mostUsageRows)
        .map(({ dataAppId: id, ...rest }) =>
          id === undefined ? rest : { dataAppName: names.get(id) ?? null, ...rest },
        ),
      isTruncated: rows.length > mostUsageRows,
      sentUntil: (await store.usage.sending.sent())?.until ?? null,
    };
  };

/** A file that lacks rows would be taken for whole. */
export const exportUsage =
  (deps: Deps) =>
  async (caller: ApiKeyCaller | ServiceCaller, asked: ReadUsage): Promise<ToldUsage> => {
    const told = await readUsage(deps)(caller, asked);
    if (!told.isTruncated) return told;
    throw new Refusal(
      'INVALID_REQUEST_BODY',
      `There are more than ${mostUsageRows} rows: ask for a shorter time, or tell less apart by \`by\`.`,
    );
  };
