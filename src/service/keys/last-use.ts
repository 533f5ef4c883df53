/**
 * Records when credentials were last used. The times are kept in memory and written together, so that no request waits
 * for a write.
 */
import type { Log } from '../../model/log-events.js';
import type { Clock } from '../../model/ports.js';
import type { LastUse } from '../store/last-uses.js';
import type { Store } from '../store/store.js';

/**
 * Maximum number of credentials that are kept between two writes. The stored last use of further credentials is not
 * updated.
 */
const capacity = 100_000;

export type LastUses = {
  /** Records that the credential is used now. Does not wait for a write. */
  readonly note: (kind: LastUse['kind'], id: string) => void;
  /**
   * Writes the uses since the last call. Never throws: if the write fails, the uses are kept for the next call, and the
   * failure is logged.
   */
  readonly flush: () => Promise<void>;
};

type Deps = {
  readonly store: Pick<Store, 'lastUses'>;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
};

export const createLastUses = ({ store, clock, log }: Deps): LastUses => {
  let noted = new Map<string, LastUse>();
  const keep = (use: LastUse): void => {
    const key = `${use.kind} ${use.id}`;
    const there = noted.get(key);
    if (there === undefined ? noted.size < capacity : there.at < use.at) noted.set(key, use);
  };
  return {
    note: (kind, id) => keep({ kind, id, at: clock.now() }),
    flush: async () => {
      const uses = [...noted.values()];
      noted = new Map();
      try {
        await store.lastUses.write(uses);
      } catch (err) {
        for (const use of uses) keep(use);
        log.warn({ event: 'last_use.write_failed', err }, 'failed to store the last use of credentials; retrying');
      }
    },
  };
};
