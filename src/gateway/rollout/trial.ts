/**
 * Runs the metrics that a roll-out changes for its canary tenants, before it writes anything. The service runs them with
 * the scope of the tenant that owns the copy, and answers no rows.
 */
import { canonicalJson } from '../../model/canonical-json.js';
import type { DashboardContent, TriedMetric } from '../../model/dashboard/dashboard.js';
import { Refusal } from '../../model/refusal.js';
import type { Policy } from '../policy/policy.js';
import { type Drift, type DriftContext, detectDrift } from './drift.js';
import type { Rollout, RolloutItem, RolloutLedger } from './model.js';
import { tryMetrics } from './try-metrics.js';

export type TrialContext = DriftContext & {
  readonly rollout: Rollout;
  readonly ledger: Pick<RolloutLedger, 'count' | 'listIds' | 'findItem' | 'settle'>;
  readonly policy: Policy;
};

/** How many tenants of the first step stand in for a canary, if the roll-out names none. */
const standInCount = 3;

/**
 * Returns the dashboards to try: those of the canary, else some of the first step that has any. Empty if there is no
 * copy, and once the roll-out has come further: it wrote only after a trial without errors.
 */
const listCanaries = async ({ rollout, ledger }: TrialContext): Promise<readonly string[]> => {
  const counts = await ledger.count(rollout.id);
  if (counts.length === 0 || counts.some(({ state }) => state !== 'waiting' && state !== 'failed')) return [];
  const first = Math.min(...counts.map(({ cohort }) => cohort));
  const ids = await ledger.listIds(rollout.id, ['waiting', 'failed'], first);
  return first === 0 ? ids : ids.slice(0, standInCount);
};

const isWritten = ({ options }: Rollout, drift: Drift): drift is Extract<Drift, { readonly merge: unknown }> => {
  if (!('merge' in drift) || !drift.merge.isChanged) return false;
  return drift.status !== 'conflict' || options.onConflict === 'keep-tenant';
};

/** Returns the metrics whose definitions the copy does not have yet. */
const changedMetrics = (before: DashboardContent, after: DashboardContent): DashboardContent['metrics'] => {
  const known = new Set(before.metrics.map(({ definition }) => canonicalJson(definition)));
  return after.metrics.filter(({ definition }) => !known.has(canonicalJson(definition)));
};

const faultOf = ({ metricId, name, message }: TriedMetric): string =>
  `metric ${JSON.stringify(name)} (${metricId}) fails for this tenant: ${message ?? 'no reason is given'}`;

/** Returns the first fault of a changed metric, or null. One call for each metric, so that none waits for the others. */
const tryItem = async (context: TrialContext, item: RolloutItem): Promise<string | null> => {
  const drift = await detectDrift(context, item, context.rollout.options.isAdopting);
  if (!isWritten(context.rollout, drift)) return null;
  const { content } = drift.merge;
  for (const metric of changedMetrics(drift.copy.content, content)) {
    const tried = await tryMetrics(context, item, { ...content, layout: [], metrics: [metric] });
    const failed = tried.find(({ outcome }) => outcome === 'failed');
    if (failed !== undefined) return faultOf(failed);
  }
  return null;
};

/** A tenant for whom a changed metric fails. */
export type TrialFailure = { readonly clientId: string; readonly fault: string };

/**
 * Tries the roll-out for its canary tenants. Returns the failures, which are stored with their items; the roll-out must
 * not write then.
 */
export const tryCanaries = async (context: TrialContext): Promise<readonly TrialFailure[]> => {
  const { rollout, ledger } = context;
  const failures: TrialFailure[] = [];
  for (const dashboardId of await listCanaries(context)) {
    const item = await ledger.findItem({ rolloutId: rollout.id, dashboardId });
    if (item === undefined) continue;
    const fault = await tryItem(context, item).catch((error: unknown) => {
      if (error instanceof Refusal) return error.message;
      throw error;
    });
    if (fault === null) continue;
    await ledger.settle({ ...item, rolloutId: rollout.id }, { state: 'failed', fault, isUnwritten: true });
    failures.push({ clientId: item.clientId, fault });
  }
  return failures;
};
