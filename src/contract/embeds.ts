/** Operations 2 and 4, and the listings of a data app's embeds and their metrics. */
import { z } from 'zod';
import type { Dashboard } from '../domain/dashboard.js';
import type { AccessSettings, Embed } from '../domain/embed.js';
import type { Metric } from '../domain/metric.js';
import { dashboardData } from './dashboard-export.js';
import { filterColumns, identifier, text } from './fields.js';
import { noError, operation } from './operation.js';

const flag = z.boolean().optional();

/** The interface's "Access settings". */
export const accessSettings = z.strictObject({
  datamartName: identifier.optional(),
  isAllowAiPilot: flag,
  isAllowEmailReports: z.boolean(),
  isAllowManageMetrics: z.boolean(),
  isAllowCreateDashboardView: z.boolean(),
  isAllowEndUserDashboardFilter: flag,
  dashboardFilterColumns: z.array(filterColumns).optional(),
  isAllowEndUserMetricFilter: flag,
  metricFilterColumns: z.array(filterColumns).optional(),
  isAllowMetricCreation: z.boolean(),
  isAllowMetricDeletion: z.boolean(),
  isAllowMetricLayoutChange: z.boolean(),
  isAllowMetricUpdate: z.boolean(),
  isAllowUnderlyingData: z.boolean(),
  joinModel: z.enum(['single', 'multi']).optional(),
  isIncrementalJoin: flag,
  metricCreationMode: z.enum(['DRAG_DROP', 'CHAT']),
  tableTenancySettings: z.array(z.strictObject({ name: identifier, clientColumn: identifier })).optional(),
}) satisfies z.ZodType<AccessSettings>;

/** Dashboards need a datamart in their settings; single metrics bring their own. */
const dashboardAccessSettings = accessSettings.required({ datamartName: true });

export const createEmbed = operation({
  name: 'createEmbed',
  section: '2',
  summary: 'Create an embed for an existing dashboard or metric',
  credentials: ['apiKey'],
  input: z.discriminatedUnion('embedType', [
    z.strictObject({
      embedType: z.literal('dashboard'),
      dashboardId: identifier,
      workspaceName: identifier,
      name: identifier.optional(),
      accessSettings: dashboardAccessSettings,
    }),
    z.strictObject({
      embedType: z.literal('metric'),
      dashboardId: identifier,
      metricId: identifier,
      workspaceName: identifier,
      name: identifier.optional(),
      accessSettings: accessSettings.optional(),
    }),
  ]),
  output: z.object({ id: z.string(), error: noError }),
  encode: (embed: Embed) => ({ id: embed.embedId, error: null }),
  errors: {
    AUTHENTICATION_ERROR: 401,
    INVALID_WORKSPACE_NAME: 400,
    INVALID_DASHBOARD_ID: 404,
    INVALID_METRIC_ID: 404,
    INVALID_DATAMART_NAME: 400,
  },
  bindings: [
    { method: 'POST', path: '/api/v2/data-app/embeds', from: 'body' },
    { method: 'POST', path: '/api/v2/dataApp/embeds', from: 'body', isLegacy: true },
    { method: 'POST', path: '/api/v2/dataApp/embed/create', from: 'body', isLegacy: true },
  ],
});

export const createDashboardEmbed = operation({
  name: 'createDashboardEmbed',
  section: '4',
  summary: 'Create a dashboard of a client with its embed, empty or from a template',
  credentials: ['apiKey'],
  input: z.strictObject({
    dashboardId: identifier,
    workspaceName: identifier,
    clientId: identifier,
    accessSettings: dashboardAccessSettings,
    templateDashboardId: identifier.optional(),
    metadata: z.record(z.string(), z.json()).optional(),
    isAllowPrivateMetricsByDefault: z.boolean().default(false),
    name: identifier.optional(),
    embedDescription: text.optional(),
    isImportMetrics: z.boolean().default(false),
    metricImportMode: z.enum(['GALLERY', 'METRIC']).optional(),
    importDashboardData: dashboardData.optional(),
    isRenameDashboard: z.boolean().default(false),
    schemaPairs: z.array(z.strictObject({ replaceSchema: identifier, targetSchema: identifier })).optional(),
  }),
  output: z.object({ id: z.string(), error: noError, name: z.string() }),
  encode: (embed: Embed) => ({ id: embed.embedId, error: null, name: embed.name }),
  errors: {
    INVALID_DATA_APP_API_KEY: 401,
    AUTHENTICATION_ERROR: 401,
    INVALID_WORKSPACE_NAME: 400,
    INVALID_DASHBOARD_ID: 400,
    INVALID_DATAMART_NAME: 400,
    CLIENT_ID_ERROR: 400,
    TEMPLATE_DASHBOARD_ERROR: 400,
    INVALID_DASHBOARD_DATA: 400,
    DASHBOARD_CREATE_ERROR: 400,
  },
  bindings: [
    { method: 'POST', path: '/api/v2/data-app/dashboard-embeds', from: 'body' },
    {
      method: 'POST',
      path: '/api/v2/dataApp/dashboard-embeds',
      from: 'body',
      isLegacy: true,
      encode: (embed: Embed) => ({ id: embed.embedId, error: null }),
    },
    {
      method: 'POST',
      path: '/api/v2/dataApp/dashboardEmbed/create',
      from: 'body',
      isLegacy: true,
      encode: (embed: Embed) => ({ id: embed.embedId, error: null }),
    },
  ],
});

/** An embed as listed, with what it shows. */
export type ListedEmbed = { readonly embed: Embed; readonly dashboard: Dashboard; readonly metric: Metric | null };

export const listEmbeds = operation({
  name: 'listEmbeds',
  section: 'facts',
  summary: "List the data app's embeds",
  credentials: ['apiKey'],
  input: z.strictObject({
    isPagination: z.stringbool().default(false),
    pageNumber: z.coerce.number().int().min(1).default(1),
  }),
  output: z.object({
    data: z.array(
      z.object({
        embedId: z.string(),
        embedType: z.enum(['dashboard', 'metric']),
        name: z.string(),
        externalDashboard: z
          .object({
            externalDashboardId: z.string(),
            metadata: z.record(z.string(), z.unknown()).nullable(),
            name: z.string(),
          })
          .nullable(),
        externalMetric: z.object({ metricId: z.string(), name: z.string() }).nullable(),
        embedMetadata: z.record(z.string(), z.unknown()).nullable(),
      }),
    ),
    error: noError,
  }),
  encode: (embeds: readonly ListedEmbed[]) => ({
    data: embeds.map(({ embed, dashboard, metric }) => ({
      embedId: embed.embedId,
      embedType: embed.embedType,
      name: embed.name,
      externalDashboard:
        embed.embedType === 'dashboard'
          ? { externalDashboardId: dashboard.externalDashboardId, metadata: dashboard.metadata, name: dashboard.name }
          : null,
      externalMetric: metric === null ? null : { metricId: metric.metricId, name: metric.name },
      embedMetadata: null,
    })),
    error: null,
  }),
  errors: { AUTHENTICATION_ERROR: 401 },
  bindings: [
    { method: 'GET', path: '/api/v2/data-app/embeds', from: 'query' },
    { method: 'GET', path: '/api/v2/dataApp/embed/list', from: 'query', isLegacy: true },
  ],
});

export const listEmbedMetrics = operation({
  name: 'listEmbedMetrics',
  section: 'facts',
  summary: 'List the metrics that a client reads through an embed',
  credentials: ['apiKey'],
  input: z.strictObject({ embedId: identifier, clientId: identifier }),
  output: z.object({ data: z.array(z.object({ name: z.string(), metricId: z.string() })), error: noError }),
  encode: (metrics: readonly Metric[]) => ({
    data: metrics.map(({ name, metricId }) => ({ name, metricId })),
    error: null,
  }),
  errors: { AUTHENTICATION_ERROR: 401, INVALID_EMBED_ID: 400, EMBED_PARAM_ERROR: 400 },
  bindings: [{ method: 'GET', path: '/api/v2/data-app/metrics', from: 'query' }],
});
