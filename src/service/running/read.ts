/** Reads and ends what runs now. */
import { type ServiceCaller, seesData } from '../../model/guest/caller.js';
import {
  type EndOutcome,
  type RunningProcess,
  type ToldProcess,
  type ToldRunning,
  type ToldWork,
  type Work,
  workIdOf,
  workRefOf,
} from '../../model/query/running.js';
import { whole } from '../../model/slices.js';
import type { Store } from '../store/store.js';
import type { Board } from './board.js';

type Deps = {
  readonly store: Pick<Store, 'dataApps' | 'deliveries'>;
  readonly running: Pick<Board, 'read' | 'end'>;
};

type Telling = {
  readonly nowMs: number;
  readonly nameOf: (dataAppId: string) => string | null;
  readonly tellsData: boolean;
};

/**
 * How often a question runs tells whether it failed, since a failure is not kept. So people who may not see data learn for
 * which tenant something runs, as they do from the times of queries, and not what.
 */
const shownOn = ({ dashboardId, metricId, requestId }: Work, { tellsData }: Telling) =>
  tellsData ? { dashboardId, metricId, requestId } : { dashboardId: null, metricId: null, requestId: null };

const workOf = (work: Work, instance: string, telling: Telling): ToldWork => {
  const { kind, subject, canEnd, number, since, runsSince, dataAppId, clientId } = work;
  const seconds = Math.max(0, telling.nowMs - Date.parse(runsSince ?? since)) / 1000;
  return {
    id: canEnd ? workIdOf({ kind, instance, number }) : null,
    ...{ kind, subject, since, seconds, process: instance, clientId },
    state: runsSince === null ? 'waiting' : 'running',
    dataAppName: dataAppId === null ? null : telling.nameOf(dataAppId),
    ...shownOn(work, telling),
  };
};

const processOf = (
  { works: _, sources, cache, ...rest }: RunningProcess,
  isAnswering: boolean,
  { tellsData }: Telling,
): ToldProcess => ({
  ...rest,
  isAnswering,
  sources,
  cache: cache === null || tellsData ? cache : { ...cache, bytes: null },
});

export const readRunning =
  ({ store, running }: Deps) =>
  async (caller: ServiceCaller): Promise<ToldRunning> => {
    const { now, processes } = await running.read();
    const dataApps = await whole(store.dataApps.list(null));
    const waitingDeliveries = await store.deliveries.countWaiting(now);
    const names = new Map(dataApps.map(({ id, name }) => [id, name]));
    const nameOf = (id: string): string | null => names.get(id) ?? null;
    const telling: Telling = { nowMs: now.getTime(), nameOf, tellsData: seesData(caller) };
    const works = processes.flatMap((one) => one.works.map((work) => workOf(work, one.instance, telling)));
    return {
      processes: processes.map((one, at) => processOf(one, at === 0, telling)),
      works: works.toSorted((one, other) => (one.since < other.since ? -1 : 1)),
      waitingDeliveries,
    };
  };

export const endRunning =
  ({ running }: Pick<Deps, 'running'>) =>
  (_: ServiceCaller, { id }: { readonly id: string }): Promise<EndOutcome> =>
    running.end(workRefOf(id));
