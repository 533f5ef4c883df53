/** Plans a roll-out for each tenant without writing, and reports the status of an existing roll-out. */

import { z } from 'zod';
import { showConflicts } from '../../model/dashboard/merge/merge-dashboard.js';
import { placeInWords, settingsChanges } from '../../model/dashboard/setting-words.js';
import { Refusal } from '../../model/refusal.js';
import type { Unchanging } from '../../platform/http/interface/callable.js';
import { eachOf } from '../../platform/work/bounded.js';
import type { Policy } from '../policy/policy.js';
import { createCopies } from './copies.js';
import { type Drift, detectDrift, rememberVersions } from './drift.js';
import { cohortName, type ItemPage, type RolloutLedger } from './model.js';
import { loadRollout } from './rollout.js';
import type { TemplateVersion, TemplateVersions } from './template-versions.js';
import { listUnreadable, type UnreadableDeps } from './unreadable.js';

export type PlanDeps = UnreadableDeps & {
  readonly ledger: RolloutLedger;
  readonly versions: TemplateVersions;
  readonly width?: number;
};

const conflict = z.object({
  path: z.string(),
  kind: z.enum(['changed-by-both', 'added-by-both', 'removed-by-template', 'removed-by-tenant']),
});
const side = z.unknown().optional();

const plannedTenant = z.object({
  clientId: z.string(),
  dashboardId: z.string(),
  status: z.enum(['up-to-date', 'behind', 'edited', 'conflict', 'unknown-base', 'missing', 'unreadable']),
  fromVersion: z.string().nullable(),
  /** Each with its place in words, and with the values of the three sides, if they are wanted. Null: a side has none. */
  conflicts: z.array(conflict.extend({ what: z.string(), base: side, template: side, tenant: side })),
  /** What would change in the settings of the copy, in words. */
  settings: z.array(z.string()),
  /** Whether the tenant changed its copy; null: unknown. */
  isEdited: z.boolean().nullable(),
  /** For a copy without a recorded version: the known version that it equals, or null. */
  adoptable: z.string().nullable(),
  fault: z.string().nullable(),
});
export type PlannedTenant = Unchanging<z.output<typeof plannedTenant>>;

export const planPage = z.object({
  template: z.string(),
  version: z.string(),
  label: z.string().nullable(),
  /** On the first page: metrics for which the template would not be rolled out. */
  unreadable: z.array(z.object({ metricId: z.string(), name: z.string(), message: z.string() })),
  /** Why the settings of the policy reach no copy by this roll-out. Null: they are rolled out with the content. */
  settingsFault: z.string().nullable(),
  tenants: z.array(plannedTenant),
  /** The cursor of the next page. Null if this page is the last. */
  next: z.string().nullable(),
});
type PlanPage = Unchanging<z.output<typeof planPage>>;

export type PlanInput = {
  readonly template: string;
  readonly after: string;
  readonly limit: number;
  /** Whether each conflict has the values of the three sides. Undefined: false. */
  readonly showsValues?: boolean | undefined;
  /** The version that the first page returned. Throws if the template has changed since. */
  readonly version?: string | undefined;
};

const conflictsOf = (drift: Drift, showsValues: boolean): PlannedTenant['conflicts'] => {
  if (!('merge' in drift)) return [];
  const { versions, merge } = drift;
  const shown = showsValues ? showConflicts(versions, merge.conflicts) : merge.conflicts;
  return shown.map((one) => ({ ...one, what: placeInWords(one.path) }));
};

const describe = (drift: Drift): Pick<PlannedTenant, 'settings' | 'isEdited' | 'adoptable' | 'fault'> => ({
  settings: 'merge' in drift ? [...settingsChanges(drift.copy.content.settings, drift.merge.content.settings)] : [],
  isEdited: 'merge' in drift ? drift.merge.isEdited : null,
  adoptable: drift.status === 'unknown-base' ? drift.adoptable : null,
  fault: drift.status === 'unreadable' ? drift.fault.message : null,
});

const loadTarget = async ({ versions }: PlanDeps, policy: Policy, input: PlanInput): Promise<TemplateVersion> => {
  const { template, version } = input;
  if (!policy.templates.has(template))
    throw new Refusal('NOT_FOUND', `The policy has no template ${JSON.stringify(template)}.`);
  const target = await versions.record(policy, template);
  if (version === undefined || version === target.version) return target;
  throw new Refusal('NOT_SUPPORTED', `Template ${JSON.stringify(template)} changed while it was planned: plan again.`);
};

const settingsFault =
  'The analytics service behind this gateway cannot replace settings together with content (capability "copy-settings"). A roll-out changes content only; access settings and name reach copies that are made afterwards.';

/** Returns one page of the plan, ordered by tenant reference. */
export const planRollout = async (deps: PlanDeps, policy: Policy, input: PlanInput): Promise<PlanPage> => {
  const { versions, ledger, upstream, width = 4 } = deps;
  const target = await loadTarget(deps, policy, input);
  const page = await ledger.listDashboards(input.template, input);
  const known = await versions.list(input.template);
  const judge = {
    target,
    known,
    findVersion: rememberVersions(versions),
    copies: createCopies(upstream, policy.workspace),
    policy,
  };
  const planned = new Map<string, PlannedTenant>();
  await eachOf(page, width, async (dashboard) => {
    const { clientId, dashboardId, version: fromVersion } = dashboard;
    const drift = await detectDrift(judge, dashboard, false);
    const conflicts = conflictsOf(drift, input.showsValues === true);
    const own = { clientId, dashboardId, status: drift.status, fromVersion, conflicts };
    planned.set(dashboardId, { ...own, ...describe(drift) });
  });
  return {
    template: target.template,
    version: target.version,
    label: target.label,
    unreadable: input.after === '' ? await listUnreadable(deps, policy, target) : [],
    settingsFault: target.content.settings === undefined ? settingsFault : null,
    tenants: page.flatMap(({ dashboardId }) => planned.get(dashboardId) ?? []),
    next: page.length < input.limit ? null : (page.at(-1)?.tenantRef ?? null),
  };
};

const sliceSize = 200;

/** Returns one page if `limit` is given, else all items, read in slices. */
const listNotable = async (ledger: RolloutLedger, id: string, { after = '', limit }: Partial<ItemPage>) => {
  if (limit !== undefined) return ledger.listNotable(id, { after, limit });
  const all: Awaited<ReturnType<RolloutLedger['listNotable']>>[number][] = [];
  for (;;) {
    const slice = await ledger.listNotable(id, { after: all.at(-1)?.dashboardId ?? after, limit: sliceSize });
    all.push(...slice);
    if (slice.length < sliceSize) return all;
  }
};

export const statusPage = z.object({
  id: z.string(),
  template: z.string(),
  version: z.string(),
  state: z.string(),
  isAtWork: z.boolean(),
  /** With the number of copies in each state. */
  cohorts: z.array(z.object({ name: z.string(), states: z.record(z.string(), z.number()) })),
  tenants: z.array(
    z.object({
      dashboardId: z.string(),
      clientId: z.string(),
      state: z.string(),
      conflicts: z.array(conflict),
      fault: z.string().nullable(),
      cohort: z.string(),
    }),
  ),
  next: z.string().nullable(),
});

/**
 * Returns the status of a roll-out for each cohort, and the tenants that an operator must look at. If `limit` is given,
 * returns one page of them, with `next` as the cursor of the following page.
 */
export const rolloutStatus = async (ledger: RolloutLedger, id: string, page: Partial<ItemPage> = {}) => {
  // Read before the state: a roll-out that ends in between is told as finished, never as one that nobody works on.
  const isAtWork = await ledger.isLeased(id);
  const rollout = await loadRollout(ledger, id);
  const counts = await ledger.count(id);
  const cohorts = [...new Set(counts.map(({ cohort }) => cohort))].map((cohort) => {
    const own = counts.filter((count) => count.cohort === cohort);
    const states = Object.fromEntries(own.map(({ state, count }) => [state, count]));
    return { name: cohortName(cohort, rollout.options), states };
  });
  const found = await listNotable(ledger, id, page);
  const tenants = found.map(({ cohort, ...item }) => ({ ...item, cohort: cohortName(cohort, rollout.options) }));
  const next = found.length === page.limit ? (found.at(-1)?.dashboardId ?? null) : null;
  const { template, version, state } = rollout;
  return { id, template, version, state, isAtWork, cohorts, tenants, next };
};
