/** Rows of scoped plans: kept ones, or those that are read in their client's turn. Who finds them kept does not wait in line. */
import type { Datasource } from '../domain/organization.js';
import type { MetricQuestion } from '../domain/query/engine.js';
import { systemTiming } from '../platform/timing.js';
import { createResultCache, type ResultCache, type ResultCacheOptions } from './cache/result-cache.js';
import { type Log, refuseDisconnected } from './connections/database.js';
import { connectionsPerFile } from './databases/duckdb/database.js';
import { usualConnections } from './datasources/databases.js';
import { type EngineMetrics, noMetrics } from './engine-metrics.js';
import { createFairQueues } from './run/fair-lines.js';
import type { QueueLimits } from './run/fair-queue.js';
import type { RunResult } from './run/run.js';

/** `places` null: as many as the database has connections. `perClient` null: two thirds of them. */
export type QueueSettings = Omit<QueueLimits, 'places' | 'perClient'> & {
  readonly places: number | null;
  readonly perClient: number | null;
};

export type RowsOptions = {
  readonly log: Log;
  /** Left out: nothing is kept between questions. */
  readonly cache?: ResultCacheOptions | undefined;
  readonly line?: Partial<QueueSettings> | undefined;
  /** Connections to one server, as `DatabasesOptions` has it: so many of its queries run at once. */
  readonly maxConnectionsPerDatasource?: number;
  readonly metrics?: EngineMetrics | undefined;
};

export const defaultQueue: QueueSettings = {
  places: null,
  perClient: null,
  waiting: 2000,
  waitingPerClient: 200,
  waitMs: 30_000,
};

export type Rows = Pick<ResultCache, 'load' | 'forgetDatasource' | 'forgetClient' | 'close'> & {
  /** In the client's turn among downloads, and never kept. */
  readonly download: <R>(
    question: Pick<MetricQuestion, 'dataAppId' | 'tenant' | 'datasource'>,
    at: { readonly database: string },
    work: () => Promise<R>,
    signal?: AbortSignal | undefined,
  ) => Promise<R>;
};

const keepNothing: Pick<ResultCache, 'forgetDatasource' | 'forgetClient' | 'close' | 'bytes'> = {
  forgetDatasource: () => {},
  forgetClient: async () => {},
  close: () => {},
  bytes: () => 0,
};

export const createRows = (options: RowsOptions): Rows => {
  const { cache, log, metrics = noMetrics } = options;
  const noted = { answered: metrics.answered, evicted: metrics.evicted };
  const kept = cache === undefined ? undefined : createResultCache({ ...cache, log, noted });
  const { bytes, ...keeping } = kept ?? keepNothing;
  const lines = createFairQueues(cache?.timing ?? systemTiming, metrics.refused);
  const limitsOf = createLimits(options);
  const inTurn =
    (kind: Kind): Rows['download'] =>
    ({ dataAppId, tenant, datasource }, { database }, work, signal) => {
      const client = JSON.stringify([dataAppId, tenant.kind === 'tenant' ? tenant.clientId : null]);
      const limits = limitsOf(datasource, kind);
      return lines.use({ database: JSON.stringify([datasource.id, database, kind]), client, limits }, work, signal);
    };
  const query = inTurn('query');
  metrics.watch('cacheBytes', bytes);
  metrics.watch('waiting', lines.waiting);
  return {
    ...keeping,
    download: inTurn('download'),
    load: (parts, make, signal) => {
      const read = (ended: AbortSignal | undefined): Promise<RunResult> =>
        query(parts.question, parts.plan, () => make(ended), ended);
      return goneRefused(signal, () => (kept === undefined ? read(signal) : kept.load(parts, read, signal)));
    },
  };
};

/** Whoever left the line, or a query that others wait for, is refused as one whose own query was stopped. */
const goneRefused = async <R>(signal: AbortSignal | undefined, work: () => Promise<R>): Promise<R> => {
  try {
    return await work();
  } catch (cause) {
    if (signal?.aborted === true && cause === signal.reason) return refuseDisconnected(cause);
    throw cause;
  }
};

/** A download takes as long as its reader: those are a third of all at most, so that they never hold up what is asked for a screen. */
type Kind = 'query' | 'download';

/** As many places as the database has connections: who waits, waits here, and not for a connection. */
const createLimits = ({ line, maxConnectionsPerDatasource = usualConnections }: RowsOptions) => {
  const { places: given, perClient, ...rest } = { ...defaultQueue, ...line };
  return ({ datasourceType }: Pick<Datasource, 'datasourceType'>, kind: Kind): QueueLimits => {
    const all = given ?? (datasourceType === 'DUCKDB' ? connectionsPerFile : maxConnectionsPerDatasource);
    const places = kind === 'query' ? all : Math.max(1, Math.floor(all / 3));
    return { ...rest, places, perClient: Math.min(places, perClient ?? Math.ceil((places * 2) / 3)) };
  };
};
