/** Rows of secured plans: kept ones, or those that are read in their client's turn. Who finds them kept does not wait in line. */
import { systemTiming } from '../platform/timing.js';
import type { Keyed } from './cache/key.js';
import { createResultCache, type ResultCache, type ResultCacheOptions } from './cache/result-cache.js';
import type { Log } from './database.js';
import { type EngineMetrics, noMetrics } from './engine-metrics.js';
import type { LineLimits } from './fair-line.js';
import { createFairLines } from './fair-lines.js';
import type { RunResult } from './run.js';

export type RowsOptions = {
  readonly log: Log;
  /** Left out: nothing is kept between questions. */
  readonly cache?: ResultCacheOptions | undefined;
  readonly line?: Partial<LineLimits> | undefined;
  readonly metrics?: EngineMetrics | undefined;
};

/** `places` is how many connections a database has. */
export const usualLine: LineLimits = {
  places: 3,
  perClient: 2,
  waiting: 2000,
  waitingPerClient: 200,
  waitMs: 30_000,
};

export type Rows = Pick<ResultCache, 'load' | 'forgetDatasource' | 'forgetClient' | 'close'>;

const keepNothing: Pick<ResultCache, 'forgetDatasource' | 'forgetClient' | 'close' | 'bytes'> = {
  forgetDatasource: () => {},
  forgetClient: async () => {},
  close: () => {},
  bytes: () => 0,
};

export const createRows = ({ cache, line, log, metrics = noMetrics }: RowsOptions): Rows => {
  const noted = { answered: metrics.answered, evicted: metrics.evicted };
  const kept = cache === undefined ? undefined : createResultCache({ ...cache, log, noted });
  const { bytes, ...keeping } = kept ?? keepNothing;
  const lines = createFairLines({ ...usualLine, ...line }, cache?.timing ?? systemTiming, metrics.refused);
  metrics.watch('cacheBytes', bytes);
  metrics.watch('waiting', lines.waiting);
  return {
    ...keeping,
    load: (keyed, make, signal) => {
      const inTurn = (ended: AbortSignal | undefined): Promise<RunResult> =>
        lines.use(placeOf(keyed), () => make(ended), ended);
      return kept === undefined ? inTurn(signal) : kept.load(keyed, inTurn, signal);
    },
  };
};

const placeOf = ({ question: { dataAppId, tenant, datasource }, plan }: Keyed) => ({
  database: JSON.stringify([datasource.id, plan.database]),
  client: JSON.stringify([dataAppId, tenant.kind === 'tenant' ? tenant.clientId : null]),
});
