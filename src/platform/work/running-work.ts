/**
 * What runs or waits in this process now, and how an operator ends it. In memory: service/running tells the other
 * processes.
 */
import type { Clock } from '../../model/ports.js';
import type { NewWork, RunningWork, Work } from '../../model/query/running.js';
import { Refusal } from '../../model/refusal.js';
import { anyOf } from '../../model/signals.js';
import { inSpan } from '../traces/trace.js';

const ended = (): Refusal =>
  new Refusal('METRIC_QUERY_ERROR', 'An operator ended this query. Retry it later, or ask the operator.', {
    reason: 'ended-by-operator',
  });

const ofNobody = { dataAppId: null, clientId: null, dashboardId: null, metricId: null, requestId: null };

/** Queries and downloads have a span for each statement and for the queue. */
const traced = <R>({ kind, subject }: NewWork, work: () => Promise<R>): Promise<R> =>
  kind === 'query' || kind === 'download'
    ? work()
    : inSpan({ name: kind, attributes: () => ({ 'guestlist.subject': subject }) }, work);

type Entry = { work: Work; readonly ending: AbortController };

export const createRunningWork = (clock: Clock): RunningWork => {
  const entries = new Map<number, Entry>();
  let last = 0;
  const now = (): string => clock.now().toISOString();
  return {
    during: async (of, work, signal) => {
      last += 1;
      const number = last;
      const ending = new AbortController();
      const entry: Entry = { work: { ...ofNobody, ...of, number, since: now(), runsSince: null }, ending };
      entries.set(number, entry);
      const begins = (): void => {
        entry.work = { ...entry.work, runsSince: now() };
      };
      try {
        const until = signal === undefined ? ending.signal : anyOf(signal, ending.signal);
        return await traced(of, () => work({ signal: until, begins }));
      } catch (error) {
        throw ending.signal.aborted ? ending.signal.reason : error;
      } finally {
        entries.delete(number);
      }
    },
    list: () => [...entries.values()].map(({ work }) => work),
    end: ({ kind, number }) => {
      const entry = entries.get(number);
      if (entry === undefined || entry.work.kind !== kind || !entry.work.canEnd) return false;
      entry.ending.abort(ended());
      return true;
    },
  };
};

/** Lists nothing, for a process that nobody operates. */
export const unlisted: Pick<RunningWork, 'during'> = {
  during: (_, work, signal) => work({ signal, begins: () => {} }),
};
