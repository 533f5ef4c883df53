/** What a guest is told about the filters that it may use itself. */
import { z } from 'zod';
import type { EffectiveAccess } from '../domain/guest/end-user-filters.js';

const columns = z.array(z.object({ tableName: z.string(), columns: z.array(z.string()) }));

export const guestAccess = z
  .object({
    isAllowEndUserDashboardFilter: z
      .boolean()
      .describe(
        '`dashboardFilter` of a query also accepts `schema.table.column` of each column in `dashboardFilterColumns`.',
      ),
    dashboardFilterColumns: columns,
    isAllowEndUserMetricFilter: z
      .boolean()
      .describe(
        '`metricFilter` of a query also accepts `schema.table.column` of each column in `metricFilterColumns`.',
      ),
    metricFilterColumns: columns,
    isAllowDashboardFilterNameChange: z.boolean(),
    isAllowMetricFilterNameChange: z.boolean(),
  })
  .meta({ id: 'GuestAccess' });

const encodeColumns = (list: EffectiveAccess['dashboardFilterColumns']) =>
  list.map(({ tableName, columns: names }) => ({ tableName, columns: [...names] }));

export const encodeAccess = (access: EffectiveAccess): z.input<typeof guestAccess> => ({
  ...access,
  dashboardFilterColumns: encodeColumns(access.dashboardFilterColumns),
  metricFilterColumns: encodeColumns(access.metricFilterColumns),
});

export const noAccess: z.input<typeof guestAccess> = {
  isAllowEndUserDashboardFilter: false,
  dashboardFilterColumns: [],
  isAllowEndUserMetricFilter: false,
  metricFilterColumns: [],
  isAllowDashboardFilterNameChange: false,
  isAllowMetricFilterNameChange: false,
};
