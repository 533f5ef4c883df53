/** Counts the logins at the gateway of this process as use of its own service, which knows data apps by their ids. */
import type { CountLogin } from '../gateway/router.js';
import { handled } from '../model/handled.js';
import type { Clock } from '../model/ports.js';
import type { Log } from '../platform/logs/log.js';
import type { Service } from './service.js';

/** How long an id counts as that of its name. A data app that was deleted and made anew has another one. */
const knownMs = 10_000;

type Known = { readonly name: string; readonly untilMs: number; readonly id: Promise<string | undefined> };

type Parts = { readonly clock: Clock; readonly log: Pick<Log, 'warn'> };

export const createLoginCounter = (
  { store, use }: Pick<Service, 'store' | 'use'>,
  { clock, log }: Parts,
): CountLogin => {
  let known: Known | null = null;
  const idOf = (name: string): Known['id'] => {
    const nowMs = clock.now().getTime();
    if (known === null || known.name !== name || known.untilMs < nowMs) {
      const id = handled(store.dataApps.findByName(name).then((found) => found?.id));
      known = { name, untilMs: nowMs + knownMs, id };
    }
    return known.id;
  };
  return ({ dataAppName, clientId, userIdentifier }) => {
    const count = async (): Promise<void> => {
      const dataAppId = await idOf(dataAppName);
      if (dataAppId === undefined) return;
      use.add({ dataAppId, clientId, userIdentifier, dashboardId: null, metricId: null }, { logins: 1 });
    };
    count().catch((err: unknown) => {
      known = null;
      log.warn({ event: 'usage.login_lost', err }, 'a login was not counted, since the metadata cannot be read');
    });
  };
};
