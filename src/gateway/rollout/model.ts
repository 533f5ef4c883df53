/** The types of a roll-out, and its cohorts. The ledger stores every step of every dashboard, so an interrupted one is resumed. */
import type { DashboardContent } from '../../domain/dashboard/dashboard.js';
import type { Lease } from '../ledger/leases.js';
import type { ItemState, RolloutState } from '../ledger/ledger.js';
import type { Conflict } from './three-way.js';

/** A copy that provisioning made, and the template's version that it was made from; null: from before versions were kept. */
export type TenantDashboard = {
  readonly dashboardId: string;
  readonly tenantRef: string;
  readonly clientId: string;
  readonly template: string;
  readonly version: string | null;
};

export type RolloutOptions = CohortPlan & {
  /** More failures than these in one cohort stop the roll-out after it. */
  readonly maxFailures: number;
  /** What becomes of a copy with conflicts: it is left alone, or gets what is not in conflict. */
  readonly onConflict: 'leave' | 'keep-tenant';
  /** A copy of unknown origin that equals a known version is taken for one of that version. */
  readonly isAdopting: boolean;
};

export type Rollout = {
  readonly id: string;
  readonly template: string;
  readonly version: string;
  readonly workspace: string;
  readonly options: RolloutOptions;
  readonly state: RolloutState;
};

export type RolloutItem = TenantDashboard & {
  readonly cohort: number;
  readonly state: ItemState;
  /** Where the copy stood when it was prepared. */
  readonly fromVersion: string | null;
  readonly before: { readonly content: DashboardContent; readonly digest: string } | null;
  /** What is to be written; the digest is known once it is. */
  readonly after: { readonly content: DashboardContent; readonly digest: string | null } | null;
  readonly conflicts: readonly Conflict[];
  readonly fault: string | null;
};

export type PreparedItem = {
  readonly before: { readonly content: DashboardContent; readonly digest: string };
  readonly after: DashboardContent;
  readonly conflicts: readonly Conflict[];
};

export type ItemOutcome = {
  readonly state: ItemState;
  readonly afterDigest?: string;
  readonly conflicts?: readonly Conflict[];
  readonly fault?: string | null;
  /** The service refused it for sure: there is nothing to restore. */
  readonly isUnwritten?: boolean;
  /** The version that the copy is of from now on; left out: as it was. */
  readonly version?: string | null;
};

export type ItemKey = { readonly rolloutId: string; readonly dashboardId: string };

/** With the copy that the item is about. */
export type ItemTarget = ItemKey & Pick<TenantDashboard, 'tenantRef' | 'template'>;

/** `after`: the id of a dashboard. */
export type ItemPage = { readonly after: string; readonly limit: number };

/** How many dashboards of a cohort are in a state. */
export type Count = { readonly cohort: number; readonly state: ItemState; readonly count: number };

export type RolloutRows = {
  /** Copies of the template of tenants that are not deleted, in order of the tenants' references; `after` is one. */
  readonly listDashboards: (
    template: string,
    page: { readonly after: string; readonly limit: number },
  ) => Promise<readonly TenantDashboard[]>;
  readonly insert: (
    rollout: Rollout,
    items: readonly (TenantDashboard & { readonly cohort: number })[],
  ) => Promise<void>;
  readonly find: (id: string) => Promise<Rollout | undefined>;
  /** Newest first, a hundred at most. */
  readonly list: () => Promise<readonly Rollout[]>;
  /** Takes the work on it; undefined where somebody else has it. */
  readonly lease: (id: string) => Promise<Lease | undefined>;
  /** Whether somebody is at work on it. */
  readonly isLeased: (id: string) => Promise<boolean>;
  /** The roll-out of this template that somebody is at work on. */
  readonly findLeased: (template: string) => Promise<string | undefined>;
  /** Those whose process died at work on them. */
  readonly listCutOff: () => Promise<readonly Rollout[]>;
  readonly setState: (id: string, state: RolloutState) => Promise<void>;
};

/** The dashboards of roll-outs. */
export type ItemRows = {
  readonly count: (id: string) => Promise<readonly Count[]>;
  /** Ids of the dashboards of these states, in order; of one cohort where it is given. */
  readonly listIds: (id: string, states: readonly ItemState[], cohort?: number) => Promise<readonly string[]>;
  /** Undefined: its tenant was erased, and this with it. */
  readonly findItem: (key: ItemKey) => Promise<RolloutItem | undefined>;
  readonly prepare: (key: ItemKey, preparation: PreparedItem) => Promise<void>;
  readonly settle: (target: ItemTarget, settlement: ItemOutcome) => Promise<void>;
  /** Those that somebody has to look at, without their contents, in order of their ids. */
  readonly listNotable: (
    id: string,
    page: ItemPage,
  ) => Promise<readonly Pick<RolloutItem, 'dashboardId' | 'clientId' | 'cohort' | 'state' | 'conflicts' | 'fault'>[]>;
  /** Forgets everything of a tenant that is erased: its before-images hold what it wrote. Answers how many rows there were. */
  readonly forgetTenant: (tenantRef: string) => Promise<number>;
};

export type RolloutLedger = RolloutRows & ItemRows;

/** Which tenant comes when: first the canary, then those below each percentage. Pure. */

export type CohortPlan = {
  /** References of the tenants that come first. */
  readonly canary: readonly string[];
  /** Percentages, rising: the tenants of a step are those of the step before and more. */
  readonly steps: readonly number[];
};

/** Between 0 and 100 (not reached), the same at every roll-out: a tenant's reference is a keyed digest, and so evenly spread. */
export const shareOf = (tenantRef: string): number => (Number.parseInt(tenantRef.slice(0, 8), 16) / 2 ** 32) * 100;

/** 0: the canary; then one for each step. Undefined: beyond the last step, and so left out. */
export const cohortOf = (tenantRef: string, { canary, steps }: CohortPlan): number | undefined => {
  if (canary.includes(tenantRef)) return 0;
  const step = steps.findIndex((percent) => shareOf(tenantRef) < percent);
  return step < 0 ? undefined : step + 1;
};

export const cohortName = (cohort: number, { steps }: CohortPlan): string =>
  cohort === 0 ? 'canary' : `${steps[cohort - 1] ?? '?'} %`;
