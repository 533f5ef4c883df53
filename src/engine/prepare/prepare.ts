/**
 * From a question to SQL: resolve, build the plan, scope it to the tenant, compile. Visual metrics and custom SQL
 * take the same steps.
 */
import { noColumnRules, withColumnRules } from '../../model/datamart/column-rules.js';
import type { MetricQuestion, OptionsQuestion } from '../../model/query/engine.js';
import { datedQuestion } from '../../model/query/relative.js';
import type { CacheKeyParts } from '../cache/key.js';
import type { Database, Running } from '../connections/database.js';
import type { SqlContext } from '../custom/context.js';
import { readCustom } from '../custom/read-custom.js';
import type { PageOfRows, Plan } from '../plan/plan.js';
import { type Ask, buildPlan } from '../question/build-plan.js';
import { resolve } from '../question/resolve.js';
import type { RunResult } from '../run/run.js';
import { hasOtherTypes, shape, shapeBatch } from '../run/shape.js';
import { catalogFor } from '../scope/client-database.js';
import { shownCatalog } from '../scope/column-rules.js';
import type { MaskKeyOf } from '../scope/mask-keys.js';
import { scopeToTenant } from '../scope/scope-to-tenant.js';
import { type CompiledPlan, compile } from '../sql/compile.js';
import { fitBuckets } from './buckets.js';
import { withCustom } from './hidden-rows.js';
import type { Prepared } from './prepared.js';
import { prepareSql, type SqlQuestion } from './sql-metric.js';

/** Runs statements compiled from a tenant-scoped plan, or finds their rows in the cache. */
export type RunScoped = (scoped: CacheKeyParts['plan'], compiled: CompiledPlan, page: PageOfRows) => Promise<RunResult>;

export type Preparing = Running & Pick<SqlContext, 'isWritten'> & { readonly maskKeyOf: MaskKeyOf | undefined };

export type AnyAsk = Ask | { readonly kind: 'sql'; readonly question: SqlQuestion };

/**
 * Throws METRIC_QUERY_ERROR for questions that cannot be answered, and CLIENT_ID_ERROR where tenant and datamart do
 * not fit.
 */
export const prepare = (
  database: Database,
  ask: AnyAsk,
  running: Preparing,
  runScoped: RunScoped,
): Promise<Prepared> => {
  const read = withReadableColumns(ask);
  const context = contextOf(database, read.question, running);
  const dated = datedAsk(read);
  return dated.kind === 'sql' ? prepareSql(context, dated.question) : prepareVisual(context, dated, runScoped);
};

/** The datamart of every question hides what `through` leaves out, whoever asks. A guest's was ruled by the token. */
const withReadableColumns = (ask: AnyAsk): AnyAsk => {
  const { datamart } = ask.question;
  const ruled = datamart.ruled === undefined ? withColumnRules(datamart, noColumnRules) : datamart;
  return ruled === datamart ? ask : ({ ...ask, question: { ...ask.question, datamart: ruled } } as AnyAsk);
};

/** Relative periods become days. Statements, and so the keys of cached rows, have these days. */
const datedAsk = (ask: AnyAsk): AnyAsk => ({ ...ask, question: datedQuestion(ask.question) }) as AnyAsk;

const contextOf = (
  database: Database,
  question: MetricQuestion | OptionsQuestion,
  { isWritten, maxBytes, maskKeyOf }: Pick<Preparing, 'isWritten' | 'maxBytes' | 'maskKeyOf'>,
): SqlContext => {
  const { datasource, datamart, tenant, variables = new Map(), definition } = question;
  const stored = catalogFor(question, database.catalog);
  const maskKey = maskKeyOf?.(question);
  return {
    ...{ datasource, datamart, tenant, variables, declared: definition.rlsVariables, dialect: database.dialect },
    ...{ stored, maskKey, catalog: shownCatalog(stored, datamart, maskKey) },
    memory: database.catalog,
    isWritten,
    // Does not wait in the client's queue: the columns that it describes are cached for all clients.
    run: (statement) => database.run(statement, tenant, { maxBytes }),
  };
};

const prepareVisual = async (context: SqlContext, ask: Ask, runScoped: RunScoped): Promise<Prepared> => {
  const { datamart, tenant, definition } = ask.question;
  const { stored, dialect, maskKey } = context;
  const { withoutBaseFilters } = definition;
  const source = { datamart, catalog: stored, maskKey, withoutBaseFilters };
  const custom = await readCustom(context, ask.question);
  const asked = resolve(ask.question, context, custom);
  const scopePlan = (planned: Plan) => {
    const scoped = scopeToTenant(withCustom(planned, custom, asked), tenant, source);
    return { scoped, compiled: compile(scoped, dialect), page: planned.page };
  };
  const runPlan = (planned: Plan): Promise<RunResult> => {
    const { scoped, compiled, page } = scopePlan(planned);
    return runScoped(scoped, compiled, page);
  };
  const resolved = await fitBuckets(asked, ask, runPlan);
  const planned = buildPlan(resolved, ask);
  return {
    question: ask.question,
    ...scopePlan(planned),
    hasOtherTypes: (result) => hasOtherTypes(planned.output, result),
    shape: (result) => shape(planned.output, result),
    shapeBatch: (batch) => shapeBatch(planned.output, batch),
  };
};
