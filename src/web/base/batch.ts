/**
 * Sends the queries that one dashboard's cards ask together as one request. Each query gets its answer as soon as that
 * arrives.
 */
import type { Sort } from '../../model/dashboard/metric.js';
import type { GuestQuery } from '../../model/guest/view.js';

export type Question = Omit<GuestQuery, 'metricId' | 'sort'> & { readonly sort?: readonly Sort[] | undefined };

export type Part<Answer> = {
  readonly metricId: string;
  readonly outcome:
    | { readonly answer: Answer; readonly digest?: string | undefined }
    /** The answer is the one of this digest, which the query named. */
    | { readonly isUnchanged: true; readonly digest: string }
    | { readonly error: unknown };
};

/** The last answer of each metric of a dashboard, with its digest and the question that it answers. */
export type Answers<Answer> = Map<string, Kept<Answer>>;
type Kept<Answer> = { readonly question: string; readonly digest: string; readonly answer: Answer };

type Common = 'dashboardFilter' | 'crossFilter';
type Query = Omit<Question, 'dashboardId' | Common> & { readonly metricId: string };
export type BatchQuery = Pick<Question, Common> & {
  readonly metrics: readonly (Query & { readonly digest?: string })[];
};

type Deps<Answer> = {
  readonly queryOne: (metricId: string, question: Question, signal: AbortSignal) => Promise<Answer>;
  /** Resolves to undefined if the service does not know the request. */
  readonly queryAll: (
    dashboardId: string,
    query: BatchQuery,
    signal: AbortSignal,
  ) => Promise<AsyncIterable<Part<Answer>> | undefined>;
  /** Answers that the caller has already. They may outlive a token: a digest fits one client and its restrictions. */
  readonly answers?: Answers<Answer> | undefined;
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

const slotOf = ({ metricId, question }: Pick<Waiting<unknown>, 'metricId' | 'question'>): string =>
  JSON.stringify([question.dashboardId, metricId]);

/** The answer to this very question; undefined if there is none. */
const keptOf = <Answer>(answers: Answers<Answer> | undefined, asked: Waiting<Answer>) => {
  const kept = answers?.get(slotOf(asked));
  return kept?.question === JSON.stringify(asked.question) ? kept : undefined;
};

/** As many as the cards of a large dashboard. The oldest goes first. */
const mostAnswers = 100;

const keep = <Answer>(answers: Answers<Answer> | undefined, slot: string, kept: Kept<Answer>): void => {
  answers?.delete(slot);
  answers?.set(slot, kept);
  const [oldest] = answers?.keys() ?? [];
  if (answers !== undefined && answers.size > mostAnswers && oldest !== undefined) answers.delete(oldest);
};

/** Settles a query with its part. A digest without an answer to it is taken for a missing part. */
const settle = <Answer>(
  { answers, missing }: Deps<Answer>,
  asked: Waiting<Answer>,
  outcome: Part<Answer>['outcome'],
): void => {
  const kept = keptOf(answers, asked);
  if ('error' in outcome) asked.reject(outcome.error);
  else if ('isUnchanged' in outcome) {
    if (kept?.digest === outcome.digest) asked.resolve(kept.answer);
    else asked.reject(missing());
  } else {
    const { answer, digest } = outcome;
    if (digest !== undefined)
      keep(answers, slotOf(asked), { question: JSON.stringify(asked.question), digest, answer });
    asked.resolve(answer);
  }
};

/** Sends one request for the group. Returns false if the service does not know it; then no query is answered. */
const queryGroup = async <Answer>(deps: Deps<Answer>, group: readonly Waiting<Answer>[]): Promise<boolean> => {
  const [{ question: { dashboardId = '', dashboardFilter, crossFilter } = {} } = {}] = group;
  const { queryAll, missing, answers } = deps;
  const metrics = group.map((asked) => {
    const { metricId, question } = asked;
    const kept = keptOf(answers, asked);
    const { dashboardId: _id, dashboardFilter: _filter, crossFilter: _marks, ...rest } = question;
    return { metricId, ...rest, ...(kept === undefined ? {} : { digest: kept.digest }) };
  });
  const query = {
    ...(dashboardFilter === undefined ? {} : { dashboardFilter }),
    ...(crossFilter === undefined ? {} : { crossFilter }),
    metrics,
  };
  const open = new Map(group.map((each) => [each.metricId, each]));
  try {
    const parts = await queryAll(dashboardId, query, allAborted(group.map(({ signal }) => signal)));
    if (parts === undefined) return false;
    for await (const { metricId, outcome } of parts) {
      const asked = open.get(metricId);
      open.delete(metricId);
      if (asked !== undefined) settle(deps, asked, outcome);
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
      const isAlone = group.length === 1 && group.every((one) => keptOf(deps.answers, one) === undefined);
      if (isAlone || !isKnown) group.forEach(alone);
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

/** Queries of one dashboard and the same filters, each metric once. */
const groupsOf = <Answer>(asked: readonly Waiting<Answer>[]): readonly Waiting<Answer>[][] => {
  const groups: { readonly key: string; readonly members: Waiting<Answer>[] }[] = [];
  for (const each of asked) {
    const { dashboardId, dashboardFilter, crossFilter } = each.question;
    const key = JSON.stringify([dashboardId, dashboardFilter, crossFilter]);
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
