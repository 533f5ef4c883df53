/** What the service does beside its requests: nothing waits for it, and none of it keeps the process alive. */
import type { Clock, Store } from './domain/ports.js';
import { purgeGuestTokens } from './usecases/guest-token-admin.js';
import type { LastUses } from './usecases/last-use.js';

type Deps = {
  readonly store: Store;
  readonly clock: Clock;
  readonly lastUses: LastUses;
  readonly log: { readonly warn: (details: object, message: string) => void };
};
export type Upkeep = { readonly end: () => Promise<void> };

const everyMinute = 60_000;
const everyHour = 60 * everyMinute;

/** Writes last uses every minute and at its end, and removes long expired guest tokens now and every hour. */
export const startUpkeep = ({ store, clock, lastUses, log }: Deps): Upkeep => {
  let running: Promise<unknown> = Promise.resolve();
  /** One after the other, so that the end waits for what runs. */
  const then = (work: () => Promise<unknown>): Promise<unknown> => {
    running = running.then(work);
    return running;
  };
  const purge = async (): Promise<void> => {
    try {
      await purgeGuestTokens({ store, clock })();
    } catch (err) {
      log.warn({ err }, 'expired guest tokens could not be removed; it is tried again in an hour');
    }
  };
  const timers = [
    setInterval(() => void then(lastUses.flush), everyMinute),
    setInterval(() => void then(purge), everyHour),
  ];
  for (const timer of timers) timer.unref();
  void then(purge);
  return {
    end: async () => {
      for (const timer of timers) clearInterval(timer);
      await then(lastUses.flush);
    },
  };
};
