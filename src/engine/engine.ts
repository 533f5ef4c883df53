/**
 * Metric -> rows: the one sequence of the engine. Reads the customer's database for one tenant: a plan compiles only
 * after `scopeToTenant`. The engine may not know who the caller is, may keep rows only in cache/, and never passes a
 * driver's error text to a caller.
 */
import type { Epoch } from '../model/brand.js';
import { refuseAsSql } from '../model/dashboard/as-sql.js';
import type { MetricDefinition } from '../model/dashboard/metric.js';
import type { Scalar } from '../model/filter/filter.js';
import { handled } from '../model/handled.js';
import type {
  Engine,
  KeptRollup,
  MetricAnswer,
  MetricQuestion,
  OptionsQuestion,
  Reads,
  RequestSignal,
  RollupBuilder,
} from '../model/query/engine.js';
import type { LiveEngine, LiveSource, ReadLive } from '../model/query/live.js';
import { codeOf } from '../model/query/numbers.js';
import { Refusal } from '../model/refusal.js';
import type { RequestUse, UsedOn } from '../model/usage.js';
import { inSpan } from '../platform/traces/trace.js';
import { breathe } from '../platform/work/breathe.js';
import { BulkheadFull, createBulkhead } from '../platform/work/bulkhead.js';
import { closeAll } from '../platform/work/close-all.js';
import { unlisted } from '../platform/work/running-work.js';
import { systemTiming } from '../platform/work/time.js';
import type { CacheKeyParts } from './cache/key.js';
import { hand } from './connections/batches.js';
import {
  type Database,
  logGone,
  loggedTenant,
  ReaderFailed,
  type ResultTable,
  type Running,
  refuseAborted,
  refuseOldTypes,
} from './connections/database.js';
import { usualLimits } from './connections/limits.js';
import { createDatabases, type Databases, type DatabasesOptions } from './datasources/databases.js';
import type { Statement } from './dialect/dialect.js';
import { refuseQuery } from './dialect/refuse.js';
import { metricAsSql } from './prepare/as-sql.js';
import { createPlanCache, type PlanCache } from './prepare/plan-cache.js';
import { type AnyAsk, type Preparing, prepare, type RunScoped } from './prepare/prepare.js';
import type { Prepared } from './prepare/prepared.js';
import { createCountRepeats } from './repeats.js';
import type { ReadTail } from './rollups/rollups.js';
import { createRollups, type Rollups, type RollupsOptions } from './rollups/rollups.js';
import { createRows, type Rows, type RowsOptions } from './rows.js';
import { type QueryWatch, withoutValues } from './run/query-watch.js';
import { type RunResult, run } from './run/run.js';
import { type StreamBatch, streamed } from './run/stream.js';
import { clientDatabaseOf } from './scope/client-database.js';
import { createMaskKeys, type MaskKeyOf } from './scope/mask-keys.js';
import { createTenantNames } from './tenant-names.js';

/** Limits of an answer whose question names no smaller limit. */
export type AnswerLimits = {
  readonly answerRows: number;
  /** Bytes as the database sends them; see `rowBytes`. In a download, of one batch. */
  readonly answerBytes: number;
};

const underlyingRows = 1000;
const optionRows = 100;

export type EngineOptions = DatabasesOptions &
  RowsOptions & {
    readonly limits?: AnswerLimits;
    readonly watch?: QueryWatch | undefined;
    /** The secret of hashes of masked values, the same for all replicas. Left out: no column can be hashed. */
    readonly maskSecret?: Buffer | undefined;
    /** Left out: no rollup is built, and none answers. */
    readonly rollups?: RollupsOptions | undefined;
    /** Receives what reads the state of the engine. */
    readonly live?: (read: ReadLive) => void;
  };

/** Opens each datasource at the first question about it. Errors of drivers go to `log`, never to the caller. */
export const createEngine = (options: EngineOptions): Engine => {
  const databases = createDatabases(options);
  const rows = createRows(options);
  const limits = options.limits ?? usualLimits.limits;
  const planCache = createPlanCache();
  const { log, watch } = options;
  const rollups = openRollups(options, databases, limits);
  const maskKeyOf = options.maskSecret === undefined ? undefined : createMaskKeys(options.maskSecret);
  const renewals = createRenewals(log, (signal) => createReads(parts, signal));
  const parts: Parts = { databases, rows, limits, planCache, log, watch, maskKeyOf, rollups, renew: renewals.renew };
  options.live?.(() => liveOf(parts));
  const until = (signal: RequestSignal | undefined): Reads => createReads(parts, signal);
  return {
    ...until(undefined),
    until,
    check: createCheck(parts),
    statement: createStatement(parts),
    asSql: createAsSql(parts),
    countRepeats: createCountRepeats(databases, log),
    tenantNames: createTenantNames(databases, log),
    introspect: databases.introspect,
    listClientDatabases: databases.listClientDatabases,
    readRights: databases.readRights,
    forget: async (datasourceId) => {
      rows.forgetDatasource(datasourceId);
      await databases.forget(datasourceId);
    },
    forgetClient: (dataAppId, clientId) => {
      planCache.forgetClient(dataAppId, clientId);
      watch?.forget(dataAppId, clientId);
      return rows.forgetClient(dataAppId, clientId);
    },
    rollups: builderOf(rollups, options),
    eraseFromRollups: async (clientId) => rollups?.eraseClient(clientId),
    close: () => closeAll([renewals.close, databases.close, rows.close, async () => rollups?.close()]),
  };
};

const builderOf = (rollups: Rollups | null, options: Pick<EngineOptions, 'running' | 'rollups'>): Engine['rollups'] => {
  if (rollups === null) return null;
  const { assertOpen, state, keepOnly } = rollups;
  return { build: listedBuild(rollups, options), assertOpen, state, keepOnly };
};

const openRollups = (options: EngineOptions, databases: Databases, { answerBytes }: AnswerLimits): Rollups | null => {
  const { rollups, clock, timeoutMs = usualLimits.timeoutMs } = options;
  if (rollups === undefined) return null;
  const timing = options.cache?.timing ?? systemTiming;
  const { log } = options;
  return createRollups({ ...rollups, log, databases, clock, timing, timeoutMs, batchBytes: answerBytes });
};

/** Builds that wait for another one of this process. */
const mostBuilds = 100;

/** One build runs at once, since each has a process and its memory. */
const listedBuild = (
  { build }: Rollups,
  { running = unlisted, rollups }: Pick<EngineOptions, 'running' | 'rollups'>,
): RollupBuilder['build'] => {
  const inTurn = createBulkhead({ maxConcurrent: 1, maxQueued: mostBuilds });
  return (asked, signal) => {
    const [datamart, rollup] = [asked.datamart.name, asked.rollup.name];
    const subject = `${datamart} / ${rollup}`;
    const work: Parameters<typeof running.during<KeptRollup>>[1] = ({ signal: until = signal, begins }) =>
      inTurn(async () => {
        begins();
        const kept = await build(asked, until);
        rollups?.built?.(datamart, rollup);
        return kept;
      }, until);
    return running.during({ kind: 'build', subject, canEnd: true }, work, signal).catch(refuseFull);
  };
};

const refuseFull = (cause: unknown): never => {
  if (!(cause instanceof BulkheadFull)) throw cause;
  const message = 'Too many builds wait already. Retry once some have ended.';
  throw new Refusal('METRIC_QUERY_ERROR', message, { cause, reason: 'rollup-busy' });
};

const liveOf = ({ databases, rows }: Pick<Parts, 'databases' | 'rows'>): LiveEngine => {
  const queues = rows.queues();
  const sources = databases.live().map((source): LiveSource => {
    const of = (wanted: 'query' | 'download') => {
      const own = queues.filter(({ datasourceId, kind }) => datasourceId === source.id && kind === wanted);
      const sum = (what: 'running' | 'waiting') => own.reduce((total, queue) => total + queue[what], 0);
      return { running: sum('running'), waiting: sum('waiting') };
    };
    return { ...source, queries: of('query'), downloads: of('download') };
  });
  return { sources, cache: rows.cache() };
};

type Parts = {
  readonly databases: Databases;
  readonly rows: Rows;
  readonly limits: AnswerLimits;
  readonly planCache: PlanCache;
  readonly log: EngineOptions['log'];
  readonly watch: QueryWatch | undefined;
  readonly maskKeyOf: MaskKeyOf | undefined;
  readonly rollups: Rollups | null;
  /** Asks again what was answered by an older answer. */
  readonly renew: (question: MetricQuestion, use: RequestUse | undefined) => void;
};

/** With more, the next reader of an older answer has it asked anew. */
const mostRenewals = 50;

/** Questions that nobody waits for: their answers are kept for the next reader. */
const createRenewals = (log: EngineOptions['log'], readsFor: (signal: RequestSignal) => Pick<Reads, 'query'>) => {
  const running = new Map<AbortController, Promise<unknown>>();
  const renew: Parts['renew'] = ({ mayBeStale: _, ...question }, use) => {
    if (running.size >= mostRenewals) return;
    const ending = new AbortController();
    const failed = (err: unknown): void => {
      if (!ending.signal.aborted) log.warn({ event: 'cache.renewal_failed', err }, 'failed to renew a stale answer');
    };
    const reads = readsFor(Object.assign(ending.signal, { use }));
    running.set(
      ending,
      handled(
        reads
          .query(question)
          .catch(failed)
          .finally(() => running.delete(ending)),
      ),
    );
  };
  return {
    renew,
    close: async (): Promise<void> => {
      for (const ending of running.keys()) ending.abort();
      await Promise.all(running.values());
    },
  };
};

const createReads = (parts: Parts, signal: RequestSignal | undefined): Reads => {
  const { databases, limits, log, watch } = parts;
  const { answerRows, answerBytes } = limits;
  const requestId = signal?.requestId;
  const running: Running = { signal, maxBytes: answerBytes, requestId };
  const use = <R>({ question }: AnyAsk, work: (database: Database) => Promise<R>): Promise<R> =>
    databases.use(question.datasource, clientDatabaseOf(question), work, {
      requestId,
      tenant: loggedTenant(question.tenant),
    });
  const gone =
    ({ question }: AnyAsk) =>
    (): void =>
      logGone(log, question, requestId);
  const ask = async (asked: AnyAsk, most: number): Promise<MetricAnswer> => {
    const { limit } = asked.question;
    const bounded = { ...asked, question: { ...asked.question, limit: Math.min(limit ?? most, answerRows) } } as AnyAsk;
    const answered = await answerCounted(asked, signal, watch, (ran) => {
      const { shownOn } = asked.question;
      const work = (database: Database) => answer({ ...parts, database, ran, shownOn }, bounded, running);
      return refuseAborted(signal, gone(asked), () => use(asked, work));
    });
    return markCut(answered, asked);
  };
  return {
    query: async (question) => {
      const answered = await ask(answerOf(question), answerRows);
      if (answered.isStale === true) parts.renew(question, signal?.use);
      return answered;
    },
    underlying: async (question) => ask({ kind: 'underlying', question: visual(question) }, underlyingRows),
    options: async (question) => {
      const { rows } = await ask({ kind: 'options', question: visual(question) }, optionRows);
      return rows.flatMap((row) => Object.values(row).filter((value): value is Scalar => value !== null));
    },
    stream: async (question) => {
      const asked = answerOf(question);
      const ran: NonNullable<Place['ran']> = (make) => counted(signal?.use, question.shownOn ?? noPlace, make);
      return streamed(signal, gone(asked), (sink) =>
        use(asked, (database) => stream({ ...parts, database, ran }, asked, running, sink)),
      );
    },
  };
};

/** Answers, and counts the answer for operators and for whose use it is. What its caller gave up is not counted. */
const answerCounted = async (
  { question }: AnyAsk,
  signal: RequestSignal | undefined,
  watch: QueryWatch | undefined,
  work: (ran: NonNullable<Place['ran']>) => Promise<MetricAnswer>,
): Promise<MetricAnswer> => {
  const shownOn = question.shownOn ?? noPlace;
  let hasRun = false;
  const answering = () =>
    inSpan({ name: 'answer' }, async (span) => {
      const answered = await work((make) => {
        hasRun = true;
        return counted(signal?.use, shownOn, make);
      });
      span.note(() => ({ 'guestlist.rows': answered.rows.length, 'guestlist.kept': !hasRun }));
      return answered;
    });
  const of = { ...ownerOf(question), dashboardId: shownOn.dashboardId, ran: () => hasRun };
  try {
    const answered = await (watch === undefined ? answering() : watch.answer(of, answering, signal));
    signal?.use?.add(shownOn, { rows: answered.rows.length, keptAnswers: hasRun ? 0 : 1 });
    return answered;
  } catch (error) {
    if (signal?.aborted !== true) signal?.use?.add(shownOn, { failedAnswers: 1 });
    throw error;
  }
};

/** Any width has the types of the one that `bucketCount` would take from the rows. */
const withoutCounting = (definition: MetricDefinition): MetricDefinition =>
  definition.kind === 'sql'
    ? definition
    : {
        ...definition,
        dimensions: definition.dimensions.map(({ bucketCount, ...rest }) =>
          bucketCount === undefined || rest.bucketWidth !== undefined ? rest : { ...rest, bucketWidth: 1 },
        ),
      };

type Placed = Pick<MetricQuestion, 'datasource' | 'datamart' | 'tenant'>;

/** Opens the database of the question, and reads no row. */
const atDatabase = <R>(
  { databases, limits, log, maskKeyOf }: Parts,
  question: Placed,
  signal: RequestSignal,
  work: (database: Database, preparing: Preparing) => Promise<R>,
): Promise<R> => {
  const { requestId } = signal;
  const preparing = { signal, maxBytes: limits.answerBytes, requestId, isWritten: true, maskKeyOf };
  const logged = { requestId, tenant: loggedTenant(question.tenant) };
  const use = (database: Database): Promise<R> => work(database, preparing);
  const gone = () => logGone(log, question, requestId);
  return refuseAborted(signal, gone, () => databases.use(question.datasource, clientDatabaseOf(question), use, logged));
};

/** Prepares the statement like any query, reads no row, and passes it to `use`. */
const withStatement = <R>(
  parts: Parts,
  ask: AnyAsk,
  signal: RequestSignal,
  use: (database: Database, prepared: Prepared, running: Running) => Promise<R>,
): Promise<R> =>
  atDatabase(parts, ask.question, signal, async (database, preparing) => {
    const running: Running = { signal, maxBytes: preparing.maxBytes, requestId: signal.requestId };
    const runScoped = runOf({ ...parts, database }, ask.question, running);
    return use(database, await prepare(database, ask, preparing, runScoped), running);
  });

/** Types are the same on every day. */
const anyDay = '2000-01-01';

/** Runs the statement with LIMIT 0. */
const createCheck =
  (parts: Parts): Engine['check'] =>
  (asked, signal) => {
    const definition = withoutCounting(asked.definition);
    // Nothing is cached and no row is read, so none of these has an effect.
    const noCache = { dataAppId: '', epoch: 'none' as Epoch, timezone: null, today: anyDay };
    const ask = answerOf({ ...asked, ...noCache, definition, sort: null, limit: 0, offset: 0 });
    return withStatement(parts, ask, signal, async (database, { compiled }, running) => {
      await database.run(compiled.page, ask.question.tenant, running);
    });
  };

const createStatement =
  (parts: Parts): Engine['statement'] =>
  (asked, signal) => {
    const limit = Math.min(asked.limit ?? parts.limits.answerRows, parts.limits.answerRows);
    const ask = answerOf({ ...asked, limit, definition: withoutCounting(asked.definition) });
    return withStatement(parts, ask, signal, async (_, { compiled, written }) => ({
      sql: compiled.page.sql,
      columns: written,
    }));
  };

const createAsSql =
  (parts: Parts): Engine['asSql'] =>
  async ({ definition, ...asked }, signal) => {
    if (definition.kind === 'sql') return refuseAsSql('it is in SQL already');
    return atDatabase(parts, asked, signal, (database, preparing) =>
      metricAsSql(database, { ...asked, definition }, preparing),
    );
  };

/** Marks an answer that was cut at a limit the caller did not set. */
const markCut = (answered: MetricAnswer, { question }: AnyAsk): MetricAnswer => {
  const { rows, totalRecords } = answered;
  const offset = 'offset' in question ? question.offset : 0;
  const isShort = rows.length < (question.limit ?? Number.POSITIVE_INFINITY);
  const isCut = answered.isTruncated === true || (isShort && offset + rows.length < totalRecords);
  return isCut ? { ...answered, isTruncated: true } : answered;
};

const answerOf = (question: MetricQuestion): AnyAsk => {
  const { definition } = question;
  return definition.kind === 'sql'
    ? { kind: 'sql', question: { ...question, definition } }
    : { kind: 'answer', question: { ...question, definition } };
};

const visual = <Question extends OptionsQuestion | MetricQuestion>(question: Question) => {
  const { definition } = question;
  if (definition.kind !== 'visual') {
    return refuseQuery(
      'A metric in SQL has no underlying rows and no filter options. Only its answer can be queried.',
      'sql-without-rows',
    );
  }
  return { ...question, definition };
};

/** `ran` runs each query of the database. */
type Place = Parts & {
  readonly database: Database;
  readonly ran?: <R>(make: () => Promise<R>) => Promise<R>;
  /** Of the rows that the answer shows, whose age it tells. */
  readonly mayBeStale?: boolean | undefined;
  readonly shownOn?: UsedOn | undefined;
};

const noPlace: UsedOn = { dashboardId: null, metricId: null };

/**
 * Counts a query of the database, which is stored before its answer is used, and the time that it takes. Throws
 * QUOTA_REACHED.
 */
const counted = async <R>(use: RequestUse | undefined, on: UsedOn, make: () => Promise<R>): Promise<R> => {
  if (use === undefined) return make();
  const counted = await use.hold('sourceQueries');
  use.add(on, { sourceQueries: 1 });
  counted();
  const startedMs = systemTiming.nowMs();
  const spent = (): void => use.add(on, { ms: systemTiming.nowMs() - startedMs });
  const [made] = await Promise.all([make().finally(spent), use.stored()]);
  return made;
};

const ownerOf = ({ dataAppId, tenant }: Pick<MetricQuestion, 'dataAppId' | 'tenant'>) => ({
  dataAppId,
  clientId: tenant.kind === 'tenant' ? tenant.clientId : null,
});

/** The database's own plan of the statement, in the scope of the question, without the statement's values. */
const explained =
  ({ databases, limits }: Parts, question: CacheKeyParts['question'], { sql, parameters }: Statement) =>
  async (): Promise<string> => {
    const ask = (database: Database) =>
      database.run({ sql: `${database.dialect.explain ?? 'EXPLAIN'} ${sql}`, parameters }, question.tenant, {
        maxBytes: limits.answerBytes,
      });
    const { names, rows } = await databases.use(question.datasource, clientDatabaseOf(question), ask);
    // DuckDB names each plan in a column before it.
    const first = Math.max(0, names.indexOf('explain_value'));
    return withoutValues(rows.map((row) => row.slice(first).join(' ')).join('\n'), parameters);
  };

/** Loads the rows of tenant-scoped plans: from the cache, or from the database in the client's turn. */
const runOf =
  (place: Place, question: CacheKeyParts['question'], { signal, ...running }: Running): RunScoped =>
  (plan, statements, page) => {
    const { database, rows, watch, mayBeStale } = place;
    const read = (ended: AbortSignal | undefined) =>
      run(database, statements, { page, tenant: question.tenant, running: { ...running, signal: ended } });
    const watched = {
      ...ownerOf(question),
      datasource: question.datasource.name,
      requestId: running.requestId,
      sql: statements.page.sql,
      explain: explained(place, question, statements.page),
    };
    const make = (ended: AbortSignal | undefined) => {
      const ask = () => (watch === undefined ? read(ended) : watch.run(watched, () => read(ended), ended));
      return place.ran === undefined ? ask() : place.ran(ask);
    };
    const asked = { shownOn: place.shownOn, requestId: running.requestId };
    return rows.load({ question, plan, statements, page, mayBeStale }, make, signal, asked);
  };

const manyRows = 1000;

const answer = async (place: Place, ask: AnyAsk, running: Running): Promise<MetricAnswer> => {
  const prepared = await prepareOnce(place, ask, running);
  const { question, scoped, compiled, page, shape, hasOtherTypes } = prepared;
  const mayBeStale = 'mayBeStale' in ask.question && ask.question.mayBeStale === true;
  const kept = await readKept({ ...place, mayBeStale }, ask, prepared, running);
  if (kept !== null) {
    if (kept.read.rows.length > manyRows) await breathe();
    const currency = await tenantCurrencyOf(place, prepared, running);
    return { ...shape(kept.read, currency), ...ageOf(kept.reads, kept.asOf) };
  }
  const read = await runOf({ ...place, mayBeStale }, question, running)(scoped, compiled, page);
  if (place.database.isOld?.() === true && hasOtherTypes(read)) refuseOldTypes();
  // A long answer would block the event loop: other requests run before it is shaped.
  if (read.rows.length > manyRows) await breathe();
  return { ...shape(read, await tenantCurrencyOf(place, prepared, running)), ...ageOf([read]) };
};

/** Of an answer that is made of these rows. `asOf`: when a rollup's were read. */
const ageOf = (reads: readonly RunResult[], asOf?: string): Pick<MetricAnswer, 'asOf' | 'isStale'> => {
  const stale = reads.flatMap(({ readAtMs }) => (readAtMs === undefined ? [] : [new Date(readAtMs).toISOString()]));
  const [oldest] = [...stale, ...(asOf === undefined ? [] : [asOf])].toSorted();
  return {
    ...(oldest === undefined ? {} : { asOf: oldest }),
    ...(stale.length === 0 ? {} : { isStale: true as const }),
  };
};

/** Rows of a rollup. `reads`: all that was read for them, the tenant's open time too. */
type Kept = { readonly read: RunResult; readonly reads: readonly RunResult[]; readonly asOf: string };

/** Null: no rollup holds all that the question reads, or its files cannot be read; the source answers. */
const readKept = async (
  place: Place,
  { question }: AnyAsk,
  prepared: Prepared,
  running: Running,
): Promise<Kept | null> => {
  const { rollups, database, log, rows, mayBeStale } = place;
  if (rollups === null || question.definition.kind !== 'visual' || !('sort' in question)) return null;
  const reads: RunResult[] = [];
  const readTail: ReadTail = async (of, { scoped, compiled, page }) => {
    const tail = await runOf(place, of, running)(scoped, compiled, page);
    reads.push(tail);
    return tail;
  };
  const { signal, requestId, ...limits } = running;
  try {
    const chosen = await rollups.choose(database, question, prepared, readTail);
    if (chosen === null) return null;
    const { scoped, compiled, page, run: runKept, asOf } = chosen;
    const make = (ended: AbortSignal | undefined) =>
      run({ run: runKept }, compiled, { page, tenant: question.tenant, running: { ...limits, signal: ended } });
    const parts = { question: prepared.question, plan: scoped, statements: compiled, page, mayBeStale };
    const read = await rows.load(parts, make, signal, { shownOn: place.shownOn, requestId });
    return { read, reads: [...reads, read], asOf };
  } catch (err) {
    // A refusal is of the source: it is busy, or its columns have changed.
    if (err instanceof Refusal || signal?.aborted === true) throw err;
    log.warn({ event: 'rollup.failed', err, requestId }, 'failed to read a rollup; the source answers');
    return null;
  }
};

/** The one currency that the tenant's rows of the client master table name; undefined if they do not name one. */
const tenantCurrencyOf = async (
  place: Place,
  { question, tenantCurrency }: Prepared,
  running: Running,
): Promise<string | undefined> => {
  if (tenantCurrency === null) return undefined;
  const { scoped, compiled, page } = tenantCurrency;
  const { rows } = await runOf(place, question, running)(scoped, compiled, page);
  return rows.length === 1 ? codeOf(rows[0]?.[0]) : undefined;
};

/** A preparation that had to read rows depends on those rows, so it is not cached. */
const prepareOnce = (place: Place, ask: AnyAsk, running: Running): Promise<Prepared> =>
  place.planCache.load(place.database, ask, async () => {
    let isLasting = true;
    const runScoped = runOf(place, ask.question, running);
    const prepared = await prepare(
      place.database,
      ask,
      { ...running, isWritten: false, maskKeyOf: place.maskKeyOf },
      (...asked) => {
        isLasting = false;
        return runScoped(...asked);
      },
    );
    return { prepared, isLasting };
  });

type Take = (batch: StreamBatch) => Promise<void>;

/**
 * Gives the rows of a rollup, where it answers the question and they are not more than an answer may have: a reader may
 * be slow, and few connections read the files. Returns whether they were given.
 */
const streamKept = async (place: Place, ask: AnyAsk, prepared: Prepared, running: Running, sink: Take) => {
  const kept = await readKept(place, ask, prepared, running);
  if (kept === null || kept.read.isCut === true) return false;
  const currency = await tenantCurrencyOf(place, prepared, running);
  const { rows } = kept.read;
  for (let at = 0; at === 0 || at < rows.length; at += manyRows) {
    running.signal?.throwIfAborted();
    const batch = { ...kept.read, rows: rows.slice(at, at + manyRows) };
    await hand((table) => sink(prepared.shapeBatch(table, currency)), batch).catch(asStated);
  }
  return true;
};

const asStated = (cause: unknown): never => {
  throw cause instanceof ReaderFailed ? cause.cause : cause;
};

const streamRead = async (place: Place, ask: AnyAsk, prepared: Prepared, running: Running, sink: Take) => {
  const { database } = place;
  const { compiled, shapeBatch, hasOtherTypes } = prepared;
  const currency = await tenantCurrencyOf(place, prepared, running);
  let isFirst = true;
  const take = (batch: ResultTable): Promise<void> => {
    if (isFirst && database.isOld?.() === true && hasOtherTypes(batch)) refuseOldTypes();
    isFirst = false;
    return sink(shapeBatch(batch, currency));
  };
  const readAll = () => database.stream(compiled.page, ask.question.tenant, take, running);
  return place.ran === undefined ? readAll() : place.ran(readAll);
};

/**
 * Holds the client's turn until the reader took the last row, also of a rollup: its rows are in memory. What the source
 * answers is never cached.
 */
const stream = async (place: Place, ask: AnyAsk, running: Running, sink: Take): Promise<void> => {
  const prepared = await prepareOnce(place, ask, running);
  const asked = { ...ask.question, requestId: running.requestId };
  const inTurn = async (signal: AbortSignal | undefined): Promise<void> => {
    const own = { ...running, signal };
    if (!(await streamKept(place, ask, prepared, own, sink))) await streamRead(place, ask, prepared, own, sink);
  };
  await place.rows.download(asked, prepared.scoped, inTurn, running.signal);
};
