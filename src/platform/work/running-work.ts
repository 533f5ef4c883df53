/**
 * What runs or waits in this process now, and how an operator ends it. In memory: service/running tells the other
 * processes.
 */
import type { Clock } from '../../model/ports.js';
import type { NewWork, RunningWork, Work, WorkKind } from '../../model/query/running.js';
import { Refusal } from '../../model/refusal.js';
import { anyOf } from '../../model/signals.js';
import { inSpan } from '../traces/trace.js';

const words: Readonly<Record<WorkKind, string>> = {
  query: 'query',
  download: 'download',
  build: 'build of a rollup',
  delivery: 'delivery',
  rollout: 'roll-out',
  login: 'login',
  provisioning: 'making of dashboards',
  hook: 'event',
};

const ended = (kind: WorkKind): Refusal =>
  new Refusal('METRIC_QUERY_ERROR', `An operator ended this ${words[kind]}. Retry it later, or ask the operator.`, {
    reason: 'ended-by-operator',
  });

const ofNobody = { dataAppId: null, clientId: null, dashboardId: null, metricId: null, requestId: null };

/** Work in the background. What a request does has the spans of the request. */
const isTraced: readonly WorkKind[] = ['build', 'delivery', 'rollout'];

const traced = <R>({ kind, subject }: NewWork, work: () => Promise<R>): Promise<R> =>
  isTraced.includes(kind) ? inSpan({ name: kind, attributes: () => ({ 'guestlist.subject': subject }) }, work) : work();

type Entry = {
  readonly of: NewWork;
  readonly since: Date;
  runsSince: Date | null;
  clientId: string | null;
  readonly ending: AbortController;
};

const workOf = ([number, { of, since, runsSince, clientId }]: readonly [number, Entry]): Work => ({
  ...{ ...ofNobody, ...of, clientId, number },
  ...{ since: since.toISOString(), runsSince: runsSince?.toISOString() ?? null },
});

export const createRunningWork = (clock: Clock): RunningWork => {
  const entries = new Map<number, Entry>();
  let last = 0;
  return {
    during: async (of, work, signal) => {
      last += 1;
      const number = last;
      const ending = new AbortController();
      const entry: Entry = { of, since: clock.now(), runsSince: null, clientId: of.clientId ?? null, ending };
      entries.set(number, entry);
      const begins = (): void => {
        entry.runsSince = clock.now();
      };
      const isFor = (clientId: string): void => {
        entry.clientId = clientId;
      };
      try {
        const until = signal === undefined ? ending.signal : anyOf(signal, ending.signal);
        return await traced(of, async () => {
          try {
            return await work({ signal: until, begins, isFor });
          } catch (error) {
            throw ending.signal.aborted ? ending.signal.reason : error;
          }
        });
      } finally {
        entries.delete(number);
      }
    },
    list: () => [...entries].map(workOf),
    end: ({ kind, number }) => {
      const entry = entries.get(number);
      if (entry === undefined || entry.of.kind !== kind || !entry.of.canEnd) return false;
      entry.ending.abort(ended(kind));
      return true;
    },
  };
};

/** Lists nothing, for a process that nobody operates. */
export const unlisted: Pick<RunningWork, 'during'> = {
  during: (_, work, signal) => work({ signal, begins: () => {}, isFor: () => {} }),
};
