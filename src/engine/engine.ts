/**
 * Metric -> rows. The engine reads the customer's database for one tenant, through `secure` and nothing else: a plan that
 * was not secured does not compile. It may not know who asks, or let a driver's words out. Rows are kept between questions in cache/ alone.
 */
import type { Scalar } from '../domain/filter.js';
import type { Engine, MetricAnswer, MetricQuestion, OptionsQuestion } from '../domain/ports.js';
import { systemTiming } from '../platform/timing.js';
import type { Keyed } from './cache/key.js';
import { createResultCache, type ResultCache, type ResultCacheOptions } from './cache/result-cache.js';
import { compile } from './compile.js';
import { connectionsPerDatabase, type Database } from './database.js';
import { createDatabases, type DatabasesOptions } from './databases.js';
import { type EngineMetrics, noMetrics } from './engine-metrics.js';
import type { LineLimits } from './fair-line.js';
import { createFairLines, type FairLines } from './fair-lines.js';
import { type Ask, plan } from './planning.js';
import { refuseQuery } from './refuse.js';
import { resolve } from './resolve.js';
import { type RunResult, run } from './run.js';
import { secure } from './secure.js';
import { shape } from './shape.js';

export type EngineOptions = DatabasesOptions & {
  /** Left out: nothing is kept between questions. */
  readonly cache?: ResultCacheOptions | undefined;
  readonly line?: Partial<LineLimits> | undefined;
  readonly metrics?: EngineMetrics | undefined;
};

export const usualLine: LineLimits = {
  places: connectionsPerDatabase,
  perClient: 2,
  waiting: 2000,
  waitingPerClient: 200,
  waitMs: 30_000,
};

type Parts = { readonly cache: ResultCache | null; readonly lines: FairLines };

/** Opens each datasource at the first question about it. `log` gets what callers must not see. */
export const createEngine = (options: EngineOptions): Engine => {
  const databases = createDatabases(options);
  const { cache, lines } = createParts(options);
  const ask = (asked: Ask): Promise<MetricAnswer> =>
    databases.use(asked.question.datasource, (database) => answer({ cache, lines }, database, asked));
  return {
    query: async (question) => ask({ kind: 'answer', question: visual(question) }),
    underlying: async (question) => ask({ kind: 'underlying', question: visual(question) }),
    options: async (question) => {
      const { rows } = await ask({ kind: 'options', question: visual(question) });
      return rows.flatMap((row) => Object.values(row).filter((value): value is Scalar => value !== null));
    },
    introspect: databases.introspect,
    forget: async (datasourceId) => {
      cache?.forgetDatasource(datasourceId);
      await databases.forget(datasourceId);
    },
    forgetClient: async (dataAppId, clientId) => cache?.forgetClient(dataAppId, clientId),
    close: async () => {
      await databases.close();
      cache?.close();
    },
  };
};

const createParts = ({ cache, line, log, metrics = noMetrics }: EngineOptions): Parts => {
  const noted = { answered: metrics.answered, evicted: metrics.evicted };
  const kept = cache === undefined ? null : createResultCache({ ...cache, log, noted });
  const timing = cache?.timing ?? systemTiming;
  const lines = createFairLines({ ...usualLine, ...line }, timing, metrics.refused);
  metrics.watch('cacheBytes', () => kept?.bytes() ?? 0);
  metrics.watch('waiting', lines.waiting);
  return { cache: kept, lines };
};

const visual = <Question extends OptionsQuestion | MetricQuestion>(question: Question) => {
  const { definition } = question;
  if (definition.kind !== 'visual')
    return refuseQuery('This version of the engine does not run SQL yet.', 'sql-unsupported');
  return { ...question, definition };
};

const answer = async (parts: Parts, database: Database, ask: Ask): Promise<MetricAnswer> => {
  const { question } = ask;
  const { datamart, tenant } = question;

  const resolved = resolve(question, database.catalog);
  const planned = plan(resolved, ask);
  const secured = secure(planned, tenant, { datamart, catalog: database.catalog });
  const compiled = compile(secured, database.dialect);
  const keyed = { question, plan: secured, statements: compiled, page: planned.page };
  const result = await load(parts, keyed, () => run(database, compiled, planned.page));
  return shape(planned.output, result);
};

/** Kept rows, or those that `make` reads in this client's turn: who finds them kept does not wait in line. */
const load = (
  { cache, lines }: Parts,
  keyed: Keyed,
  make: () => Promise<RunResult>,
  signal?: AbortSignal,
): Promise<RunResult> => {
  const { dataAppId, tenant, datasource } = keyed.question;
  const place = {
    database: JSON.stringify([datasource.id, keyed.plan.database]),
    client: JSON.stringify([dataAppId, tenant.kind === 'tenant' ? tenant.clientId : null]),
  };
  const inTurn = (ended: AbortSignal | undefined): Promise<RunResult> => lines.use(place, make, ended);
  return cache === null ? inTurn(signal) : cache.load(keyed, inTurn, signal);
};
