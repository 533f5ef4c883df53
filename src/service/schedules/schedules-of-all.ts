/** What operators see of the schedules of all users of a data app, and how they pause them. */
import type { Clock } from '../../model/ports.js';
import { mostWatched, type SchedulesOfAll } from '../../model/schedule/operator.js';
import { nextMoment } from '../../model/schedule/recurrence.js';
import type { Reports } from '../../model/schedule/reports.js';
import type { Store } from '../store/store.js';

type Deps = {
  readonly store: Pick<Store, 'schedules'>;
  readonly reports: Pick<Reports, 'calendar'>;
  readonly clock: Clock;
};

export const schedulesOfAll = (
  { store: { schedules }, reports: { calendar }, clock }: Deps,
  dataAppId: () => Promise<string>,
): SchedulesOfAll => ({
  list: async (clientId) => {
    const scope = { dataAppId: await dataAppId(), ...(clientId === undefined ? {} : { clientId }) };
    const found = await schedules.listAll(scope, mostWatched + 1);
    return { schedules: found.slice(0, mostWatched), hasMore: found.length > mostWatched };
  },
  setPaused: async (scheduleId, isPaused) => {
    const scope = { dataAppId: await dataAppId() };
    if (isPaused) return schedules.pauseOf(scope, scheduleId);
    return schedules.resumeOf(scope, scheduleId, ({ recurrence }) => nextMoment(recurrence, calendar, clock.now()));
  },
});
