/** From a question to what runs: resolve -> plan -> SECURE -> compile, for visual metrics and for custom SQL alike. */
import type { MetricQuestion, OptionsQuestion } from '../../domain/ports.js';
import type { Keyed } from '../cache/key.js';
import type { Database, Running } from '../connections/database.js';
import { readCustom } from '../custom/custom.js';
import type { Reader } from '../custom/reader.js';
import type { PageOfRows, Plan } from '../plan/plan.js';
import { type Ask, plan } from '../question/planning.js';
import { resolve } from '../question/resolve.js';
import type { RunResult } from '../run/run.js';
import { shape, shapeBatch } from '../run/shape.js';
import { placeCatalog } from '../scope/client-place.js';
import { secure } from '../scope/secure.js';
import { type CompiledPlan, compile } from '../sql/compile.js';
import { fitBuckets } from './buckets.js';
import { withCustom } from './hidden-rows.js';
import type { Prepared } from './prepared.js';
import { prepareSql, type SqlQuestion } from './sql-metric.js';

/** Runs what was compiled out of a secured plan, or finds its rows kept. */
export type RunSecured = (secured: Keyed['plan'], compiled: CompiledPlan, page: PageOfRows) => Promise<RunResult>;

export type AnyAsk = Ask | { readonly kind: 'sql'; readonly question: SqlQuestion };

/** Throws METRIC_QUERY_ERROR for what cannot be asked, and CLIENT_ID_ERROR where client and datamart do not fit. */
export const prepare = (
  database: Database,
  ask: AnyAsk,
  running: Running,
  runSecured: RunSecured,
): Promise<Prepared> => {
  const reader = readerOf(database, ask.question, running);
  return ask.kind === 'sql' ? prepareSql(reader, ask.question) : prepareVisual(reader, ask, runSecured);
};

const readerOf = (database: Database, question: MetricQuestion | OptionsQuestion, running: Running): Reader => {
  const { datasource, datamart, tenant, variables = new Map(), definition } = question;
  return {
    ...{ datasource, datamart, tenant, variables, declared: definition.rlsVariables, dialect: database.dialect },
    catalog: placeCatalog(question, database.catalog),
    memory: database.catalog,
    // Not in the client's turn: what it tells of columns is known to all clients from then on, and they wait for it together.
    run: (statement) => database.run(statement, tenant, { maxBytes: running.maxBytes }),
  };
};

const prepareVisual = async (reader: Reader, ask: Ask, runSecured: RunSecured): Promise<Prepared> => {
  const { datamart, tenant } = ask.question;
  const { catalog, dialect } = reader;
  const custom = await readCustom(reader, ask.question);
  const asked = resolve(ask.question, catalog, custom);
  const securePlan = (planned: Plan) => {
    const secured = secure(withCustom(planned, custom, asked), tenant, { datamart, catalog });
    return { secured, compiled: compile(secured, dialect), page: planned.page };
  };
  const runPlan = (planned: Plan): Promise<RunResult> => {
    const { secured, compiled, page } = securePlan(planned);
    return runSecured(secured, compiled, page);
  };
  const resolved = await fitBuckets(asked, ask, runPlan);
  const planned = plan(resolved, ask);
  return {
    question: ask.question,
    ...securePlan(planned),
    shape: (result) => shape(planned.output, result),
    shapeBatch: (batch) => shapeBatch(planned.output, batch),
  };
};
