/**
 * Metric -> rows. The engine reads the customer's database for one tenant, through `secure` and nothing else: a plan that
 * was not secured does not compile. It may not know who asks, keep rows between questions, or let a driver's words out.
 */
import type { Scalar } from '../domain/filter.js';
import type { Datasource } from '../domain/organization.js';
import type { Engine, MetricAnswer } from '../domain/ports.js';
import { type Code, Refusal } from '../domain/refusal.js';
import { compile } from './compile.js';
import { createDuckDb, type Databases, type Log } from './duckdb.js';
import { type Ask, plan } from './planning.js';
import { resolve } from './resolve.js';
import { run } from './run.js';
import { secure } from './secure.js';
import { shape } from './shape.js';

export type EngineOptions = {
  /** Gets what callers must not see. */
  readonly log: Log;
  /** Throws DATASOURCE_CONNECTION_ERROR for what the operator did not allow; asked before anything is opened. */
  readonly assertReachable: (datasource: Datasource) => Promise<void>;
};

/** Opens each datasource's file at the first question about it. */
export const createEngine = ({ log, assertReachable }: EngineOptions): Engine => {
  const databases = withinReach(createDuckDb(log), assertReachable, log);
  return {
    query: (question) => answer(databases, { kind: 'answer', question }),
    underlying: (question) => answer(databases, { kind: 'underlying', question }),
    options: async (question) => {
      const { rows } = await answer(databases, { kind: 'options', question });
      return rows.flatMap((row) => Object.values(row).filter((value): value is Scalar => value !== null));
    },
    introspect: databases.introspect,
    forget: databases.forget,
    close: databases.close,
  };
};

/** Who asks a question learns that it failed, who looks at a datasource learns why it may not be looked at. */
const withinReach = (databases: Databases, assertReachable: EngineOptions['assertReachable'], log: Log): Databases => ({
  ...databases,
  open: async (datasource) => {
    await assertReachable(datasource).catch((cause: unknown) => {
      log.error({ err: cause, datasource: datasource.name }, 'datasource may not be opened');
      throw unavailable('METRIC_QUERY_ERROR', datasource, cause);
    });
    return databases.open(datasource);
  },
  introspect: async (datasource) => {
    await assertReachable(datasource);
    return databases.introspect(datasource).catch((cause: unknown) => {
      throw unavailable('DATASOURCE_CONNECTION_ERROR', datasource, cause);
    });
  },
});

const unavailable = (code: Code, { name }: Datasource, cause: unknown): Refusal =>
  new Refusal(
    code,
    `Datasource ${JSON.stringify(name)} could not be opened; its operator finds the cause in the log.`,
    {
      reason: 'datasource-unavailable',
      cause,
    },
  );

const answer = async (databases: Databases, ask: Ask): Promise<MetricAnswer> => {
  const database = await databases.open(ask.question.datasource);
  const { datamart, tenant } = ask.question;

  const resolved = resolve(ask.question, database.catalog);
  const planned = plan(resolved, ask);
  const secured = secure(planned, tenant, { datamart, catalog: database.catalog });
  const compiled = compile(secured);
  const result = await run(database, compiled, planned.page);
  return shape(planned.output, result);
};
