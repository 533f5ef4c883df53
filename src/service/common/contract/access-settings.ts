/** Access settings of embeds. Both ways to create an embed take them. */
import { z } from 'zod';
import { type AccessSettings, allowanceNames } from '../../../model/dashboard/embed.js';
import { recordOf } from '../../../model/record-of.js';
import { filterColumns, identifier, list } from '../../../platform/http/interface/fields.js';

const flag = z.boolean().optional();

/** The "Access settings" of the interface specification, and `isAllowDashboardCreation`, which Guestlist adds. */
export const accessSettings = z
  .strictObject({
    datamartName: identifier.optional().describe('The datamart that the embed reads. Required for dashboards.'),
    isAllowAiPilot: flag,
    ...recordOf(allowanceNames, () => z.boolean()),
    isAllowEndUserDashboardFilter: flag,
    dashboardFilterColumns: list(filterColumns)
      .optional()
      .describe('Columns by which the end user may filter dashboards.'),
    isAllowEndUserMetricFilter: flag,
    metricFilterColumns: list(filterColumns).optional().describe('Columns by which the end user may filter metrics.'),
    joinModel: z
      .enum(['single', 'multi'])
      .optional()
      .describe(
        '`single`: all tables are joined into one worksheet. `multi`: each chart joins the tables that it needs.',
      ),
    isIncrementalJoin: flag.describe('Deprecated. Use `joinModel`.'),
    metricCreationMode: z.enum(['DRAG_DROP', 'CHAT']),
    tableTenancySettings: list(z.strictObject({ name: identifier, clientColumn: identifier })).optional(),
    isAllowDashboardCreation: flag.describe('Whether users may have own dashboards, made of this one’s cards.'),
  })
  .meta({ id: 'AccessSettings' }) satisfies z.ZodType<AccessSettings>;

/** A dashboard's settings must name a datamart; a metric brings its own. */
export const dashboardAccessSettings = accessSettings
  .required({ datamartName: true })
  .meta({ id: 'DashboardAccessSettings' });

export const exampleSettings = {
  datamartName: 'flights',
  ...recordOf(allowanceNames, () => false),
  isAllowUnderlyingData: true,
  metricCreationMode: 'DRAG_DROP',
} as const;
