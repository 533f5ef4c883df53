/**
 * The schema of a policy file and of its `tenantFiles`. Editors get it as JSON Schema, so each field has a description.
 * expression.ts defines the meaning of expressions, and combine.ts how rules combine.
 */
import { z } from 'zod';
import { allowanceNames, allowances } from '../../model/dashboard/embed.js';
import { maskForms, maskPattern } from '../../model/datamart/masks.js';
import { guestPermissionNames } from '../../model/guest/grant.js';
import { recordOf } from '../../model/record-of.js';
import { channelName } from '../../platform/config/channels.js';
import { presetNames } from '../../platform/config/presets.js';
import { domainName } from '../../platform/config/settings.js';
import { filterColumns, identifier } from '../../platform/http/interface/fields.js';
import { accessSettings } from '../../service/embeds/contract/embeds.js';
import { quota } from '../../service/guest-tokens/contract/guest-tokens.js';
import { claimDeclarations } from './claim-schema.js';

/**
 * A template's name. It has no `--`, and no `-` at its ends, so that the first `--` of a dashboard id separates
 * template and client.
 */
export const templateName = z
  .string()
  .max(100)
  .regex(/^[A-Za-z0-9_.]+(-[A-Za-z0-9_.]+)*$/, 'must be made of letters, digits, "_", "." and single "-" between them');

const expression = z.string().min(1).max(4000);
export const minutes = z.number().int().min(1).max(10_080);

/** A name of the service. An expression is written as a mapping, since `tenant.id` could be a name too. */
const sourceName = z.union([
  identifier,
  z.strictObject({ expression: expression.describe('CEL over user, tenant and now that returns the name.') }),
]);

/**
 * What a rule, a restriction, a template or an override may name. All that apply to a request must agree; the workspace
 * must be of type MULTI_DATASOURCE or MULTI_DATAMART.
 */
const sourceNames = {
  datasource: sourceName
    .optional()
    .describe('The datasource that the token reads: a name, or `{ expression: ... }`. Becomes datasourceName.'),
  datamart: sourceName
    .optional()
    .describe('The datamart that the token reads: a name, or `{ expression: ... }`. Becomes datamartName.'),
};

const off = (about: string) => z.boolean().default(false).describe(`${about} Left out: off.`);

/**
 * Access settings in the file. Switches that a template leaves out are off. Rules grant the end user's filters, through
 * the token.
 */
const templateSettings = accessSettings
  .omit({
    datamartName: true,
    isAllowEndUserDashboardFilter: true,
    dashboardFilterColumns: true,
    isAllowEndUserMetricFilter: true,
    metricFilterColumns: true,
  })
  .extend({
    isAllowAiPilot: z.boolean().optional().describe('The assistant.'),
    ...recordOf(allowanceNames, (name) => off(allowances[name])),
    metricCreationMode: z.enum(['DRAG_DROP', 'CHAT']).default('DRAG_DROP').describe('How end users create metrics.'),
    tableTenancySettings: z
      .array(
        z.strictObject({
          name: identifier.describe('The table, as schema.table.'),
          clientColumn: identifier.describe('Its column that holds the clientId.'),
        }),
      )
      .optional()
      .describe('Client columns for tables that have none in the datamart.'),
    isAllowDashboardCreation: z.boolean().optional().describe('Own dashboards of users. Left out: off.'),
  });

/** Access settings of a template, complete except for the policy's datamart. */
export type TemplateSettings = z.output<typeof templateSettings>;

const template = z.strictObject({
  name: identifier.describe('The name that its users see.'),
  accessSettings: templateSettings.prefault({}).describe('What the copy allows. A rule must still grant it.'),
  provisioning: z
    .enum(['required', 'best-effort'])
    .default('required')
    .describe(
      "What happens if the tenant's copy cannot be created now: best-effort leaves it out of the answer; otherwise the request is refused.",
    ),
  ...sourceNames,
});

const columns = z
  .array(
    filterColumns.extend({
      tableName: identifier.describe('The table, as schema.table.'),
      columns: z.array(identifier).max(2000).describe('Columns by which the end user may filter.'),
    }),
  )
  .min(1);

/**
 * Access in a grant. A grant only adds, so every switch in it is `true`. A filter switch requires the columns that it
 * makes available.
 */
export const grantedAccess = z
  .strictObject({
    isAllowEndUserDashboardFilter: z.literal(true).describe('The end user may add filters on columns to dashboards.'),
    dashboardFilterColumns: columns.describe('The columns that the end user may choose.'),
    isAllowEndUserMetricFilter: z.literal(true).describe('The end user may add filters on columns to metrics.'),
    metricFilterColumns: columns.describe('The columns that the end user may choose.'),
    isAllowDashboardFilterNameChange: z.literal(true).describe('The end user may rename dashboard filters.'),
    isAllowMetricFilterNameChange: z.literal(true).describe('The end user may rename metric filters.'),
  })
  .partial()
  .refine(
    (access) =>
      (access.isAllowEndUserDashboardFilter === true) === (access.dashboardFilterColumns !== undefined) &&
      (access.isAllowEndUserMetricFilter === true) === (access.metricFilterColumns !== undefined),
    'a filter permission and its columns must be given together',
  );

const grant = z
  .strictObject({
    templates: z
      .array(templateName)
      .default([])
      .describe('Templates of this policy: the tenant gets its own copy of each. Becomes allowedEmbeds.'),
    embeds: z
      .array(identifier)
      .default([])
      .describe('Existing embeds: of single metrics, or of dashboards that all clients share. Becomes allowedEmbeds.'),
    permissions: z
      .array(z.enum(guestPermissionNames).exclude(['isDisableMetricCreation']))
      .default([])
      .describe('Permissions of the token. Permissions that no rule grants are sent as false.'),
    accessPermissions: grantedAccess.optional().describe('Which filters the end user may add or rename.'),
    channels: z
      .array(channelName)
      .default([])
      .describe(
        'Channels of the configuration to which alerts and links of the templates and embeds of this rule may go.',
      ),
    schedule: z
      .literal(true)
      .optional()
      .describe(
        'The user sends reports of the templates and embeds of this rule to others of the same tenant, and manages all schedules of the tenant there.',
      ),
    addressDomains: z
      .array(domainName)
      .default([])
      .describe(
        'Domains of addresses without an account to which such reports may go, once confirmed. Left out: to users only. Needs schedule.',
      ),
    expiryMinutes: minutes
      .optional()
      .describe('Minutes for which the token is valid. Default: the expiryMinutes of the policy.'),
    timezone: expression
      .optional()
      .describe('CEL that returns an IANA name, or the word `request`: the body of the request then sets it.'),
    ...sourceNames,
  })
  .refine(({ templates, embeds }) => templates.length + embeds.length > 0, 'grants neither templates nor embeds')
  .refine(({ schedule, addressDomains }) => schedule === true || addressDomains.length === 0, {
    message: 'addressDomains needs schedule: true',
    path: ['addressDomains'],
  });

const values = z.record(identifier, expression);

/** As long as the longest names of the service. */
const columnPath = z
  .string()
  .max(767)
  .regex(/^[^.]+\.[^.]+\..+$/s, 'must be schema.table.column');

const restrict = z
  .strictObject({
    dashboardFilters: values
      .default({})
      .describe(
        'CEL for each dashboard filter by name, applied on every granted dashboard. Becomes dashboardAppFilters.',
      ),
    show: z
      .literal(true)
      .optional()
      .describe(
        'The end user sees the values of these dashboardFilters, locked. Left out: the values are hidden. A filter that several restrictions bind is shown only if all of them say show. Becomes isShowOnUrl.',
      ),
    rls: values
      .default({})
      .describe('CEL for each RLS variable by name, applied to every granted metric. Becomes rlsSettings.'),
    appFilters: values
      .default({})
      .describe('CEL for each metric filter by name, applied to every granted metric. Becomes appFilters.'),
    hideDashboardFilters: z.array(identifier).default([]).describe('Dashboard filters that the end user does not see.'),
    hideMetrics: z
      .record(identifier, z.array(identifier).min(1))
      .default({})
      .describe('Names or ids of metrics to hide, by template or embed. Becomes hideDashboardMetrics.'),
    hideColumns: z
      .array(columnPath)
      .default([])
      .describe('Columns that nothing shows, each as schema.table.column. Metrics that need one are not shown.'),
    maskColumns: z
      .record(columnPath, z.string().regex(maskPattern, `must be ${maskForms}`))
      .default({})
      .describe(
        `What is shown of a column, by schema.table.column: ${maskForms}. The restrictions themselves compare what is stored.`,
      ),
    isDisableMetricCreation: z.literal(true).optional().describe('The end user may not create metrics.'),
    quota: quota.default({}).describe('How much the tenant may use. Of several limits the smallest applies.'),
    ...sourceNames,
  })
  .refine(
    ({ show: _, ...value }) => Object.values(value).some((part) => part === true || Object.keys(part ?? {}).length > 0),
    { message: 'restricts nothing' },
  )
  .refine(({ show, dashboardFilters }) => show === undefined || Object.keys(dashboardFilters).length > 0, {
    message: 'show needs dashboardFilters: only their values can be shown',
    path: ['show'],
  });

const seconds = (most: number, usual: number) => z.number().int().min(0).max(most).default(usual);

/** The lookup at the host. The policy file contains its URL, but never its secret. */
const tenantHttp = z.strictObject({
  url: z.string().min(1).max(2000).describe('The URL to call; must be https.'),
  secretVariable: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable')
    .describe('The environment variable with the secret that signs the requests.'),
  allowHttp: z
    .boolean()
    .default(false)
    .describe('Allows plain http to other machines. Anyone on that network can then read the keys and forge answers.'),
  timeoutMs: z.number().int().min(50).max(30_000).default(2_000).describe('Maximum wait for an answer.'),
  cacheSeconds: seconds(86_400, 60).describe('How long an answer is cached.'),
  missingSeconds: seconds(3_600, 5).describe('How long an answer without a tenant is cached.'),
  staleSeconds: seconds(86_400, 0).describe(
    'How much longer a cached answer may be used while the host is unavailable.',
  ),
  maxEntries: z.number().int().min(1).max(1_000_000).default(10_000).describe('Maximum number of cached answers.'),
});
export type TenantHttpDocument = z.output<typeof tenantHttp>;

/** A lookup of tenants by the value of `key`: in a table file, or at the host. */
const tenantLookup = z
  .strictObject({
    key: expression.describe('CEL over claims that returns the key to look up, or a list of keys.'),
    table: z.string().min(1).max(1000).optional().describe('A CSV file, relative to this one: key, then tenants.'),
    http: tenantHttp.optional().describe('Looks the tenant up at the host over HTTP.'),
  })
  .refine(({ table, http }) => (table === undefined) !== (http === undefined), {
    message: 'takes exactly one of table (a CSV file) and http (a lookup at the host) beside its key',
  });
export type TenantDocument = string | z.output<typeof tenantLookup>;

const rules = z.array(
  z.strictObject({
    name: identifier.describe('For logs and explanations.'),
    when: expression.describe('CEL over user, tenant and now that returns a bool.'),
    grant: grant.describe('What the rule grants if `when` is true.'),
  }),
);
const restrictions = z.array(
  z.strictObject({
    name: identifier.describe('For logs and explanations.'),
    when: expression.describe('CEL over user, tenant and now that returns a bool; has() is not available.'),
    restrict: restrict.describe('What the restriction enforces if `when` is true, on everything that any rule grants.'),
  }),
);

const override = z
  .strictObject({
    name: identifier.describe('For explanations.'),
    clientIds: z.array(identifier).min(1).describe('The tenants that the override is for.'),
    withoutRules: z
      .array(identifier)
      .default([])
      .describe('Rules of the policy that do not apply to these tenants. Restrictions always apply.'),
    expiryMinutes: minutes
      .optional()
      .describe("Replaces the policy's expiryMinutes. Of two overrides, the shorter applies."),
    templates: z
      .record(templateName, z.strictObject({ name: identifier.describe('The name that these tenants see.') }))
      .default({})
      .describe('Other names for templates of the policy.'),
    rules: rules.default([]).describe('Rules only for these tenants, before those of the policy.'),
    restrictions: restrictions
      .default([])
      .describe('Restrictions only for these tenants, in addition to those of the policy.'),
    ...sourceNames,
  })
  .refine(
    ({ name: _, clientIds: __, ...changes }) =>
      Object.values(changes).some((part) => typeof part === 'number' || Object.keys(part ?? {}).length > 0),
    'changes nothing',
  );

const tenants = z.array(override).describe('What differs for some tenants. An override never loosens a restriction.');

/** The content of a file of `tenantFiles`. */
export const tenantFileSchema = z.strictObject({
  version: z.literal(1).describe('Version of this format.'),
  tenants: tenants.min(1),
});

/** What a policy takes from a preset. The rest of its file is for the configuration and for people. */
export const presetSchema = z.looseObject({
  session: z.strictObject({ claims: claimDeclarations, tenant: expression, roles: expression }),
});
export type PresetDocument = z.output<typeof presetSchema>;

/** The content of a policy file. */
export const policySchema = z.strictObject({
  version: z.literal(1).describe('Version of this format.'),
  dataApp: identifier.describe('The data app of the API key.'),
  workspace: identifier.describe('The workspace that contains the templates.'),
  datamart: identifier.describe('The datamart that the copies read.'),
  session: z
    .strictObject({
      preset: z
        .enum(presetNames)
        .optional()
        .describe('A login provider whose claims, tenant and roles are taken. What is given here replaces its part.'),
      claims: claimDeclarations
        .optional()
        .describe('The claims that expressions read, with their types. Added to those of a preset, name by name.'),
      tenant: z
        .union([expression, tenantLookup])
        .optional()
        .describe(
          'CEL over claims that returns the clientId, or a list of clientIds to choose from; or a lookup of it.',
        ),
      roles: expression.optional().describe('CEL over claims that returns the roles.'),
    })
    .superRefine(({ preset, ...parts }, context) => {
      if (preset !== undefined) return;
      for (const name of ['claims', 'tenant', 'roles'] as const) {
        if (parts[name] !== undefined) continue;
        context.addIssue({ code: 'custom', path: [name], message: 'is missing: give it, or the preset of a provider' });
      }
    })
    .describe('Which claims of a session are used, and how.'),
  expiryMinutes: minutes.default(60).describe('Minutes for which a token is valid, unless a rule sets another time.'),
  templates: z.record(templateName, template).describe('Dashboards of the workspace; each tenant gets its own copies.'),
  onSignUp: z
    .array(templateName)
    .default([])
    .describe('Templates that are copied for a tenant at sign-up, before the first login.'),
  knownTenants: z
    .boolean()
    .default(false)
    .describe(
      'Only tenants that the table of tenants of the datamart has get tokens and dashboards. Left out: every tenant of a session does.',
    ),
  rules: rules.describe('Each rule whose `when` is true adds its grant. Without rules nobody sees anything.'),
  restrictions: restrictions
    .default([])
    .describe('Each restriction whose `when` is true applies to everything that is granted.'),
  tenants: tenants.default([]),
  tenantFiles: z
    .array(z.string().min(1).max(1000))
    .default([])
    .describe('More such overrides: files, or folders of *.tenants.yaml, relative to this file.'),
});
export type PolicyDocument = z.output<typeof policySchema>;
export type TenantFileDocument = z.output<typeof tenantFileSchema>;
export type OverrideDocument = PolicyDocument['tenants'][number];
export type SourceNamesDocument = Pick<OverrideDocument, keyof typeof sourceNames>;
export type GrantDocument = PolicyDocument['rules'][number]['grant'];
export type RestrictDocument = PolicyDocument['restrictions'][number]['restrict'];
