/** Writes what schedules owe into the ledger of deliveries, by the rule of each for moments that were missed. */
import type { Clock, Ids } from '../model/ports.js';
import { dueMoments } from '../model/schedule/catch-up.js';
import { isOfHost } from '../model/schedule/host-schedule.js';
import type { Calendar } from '../model/schedule/recurrence.js';
import type { Schedule } from '../model/schedule/schedule.js';
import type { NewDelivery } from '../service/store/deliveries.js';
import type { Store } from '../service/store/store.js';

/** FNV-1a, with the last steps of MurmurHash3, so that ids that differ little get numbers that differ much. */
const hashOf = (text: string): number => {
  let hash = 0x811c9dc5;
  for (const letter of text) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
};

/** Returns the milliseconds after a moment, less than `windowMs`: the same for this key at each moment, in each process. */
const spreadMs = (key: string, windowMs: number): number => Math.floor((hashOf(key) / 2 ** 32) * windowMs);

/** When a message of this moment may leave: not before now, and at its own place in the window. */
export const leavesAt = (key: string, moment: Date, windowMs: number, now: Date): Date =>
  new Date(Math.max(now.getTime(), moment.getTime() + spreadMs(key, windowMs)));

export type PlannerOptions = {
  readonly store: Pick<Store, 'transaction'>;
  readonly calendar: Calendar;
  readonly clock: Clock;
  readonly ids: Ids;
  /** The time over which messages of one moment are spread. */
  readonly spreadMs: number;
};

const schedulesAtOnce = 100;

/** When a delivery may leave. The tenants of a host's schedule are found at once, and then each has its own time. */
const attemptAt = (schedule: Schedule, moment: Date, { spreadMs }: PlannerOptions, now: Date): Date =>
  isOfHost(schedule) ? now : leavesAt(schedule.id, moment, spreadMs, now);

type Planned = {
  readonly schedule: Schedule;
  readonly deliveries: readonly NewDelivery[];
  readonly nextAt: Date | null;
};

const plan = (schedule: Schedule, options: PlannerOptions, now: Date): Planned => {
  const { calendar, ids } = options;
  const { due, skipped, nextAt } = dueMoments(schedule, calendar, schedule.nextAt ?? now, now);
  const deliveries: readonly NewDelivery[] = [
    ...skipped.map(
      (moment) => ({ id: ids.uuid(), moment, isRequested: false, state: 'skipped', reason: 'missed' }) as const,
    ),
    ...due.map((moment) => {
      const delivery = { id: ids.uuid(), moment, isRequested: false, state: 'due', reason: null } as const;
      return { ...delivery, attemptAt: attemptAt(schedule, moment, options, now) };
    }),
  ];
  return { schedule, deliveries, nextAt };
};

/** Returns a function that plans some schedules. It returns how many: fewer than it could means that none is left. */
export const createPlanner = (options: PlannerOptions) => async (): Promise<number> => {
  const now = options.clock.now();
  return options.store.transaction(async (store) => {
    const schedules = await store.schedules.lockPlannable(now, schedulesAtOnce);
    const planned = schedules.map((schedule) => plan(schedule, options, now));
    await store.deliveries.insertPlanned(planned, now);
    await store.schedules.setNextOf(planned.map(({ schedule: { id }, nextAt }) => ({ id, nextAt })));
    return schedules.length;
  });
};
