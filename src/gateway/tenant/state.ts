/** Where a tenant stands, from the newest event of each kind: the order in which they came does not matter. Pure. */
import type { TenantState } from '../ledger/ledger.js';

/** In order of rank: of two at the same moment the later one here counts as the newer, so that the stricter one wins. */
export const tenantEventKinds = ['signed-up', 'resumed', 'suspended', 'deleted'] as const;
export type TenantEventKind = (typeof tenantEventKinds)[number];

/** The newest event of each kind; null: there was none. */
export type TenantMoments = Readonly<Record<TenantEventKind, Date | null>>;

export const noMoments: TenantMoments = { 'signed-up': null, resumed: null, suspended: null, deleted: null };

const msOf = (moment: Date | null): number => moment?.getTime() ?? Number.NEGATIVE_INFINITY;

/** With one more event. A moment that is older than what is known changes nothing. */
export const withEvent = (moments: TenantMoments, kind: TenantEventKind, occurredAt: Date): TenantMoments =>
  msOf(moments[kind]) >= occurredAt.getTime() ? moments : { ...moments, [kind]: occurredAt };

/**
 * The state of the newest event; but what is deleted stays deleted until it is signed up anew, whatever else came later. A
 * tenant of whom nothing but logins is known is active.
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

/** Of the newest event of all; null: there was none. */
export const newestOf = (moments: TenantMoments): Date | null => {
  const newestMs = Math.max(...tenantEventKinds.map((kind) => msOf(moments[kind])));
  return Number.isFinite(newestMs) ? new Date(newestMs) : null;
};
