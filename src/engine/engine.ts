/**
 * Metric -> rows. The engine reads the customer's database for one tenant, through `secure` and nothing else: a plan that
 * was not secured does not compile. It may not know who asks, keep rows between questions, or let a driver's words out.
 */
import type { Scalar } from '../domain/filter.js';
import type { Engine, MetricAnswer, MetricQuestion, OptionsQuestion, Reads } from '../domain/ports.js';
import { fitBuckets } from './buckets.js';
import { clientPlaceOf, placeCatalog } from './client-place.js';
import { type CompiledPlan, compile } from './compile.js';
import type { Database, Running, Sink } from './database.js';
import { createDatabases, type Databases, type DatabasesOptions } from './databases.js';
import type { Plan } from './plan.js';
import { type Ask, plan } from './planning.js';
import { refuseQuery } from './refuse.js';
import { resolve } from './resolve.js';
import { type RunResult, run } from './run.js';
import { secure } from './secure.js';
import { shape, shapeBatch } from './shape.js';
import { type StreamBatch, streamed } from './stream.js';

/** How large an answer may be that says nothing of its size. */
export type AnswerLimits = {
  readonly answerRows: number;
  /** Bytes as the database sends them; see `rowBytes`. Of a download, of one batch. */
  readonly answerBytes: number;
};

export const defaultLimits: AnswerLimits = { answerRows: 10_000, answerBytes: 33_554_432 };

const underlyingRows = 1000;
const optionRows = 100;

export type EngineOptions = DatabasesOptions & { readonly limits?: AnswerLimits };

/** Opens each datasource at the first question about it. `log` gets what callers must not see. */
export const createEngine = (options: EngineOptions): Engine => {
  const databases = createDatabases(options);
  const limits = options.limits ?? defaultLimits;
  const until = (signal: AbortSignal | undefined): Reads => createReads(databases, limits, signal);
  return {
    ...until(undefined),
    until,
    introspect: databases.introspect,
    listClientDatabases: databases.listClientDatabases,
    forget: databases.forget,
    close: databases.close,
  };
};

const createReads = (
  databases: Databases,
  { answerRows, answerBytes }: AnswerLimits,
  signal: AbortSignal | undefined,
): Reads => {
  const running: Running = { signal, maxBytes: answerBytes };
  const use = <R>({ question }: Ask, work: (database: Database) => Promise<R>): Promise<R> =>
    databases.use(question.datasource, clientPlaceOf(question), work);
  const ask = async (asked: Ask, most: number): Promise<MetricAnswer> => {
    const { limit } = asked.question;
    const bounded = { ...asked, question: { ...asked.question, limit: Math.min(limit ?? most, answerRows) } } as Ask;
    const answered = await use(asked, (database) => answer(database, bounded, running));
    return markCut(answered, asked);
  };
  return {
    query: async (question) => ask({ kind: 'answer', question: visual(question) }, answerRows),
    underlying: async (question) => ask({ kind: 'underlying', question: visual(question) }, underlyingRows),
    options: async (question) => {
      const { rows } = await ask({ kind: 'options', question: visual(question) }, optionRows);
      return rows.flatMap((row) => Object.values(row).filter((value): value is Scalar => value !== null));
    },
    stream: async (question) => {
      const asked: Ask = { kind: 'answer', question: visual(question) };
      return streamed(signal, (sink) => use(asked, (database) => stream(database, asked, running, sink)));
    },
  };
};

/** Whether there are more rows than these, which nobody asked to be left out. */
const markCut = (answered: MetricAnswer, { question }: Ask): MetricAnswer => {
  const { rows, totalRecords } = answered;
  const offset = 'offset' in question ? question.offset : 0;
  const isShort = rows.length < (question.limit ?? Number.POSITIVE_INFINITY);
  const isCut = answered.isTruncated === true || (isShort && offset + rows.length < totalRecords);
  return isCut ? { ...answered, isTruncated: true } : answered;
};

const visual = <Question extends OptionsQuestion | MetricQuestion>(question: Question) => {
  const { definition } = question;
  if (definition.kind !== 'visual')
    return refuseQuery('This version of the engine does not run SQL yet.', 'sql-unsupported');
  return { ...question, definition };
};

/** The plan, and how it runs: nothing runs but by way of `secure`. */
const prepare = async (database: Database, ask: Ask, running: Running) => {
  const { datamart, tenant } = ask.question;
  const catalog = placeCatalog(ask.question, database.catalog);

  const compilePlan = (planned: Plan): CompiledPlan => {
    const secured = secure(planned, tenant, { datamart, catalog });
    return compile(secured, database.dialect);
  };
  const runPlan = (planned: Plan): Promise<RunResult> =>
    run(database, compilePlan(planned), { page: planned.page, tenant, running });
  const resolved = await fitBuckets(resolve(ask.question, catalog), ask, runPlan);
  return { planned: plan(resolved, ask), compilePlan, runPlan };
};

const answer = async (database: Database, ask: Ask, running: Running): Promise<MetricAnswer> => {
  const { planned, runPlan } = await prepare(database, ask, running);
  return shape(planned.output, await runPlan(planned));
};

const stream = async (
  database: Database,
  ask: Ask,
  running: Running,
  sink: (batch: StreamBatch) => Promise<void>,
): Promise<void> => {
  const { planned, compilePlan } = await prepare(database, ask, running);
  const { page } = compilePlan(planned);
  const shaped: Sink = (batch) => sink(shapeBatch(planned.output, batch));
  await database.stream(page, ask.question.tenant, shaped, running);
};
