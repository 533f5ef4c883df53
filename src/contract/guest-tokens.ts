/** Operation 1: guest tokens. The body is strict: what the specification does not name is refused. */
import { z } from 'zod';
import { filterColumns, filterValues, identifier } from './fields.js';
import { operation } from './operation.js';

const metricValues = z.strictObject({ metricId: identifier, values: filterValues });

const params = z.strictObject({
  allowedEmbeds: z.array(identifier).optional(),
  rlsSettings: z.array(metricValues).optional(),
  appFilters: z.array(metricValues).optional(),
  dashboardAppFilters: z
    .array(z.strictObject({ dashboardId: identifier, values: filterValues, isShowOnUrl: z.boolean().default(true) }))
    .optional(),
  hideDashboardFilters: z.array(identifier).optional(),
  hideDashboardMetrics: z.array(z.strictObject({ dashboardId: identifier, metricIds: z.array(identifier) })).optional(),
  userIdentifier: identifier.optional(),
  timezone: identifier.optional(),
  accessPermissions: z
    .strictObject({
      isAllowEndUserDashboardFilter: z.boolean().optional(),
      dashboardFilterColumns: z.array(filterColumns).optional(),
      isAllowEndUserMetricFilter: z.boolean().optional(),
      metricFilterColumns: z.array(filterColumns).optional(),
      isAllowDashboardFilterNameChange: z.boolean().optional(),
      isAllowMetricFilterNameChange: z.boolean().optional(),
    })
    .optional(),
});

const flag = z.boolean().optional();

const permissions = z.strictObject({
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
  clientId: identifier,
  dataAppName: identifier,
  params: params.optional(),
  permissions: permissions.optional(),
  expiryTime: z
    .number()
    .int()
    .positive()
    .max(8_640_000_000_000)
    .optional()
    .meta({ description: 'Milliseconds from creation; left out: never expires.' }),
  datasourceName: identifier.optional(),
  datamartName: identifier.optional(),
});
export type GuestTokenRequest = z.output<typeof guestTokenRequest>;

export const createGuestToken = operation({
  name: 'createGuestToken',
  section: '1',
  summary: 'Create a guest token',
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
    WORKSPACE_ID_ERROR: 400,
    INVALID_DATAMART: 400,
  },
  bindings: [{ method: 'POST', path: '/api/v2/guest-token/create', from: 'body' }],
});
