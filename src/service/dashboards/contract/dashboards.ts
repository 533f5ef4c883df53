/** Deletes, exports and imports dashboards. */
import { z } from 'zod';
import type { Dashboard } from '../../../model/dashboard/dashboard.js';
import { identifier, limits, list } from '../../../platform/http/interface/fields.js';
import { noError, operation } from '../../../platform/http/interface/operation.js';
import { dashboardExport, encodeExport } from './export.js';
import { importedData } from './versions.js';

/** Schema names in an import, and the names that replace them. */
export const schemaPairs = list(z.strictObject({ replaceSchema: identifier, targetSchema: identifier }));

export const deleteDashboard = operation({
  name: 'deleteDashboard',
  section: 'facts',
  resource: 'Dashboards',
  summary: "Delete a client's dashboard with its embeds",
  description:
    'Deletes the dashboard, its embeds, the metrics that are on no other dashboard, and the guest tokens that name no other embed. Dashboards of the organization and of other data apps cannot be deleted. This cannot be undone.',
  credentials: ['apiKey'],
  reads: 'nothing',
  input: z.strictObject({ dashboardId: identifier }),
  output: z.object({ id: z.string(), error: noError }),
  encode: (dashboard: Dashboard) => ({ id: dashboard.externalDashboardId, error: null }),
  errors: { AUTHENTICATION_ERROR: 401, INVALID_DASHBOARD_ID: 400 },
  bindings: [{ method: 'DELETE', path: '/api/v2/data-app/dashboards', from: 'query' }],
  example: { input: { dashboardId: 'delays--LAX' }, output: { id: 'delays--LAX', error: null } },
});

export const deleteTemplate = operation({
  name: 'deleteTemplate',
  section: 'facts',
  resource: 'Dashboards',
  summary: 'Delete a dashboard of the organization, such as a template',
  description:
    'With the metrics that only it holds. Refused while copies or embeds of it exist; the message names some. Dashboards of clients are deleted by the API key of their data app. Cannot be undone.',
  credentials: ['serviceToken'],
  reads: 'nothing',
  roles: ['author'],
  input: z.strictObject({ workspaceName: identifier, dashboardId: identifier }),
  output: z.object({ id: z.string(), error: noError }),
  encode: (dashboard: Dashboard) => ({ id: dashboard.externalDashboardId, error: null }),
  errors: { AUTHENTICATION_ERROR: 401, WORKSPACE_ID_ERROR: 400, INVALID_DASHBOARD_ID: 400, STILL_IN_USE: 409 },
  bindings: [{ method: 'DELETE', path: '/api/v2/workspace/dashboards', from: 'query' }],
  example: { input: { workspaceName: 'flights', dashboardId: 'delays' }, output: { id: 'delays', error: null } },
});

const exampleExport = {
  _meta: { version: 3, dashboardId: 'delays', name: 'Delays' },
  data: { version: 3, layout: [], filters: [], metrics: [], gridMargin: [8, 8] },
} as const;

export const exportEmbed = operation({
  name: 'exportEmbed',
  section: 'facts',
  resource: 'Dashboards',
  summary: 'Export the dashboard of an embed',
  description:
    'The export of an organization’s dashboard contains only metrics of the organization; metrics of guests are never exported. For an embed of one metric, the export contains that metric.',
  credentials: ['apiKey'],
  reads: 'definitions',
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
  summary: 'Export a dashboard',
  description:
    'Exports the organization’s dashboard of that id, else a client’s, if only one data app has a dashboard of that id in the workspace.',
  credentials: ['serviceToken'],
  reads: 'definitions',
  readsOnly: true,
  roles: ['author'],
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
  summary: 'Import a dashboard as a template',
  description:
    'Creates a dashboard of the organization. Its metrics get new ids but keep the ids of the file as their origin, so settings of guest tokens that name those ids also restrict the copies.',
  bodyBytes: limits.bodyBytes,
  credentials: ['serviceToken'],
  reads: 'definitions',
  roles: ['author'],
  input: z.strictObject({
    workspaceName: identifier,
    importDashboardData: importedData.describe('The `data` object of a dashboard export, or the complete export.'),
    dashboardId: identifier.optional().describe('If missing, a new id is created.'),
    dashboardName: identifier.optional().describe('Defaults to the dashboard’s id.'),
    schemaPairs: schemaPairs.optional().describe('Schema names in the import, and the names that replace them.'),
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
