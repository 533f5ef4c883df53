/** Operations 13 to 15: the dashboards and metrics of a workspace. */
import { z } from 'zod';
import type { Dashboard } from '../../../model/dashboard/dashboard.js';
import type { Metric } from '../../../model/dashboard/metric.js';
import { mapItems, type Slices } from '../../../model/slices.js';
import { identifier, limits, list, pagination } from '../../../platform/http/interface/fields.js';
import { noError, operation } from '../../../platform/http/interface/operation.js';

const listingInput = z.strictObject({ workspaceName: identifier, ...pagination });

export const listDashboards = operation({
  name: 'listDashboards',
  section: '13',
  resource: 'Workspaces',
  summary: 'List the dashboards of a workspace',
  credentials: ['apiKey', 'serviceToken'],
  reads: 'definitions',
  readsOnly: true,
  roles: ['author', 'publisher', 'support', 'auditor'],
  input: listingInput,
  output: z.object({
    data: z.array(z.object({ name: z.string(), externalDashboardId: z.string() })),
    error: noError,
  }),
  encode: (dashboards: Slices<Dashboard>) => ({
    data: mapItems(dashboards, ({ name, externalDashboardId }) => ({ name, externalDashboardId })),
    error: null,
  }),
  errors: { AUTHENTICATION_ERROR: 401, WORKSPACE_ID_ERROR: 400 },
  bindings: [{ method: 'POST', path: '/api/v2/workspace/dashboards', from: 'body' }],
  example: {
    input: { workspaceName: 'flights' },
    output: { data: [{ name: 'Delays', externalDashboardId: 'delays' }], error: null },
  },
});

export const listMetrics = operation({
  name: 'listMetrics',
  section: '14',
  resource: 'Workspaces',
  summary: 'List the metrics of a workspace',
  credentials: ['apiKey', 'serviceToken'],
  reads: 'definitions',
  readsOnly: true,
  roles: ['author', 'publisher', 'support', 'auditor'],
  input: listingInput,
  output: z.object({ data: z.array(z.object({ name: z.string(), metricId: z.string() })), error: noError }),
  encode: (metrics: Slices<Metric>) => ({
    data: mapItems(metrics, ({ name, metricId }) => ({ name, metricId })),
    error: null,
  }),
  errors: { AUTHENTICATION_ERROR: 401, WORKSPACE_ID_ERROR: 400 },
  bindings: [{ method: 'POST', path: '/api/v2/workspace/metrics', from: 'body' }],
  example: {
    input: { workspaceName: 'flights', isPagination: true, pageNumber: 1 },
    output: { data: [{ name: 'Flights a day', metricId: 'flights-a-day' }], error: null },
  },
});

export const listDashboardMetrics = operation({
  name: 'listDashboardMetrics',
  section: 'facts',
  resource: 'Workspaces',
  summary: 'List the metrics of a dashboard of a workspace',
  credentials: ['apiKey'],
  reads: 'definitions',
  readsOnly: true,
  input: z.strictObject({ workspaceName: identifier, dashboardId: identifier, ...pagination }),
  output: z.object({ data: z.array(z.object({ name: z.string(), metricId: z.string() })) }),
  encode: (metrics: readonly Metric[]) => ({ data: metrics.map(({ name, metricId }) => ({ name, metricId })) }),
  errors: { AUTHENTICATION_ERROR: 401, WORKSPACE_ID_ERROR: 400, INVALID_DASHBOARD_ID: 400 },
  bindings: [{ method: 'POST', path: '/api/v2/workspace/dashboard/metrics', from: 'body' }],
  example: {
    input: { workspaceName: 'flights', dashboardId: 'delays' },
    output: { data: [{ name: 'Flights a day', metricId: 'flights-a-day' }] },
  },
});

const unique = (names: readonly string[]): boolean => new Set(names).size === names.length;

const mappedFilter = z.strictObject({
  name: identifier.describe('The label of a filter of the dashboard.'),
  applyOnTables: list(
    z.strictObject({
      dataType: identifier,
      schemaName: identifier,
      tableName: identifier.describe('The table’s name without its schema.'),
      columnName: identifier,
    }),
    // spec-gap: a filter without a mapping would restrict nothing.
  ).min(1),
});

const dashboardUpdate = z
  .strictObject({
    dashboardId: identifier.describe('External dashboard id.'),
    filters: list(mappedFilter)
      .refine((filters) => unique(filters.map(({ name }) => name.toLowerCase())), 'each filter at most once')
      .optional(),
    appendMetrics: list(z.strictObject({ metricId: identifier }))
      .refine((metrics) => unique(metrics.map(({ metricId }) => metricId)), 'each metricId at most once')
      .optional()
      .describe('Metrics of the workspace to add to the gallery.'),
    removedMetrics: list(identifier)
      .refine(unique, 'each metricId at most once')
      .optional()
      .describe('Metrics to remove from the gallery.'),
  })
  .refine(
    ({ filters, appendMetrics, removedMetrics }) => [filters, appendMetrics, removedMetrics].some(Boolean),
    'at least one of filters, appendMetrics and removedMetrics',
  )
  .refine(
    ({ appendMetrics = [], removedMetrics = [] }) =>
      !appendMetrics.some(({ metricId }) => removedMetrics.includes(metricId)),
    'no metricId in both appendMetrics and removedMetrics',
  );

export const updateWorkspaceDashboards = operation({
  name: 'updateWorkspaceDashboards',
  section: '15',
  resource: 'Workspaces',
  summary: 'Update filter mappings and gallery metrics of dashboards',
  description:
    'Changes everything or nothing. An API key may change only filter mappings, and only of dashboards that no other data app shows; gallery metrics need a service token.',
  bodyBytes: limits.bodyBytes,
  credentials: ['serviceToken', 'apiKey'],
  reads: 'definitions',
  roles: ['author'],
  authenticationCode: 'INVALID_SERVICE_TOKEN',
  input: z.strictObject({
    workspaceName: identifier,
    dashboards: list(dashboardUpdate).refine(
      (dashboards) => unique(dashboards.map(({ dashboardId }) => dashboardId)),
      'each dashboardId at most once',
    ),
  }),
  output: z.object({ data: z.object({ success: z.literal(true) }), error: noError }),
  encode: (_: undefined) => ({ data: { success: true as const }, error: null }),
  errors: {
    INVALID_SERVICE_TOKEN: 400,
    AUTHENTICATION_ERROR: 403,
    WORKSPACE_ID_ERROR: 400,
    INVALID_DASHBOARD_ID: 400,
    INVALID_METRIC_ID: 400,
  },
  bindings: [{ method: 'PUT', path: '/api/v2/workspace/dashboards', from: 'body' }],
  example: {
    input: {
      workspaceName: 'flights',
      dashboards: [
        {
          dashboardId: 'delays--LAX',
          filters: [
            {
              name: 'Date',
              applyOnTables: [{ dataType: 'date', schemaName: 'main', tableName: 'flights', columnName: 'date' }],
            },
          ],
          appendMetrics: [{ metricId: 'busiest-routes' }],
          removedMetrics: ['share-delayed'],
        },
      ],
    },
    output: { data: { success: true }, error: null },
  },
});
