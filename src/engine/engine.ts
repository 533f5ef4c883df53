/**
 * Metric -> rows. The engine reads the customer's database for one tenant, through `secure` and nothing else: a plan that
 * was not secured does not compile. It may not know who asks, keep rows between questions, or let a driver's words out.
 */
import type { Scalar } from '../domain/filter.js';
import type { Engine, MetricAnswer, MetricQuestion, OptionsQuestion } from '../domain/ports.js';
import { fitBuckets } from './buckets.js';
import { clientPlaceOf, placeCatalog } from './client-place.js';
import { compile } from './compile.js';
import { answerSql, type SqlQuestion } from './custom/answer.js';
import { readCustom, withCustom } from './custom/custom.js';
import type { Reader } from './custom/reader.js';
import type { Database } from './database.js';
import { createDatabases, type DatabasesOptions } from './databases.js';
import type { Plan } from './plan.js';
import { type Ask, plan } from './planning.js';
import { refuseQuery } from './refuse.js';
import { resolve } from './resolve.js';
import { type RunResult, run } from './run.js';
import { secure } from './secure.js';
import { shape } from './shape.js';

/** Opens each datasource at the first question about it. `log` gets what callers must not see. */
export const createEngine = (options: DatabasesOptions): Engine => {
  const databases = createDatabases(options);
  const ask = (asked: Ask): Promise<MetricAnswer> =>
    databases.use(asked.question.datasource, clientPlaceOf(asked.question), (database) => answer(database, asked));
  return {
    query: async (question) =>
      isSql(question)
        ? databases.use(question.datasource, clientPlaceOf(question), (database) => answerCustom(database, question))
        : ask({ kind: 'answer', question: visual(question) }),
    underlying: async (question) => ask({ kind: 'underlying', question: visual(question) }),
    options: async (question) => {
      const { rows } = await ask({ kind: 'options', question: visual(question) });
      return rows.flatMap((row) => Object.values(row).filter((value): value is Scalar => value !== null));
    },
    introspect: databases.introspect,
    listClientDatabases: databases.listClientDatabases,
    forget: databases.forget,
    close: databases.close,
  };
};

const isSql = (question: MetricQuestion): question is SqlQuestion => question.definition.kind === 'sql';

const visual = <Question extends OptionsQuestion | MetricQuestion>(question: Question) => {
  const { definition } = question;
  if (definition.kind !== 'visual') {
    return refuseQuery(
      'A metric in SQL has no underlying rows and no values of columns to choose from; only its answer can be asked for.',
      'sql-without-rows',
    );
  }
  return { ...question, definition };
};

const readerOf = (database: Database, question: MetricQuestion | OptionsQuestion): Reader => {
  const { datasource, datamart, tenant, variables = new Map(), definition } = question;
  return {
    ...{ datasource, datamart, tenant, variables, declared: definition.rlsVariables, dialect: database.dialect },
    catalog: placeCatalog(question, database.catalog),
    memory: database.catalog,
    run: (statement) => database.run(statement, tenant),
  };
};

const answerCustom = (database: Database, question: SqlQuestion): Promise<MetricAnswer> =>
  answerSql(readerOf(database, question), question, (compiled, page) =>
    run(database, compiled, { page, tenant: question.tenant }),
  );

const answer = async (database: Database, ask: Ask): Promise<MetricAnswer> => {
  const { datamart, tenant } = ask.question;
  const reader = readerOf(database, ask.question);
  const { catalog, dialect } = reader;

  const custom = await readCustom(reader, ask.question);
  const runPlan = (planned: Plan): Promise<RunResult> => {
    const secured = secure(withCustom(planned, custom), tenant, { datamart, catalog });
    return run(database, compile(secured, dialect), { page: planned.page, tenant });
  };
  const resolved = await fitBuckets(resolve(ask.question, catalog, custom), ask, runPlan);
  const planned = plan(resolved, ask);
  return shape(planned.output, await runPlan(planned));
};
