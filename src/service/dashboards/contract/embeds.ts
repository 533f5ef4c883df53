/** Operation 4: creates a dashboard of one client with its embed. The request is JSON, or a form with a file. */
import { z } from 'zod';
import type { Embed } from '../../../model/dashboard/embed.js';
import { identifier, limits, metadata, text } from '../../../platform/http/interface/fields.js';
import { type Multipart, noError, operation } from '../../../platform/http/interface/operation.js';
import { dashboardAccessSettings, exampleSettings } from '../../common/contract/access-settings.js';
import { schemaPairs } from './dashboards.js';
import { importedData } from './versions.js';

/**
 * The export as an uploaded file. The other fields of the form are text, so objects, booleans and lists are JSON
 * strings.
 */
const importUpload: Multipart = {
  jsonFields: [
    'accessSettings',
    'metadata',
    'importDashboardData',
    'isImportMetrics',
    'isRenameDashboard',
    'schemaPairs',
    // spec-gap: the specification does not list this field here, but a form has no other way to send a boolean.
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
  reads: 'definitions',
  authenticationCode: 'INVALID_DATA_APP_API_KEY',
  input: z.strictObject({
    dashboardId: identifier.describe('Unique within the data app.'),
    workspaceName: identifier,
    clientId: identifier.describe('The owner. Only this client can open the dashboard.'),
    accessSettings: dashboardAccessSettings,
    templateDashboardId: identifier
      .optional()
      .describe('The template. Its filters, grid margins and layout are copied.'),
    metadata: metadata.optional().describe('Stored unchanged. If missing, the value in the import is used.'),
    isAllowPrivateMetricsByDefault: z
      .boolean()
      .optional()
      .describe('If missing, the value in the import is used, else false.'),
    name: identifier.optional().describe('Name of the embed; defaults to `dashboardId`.'),
    embedDescription: text.optional(),
    isImportMetrics: z.boolean().default(false).describe('True: also copy the metrics of the template.'),
    metricImportMode: z
      .enum(['GALLERY', 'METRIC'])
      .optional()
      .describe('Where copied metrics are placed: in the gallery, or on the board.'),
    importDashboardData: importedData
      .optional()
      .describe(
        'The `data` object of a dashboard export, or the complete export. The metrics of the template are then not copied.',
      ),
    isRenameDashboard: z
      .boolean()
      .default(false)
      .describe(
        'True: `name` is the display name. Otherwise, or without `name`, the display name is `{dashboardId}_{clientId}`.',
      ),
    schemaPairs: schemaPairs.optional().describe('Schema names in the import, and the names that replace them.'),
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
