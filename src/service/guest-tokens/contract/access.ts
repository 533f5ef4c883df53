/** What a guest is told about the filters that it may use itself. */
import { z } from 'zod';
import type { EffectiveAccess } from '../../../model/guest/end-user-filters.js';
import { accessColumns, accessSwitches } from '../../../model/guest/grant.js';
import { recordOf } from '../../../model/record-of.js';
import type { Encoded } from '../../../platform/http/interface/callable.js';

const columns = z.array(z.object({ tableName: z.string(), columns: z.array(z.string()) }));

const accepts = (filter: string, list: string) =>
  z.boolean().describe(`\`${filter}\` of a query also accepts \`schema.table.column\` of each column in \`${list}\`.`);

export const guestAccess = z
  .object({
    ...recordOf(accessSwitches, () => z.boolean()),
    isAllowEndUserDashboardFilter: accepts('dashboardFilter', 'dashboardFilterColumns'),
    isAllowEndUserMetricFilter: accepts('metricFilter', 'metricFilterColumns'),
    ...recordOf(accessColumns, () => columns),
  })
  .meta({ id: 'GuestAccess' });

export const encodeAccess = (access: EffectiveAccess): Encoded<typeof guestAccess> => ({
  ...access,
  ...recordOf(accessColumns, (name) =>
    access[name].map(({ tableName, columns: names }) => ({ tableName, columns: names })),
  ),
});

export const noAccess: z.input<typeof guestAccess> = {
  ...recordOf(accessSwitches, () => false),
  ...recordOf(accessColumns, () => []),
};
