/** The interface's "Access settings", which both kinds of embed creation take. */
import { z } from 'zod';
import type { AccessSettings } from '../domain/dashboard/embed.js';
import { filterColumns, identifier, list } from './fields.js';

const flag = z.boolean().optional();

/** The interface's "Access settings". */
export const accessSettings = z
  .strictObject({
    datamartName: identifier.optional().describe('Datamart used in the embed; required for dashboards.'),
    isAllowAiPilot: flag,
    isAllowEmailReports: z.boolean(),
    isAllowManageMetrics: z.boolean(),
    isAllowCreateDashboardView: z.boolean(),
    isAllowEndUserDashboardFilter: flag,
    dashboardFilterColumns: list(filterColumns)
      .optional()
      .describe('Columns that the end user may filter dashboards by.'),
    isAllowEndUserMetricFilter: flag,
    metricFilterColumns: list(filterColumns).optional().describe('Columns that the end user may filter metrics by.'),
    isAllowMetricCreation: z.boolean(),
    isAllowMetricDeletion: z.boolean(),
    isAllowMetricLayoutChange: z.boolean(),
    isAllowMetricUpdate: z.boolean(),
    isAllowUnderlyingData: z.boolean(),
    joinModel: z
      .enum(['single', 'multi'])
      .optional()
      .describe('`single`: tables joined into one worksheet; `multi`: joins resolved for each chart.'),
    isIncrementalJoin: flag.describe('Legacy; prefer `joinModel`.'),
    metricCreationMode: z.enum(['DRAG_DROP', 'CHAT']),
    tableTenancySettings: list(z.strictObject({ name: identifier, clientColumn: identifier })).optional(),
  })
  .meta({ id: 'AccessSettings' }) satisfies z.ZodType<AccessSettings>;

/** Dashboards need a datamart in their settings; single metrics bring their own. */
export const dashboardAccessSettings = accessSettings
  .required({ datamartName: true })
  .meta({ id: 'DashboardAccessSettings' });

export const exampleSettings = {
  datamartName: 'flights',
  isAllowEmailReports: false,
  isAllowManageMetrics: false,
  isAllowCreateDashboardView: false,
  isAllowMetricCreation: false,
  isAllowMetricDeletion: false,
  isAllowMetricLayoutChange: false,
  isAllowMetricUpdate: false,
  isAllowUnderlyingData: true,
  metricCreationMode: 'DRAG_DROP',
} as const;
