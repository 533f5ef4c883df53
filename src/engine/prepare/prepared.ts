import type { AnswerColumn, MetricAnswer } from '../../model/query/engine.js';
import type { CacheKeyParts } from '../cache/key.js';
import type { ResultTable } from '../connections/database.js';
import type { PageOfRows, TenantScopedPlan } from '../plan/plan.js';
import type { RunResult } from '../run/run.js';
import type { StreamBatch } from '../run/stream.js';
import type { CompiledPlan } from '../sql/compile.js';

/** A tenant-scoped plan and its statements. */
export type Scoped = {
  readonly scoped: CacheKeyParts['plan'];
  readonly compiled: CompiledPlan;
  readonly page: PageOfRows;
};

/** Compiled statements of a tenant-scoped plan, and how their result becomes an answer. */
export type Prepared = Scoped & {
  /** The question of the first caller. */
  readonly question: CacheKeyParts['question'];
  /** Reads the tenant's currency, where amounts of the answer are in it. */
  readonly tenantCurrency: Scoped | null;
  /** The plan of an answer of a visual metric, for which a rollup may stand in. Undefined: the source alone answers. */
  readonly visual?: TenantScopedPlan | undefined;
  /** The columns of a metric in SQL, whose types only the database knows. Empty for others. */
  readonly written: readonly AnswerColumn[];
  /** Whether the database answers values of other types than the catalog has. */
  readonly hasOtherTypes: (result: Pick<ResultTable, 'dataTypes'>) => boolean;
  readonly shape: (result: RunResult, tenantCurrency: string | undefined) => MetricAnswer;
  readonly shapeBatch: (batch: ResultTable, tenantCurrency: string | undefined) => StreamBatch;
};
