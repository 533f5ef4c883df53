/**
 * Metric -> rows. The engine reads the customer's database for one tenant, through `secure` and nothing else: a plan that
 * was not secured does not compile. It may not know who asks, keep rows between questions but in cache/, or let a driver's words out.
 */
import type { Scalar } from '../domain/filter.js';
import type { Engine, MetricAnswer, MetricQuestion, OptionsQuestion } from '../domain/ports.js';
import { fitBuckets } from './buckets.js';
import { compile } from './compile.js';
import type { Database } from './database.js';
import { createDatabases, type DatabasesOptions } from './databases.js';
import type { Plan } from './plan.js';
import { type Ask, plan } from './planning.js';
import { refuseQuery } from './refuse.js';
import { resolve } from './resolve.js';
import { createRows, type Rows, type RowsOptions } from './rows.js';
import { type RunResult, run } from './run.js';
import { secure } from './secure.js';
import { shape } from './shape.js';

export type EngineOptions = DatabasesOptions & RowsOptions;

/** Opens each datasource at the first question about it. `log` gets what callers must not see. */
export const createEngine = (options: EngineOptions): Engine => {
  const databases = createDatabases(options);
  const rows = createRows(options);
  const ask = (asked: Ask): Promise<MetricAnswer> =>
    databases.use(asked.question.datasource, (database) => answer(database, rows, asked));
  return {
    query: async (question) => ask({ kind: 'answer', question: visual(question) }),
    underlying: async (question) => ask({ kind: 'underlying', question: visual(question) }),
    options: async (question) => {
      const answered = await ask({ kind: 'options', question: visual(question) });
      return answered.rows.flatMap((row) => Object.values(row).filter((value): value is Scalar => value !== null));
    },
    introspect: databases.introspect,
    forget: async (datasourceId) => {
      rows.forgetDatasource(datasourceId);
      await databases.forget(datasourceId);
    },
    forgetClient: rows.forgetClient,
    close: async () => {
      await databases.close();
      rows.close();
    },
  };
};

const visual = <Question extends OptionsQuestion | MetricQuestion>(question: Question) => {
  const { definition } = question;
  if (definition.kind !== 'visual')
    return refuseQuery('This version of the engine does not run SQL yet.', 'sql-unsupported');
  return { ...question, definition };
};

const answer = async (database: Database, rows: Rows, ask: Ask): Promise<MetricAnswer> => {
  const { datamart, tenant } = ask.question;

  const runPlan = (planned: Plan): Promise<RunResult> => {
    const secured = secure(planned, tenant, { datamart, catalog: database.catalog });
    const compiled = compile(secured, database.dialect);
    const keyed = { question: ask.question, plan: secured, statements: compiled, page: planned.page };
    return rows.load(keyed, () => run(database, compiled, planned.page));
  };
  const resolved = await fitBuckets(resolve(ask.question, database.catalog), ask, runPlan);
  const planned = plan(resolved, ask);
  return shape(planned.output, await runPlan(planned));
};
