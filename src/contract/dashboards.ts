/** A dashboard as a whole: deleted, taken out as a file, brought in as one. */
import { z } from 'zod';
import type { Dashboard } from '../domain/dashboard/dashboard.js';
import { dashboardExport, encodeExport } from './dashboard-export.js';
import { importedData } from './dashboard-versions.js';
import { identifier, limits, list } from './fields.js';
import { noError, operation } from './operation.js';

/** Schema names of an import and what they become. */
export const schemaPairs = list(z.strictObject({ replaceSchema: identifier, targetSchema: identifier }));

export const deleteDashboard = operation({
  name: 'deleteDashboard',
  section: 'facts',
  resource: 'Dashboards',
  summary: "Delete a client's dashboard with its embeds",
  description:
    'With its embeds, the metrics that only it holds, and the guest tokens that name nothing else. Dashboards of the organization and of other data apps are not deleted. Cannot be undone.',
  credentials: ['apiKey'],
  input: z.strictObject({ dashboardId: identifier }),
  output: z.object({ id: z.string(), error: noError }),
  encode: (dashboard: Dashboard) => ({ id: dashboard.externalDashboardId, error: null }),
  errors: { AUTHENTICATION_ERROR: 401, INVALID_DASHBOARD_ID: 400 },
  bindings: [{ method: 'DELETE', path: '/api/v2/data-app/dashboards', from: 'query' }],
  example: { input: { dashboardId: 'delays--LAX' }, output: { id: 'delays--LAX', error: null } },
});

const exampleExport = {
  _meta: { version: 3, dashboardId: 'delays', name: 'Delays' },
  data: { version: 3, layout: [], filters: [], metrics: [], gridMargin: [8, 8] },
} as const;

export const exportEmbed = operation({
  name: 'exportEmbed',
  section: 'facts',
  resource: 'Dashboards',
  summary: 'Take the dashboard of an embed out as a file',
  description:
    'With the metrics that the host made; of a dashboard of the organization, those of the organization. An embed of one metric exports that metric.',
  credentials: ['apiKey'],
  input: z.strictObject({ embedId: identifier }),
  output: dashboardExport,
  encode: encodeExport,
  errors: { AUTHENTICATION_ERROR: 401, INVALID_EMBED_ID: 400 },
  bindings: [{ method: 'GET', path: '/api/v2/data-app/embeds/export', from: 'query' }],
  example: { input: { embedId: 'delays--LAX' }, output: structuredClone(exampleExport) as never },
});

export const exportDashboard = operation({
  name: 'exportDashboard',
  section: 'facts',
  resource: 'Dashboards',
  summary: 'Take a dashboard out as a file',
  description: "The organization's, or a client's where no other data app has one of that id in the workspace.",
  credentials: ['serviceToken'],
  input: z.strictObject({ dashboardId: identifier, workspaceName: identifier }),
  output: dashboardExport,
  encode: encodeExport,
  errors: { AUTHENTICATION_ERROR: 401, WORKSPACE_ID_ERROR: 400, INVALID_DASHBOARD_ID: 400 },
  bindings: [{ method: 'POST', path: '/api/v2/data-app/export-dashboard', from: 'body' }],
  example: {
    input: { dashboardId: 'delays', workspaceName: 'flights' },
    output: structuredClone(exampleExport) as never,
  },
});

export const importDashboard = operation({
  name: 'importDashboard',
  section: 'facts',
  resource: 'Dashboards',
  summary: 'Bring a file in as a dashboard of the organization: a template',
  description:
    'Its metrics get new ids and remember those in the file: settings of guest tokens that name these bind the copies.',
  bodyBytes: limits.bodyBytes,
  credentials: ['serviceToken'],
  input: z.strictObject({
    workspaceName: identifier,
    importDashboardData: importedData.describe('The `data` object of a dashboard export, or the whole export.'),
    dashboardId: identifier.optional().describe('Left out: a new id.'),
    dashboardName: identifier.optional().describe('Left out: the id.'),
    schemaPairs: schemaPairs.optional().describe('Schema names of the import and what they become.'),
  }),
  output: z.object({
    data: z.object({
      response: z.object({
        message: z.string(),
        dashboardId: z.string(),
        dashboardName: z.string(),
        workspaceName: z.string(),
      }),
    }),
  }),
  encode: ({ dashboard, workspaceName }: { readonly dashboard: Dashboard; readonly workspaceName: string }) => ({
    data: {
      response: {
        message: 'Dashboard imported',
        dashboardId: dashboard.externalDashboardId,
        dashboardName: dashboard.name,
        workspaceName,
      },
    },
  }),
  errors: {
    AUTHENTICATION_ERROR: 401,
    WORKSPACE_ID_ERROR: 400,
    INVALID_DASHBOARD_ID: 400,
    INVALID_DASHBOARD_DATA: 400,
  },
  bindings: [{ method: 'POST', path: '/api/v2/data-app/import-dashboard', from: 'body' }],
  example: {
    input: {
      workspaceName: 'flights',
      importDashboardData: exampleExport.data,
      dashboardId: 'delays-2',
      dashboardName: 'Delays',
    },
    output: {
      data: {
        response: {
          message: 'Dashboard imported',
          dashboardId: 'delays-2',
          dashboardName: 'Delays',
          workspaceName: 'flights',
        },
      },
    },
  },
});
