/** Rows of tenant-scoped plans: from the result cache, or read from the database in the client's turn. A cache hit does not wait in the queue. */
import type { Datasource } from '../model/organization.js';
import type { MetricQuestion } from '../model/query/engine.js';
import type { LiveEngine, LiveQueue } from '../model/query/live.js';
import type { RunningWork } from '../model/query/running.js';
import type { UsedOn } from '../model/usage.js';
import { unlisted } from '../platform/work/running-work.js';
import { systemTiming } from '../platform/work/time.js';
import {
  type CacheOutcome,
  createResultCache,
  type ResultCache,
  type ResultCacheOptions,
} from './cache/result-cache.js';
import type { Log } from './connections/database.js';
import { usualLimits } from './connections/limits.js';
import { kinds } from './databases/kinds.js';
import { createFairQueues, type QueueLimits } from './run/fair-queue.js';
import type { RunResult } from './run/run.js';

/** `running` null: as many as the database has connections. `runningPerClient` null: two thirds of `running`. */
export type QueueSettings = Omit<QueueLimits, 'running' | 'runningPerClient' | 'holdsLoud'> & {
  readonly running: number | null;
  readonly runningPerClient: number | null;
};

export type RowsOptions = {
  readonly log: Log;
  /** Left out: nothing is cached. */
  readonly cache?: ResultCacheOptions | undefined;
  readonly queue?: Partial<QueueSettings> | undefined;
  /** As in `DatabasesOptions`. As many queries of one server run at once. */
  readonly maxConnectionsPerDatasource?: number;
  readonly meters?: EngineMeters | undefined;
  /** Lists what runs and waits. Left out: nothing is listed. */
  readonly running?: Pick<RunningWork, 'during'> | undefined;
};

/** What runs and waits at one database of a datasource. */
type RowsQueue = LiveQueue & { readonly datasourceId: string; readonly kind: Kind };

/** For operators: who asked, and where the answer is shown. */
export type AskedOn = { readonly shownOn?: UsedOn | undefined; readonly requestId?: string | undefined };

export type Rows = Pick<ResultCache, 'forgetDatasource' | 'forgetClient' | 'close'> & {
  /** As `load` of the cache. */
  readonly load: (
    parts: Parameters<ResultCache['load']>[0],
    make: (signal: AbortSignal | undefined) => Promise<RunResult>,
    signal?: AbortSignal | undefined,
    asked?: AskedOn,
  ) => Promise<RunResult>;
  /** Runs the work in the client's turn among downloads. Never cached. */
  readonly download: <R>(
    question: Pick<MetricQuestion, 'dataAppId' | 'tenant' | 'datasource'> & AskedOn,
    at: { readonly database: string },
    work: (signal: AbortSignal | undefined) => Promise<R>,
    signal?: AbortSignal | undefined,
  ) => Promise<R>;
  readonly queues: () => readonly RowsQueue[];
  readonly cache: () => LiveEngine['cache'];
};

const keepNothing: Pick<ResultCache, 'forgetDatasource' | 'forgetClient' | 'close' | 'bytes'> = {
  forgetDatasource: () => {},
  forgetClient: async () => {},
  close: async () => {},
  bytes: () => 0,
};

export const createRows = (options: RowsOptions): Rows => {
  const { cache, log, meters = noMeters, running = unlisted } = options;
  const noted = { answered: meters.answered, evicted: meters.evicted };
  const kept = cache === undefined ? undefined : createResultCache({ ...cache, log, noted });
  const { bytes, ...keeping } = kept ?? keepNothing;
  const queues = createFairQueues(cache?.timing ?? systemTiming, meters.refused, meters.waited);
  const limitsOf = createLimits(options);
  const queued =
    (kind: Kind): Rows['download'] =>
    ({ dataAppId, tenant, datasource, shownOn, requestId }, { database }, work, signal) => {
      const clientId = tenant.kind === 'tenant' ? tenant.clientId : null;
      const at = {
        database: JSON.stringify([datasource.id, database, kind]),
        client: JSON.stringify([dataAppId, clientId]),
        limits: limitsOf(datasource, kind),
      };
      const whose = { dataAppId, clientId, ...shownOn, requestId: requestId ?? null };
      return running.during(
        { kind, subject: datasource.name, canEnd: true, ...whose },
        ({ signal: until, begins }) => {
          const run = () => {
            begins();
            return work(until);
          };
          return queues.use(at, run, until);
        },
        signal,
      );
    };
  const query = queued('query');
  meters.watch('cacheBytes', bytes);
  meters.watch('waiting', queues.waiting);
  return {
    ...keeping,
    download: queued('download'),
    queues: () =>
      queues.count().map(({ database, ...queue }) => {
        const [datasourceId, , kind]: [string, string, Kind] = JSON.parse(database);
        return { datasourceId, kind, ...queue };
      }),
    cache: () => (cache === undefined ? null : { bytes: bytes(), maxBytes: cache.maxBytes }),
    load: (parts, make, signal, asked) => {
      const read = (ended: AbortSignal | undefined): Promise<RunResult> =>
        query({ ...parts.question, ...asked }, parts.plan, make, ended);
      return kept === undefined ? read(signal) : kept.load(parts, read, signal);
    },
  };
};

/** Downloads take as long as their readers, so they get a third of the connections at most: dashboards never wait for a download. */
type Kind = 'query' | 'download';

/** As many queries run as the database has connections, so queries wait in the queue and not for a connection. */
const createLimits = ({ queue, ...options }: RowsOptions) => {
  const { maxConnectionsPerDatasource = usualLimits.maxConnectionsPerDatasource } = options;
  const { running: given, runningPerClient, ...rest }: QueueSettings = { ...usualLimits.queue, ...queue };
  return ({ datasourceType }: Pick<Datasource, 'datasourceType'>, kind: Kind): QueueLimits => {
    const all = given ?? kinds[datasourceType].connectionsPerFile ?? maxConnectionsPerDatasource;
    const running = kind === 'query' ? all : Math.max(1, Math.floor(all / 3));
    const ofOneClient = Math.min(running, runningPerClient ?? Math.ceil((running * 2) / 3));
    return { ...rest, running, runningPerClient: ofOneClient, holdsLoud: kind === 'query' };
  };
};

/** Receives the engine's meters. No value names a tenant. */
export type EngineMeters = {
  /** Once per question: where its rows came from. */
  readonly answered: (outcome: CacheOutcome) => void;
  /** A cached result was dropped to make room. */
  readonly evicted: () => void;
  /** A query found the queue full, or waited too long. */
  readonly refused: (why: 'full' | 'late') => void;
  /** A query got its turn, after this time in milliseconds. */
  readonly waited?: (ms: number) => void;
  readonly watch: (what: 'cacheBytes' | 'waiting', read: () => number) => void;
};

const nothing = (): void => {};

const noMeters: EngineMeters = { answered: nothing, evicted: nothing, refused: nothing, watch: nothing };
