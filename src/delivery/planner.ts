/** Writes what schedules owe into the ledger of deliveries, by the rule of each for moments that were missed. */
import type { Clock, Ids } from '../model/ports.js';
import { dueMoments } from '../model/schedule/catch-up.js';
import { isOfHost } from '../model/schedule/host-schedule.js';
import type { Calendar } from '../model/schedule/recurrence.js';
import type { Schedule } from '../model/schedule/schedule.js';
import { leavesAt } from '../model/schedule/spread.js';
import type { NewDelivery } from '../service/store/deliveries.js';
import type { Store } from '../service/store/store.js';

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
