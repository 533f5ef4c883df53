/** A view that a guest saved, as guests read it. */
import { z } from 'zod';
import type { ListedView } from '../../../model/guest/saved-view.js';
import type { Encoded } from '../../../platform/http/interface/callable.js';
import { guestFilterValue } from '../../../platform/http/interface/fields.js';

export const guestView = z
  .object({
    id: z.string(),
    name: z.string(),
    dashboardFilter: z.record(z.string(), guestFilterValue),
    metricFilter: z.record(z.string(), z.record(z.string(), guestFilterValue)),
    filterNames: z.record(z.string(), z.string()),
    isShared: z.boolean().describe('Whether all users of the client see it.'),
    isDefault: z
      .boolean()
      .describe('Whether the dashboard opens with it. The guest’s own default comes before a shared one.'),
    isOwn: z.boolean().describe('Whether this guest saved it.'),
  })
  .meta({ id: 'GuestView' });

const knownValues = z.record(z.string(), guestFilterValue);

/** Encodes a view for guests. */
export const encodeView = ({
  id,
  name,
  dashboardFilter,
  metricFilter,
  filterNames,
  isShared,
  isDefault,
  isOwn,
}: ListedView): Encoded<typeof guestView> => ({
  id,
  name,
  dashboardFilter: knownValues.parse(dashboardFilter),
  metricFilter: z.record(z.string(), knownValues).parse(metricFilter),
  filterNames,
  isShared,
  isDefault,
  isOwn,
});

export const exampleView = {
  id: '1b671a64-40d5-491e-99b0-da01ff1f3341',
  name: 'West coast',
  dashboardFilter: { 'Destination state': ['CA', 'OR', 'WA'] },
  metricFilter: {},
  filterNames: {},
  isShared: false,
  isDefault: false,
  isOwn: true,
};
