/**
 * Answers a metric that an author of the host writes, before it is saved: also one in SQL or with expressions, which no
 * guest may send. It is read as the guest of the caller would read it: the same dashboard, tenant scope, restrictions
 * and limits.
 */
import { definitionSqlParts } from '../../model/dashboard/content-sql.js';
import { triedFaults } from '../../model/dashboard/definition.js';
import type { MetricDefinition } from '../../model/dashboard/metric.js';
import { definitionTypeFaults } from '../../model/dashboard/type-faults.js';
import { assertDefines } from '../../model/guest/access.js';
import type { AuthorCaller } from '../../model/guest/caller.js';
import type { GuestQuery, MetricReply } from '../../model/guest/view.js';
import type { Clock } from '../../model/ports.js';
import { withCourse } from '../../model/query/comparison.js';
import type { Engine, MetricQuestion, RequestSignal } from '../../model/query/engine.js';
import { type ProposedOutput, proposeOutputs } from '../../model/query/sql-outputs.js';
import type { SqlRewriter } from '../../model/query/sql-rewriter.js';
import { Refusal } from '../../model/refusal.js';
import { sqlPartFaults } from '../datamarts/sql-faults.js';
import { unsavedMetric } from '../guest/preview.js';
import { openDashboard, questionFor } from '../guest/scope.js';
import type { Store } from '../store/store.js';
import { typeMessage } from './type-check.js';

export type AuthoringDeps = {
  readonly store: Store;
  readonly engine: Pick<Engine, 'until' | 'statement' | 'asSql'>;
  readonly clock: Clock;
  readonly sqlRewriter: SqlRewriter;
};

export type AuthoredMetric = Pick<GuestQuery, 'dashboardFilter' | 'metricFilter' | 'sort' | 'limit' | 'offset'> & {
  readonly dashboardId: string;
  readonly definition: MetricDefinition;
};

/** Throws INVALID_REQUEST_BODY with a line for each of the first ten faults, which starts with the fault's JSON path. */
const assertSound = async (
  { sqlRewriter }: AuthoringDeps,
  { datamart, datasource }: MetricQuestion,
  definition: MetricDefinition,
): Promise<void> => {
  const parts = definitionSqlParts(definition);
  const faults = [
    ...triedFaults(definition, datamart),
    ...definitionTypeFaults(definition, datamart),
    ...(await sqlPartFaults(sqlRewriter, datasource.datasourceType, [datamart], parts)),
  ];
  if (faults.length === 0) return;
  const lines = faults.slice(0, 10).map((fault) => `definition.${fault}`);
  throw new Refusal('INVALID_REQUEST_BODY', lines.join('\n'), { reason: 'guest-definition' });
};

/** A restriction that names metrics one by one would not bind one that is not saved, so its token is refused. */
export const openAuthored = async (
  deps: AuthoringDeps,
  { grant }: AuthorCaller,
  { dashboardId, definition, ...asked }: AuthoredMetric,
) => {
  assertDefines(grant);
  const opened = await openDashboard(deps.store, grant, dashboardId);
  const metric = unsavedMetric(grant, opened, definition);
  const target = { opened, metric, dashboards: [opened.dashboard] };
  const query = { metricId: metric.metricId, ...asked };
  const question = await questionFor(deps.store, grant, target, query, deps.clock.now());
  await assertSound(deps, question, definition);
  return { metric, question, dashboard: opened.dashboard };
};

/** The database's refusal in words for who wrote the metric. */
export const explained = <R>(work: Promise<R>): Promise<R> =>
  work.catch((error: unknown) => {
    if (!(error instanceof Refusal)) throw error;
    throw new Refusal(error.code, typeMessage(error), { reason: error.reason, cause: error });
  });

/** Returns the answer. Stores nothing. */
export const previewAuthoredMetric =
  (deps: AuthoringDeps) =>
  async (caller: AuthorCaller, command: AuthoredMetric, signal: AbortSignal): Promise<MetricReply> => {
    const startedMs = deps.clock.now().getTime();
    const { metric, question } = await openAuthored(deps, caller, command);
    const answer = await explained(withCourse(deps.engine.until(signal).query)(question));
    return { metricId: metric.metricId, answer, timeTakenInMs: deps.clock.now().getTime() - startedMs };
  };

/** `columns`: those of a metric in SQL, and what each is proposed as. Empty for others. */
export type DescribedMetric = { readonly sql: string; readonly columns: readonly ProposedOutput[] };

/** Returns the statement that `previewAuthoredMetric` would run, with placeholders for values. Reads no row. */
export const describeAuthoredMetric =
  (deps: AuthoringDeps) =>
  async (caller: AuthorCaller, command: AuthoredMetric, signal: RequestSignal): Promise<DescribedMetric> => {
    const { question } = await openAuthored(deps, caller, command);
    const { sql, columns } = await explained(deps.engine.statement(question, signal));
    return { sql, columns: proposeOutputs(columns, question.datamart) };
  };
