/** The policy file's shape. What its expressions mean is policy-file.ts's affair, how rules combine combine.ts's. */
import { z } from 'zod';
import { accessSettings } from '../contract/embeds.js';
import { filterColumns, identifier } from '../contract/fields.js';
import { guestPermissionNames } from '../domain/guest.js';
import { claimTypes } from './expression.js';

/** No `--`, and no `-` at either end: so a dashboard id splits at its first `--` into template and client. */
export const templateName = z
  .string()
  .max(100)
  .regex(/^[A-Za-z0-9_.]+(-[A-Za-z0-9_.]+)*$/, 'must be made of letters, digits, "_", "." and single "-" between them');

const expression = z.string().min(1).max(4000);
export const minutes = z.number().int().min(1).max(10_080);

const off = z.boolean().default(false);

/** The switches that a template leaves out are off; the end user's filters are granted by rules, through the token. */
const templateSettings = accessSettings
  .omit({
    datamartName: true,
    isAllowEndUserDashboardFilter: true,
    dashboardFilterColumns: true,
    isAllowEndUserMetricFilter: true,
    metricFilterColumns: true,
  })
  .extend({
    isAllowEmailReports: off,
    isAllowManageMetrics: off,
    isAllowCreateDashboardView: off,
    isAllowMetricCreation: off,
    isAllowMetricDeletion: off,
    isAllowMetricLayoutChange: off,
    isAllowMetricUpdate: off,
    isAllowUnderlyingData: off,
    metricCreationMode: z.enum(['DRAG_DROP', 'CHAT']).default('DRAG_DROP'),
  });

/** Access settings of a template, complete but for the policy's datamart. */
export type TemplateSettings = z.output<typeof templateSettings>;

const template = z.strictObject({
  name: identifier,
  accessSettings: templateSettings.prefault({}),
  /** Whether who is granted it goes without, where a tenant's copy cannot be made now, or is refused. */
  provisioning: z.enum(['required', 'best-effort']).default('required'),
});

/** A grant only adds, so every switch in it says `true`. A filter switch comes with the columns that it opens. */
export const grantedAccess = z
  .strictObject({
    isAllowEndUserDashboardFilter: z.literal(true),
    dashboardFilterColumns: z.array(filterColumns).min(1),
    isAllowEndUserMetricFilter: z.literal(true),
    metricFilterColumns: z.array(filterColumns).min(1),
    isAllowDashboardFilterNameChange: z.literal(true),
    isAllowMetricFilterNameChange: z.literal(true),
  })
  .partial()
  .refine(
    (access) =>
      (access.isAllowEndUserDashboardFilter === true) === (access.dashboardFilterColumns !== undefined) &&
      (access.isAllowEndUserMetricFilter === true) === (access.metricFilterColumns !== undefined),
    'a filter switch and the columns that it opens come together',
  );

const grant = z.strictObject({
  templates: z.array(templateName).min(1),
  permissions: z.array(z.enum(guestPermissionNames).exclude(['isDisableMetricCreation'])).default([]),
  accessPermissions: grantedAccess.optional(),
  expiryMinutes: minutes.optional(),
  timezone: expression.optional(),
});

const values = z.record(identifier, expression);

const restrict = z
  .strictObject({
    dashboardFilters: values.default({}),
    rls: values.default({}),
    appFilters: values.default({}),
    hideDashboardFilters: z.array(identifier).default([]),
    hideMetrics: z.record(templateName, z.array(identifier).min(1)).default({}),
    isDisableMetricCreation: z.literal(true).optional(),
  })
  .refine((value) => Object.values(value).some((part) => part === true || Object.keys(part ?? {}).length > 0), {
    message: 'restricts nothing',
  });

const seconds = (most: number, usual: number) => z.number().int().min(0).max(most).default(usual);

/** Where the host is asked. The address stands here and nowhere else; the secret never does. */
const tenantHttp = z.strictObject({
  url: z.string().min(1).max(2000),
  /** The variable that holds the secret which requests are signed with. */
  secretVariable: z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable'),
  /** Lets the address be plain http beyond this machine: then who listens there reads the keys, and can answer for the host. */
  allowHttp: off,
  timeoutMs: z.number().int().min(50).max(30_000).default(2_000),
  /** How long an answer counts. */
  cacheSeconds: seconds(86_400, 60),
  /** How long an answer without any tenant counts. */
  missingSeconds: seconds(3_600, 5),
  /** For how long after that an answer still serves while the host cannot be asked. */
  staleSeconds: seconds(86_400, 0),
  maxEntries: z.number().int().min(1).max(1_000_000).default(10_000),
});
export type TenantHttpDocument = z.output<typeof tenantHttp>;

/** The tenants are looked up by what `key` gives: in a table beside the policy, or at the host. */
const tenantLookup = z
  .strictObject({ key: expression, table: z.string().min(1).max(1000).optional(), http: tenantHttp.optional() })
  .refine(({ table, http }) => (table === undefined) !== (http === undefined), {
    message: 'takes exactly one of table (a CSV file) and http (a lookup at the host) beside its key',
  });
export type TenantDocument = string | z.output<typeof tenantLookup>;

/** What a policy file holds. */
export const policySchema = z.strictObject({
  version: z.literal(1),
  dataApp: identifier,
  workspace: identifier,
  datamart: identifier,
  session: z.strictObject({
    claims: z.record(identifier, z.enum(claimTypes)),
    tenant: z.union([expression, tenantLookup]),
    roles: expression,
  }),
  expiryMinutes: minutes.default(60),
  templates: z.record(templateName, template),
  onSignUp: z.array(templateName).default([]),
  rules: z.array(z.strictObject({ name: identifier, when: expression, grant })).min(1),
  restrictions: z.array(z.strictObject({ name: identifier, when: expression, restrict })).default([]),
});
export type PolicyDocument = z.output<typeof policySchema>;
export type GrantDocument = PolicyDocument['rules'][number]['grant'];
export type RestrictDocument = PolicyDocument['restrictions'][number]['restrict'];
