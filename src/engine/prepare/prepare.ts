/**
 * From a question to SQL: resolve, build the plan, scope it to the tenant, compile. Visual metrics and custom SQL
 * take the same steps.
 */
import { noColumnRules, withColumnRules } from '../../model/datamart/column-rules.js';
import { findColumn, sameColumn, sameTable } from '../../model/datamart/datamart.js';
import type { MetricQuestion, OptionsQuestion } from '../../model/query/engine.js';
import { datedQuestion } from '../../model/query/relative.js';
import type { CacheKeyParts } from '../cache/key.js';
import type { Database, Running } from '../connections/database.js';
import type { SqlContext } from '../custom/context.js';
import { type Custom, readCustom } from '../custom/read-custom.js';
import type { PageOfRows, Plan, TenantScopedPlan } from '../plan/plan.js';
import { type Ask, buildPlan } from '../question/build-plan.js';
import { withCurrencies } from '../question/currencies.js';
import { type Resolved, resolve } from '../question/resolve.js';
import type { RunResult } from '../run/run.js';
import { hasOtherTypes, shape, shapeBatch } from '../run/shape.js';
import { catalogFor } from '../scope/client-database.js';
import { shownCatalog, storedDatamart, withScales } from '../scope/column-rules.js';
import type { MaskKeyOf } from '../scope/mask-keys.js';
import { scopeToTenant } from '../scope/scope-to-tenant.js';
import { type CompiledPlan, compile } from '../sql/compile.js';
import { fitBuckets } from './buckets.js';
import { withCustom } from './hidden-rows.js';
import type { Prepared, Scoped } from './prepared.js';
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

/** Hides the columns that `through` does not name from every question. For a guest, the token's rules did so already. */
export const withReadableColumns = <Asked extends AnyAsk>(ask: Asked): Asked => {
  const { datamart } = ask.question;
  const ruled = datamart.ruled === undefined ? withColumnRules(datamart, noColumnRules) : datamart;
  return ruled === datamart ? ask : ({ ...ask, question: { ...ask.question, datamart: ruled } } as Asked);
};

/** Relative periods become days. Statements, and so the keys of cached rows, have these days. */
const datedAsk = (ask: AnyAsk): AnyAsk => ({ ...ask, question: datedQuestion(ask.question) }) as AnyAsk;

export const contextOf = (
  database: Database,
  question: MetricQuestion | OptionsQuestion,
  { isWritten, maxBytes, maskKeyOf }: Pick<Preparing, 'isWritten' | 'maxBytes' | 'maskKeyOf'>,
): SqlContext => {
  const { datasource, datamart, tenant, variables = new Map(), definition } = question;
  const stored = withScales(catalogFor(question, database.catalog), storedDatamart(datamart));
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

type Asked = Ask['question'];

const prepareVisual = async (context: SqlContext, ask: Ask, runScoped: RunScoped): Promise<Prepared> => {
  const { question } = ask;
  const custom = await readCustom(context, question);
  const asked = resolve(question, context, custom);
  const scopePlan = createScoping(context, question, custom, asked);
  const runPlan = (planned: Plan): Promise<RunResult> => {
    const { scoped, compiled, page } = scopePlan(planned);
    return runScoped(scoped, compiled, page);
  };
  const resolved = await fitBuckets(asked, ask, runPlan);
  const held = { ...question, conditions: resolved.applied };
  const planned = withCurrencies(buildPlan(resolved, ask), ask.kind, held, custom);
  const own = scopePlan(planned);
  return {
    question,
    ...own,
    visual: ask.kind === 'answer' ? own.scoped : undefined,
    tenantCurrency: await prepareTenantCurrency(context, question, planned),
    written: [],
    hasOtherTypes: (result) => hasOtherTypes(planned.output, result),
    shape: (result, currency) => shape(planned.output, result, currency),
    shapeBatch: (batch, currency) => shapeBatch(planned.output, batch, currency),
  };
};

/** Scopes plans of the question to its tenant, and compiles them. */
const createScoping =
  (
    { stored, dialect, maskKey }: SqlContext,
    { datamart, tenant, definition: { withoutBaseFilters } }: Asked,
    custom: Custom,
    asked: Resolved,
  ) =>
  (planned: Plan): Scoped & { readonly scoped: TenantScopedPlan } => {
    const source = { datamart, catalog: stored, maskKey, withoutBaseFilters };
    const unfiltered = withoutBaseFilters ?? [];
    const scoped = scopeToTenant(withCustom(planned, custom, asked, unfiltered), tenant, source);
    return { scoped, compiled: compile(scoped, dialect), page: planned.page };
  };

/**
 * The question for the tenant's currency, which the tenant's rows of the client master table name. Null if no column
 * of the answer needs one, columns need different ones, or the token hides its column. What a mask leaves of a code is no code.
 */
const prepareTenantCurrency = async (context: SqlContext, asked: Asked, { output }: Plan): Promise<Scoped | null> => {
  const { datamart, conditions } = asked;
  const [column, ...others] = output.columns.flatMap(({ currency }) =>
    currency !== undefined && 'tenant' in currency ? currency.tenant : [],
  );
  const found = column && findColumn(datamart, column);
  // One code is read for the whole answer.
  if (column === undefined || found === undefined || !others.every((other) => sameColumn(other, column))) return null;
  const { schemaName, tableName } = column;
  const none = { dimensions: [], measures: [], filters: [], rlsVariables: [], underlying: [], drillPath: [], sort: [] };
  const question = {
    ...asked,
    ...{ column, search: null, limit: 2, readBefore: undefined },
    definition: { kind: 'visual', chart: { type: 'table' }, from: { schemaName, tableName }, ...none, limit: null },
    // Only the token's conditions, and those on other tables could hide the tenant's own row.
    conditions: conditions.filter((one) => one.isOfToken === true && sameTable(one.column, column)),
  } as const;
  const custom = await readCustom(context, question);
  const resolved = resolve(question, context, custom);
  return createScoping(context, question, custom, resolved)(buildPlan(resolved, { kind: 'options', question }));
};
