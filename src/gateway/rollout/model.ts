/**
 * The types of a roll-out, and the rule that assigns tenants to cohorts. The ledger stores every step of every
 * dashboard, so that an interrupted roll-out can be resumed.
 */
import type { DashboardContent } from '../../model/dashboard/dashboard.js';
import type { Choices } from '../../model/dashboard/merge/choices.js';
import type { Conflict } from '../../model/dashboard/merge/three-way.js';
import type { Lease } from '../ledger/leases.js';
import type { ItemState, RolloutState } from '../ledger/ledger.js';

/**
 * A copy that provisioning made, with the template version that it was made from. `version` is null if the copy is
 * older than the storage of versions.
 */
export type TenantDashboard = {
  readonly dashboardId: string;
  readonly tenantRef: string;
  readonly clientId: string;
  readonly template: string;
  readonly version: string | null;
};

export type RolloutOptions = CohortPlan & {
  /** If a cohort has more failures than this, the roll-out stops after it. */
  readonly maxFailures: number;
  /**
   * How to treat a copy with conflicts. `leave`: do not write it. `keep-tenant`: write all changes that do not
   * conflict.
   */
  readonly onConflict: 'leave' | 'keep-tenant';
  /** Whether a copy without a recorded version that equals a known version counts as made from that version. */
  readonly isAdopting: boolean;
  /** Decided conflicts: for each tenant reference, whose value each path gets. Undefined: none. */
  readonly choices?: Readonly<Record<string, Choices>> | undefined;
  /** Whether the roll-out pauses after each cohort until it is resumed. Undefined: false. */
  readonly isPausing?: boolean;
};

export type Rollout = {
  readonly id: string;
  readonly template: string;
  readonly version: string;
  readonly workspace: string;
  readonly options: RolloutOptions;
  readonly state: RolloutState;
  /** Who began it, as the audit names people. Null: by the gateway token. */
  readonly startedBy: string | null;
};

export type RolloutItem = TenantDashboard & {
  readonly cohort: number;
  readonly state: ItemState;
  /** The template version of the copy when the item was prepared. Null if unknown. */
  readonly fromVersion: string | null;
  readonly before: { readonly content: DashboardContent; readonly digest: string } | null;
  /** The content to write. Its digest is null until it was written. */
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
  /** Whether the content was certainly not written, so that a rollback has nothing to restore. */
  readonly isUnwritten?: boolean;
  /** The copy's new template version. Left out if it does not change. */
  readonly version?: string | null;
};

export type ItemKey = { readonly rolloutId: string; readonly dashboardId: string };

/** An item's key and the copy that it is for. */
export type ItemTarget = ItemKey & Pick<TenantDashboard, 'tenantRef' | 'template'>;

/** One page of items. `after` is a dashboard id: the page begins after it. */
export type ItemPage = { readonly after: string; readonly limit: number };

/** The number of dashboards of one cohort in one state. */
export type Count = { readonly cohort: number; readonly state: ItemState; readonly count: number };

export type RolloutRows = {
  /**
   * Returns the verified copies of the template whose tenants are not deleted, ordered by tenant reference. `after` is
   * such a reference.
   */
  readonly listDashboards: (
    template: string,
    page: { readonly after: string; readonly limit: number },
  ) => Promise<readonly TenantDashboard[]>;
  /** Throws as `assertAlone`. */
  readonly insert: (
    rollout: Rollout,
    items: readonly (TenantDashboard & { readonly cohort: number })[],
  ) => Promise<void>;
  readonly find: (id: string) => Promise<Rollout | undefined>;
  /** Returns the newest 100 roll-outs, newest first. */
  readonly list: () => Promise<readonly (Rollout & { readonly startedAt: Date })[]>;
  /** Adds the copies of another version that were made since the roll-out began, to its last cohort. */
  readonly addNew: (rollout: Rollout) => Promise<void>;
  /**
   * Ends the roll-out: copies that begin from now on get its edition. Together with that, `addNew` for a roll-out that
   * reaches all tenants.
   */
  readonly finish: (rollout: Rollout) => Promise<void>;
  /** Returns the version of the template's newest finished roll-out to all tenants. */
  readonly findPublished: (template: string) => Promise<string | undefined>;
  /** Returns how many copies of the template have each version. */
  readonly countByVersion: (template: string) => Promise<ReadonlyMap<string | null, number>>;
  /** Acquires the roll-out's lease. Resolves with undefined if another process holds it. */
  readonly lease: (id: string) => Promise<Lease | undefined>;
  /** Whether a live process holds the roll-out's lease. */
  readonly isLeased: (id: string) => Promise<boolean>;
  /**
   * Throws NOT_SUPPORTED if a live process holds the lease of another roll-out of this template. Needs the lease of this
   * one: of two that begin at one moment, at most one passes.
   */
  readonly assertAlone: (rollout: Pick<Rollout, 'id' | 'template'>) => Promise<void>;
  /**
   * Returns the roll-outs that are not at their end and that no live process works on, the oldest first. Also a finished one
   * that has not reached the copies added at its end, if it is the newest of its template.
   */
  readonly listInterrupted: () => Promise<readonly Rollout[]>;
  readonly setState: (id: string, state: RolloutState) => Promise<void>;
};

/** The items of roll-outs: one for each dashboard. */
export type ItemRows = {
  readonly count: (id: string) => Promise<readonly Count[]>;
  /** Returns the ids of the dashboards in these states, in order. If `cohort` is given, only of that cohort. */
  readonly listIds: (id: string, states: readonly ItemState[], cohort?: number) => Promise<readonly string[]>;
  /** Returns undefined if the tenant was erased, since its items are erased too. */
  readonly findItem: (key: ItemKey) => Promise<RolloutItem | undefined>;
  readonly prepare: (key: ItemKey, preparation: PreparedItem) => Promise<void>;
  readonly settle: (target: ItemTarget, settlement: ItemOutcome) => Promise<void>;
  /** Returns the items that an operator must look at, ordered by id, without their contents. */
  readonly listNotable: (
    id: string,
    page: ItemPage,
  ) => Promise<readonly Pick<RolloutItem, 'dashboardId' | 'clientId' | 'cohort' | 'state' | 'conflicts' | 'fault'>[]>;
  /**
   * Deletes all items of an erased tenant, since their before-images contain what it wrote. Returns the number of rows.
   */
  readonly forgetTenant: (tenantRef: string) => Promise<number>;
};

export type RolloutLedger = RolloutRows &
  ItemRows & {
    /** The same ledger, whose writes reject with LeaseLost, and store nothing, if another process has this lease. */
    readonly under: (lease: Pick<Lease, 'write'>) => RolloutLedger;
  };

/** Assigns tenants to cohorts: first the canary, then one cohort for each percentage. Pure. */

export type CohortPlan = {
  /** References of the tenants in the first cohort. */
  readonly canary: readonly string[];
  /** Rising percentages. Each step includes the tenants of the steps before it. */
  readonly steps: readonly number[];
};

/**
 * Returns a number from 0 up to but not including 100. It is the same in every roll-out, and evenly distributed because
 * a tenant's reference is a keyed digest.
 */
const shareOf = (tenantRef: string): number => (Number.parseInt(tenantRef.slice(0, 8), 16) / 2 ** 32) * 100;

/**
 * Returns the number of the tenant's cohort: 0 for the canary, then one for each step. Returns undefined if the tenant
 * is beyond the last step and so excluded.
 */
export const cohortOf = (tenantRef: string, { canary, steps }: CohortPlan): number | undefined => {
  if (canary.includes(tenantRef)) return 0;
  const step = steps.findIndex((percent) => shareOf(tenantRef) < percent);
  return step < 0 ? undefined : step + 1;
};

/** Whether the plan reaches every tenant. */
export const reachesAll = ({ steps }: Pick<CohortPlan, 'steps'>): boolean => steps.at(-1) === 100;

export const cohortName = (cohort: number, { steps }: CohortPlan): string =>
  cohort === 0 ? 'canary' : `${steps[cohort - 1] ?? '?'} %`;
