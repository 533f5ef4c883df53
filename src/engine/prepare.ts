/** From a question to what runs: resolve -> plan -> SECURE -> compile, for visual metrics and for custom SQL alike. */
import type { MetricAnswer, MetricQuestion, OptionsQuestion } from '../domain/ports.js';
import { fitBuckets } from './buckets.js';
import type { Keyed } from './cache/key.js';
import { placeCatalog } from './client-place.js';
import { type CompiledPlan, compile } from './compile.js';
import { prepareSql, type SqlQuestion } from './custom/answer.js';
import { readCustom, withCustom } from './custom/custom.js';
import type { Reader } from './custom/reader.js';
import type { Database, ResultTable, Running } from './database.js';
import type { PageOfRows, Plan } from './plan.js';
import { type Ask, plan } from './planning.js';
import { resolve } from './resolve.js';
import type { RunResult } from './run.js';
import { secure } from './secure.js';
import { shape, shapeBatch } from './shape.js';
import type { StreamBatch } from './stream.js';

/** Compiled out of a secured plan, and how what comes back is answered. */
export type Prepared = {
  /** As it was asked first. */
  readonly question: Keyed['question'];
  readonly secured: Keyed['plan'];
  readonly compiled: CompiledPlan;
  readonly page: PageOfRows;
  readonly shape: (result: RunResult) => MetricAnswer;
  readonly shapeBatch: (batch: ResultTable) => StreamBatch;
};

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
