/** Events of a tenant's life, and the resulting state. */
import type { TenantEventKind, TenantMoments } from '../../src/gateway/tenant/state.js';

/** The kinds of events: of two at the same moment, the later in this list wins. */
export const tenantEventKinds = [
  'signed-up',
  'resumed',
  'suspended',
  'deleted',
] as const satisfies readonly TenantEventKind[];

/** The moments of a tenant without events. */
export const noMoments: TenantMoments = { 'signed-up': null, resumed: null, suspended: null, deleted: null };

export type Happened = { readonly kind: TenantEventKind; readonly at: number };

/** Returns the state by definition: applies the events one by one, in the order in which they happened. */
export const foldState = (events: readonly Happened[]): string => {
  const rank = ({ kind }: Happened) => tenantEventKinds.indexOf(kind);
  let state = 'active';
  for (const { kind } of events.toSorted((a, b) => a.at - b.at || rank(a) - rank(b))) {
    if (kind === 'signed-up') state = 'active';
    else if (kind === 'deleted') state = 'deleted';
    else if (state !== 'deleted') state = kind === 'suspended' ? 'suspended' : 'active';
  }
  return state;
};
