/** Computes a tenant's state from the newest event of each kind. The order in which events arrive does not matter. Pure. */
import type { TenantState } from '../ledger/ledger.js';

/** The kinds of events, ordered by strictness: of two events at the same moment, the later in this list wins. */
export const tenantEventKinds = ['signed-up', 'resumed', 'suspended', 'deleted'] as const;
export type TenantEventKind = (typeof tenantEventKinds)[number];

/** The time of the newest event of each kind. Null if there was none. */
export type TenantMoments = Readonly<Record<TenantEventKind, Date | null>>;

const msOf = (moment: Date | null): number => moment?.getTime() ?? Number.NEGATIVE_INFINITY;

/** Adds one event. An event changes nothing if it is older than the known one of its kind. */
export const withEvent = (moments: TenantMoments, kind: TenantEventKind, occurredAt: Date): TenantMoments =>
  msOf(moments[kind]) >= occurredAt.getTime() ? moments : { ...moments, [kind]: occurredAt };

/**
 * Returns the state after the newest event. A deleted tenant stays deleted until it signs up again, even if other
 * events are later. A tenant without events is active.
 */
export const stateOf = (moments: TenantMoments): TenantState => {
  const [signedUp, resumed, suspended, deleted] = tenantEventKinds.map((kind) => msOf(moments[kind])) as [
    number,
    number,
    number,
    number,
  ];
  if (moments.deleted !== null && deleted >= signedUp) return 'deleted';
  return moments.suspended !== null && suspended >= Math.max(signedUp, resumed) ? 'suspended' : 'active';
};

/** Returns the time of the newest event. Null if there was none. */
export const newestOf = (moments: TenantMoments): Date | null => {
  const newestMs = Math.max(...tenantEventKinds.map((kind) => msOf(moments[kind])));
  return Number.isFinite(newestMs) ? new Date(newestMs) : null;
};
