/** Events of a tenant's life, and the resulting state. */
import { type TenantEventKind, tenantEventKinds } from '../../src/gateway/tenant/state.js';

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
