/** Operations 2 and 3, and the lists of a data app's embeds and of their metrics. */
import { z } from 'zod';
import type { Dashboard } from '../../../model/dashboard/dashboard.js';
import type { Embed } from '../../../model/dashboard/embed.js';
import type { Metric } from '../../../model/dashboard/metric.js';
import { mapItems, type Slices } from '../../../model/slices.js';
import type { Encoded } from '../../../platform/http/interface/callable.js';
import {
  decodePagination,
  identifier,
  limits,
  pagination,
  queryPagination,
} from '../../../platform/http/interface/fields.js';
import { noError, operation, type RequestParts } from '../../../platform/http/interface/operation.js';
import { accessSettings, dashboardAccessSettings, exampleSettings } from '../../common/contract/access-settings.js';

export { accessSettings } from '../../common/contract/access-settings.js';

export const createEmbed = operation({
  name: 'createEmbed',
  section: '2',
  resource: 'Embeds',
  summary: 'Create an embed for an existing dashboard or metric',
  bodyBytes: limits.bodyBytes,
  credentials: ['apiKey'],
  reads: 'definitions',
  input: z.discriminatedUnion('embedType', [
    z.strictObject({
      embedType: z.literal('dashboard'),
      dashboardId: identifier,
      workspaceName: identifier,
      name: identifier.optional().describe('Defaults to the embed id.'),
      accessSettings: dashboardAccessSettings,
    }),
    z.strictObject({
      embedType: z.literal('metric'),
      dashboardId: identifier.describe('The dashboard that contains the metric.'),
      metricId: identifier,
      workspaceName: identifier,
      name: identifier.optional().describe('Defaults to the embed id.'),
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
  example: {
    input: {
      embedType: 'dashboard',
      dashboardId: 'delays',
      workspaceName: 'flights',
      name: 'Delays',
      accessSettings: exampleSettings,
    },
    output: { id: '7c0a4f0e-5a53-4a51-9f0e-1c1e6d1b2a34', error: null },
  },
});

/** spec-gap: a POST deletes only if query and body name the same embed and the body has no other field. */
const namesOneEmbedTwice = ({ query, body }: RequestParts): boolean =>
  typeof query.embedId === 'string' &&
  typeof body === 'object' &&
  body !== null &&
  Object.keys(body).length === 1 &&
  'embedId' in body &&
  body.embedId === query.embedId;

export const deleteEmbed = operation({
  name: 'deleteEmbed',
  section: '3',
  resource: 'Embeds',
  summary: 'Delete an embed',
  description:
    'Also deletes the guest tokens that name no other embed. A POST to the same path deletes too, if query and body name the same embed and the body has no other field. This cannot be undone.',
  credentials: ['apiKey'],
  reads: 'nothing',
  input: z.strictObject({ embedId: identifier }),
  output: z.object({ id: z.string(), error: noError }),
  encode: (embed: Embed) => ({ id: embed.embedId, error: null }),
  errors: { AUTHENTICATION_ERROR: 401 },
  bindings: [
    { method: 'DELETE', path: '/api/v2/data-app/embeds', from: 'query' },
    { method: 'POST', path: '/api/v2/data-app/embeds', from: 'query', when: namesOneEmbedTwice },
    { method: 'DELETE', path: '/api/v2/dataApp/embeds', from: 'query', isLegacy: true },
    { method: 'POST', path: '/api/v2/dataApp/embeds', from: 'query', isLegacy: true, when: namesOneEmbedTwice },
    { method: 'POST', path: '/api/v2/dataApp/embed/delete', from: 'body', isLegacy: true },
  ],
  example: {
    input: { embedId: 'delays--LAX' },
    output: { id: 'delays--LAX', error: null },
  },
});

/** An embed in a list, with its dashboard or metric. */
export type ListedEmbed = { readonly embed: Embed; readonly dashboard: Dashboard; readonly metric: Metric | null };

const listedEmbed = z.object({
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
  embedDescription: z.string().nullable().optional(),
  accessSettings: z
    .record(z.string(), z.unknown())
    .nullable()
    .optional()
    .describe('The access settings as they were set.'),
});

const encodeListedEmbed = ({ embed, dashboard, metric }: ListedEmbed): Encoded<typeof listedEmbed> => ({
  embedId: embed.embedId,
  embedType: embed.embedType,
  name: embed.name,
  externalDashboard:
    embed.embedType === 'dashboard'
      ? { externalDashboardId: dashboard.externalDashboardId, metadata: dashboard.metadata, name: dashboard.name }
      : null,
  externalMetric: metric === null ? null : { metricId: metric.metricId, name: metric.name },
  embedMetadata: null,
  embedDescription: embed.description,
  accessSettings: embed.accessSettings,
});

const oneEmbed = {
  embedId: identifier.optional().describe('Returns only this embed, or an empty list if it does not exist.'),
};

const listQuery = z.strictObject({ ...queryPagination, ...oneEmbed }).transform(({ embedId, ...query }, context) => ({
  ...decodePagination(query, context),
  ...(embedId === undefined ? {} : { embedId }),
}));

export const listEmbeds = operation({
  name: 'listEmbeds',
  section: 'facts',
  resource: 'Embeds',
  summary: "List the data app's embeds",
  credentials: ['apiKey'],
  reads: 'definitions',
  readsOnly: true,
  roles: ['author', 'publisher', 'support', 'auditor'],
  input: z.strictObject({ ...pagination, ...oneEmbed }),
  output: z.object({ data: z.array(listedEmbed), error: noError }),
  encode: (embeds: Slices<ListedEmbed>) => ({ data: mapItems(embeds, encodeListedEmbed), error: null }),
  errors: { AUTHENTICATION_ERROR: 401 },
  bindings: [
    { method: 'GET', path: '/api/v2/data-app/embeds', from: 'query', input: listQuery },
    { method: 'GET', path: '/api/v2/dataApp/embed/list', from: 'query', isLegacy: true, input: listQuery },
    { method: 'POST', path: '/api/v2/dataApp/embed/list', from: 'body', isLegacy: true },
  ],
  example: {
    input: { isPagination: true, pageNumber: 1 },
    output: {
      data: [
        {
          embedId: '7c0a4f0e-5a53-4a51-9f0e-1c1e6d1b2a34',
          embedType: 'dashboard',
          name: 'delays--LAX',
          externalDashboard: { externalDashboardId: 'delays--LAX', metadata: null, name: 'delays--LAX_LAX' },
          externalMetric: null,
          embedMetadata: null,
        },
      ],
      error: null,
    },
  },
});

const isMadeByGuest = { isGuestMade: true } as const;
const listedMetric = z.object({
  name: z.string(),
  metricId: z.string(),
  isGuestMade: z.literal(true).optional().describe('A guest of this client made the metric. It may be private.'),
});

const metricsQuery = z
  .strictObject({ embedId: identifier, clientId: identifier, ...queryPagination })
  .transform(({ embedId, clientId, ...query }, context) => ({
    embedId,
    clientId,
    ...decodePagination(query, context),
  }));

export const listEmbedMetrics = operation({
  name: 'listEmbedMetrics',
  section: 'facts',
  resource: 'Embeds',
  summary: 'List the metrics that a client reads through an embed',
  credentials: ['apiKey'],
  reads: 'definitions',
  input: z.strictObject({ embedId: identifier, clientId: identifier, ...pagination }),
  output: z.object({ data: z.array(listedMetric), error: noError }),
  encode: (metrics: readonly Metric[]) => ({
    data: metrics.map(({ name, metricId, guest }) => ({ name, metricId, ...(guest === null ? {} : isMadeByGuest) })),
    error: null,
  }),
  errors: { AUTHENTICATION_ERROR: 401, INVALID_EMBED_ID: 400, EMBED_PARAM_ERROR: 400 },
  bindings: [{ method: 'GET', path: '/api/v2/data-app/metrics', from: 'query', input: metricsQuery }],
  example: {
    input: { embedId: '7c0a4f0e-5a53-4a51-9f0e-1c1e6d1b2a34', clientId: 'LAX' },
    output: { data: [{ name: 'Flights a day', metricId: 'flights-a-day--LAX' }], error: null },
  },
});
