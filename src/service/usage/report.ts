/** Counts what a gateway tells of itself: the tokens that it gave to users, kept ones too. */
import type { ApiKeyCaller } from '../../model/guest/caller.js';
import type { Clock, Digest, ShortTag } from '../../model/ports.js';
import { oldestLoginDays } from '../../model/usage.js';
import { nothingUsed } from '../../model/usage-batches.js';
import type { Store } from '../store/store.js';
import { personOf } from './usage.js';

type Deps = {
  readonly store: Pick<Store, 'usage'>;
  readonly clock: Clock;
  readonly shortTag: ShortTag;
  readonly digest: Digest;
};

type ReportedLogins = {
  readonly writer: string;
  readonly number: number;
  readonly logins: readonly {
    readonly at: string;
    readonly clientId: string;
    readonly userIdentifier: string | null;
    readonly count: number;
  }[];
};

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** The data app is that of the key. A clock that is ahead counts for this hour, and what is too old for the oldest one. */
export const reportLogins =
  ({ store, clock, shortTag, digest }: Deps) =>
  async ({ dataAppId }: ApiKeyCaller, { writer, number, logins }: ReportedLogins): Promise<undefined> => {
    const nowMs = clock.now().getTime();
    const sumOf = ({ at, clientId, userIdentifier, count }: ReportedLogins['logins'][number]) => {
      const atMs = Math.max(nowMs - oldestLoginDays * dayMs, Math.min(Date.parse(at), nowMs));
      const person = personOf(shortTag, { dataAppId, clientId, userIdentifier });
      const key = { at: new Date(atMs - (atMs % hourMs)), dataAppId, clientId, person, dashboardId: '', metricId: '' };
      return { ...key, ...nothingUsed(), logins: count };
    };
    // Of its own data app: no key can take a number of another one's writer.
    const own = digest(JSON.stringify(['logins', dataAppId, writer])).slice(0, 32);
    await store.usage.add({ writer: own, number, sums: logins.map(sumOf) });
    return undefined;
  };
