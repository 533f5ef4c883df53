/** Operation 1: guest tokens. A field that the specification does not name is refused. */
import { z } from 'zod';
import { maskForms, maskPattern } from '../../../model/datamart/masks.js';
import { accessColumns, accessSwitches, guestPermissionNames } from '../../../model/guest/grant.js';
import { quotaNames, quotaParts } from '../../../model/quota.js';
import { recordOf } from '../../../model/record-of.js';
import { filterColumns, filterValues, identifier, limits, list } from '../../../platform/http/interface/fields.js';
import { firstFaultRecord } from '../../../platform/http/interface/first-fault.js';
import { operation } from '../../../platform/http/interface/operation.js';

const metricValues = (about: string) => z.strictObject({ metricId: identifier, values: filterValues.describe(about) });

/** Settings of the token. They take precedence over the embed's access settings. */
const accessPermissions = z.strictObject({
  ...recordOf(accessSwitches, () => z.boolean().optional()),
  ...recordOf(accessColumns, () => list(filterColumns).optional()),
});

const dashboardAppFilter = z.strictObject({
  dashboardId: identifier,
  values: filterValues.describe('Values by the label of a dashboard filter; case is ignored.'),
  isShowOnUrl: z.boolean().default(true).describe('False: the filter applies, but is not shown in the URL.'),
});

/** `schema.table.column`: three names with a dot between them. */
export const columnPath = z
  .string()
  .min(5)
  .max(3 * limits.nameLength + 2)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'must be schema.table.column');

/** The mask by column. */
export const masks = firstFaultRecord(columnPath, z.string().max(20).regex(maskPattern, `must be ${maskForms}`)).refine(
  (given) => Object.keys(given).length <= limits.properties,
  `at most ${limits.properties} columns`,
);

/** What a plan limits. */
export const quota = z.strictObject(
  recordOf(quotaNames, (name) => z.number().int().min(0).max(1_000_000_000).optional().describe(quotaParts[name])),
);

const params = z.strictObject({
  allowedEmbeds: list(identifier)
    .optional()
    .describe('Embed ids or dashboard ids that this token may load. If missing, the token may load all.'),
  rlsSettings: list(metricValues('Enforced values by the name of an RLS variable.'))
    .optional()
    .describe('Row-level security. The server enforces it, and the end user cannot see or change it.'),
  appFilters: list(metricValues('Values by a filter’s label or internal name; case is ignored.'))
    .optional()
    .describe('Filters of metrics. The end user cannot see them.'),
  dashboardAppFilters: list(dashboardAppFilter).optional().describe('Filters of dashboards.'),
  hideDashboardFilters: list(identifier).optional().describe('Names of dashboard filters to hide.'),
  hideDashboardMetrics: list(z.strictObject({ dashboardId: identifier, metricIds: list(identifier) }))
    .optional()
    .describe('Metrics to hide with their cards, for this token only.'),
  hideColumns: list(columnPath)
    .optional()
    .describe(
      'Columns that this token does not read, each as `schema.table.column`. Metrics that need one are not shown.',
    ),
  maskColumns: masks
    .optional()
    .describe(
      `What this token reads of a column, by \`schema.table.column\`: ${maskForms}. The token’s own filters and RLS settings compare the stored values.`,
    ),
  quota: quota.optional().describe('How much the tenant may use. Beyond, answers are refused with QUOTA_REACHED.'),
  userIdentifier: identifier.optional().describe('The logged-in end user. Enables private and published metrics.'),
  timezone: identifier.optional().describe('IANA name. Queries use this timezone.'),
  accessPermissions: accessPermissions.optional().describe('These take precedence over the embed’s access settings.'),
});

const flag = z.boolean().optional();

/** The ten permissions of the interface, and those that Guestlist adds. */
export const guestPermissions = z.strictObject({
  ...recordOf(guestPermissionNames, () => flag),
  isEnableCreateDashboard: flag.describe('Own dashboards of users. False if missing.'),
});

/**
 * The guest-token request in its canonical form. The gateway uses its hash as the cache key, and sends it to the
 * service.
 */
const guestTokenRequest = z.strictObject({
  clientId: identifier.describe('The tenant. If no tenancy is configured, the literal `None`.'),
  dataAppName: identifier.describe('The data app of the API key.'),
  params: params.optional(),
  permissions: guestPermissions
    .optional()
    .describe('A missing permission has the value in the embed’s access settings.'),
  expiryTime: z
    .number()
    .positive()
    .max(8_640_000_000_000)
    .optional()
    .meta({ description: 'Milliseconds from creation. If missing, the token never expires.' }),
  datasourceName: identifier.optional().describe('For embeds with several datasources.'),
  datamartName: identifier.optional().describe('Limits the token to one datamart.'),
});
export type GuestTokenRequest = z.output<typeof guestTokenRequest>;

export const createGuestToken = operation({
  name: 'createGuestToken',
  section: '1',
  resource: 'Guest tokens',
  summary: 'Create a guest token',
  description:
    'Called by the host’s backend for one end user. The token is an opaque reference: its filters, RLS values and permissions stay on the server.',
  bodyBytes: limits.bodyBytes,
  credentials: ['apiKey'],
  reads: 'nothing',
  counts: 'mints',
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
