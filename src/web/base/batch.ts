/**
 * Sends the queries that one dashboard's cards ask together as one request. Each query gets its answer as soon as that
 * arrives.
 */
import type { Sort } from '../../domain/dashboard/metric.js';
import type { GuestQuery } from '../../domain/guest/view.js';

export type Question = Omit<GuestQuery, 'metricId' | 'sort'> & { readonly sort?: readonly Sort[] | undefined };

export type Part<Answer> = {
  readonly metricId: string;
  readonly outcome: { readonly answer: Answer } | { readonly error: unknown };
};

type Query = Omit<Question, 'dashboardId' | 'dashboardFilter'> & { readonly metricId: string };
export type BatchQuery = Pick<Question, 'dashboardFilter'> & { readonly metrics: readonly Query[] };

type Deps<Answer> = {
  readonly queryOne: (metricId: string, question: Question, signal: AbortSignal) => Promise<Answer>;
  /** Resolves to undefined if the service does not know the request. */
  readonly queryAll: (
    dashboardId: string,
    query: BatchQuery,
    signal: AbortSignal,
  ) => Promise<AsyncIterable<Part<Answer>> | undefined>;
  /** The error of a query that the answer leaves out. */
  readonly missing: () => unknown;
};

type Waiting<Answer> = {
  readonly metricId: string;
  readonly question: Question;
  readonly signal: AbortSignal;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
};

/** The service takes at most this many metrics in one request. */
const greatestCount = 100;

/** Sends one request for the group. Returns false if the service does not know it; then no query is answered. */
const queryGroup = async <Answer>(
  { queryAll, missing }: Deps<Answer>,
  group: readonly Waiting<Answer>[],
): Promise<boolean> => {
  const [{ question: { dashboardId = '', dashboardFilter } = {} } = {}] = group;
  const metrics = group.map(({ metricId, question }) => {
    const { dashboardId: _id, dashboardFilter: _filter, ...rest } = question;
    return { metricId, ...rest };
  });
  const query = { ...(dashboardFilter === undefined ? {} : { dashboardFilter }), metrics };
  const open = new Map(group.map((each) => [each.metricId, each]));
  try {
    const parts = await queryAll(dashboardId, query, allAborted(group.map(({ signal }) => signal)));
    if (parts === undefined) return false;
    for await (const { metricId, outcome } of parts) {
      const asked = open.get(metricId);
      open.delete(metricId);
      if ('answer' in outcome) asked?.resolve(outcome.answer);
      else asked?.reject(outcome.error);
    }
    for (const { reject } of open.values()) reject(missing());
  } catch (error) {
    for (const { reject } of open.values()) reject(error);
  }
  return true;
};

export const createBatch = <Answer>(deps: Deps<Answer>): Deps<Answer>['queryOne'] => {
  let waiting: Waiting<Answer>[] = [];
  let isKnown = true;

  const alone = ({ metricId, question, signal, resolve, reject }: Waiting<Answer>): void => {
    deps.queryOne(metricId, question, signal).then(resolve, reject);
  };
  const together = async (group: readonly Waiting<Answer>[]): Promise<void> => {
    if (await queryGroup(deps, group)) return;
    isKnown = false;
    group.forEach(alone);
  };
  const flush = (): void => {
    const asked = waiting.filter(({ signal }) => !signal.aborted);
    waiting = [];
    for (const group of groupsOf(asked)) {
      if (group.length === 1 || !isKnown) group.forEach(alone);
      else void together(group);
    }
  };
  return (metricId, question, signal) =>
    new Promise((resolve, reject) => {
      const query = { metricId, question, signal, resolve, reject };
      if (question.dashboardId === undefined || !isKnown || signal.aborted) {
        alone(query);
        return;
      }
      // The cards of a dashboard ask within one turn of the event loop.
      if (waiting.length === 0) setTimeout(flush);
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      waiting.push(query);
    });
};

/** Queries of one dashboard and one filter, each metric once. */
const groupsOf = <Answer>(asked: readonly Waiting<Answer>[]): readonly Waiting<Answer>[][] => {
  const groups: { readonly key: string; readonly members: Waiting<Answer>[] }[] = [];
  for (const each of asked) {
    const key = JSON.stringify([each.question.dashboardId, each.question.dashboardFilter]);
    const group = groups.find(
      ({ key: other, members }) =>
        other === key && members.length < greatestCount && !members.some(({ metricId }) => metricId === each.metricId),
    );
    if (group === undefined) groups.push({ key, members: [each] });
    else group.members.push(each);
  }
  return groups.map(({ members }) => members);
};

/** Aborts when each of the signals has aborted. */
const allAborted = (signals: readonly AbortSignal[]): AbortSignal => {
  const all = new AbortController();
  const check = (): void => {
    if (signals.every(({ aborted }) => aborted)) all.abort();
  };
  for (const signal of signals) signal.addEventListener('abort', check, { once: true });
  check();
  return all.signal;
};
