/** Operation 1: guest tokens. The body is strict: what the specification does not name is refused. */
import { z } from 'zod';
import { filterColumns, filterValues, identifier, limits, list } from './fields.js';
import { operation } from './operation.js';

const metricValues = (about: string) => z.strictObject({ metricId: identifier, values: filterValues.describe(about) });

/** Settings of the token that take precedence over the embed's access settings. */
const accessPermissions = z.strictObject({
  isAllowEndUserDashboardFilter: z.boolean().optional(),
  dashboardFilterColumns: list(filterColumns).optional(),
  isAllowEndUserMetricFilter: z.boolean().optional(),
  metricFilterColumns: list(filterColumns).optional(),
  isAllowDashboardFilterNameChange: z.boolean().optional(),
  isAllowMetricFilterNameChange: z.boolean().optional(),
});

const dashboardAppFilter = z.strictObject({
  dashboardId: identifier,
  values: filterValues.describe('By the label of a dashboard filter, without regard to case.'),
  isShowOnUrl: z.boolean().default(true).describe('False: the filter is applied, but not visible in the URL.'),
});

const params = z.strictObject({
  allowedEmbeds: list(identifier)
    .optional()
    .describe('Ids this token may load, each an embed id or a dashboard id. Left out: no restriction.'),
  rlsSettings: list(metricValues('Enforced values by the name of an RLS variable.'))
    .optional()
    .describe('Row-level security, enforced on the server and out of the end user’s reach.'),
  appFilters: list(metricValues('By a filter’s label or internal name, without regard to case.'))
    .optional()
    .describe('Filters of metrics, invisible to the end user.'),
  dashboardAppFilters: list(dashboardAppFilter).optional().describe('Filters of dashboards.'),
  hideDashboardFilters: list(identifier).optional().describe('Names of dashboard filters to hide.'),
  hideDashboardMetrics: list(z.strictObject({ dashboardId: identifier, metricIds: list(identifier) }))
    .optional()
    .describe('Metrics to hide, with their cards, for this token only.'),
  userIdentifier: identifier.optional().describe('The logged-in end user; enables private and published metrics.'),
  timezone: identifier.optional().describe('IANA name; queries run with it.'),
  accessPermissions: accessPermissions.optional().describe('These take precedence over the embed’s access settings.'),
});

const flag = z.boolean().optional();

/** The interface's ten permissions. */
export const guestPermissions = z.strictObject({
  isEnableArchiveMetrics: flag,
  isEnableManageMetrics: flag,
  isEnableCreateDashboardView: flag,
  isEnableMetricUpdation: flag,
  isEnableCustomizeLayout: flag,
  isEnableUnderlyingData: flag,
  isEnableDownloadMetrics: flag,
  isShowSideBar: flag,
  isShowDashboardName: flag,
  isDisableMetricCreation: flag,
});

/** The canonical guest-token request: what the gateway hashes for its cache key and sends to its upstream. */
export const guestTokenRequest = z.strictObject({
  clientId: identifier.describe('The tenant. The literal `None` when no tenancy is configured.'),
  dataAppName: identifier.describe('The data app of the API key.'),
  params: params.optional(),
  permissions: guestPermissions.optional().describe('One left out falls back to the embed’s access settings.'),
  expiryTime: z
    .number()
    .positive()
    .max(8_640_000_000_000)
    .optional()
    .meta({ description: 'Milliseconds from creation; left out: never expires.' }),
  datasourceName: identifier.optional().describe('For embeds over several datasources.'),
  datamartName: identifier.optional().describe('Scopes the token to a datamart.'),
});
export type GuestTokenRequest = z.output<typeof guestTokenRequest>;

export const createGuestToken = operation({
  name: 'createGuestToken',
  section: '1',
  resource: 'Guest tokens',
  summary: 'Create a guest token',
  description:
    'Called by the host’s backend for one end user. The token is an opaque reference: filters, row-level security values and permissions stay on the server.',
  bodyBytes: limits.bodyBytes,
  credentials: ['apiKey'],
  input: guestTokenRequest,
  output: z.object({ token: z.string() }),
  encode: (result: { readonly token: string }) => ({ token: result.token }),
  errors: {
    AUTHENTICATION_ERROR: 401,
    CLIENT_ID_ERROR: 400,
    DASHBOARD_PARAM_ERROR: 400,
    APP_FILTER_PARAM_ERROR: 400,
    RLS_SETTINGS_PARAM_ERROR: 400,
    DATASOURCE_NAME_ERROR: 400,
  },
  bindings: [{ method: 'POST', path: '/api/v2/guest-token/create', from: 'body' }],
  example: {
    input: {
      clientId: 'LAX',
      dataAppName: 'flights',
      params: {
        allowedEmbeds: ['delays--LAX'],
        dashboardAppFilters: [{ dashboardId: 'delays--LAX', values: { Date: 'Last 30 Days' } }],
        timezone: 'America/Los_Angeles',
      },
      permissions: { isEnableUnderlyingData: true, isShowDashboardName: true },
      expiryTime: 900_000,
    },
    output: { token: '2f1d9c6e-8f0b-4f5e-9a53-6a1f0f5be7d1' },
  },
});
