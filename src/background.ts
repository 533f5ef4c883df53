/** What a start begins and no request waits for. */
import type { Logger } from 'pino';
import type { Engine, Store } from './domain/ports.js';
import { logUnreadableTables } from './usecases/tenancy-check.js';

type Parts = {
  /** Null: this process runs no service. */
  readonly store: Store | null;
  readonly engine: Engine;
  /** Makes the demo's data. Questions of the demo wait for it. */
  readonly prepare: () => Promise<void>;
  readonly log: Logger;
};

/** `close` stops the check of stored datamarts, and waits for the one that it looks at. */
export const startBackground = ({ store, engine, prepare, log }: Parts): { readonly close: () => Promise<void> } => {
  prepare().catch((err: unknown) => log.error({ err }, 'the demo data could not be made: its charts will fail'));
  const stop = new AbortController();
  const check = async (): Promise<void> => {
    try {
      if (store !== null) await logUnreadableTables({ store, engine, log }, stop.signal);
    } catch (err) {
      log.error({ event: 'datamart-tenancy-unchecked', err }, 'failed to list the datamarts to check their tenancy');
    }
  };
  const checked = check();
  return {
    close: async () => {
      stop.abort();
      await checked;
    },
  };
};
