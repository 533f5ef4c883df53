import type { MetricAnswer } from '../../model/query/engine.js';
import type { CacheKeyParts } from '../cache/key.js';
import type { ResultTable } from '../connections/database.js';
import type { PageOfRows } from '../plan/plan.js';
import type { RunResult } from '../run/run.js';
import type { StreamBatch } from '../run/stream.js';
import type { CompiledPlan } from '../sql/compile.js';

/** Compiled statements of a tenant-scoped plan, and how their result becomes an answer. */
export type Prepared = {
  /** The question of the first caller. */
  readonly question: CacheKeyParts['question'];
  readonly scoped: CacheKeyParts['plan'];
  readonly compiled: CompiledPlan;
  readonly page: PageOfRows;
  /** Whether the database answers values of other types than the catalog has. */
  readonly hasOtherTypes: (result: Pick<ResultTable, 'dataTypes'>) => boolean;
  readonly shape: (result: RunResult) => MetricAnswer;
  readonly shapeBatch: (batch: ResultTable) => StreamBatch;
};
