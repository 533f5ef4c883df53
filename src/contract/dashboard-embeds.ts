/** Operation 4: a dashboard of one client with its embed, as JSON or as a form with a file. */
import { z } from 'zod';
import type { Embed } from '../domain/dashboard/embed.js';
import { dashboardAccessSettings, exampleSettings } from './access-settings.js';
import { importedData } from './dashboard-versions.js';
import { schemaPairs } from './dashboards.js';
import { identifier, limits, metadata, text } from './fields.js';
import { type Multipart, noError, operation } from './operation.js';

/** The export as an uploaded file; objects, booleans and lists beside it are JSON strings. */
const importUpload: Multipart = {
  jsonFields: [
    'accessSettings',
    'metadata',
    'importDashboardData',
    'isImportMetrics',
    'isRenameDashboard',
    'schemaPairs',
    // spec-gap: not in the specification's list, but no boolean can be sent otherwise.
    'isAllowPrivateMetricsByDefault',
  ],
  file: {
    part: 'importDashboardDataFile',
    contentType: 'application/json',
    member: 'data',
    field: 'importDashboardData',
    code: 'INVALID_DASHBOARD_DATA',
  },
};

const legacyDashboardEmbed = {
  method: 'POST',
  from: 'body',
  isLegacy: true,
  encode: (embed: Embed) => ({ id: embed.embedId, error: null }),
  output: z.object({ id: z.string(), error: noError }),
  multipart: importUpload,
} as const;

export const createDashboardEmbed = operation({
  name: 'createDashboardEmbed',
  section: '4',
  resource: 'Embeds',
  summary: 'Create a dashboard of a client with its embed, empty or from a template',
  bodyBytes: limits.bodyBytes,
  credentials: ['apiKey'],
  authenticationCode: 'INVALID_DATA_APP_API_KEY',
  input: z.strictObject({
    dashboardId: identifier.describe('Unique within the data app.'),
    workspaceName: identifier,
    clientId: identifier.describe('The owner: it opens for this client alone.'),
    accessSettings: dashboardAccessSettings,
    templateDashboardId: identifier.optional().describe('Filters, grid margins and layout are cloned from it.'),
    metadata: metadata.optional().describe('Kept as it is. Left out: what the import says.'),
    isAllowPrivateMetricsByDefault: z.boolean().optional().describe('Left out: what the import says, else false.'),
    name: identifier.optional().describe('Name of the embed; defaults to `dashboardId`.'),
    embedDescription: text.optional(),
    isImportMetrics: z.boolean().default(false).describe('With a template: its metrics are imported.'),
    metricImportMode: z
      .enum(['GALLERY', 'METRIC'])
      .optional()
      .describe('Where imported metrics go: at hand, or on the board.'),
    importDashboardData: importedData
      .optional()
      .describe(
        'The `data` object of a dashboard export, or the whole export; the template’s metrics are then left alone.',
      ),
    isRenameDashboard: z
      .boolean()
      .default(false)
      .describe('True with a `name`: that is the display name. Otherwise it is `{dashboardId}_{clientId}`.'),
    schemaPairs: schemaPairs.optional().describe('Schema names of the import and what they become.'),
  }),
  output: z.object({ id: z.string(), error: noError, name: z.string() }),
  encode: (embed: Embed) => ({ id: embed.embedId, error: null, name: embed.name }),
  errors: {
    INVALID_DATA_APP_API_KEY: 401,
    WORKSPACE_ID_ERROR: 400,
    INVALID_DASHBOARD_ID: 400,
    INVALID_DATAMART_NAME: 400,
    CLIENT_ID_ERROR: 400,
    TEMPLATE_DASHBOARD_ERROR: 400,
    INVALID_DASHBOARD_DATA: 400,
    DASHBOARD_CREATE_ERROR: 500,
  },
  bindings: [
    { method: 'POST', path: '/api/v2/data-app/dashboard-embeds', from: 'body', multipart: importUpload },
    { path: '/api/v2/dataApp/dashboard-embeds', ...legacyDashboardEmbed },
    { path: '/api/v2/dataApp/dashboardEmbed/create', ...legacyDashboardEmbed },
  ],
  example: {
    input: {
      dashboardId: 'delays--LAX',
      workspaceName: 'flights',
      clientId: 'LAX',
      accessSettings: exampleSettings,
      templateDashboardId: 'delays',
      isImportMetrics: true,
      metricImportMode: 'METRIC',
    },
    output: { id: '7c0a4f0e-5a53-4a51-9f0e-1c1e6d1b2a34', error: null, name: 'delays--LAX' },
  },
});
