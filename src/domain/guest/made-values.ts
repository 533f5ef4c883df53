/** Values in what guests made: filter defaults and conditions of their metrics. */
import type { Metric } from '../dashboard/metric.js';
import type { GuestGrant } from './grant.js';
import { isUnrestricted } from './saved-view.js';

/**
 * Whether a guest may see the values that the metric's maker chose. They may be values of rows that only the maker sees, and
 * it is not stored which rows those are: besides the maker, only a guest who sees all rows of the client may see them.
 */
export const showsValuesOf = (grant: GuestGrant, { guest }: Pick<Metric, 'guest'>): boolean => {
  if (guest === null || isUnrestricted(grant)) return true;
  return guest.userIdentifier !== null && guest.userIdentifier === grant.userIdentifier;
};
