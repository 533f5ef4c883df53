/**
 * The schema of a policy file and of its `tenantFiles`. Editors get it as JSON Schema, so each field has a description.
 * expression.ts defines the meaning of expressions, and combine.ts how rules combine.
 */
import { z } from 'zod';
import { accessSettings } from '../../contract/embeds.js';
import { filterColumns, identifier } from '../../contract/fields.js';
import { guestPermissionNames } from '../../domain/guest/grant.js';
import { claimTypes } from './expression.js';

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
    isAllowEmailReports: off('Reports by e-mail.'),
    isAllowManageMetrics: off('Restoring what was archived.'),
    isAllowCreateDashboardView: off('Saved views.'),
    isAllowMetricCreation: off('Metrics that end users make.'),
    isAllowMetricDeletion: off('Archiving and deleting metrics.'),
    isAllowMetricLayoutChange: off('Arranging the board.'),
    isAllowMetricUpdate: off('Changing metrics.'),
    isAllowUnderlyingData: off('The rows behind a chart.'),
    metricCreationMode: z.enum(['DRAG_DROP', 'CHAT']).default('DRAG_DROP').describe('How end users make metrics.'),
    tableTenancySettings: z
      .array(
        z.strictObject({
          name: identifier.describe('The table, as schema.table.'),
          clientColumn: identifier.describe('Its column that holds the clientId.'),
        }),
      )
      .optional()
      .describe('Client columns for tables that the datamart gives none.'),
  });

/** Access settings of a template, complete except for the policy's datamart. */
export type TemplateSettings = z.output<typeof templateSettings>;

const template = z.strictObject({
  name: identifier.describe('What its users see it called.'),
  accessSettings: templateSettings.prefault({}).describe('What the copy allows; a rule still has to grant it.'),
  provisioning: z
    .enum(['required', 'best-effort'])
    .default('required')
    .describe("Whether who is granted it goes without, where a tenant's copy cannot be made now, or is refused."),
});

const columns = z
  .array(
    filterColumns.extend({
      tableName: identifier.describe('The table, as schema.table.'),
      columns: z.array(identifier).max(2000).describe('Its columns that may be filtered by.'),
    }),
  )
  .min(1);

/**
 * Access in a grant. A grant only adds, so every switch in it is `true`. A filter switch requires the columns that it
 * makes available.
 */
export const grantedAccess = z
  .strictObject({
    isAllowEndUserDashboardFilter: z.literal(true).describe('The end user filters dashboards by columns of its own.'),
    dashboardFilterColumns: columns.describe('The columns that this opens.'),
    isAllowEndUserMetricFilter: z.literal(true).describe('The end user filters metrics by columns of its own.'),
    metricFilterColumns: columns.describe('The columns that this opens.'),
    isAllowDashboardFilterNameChange: z.literal(true).describe('The end user renames dashboard filters.'),
    isAllowMetricFilterNameChange: z.literal(true).describe('The end user renames metric filters.'),
  })
  .partial()
  .refine(
    (access) =>
      (access.isAllowEndUserDashboardFilter === true) === (access.dashboardFilterColumns !== undefined) &&
      (access.isAllowEndUserMetricFilter === true) === (access.metricFilterColumns !== undefined),
    'a filter switch and the columns that it opens come together',
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
      .describe(
        'Embeds that exist: of single metrics, and of dashboards that all clients share. Becomes allowedEmbeds.',
      ),
    permissions: z
      .array(z.enum(guestPermissionNames).exclude(['isDisableMetricCreation']))
      .default([])
      .describe('Permissions of the token; those that no rule grants are sent as false.'),
    accessPermissions: grantedAccess.optional().describe('What the end user may do with filters of its own.'),
    expiryMinutes: minutes.optional().describe('How long the token lives. Left out: what the file says.'),
    timezone: expression
      .optional()
      .describe('CEL that gives an IANA name, or the word `request`: then the body of the request says it.'),
  })
  .refine(({ templates, embeds }) => templates.length + embeds.length > 0, 'grants neither templates nor embeds');

const values = z.record(identifier, expression);

const restrict = z
  .strictObject({
    dashboardFilters: values
      .default({})
      .describe('CEL by the name of a dashboard filter, on every granted dashboard. Becomes dashboardAppFilters.'),
    rls: values
      .default({})
      .describe('CEL by the name of an RLS variable, on every metric that is granted. Becomes rlsSettings.'),
    appFilters: values
      .default({})
      .describe('CEL by the name of a metric filter, on every metric that is granted. Becomes appFilters.'),
    hideDashboardFilters: z.array(identifier).default([]).describe('Dashboard filters that the end user does not see.'),
    hideMetrics: z
      .record(identifier, z.array(identifier).min(1))
      .default({})
      .describe('Names or ids of metrics by template or embed; they are not shown. Becomes hideDashboardMetrics.'),
    isDisableMetricCreation: z.literal(true).optional().describe('The end user makes no metrics.'),
  })
  .refine((value) => Object.values(value).some((part) => part === true || Object.keys(part ?? {}).length > 0), {
    message: 'restricts nothing',
  });

const seconds = (most: number, usual: number) => z.number().int().min(0).max(most).default(usual);

/** The lookup at the host. The policy file contains its URL, but never its secret. */
const tenantHttp = z.strictObject({
  url: z.string().min(1).max(2000).describe('The address that is asked, https.'),
  secretVariable: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable')
    .describe('The variable that holds the secret which requests are signed with.'),
  allowHttp: z
    .boolean()
    .default(false)
    .describe('Lets the address be plain http beyond this machine: who listens there reads the keys and can answer.'),
  timeoutMs: z.number().int().min(50).max(30_000).default(2_000).describe('How long an answer is waited for.'),
  cacheSeconds: seconds(86_400, 60).describe('How long an answer counts.'),
  missingSeconds: seconds(3_600, 5).describe('How long an answer without any tenant counts.'),
  staleSeconds: seconds(86_400, 0).describe('For how long after that an answer serves while the host cannot be asked.'),
  maxEntries: z.number().int().min(1).max(1_000_000).default(10_000).describe('How many answers are held.'),
});
export type TenantHttpDocument = z.output<typeof tenantHttp>;

/** A lookup of tenants by the value of `key`: in a table file, or at the host. */
const tenantLookup = z
  .strictObject({
    key: expression.describe('CEL over claims that gives what is looked up, or a list.'),
    table: z.string().min(1).max(1000).optional().describe('A CSV file, relative to this one: key, then tenants.'),
    http: tenantHttp.optional().describe('The host is asked.'),
  })
  .refine(({ table, http }) => (table === undefined) !== (http === undefined), {
    message: 'takes exactly one of table (a CSV file) and http (a lookup at the host) beside its key',
  });
export type TenantDocument = string | z.output<typeof tenantLookup>;

const rules = z.array(
  z.strictObject({
    name: identifier.describe('For logs and explanations.'),
    when: expression.describe('CEL that gives a bool, over user, tenant and now.'),
    grant: grant.describe('What is added where it is true.'),
  }),
);
const restrictions = z.array(
  z.strictObject({
    name: identifier.describe('For logs and explanations.'),
    when: expression.describe('CEL that gives a bool, over user, tenant and now; has() is not available.'),
    restrict: restrict.describe('What holds where it is true, on everything that any rule grants.'),
  }),
);

const override = z
  .strictObject({
    name: identifier.describe('For explanations.'),
    clientIds: z.array(identifier).min(1).describe('The tenants that it is for.'),
    withoutRules: z
      .array(identifier)
      .default([])
      .describe('Rules of the policy that do not count for these tenants. A restriction always counts.'),
    expiryMinutes: minutes.optional().describe('Takes the place of what the file says; the shortest of two overrides.'),
    templates: z
      .record(templateName, z.strictObject({ name: identifier.describe('What these tenants see it called.') }))
      .default({})
      .describe('Other names for templates of the policy.'),
    rules: rules.default([]).describe('Rules for these tenants alone, before those of the policy.'),
    restrictions: restrictions
      .default([])
      .describe('Restrictions for these tenants alone, beside those of the policy.'),
  })
  .refine(
    ({ name: _, clientIds: __, ...changes }) =>
      Object.values(changes).some((part) => typeof part === 'number' || Object.keys(part ?? {}).length > 0),
    'changes nothing',
  );

const tenants = z.array(override).describe('What is different for some tenants. It never loosens a restriction.');

/** The content of a file of `tenantFiles`. */
export const tenantFileSchema = z.strictObject({
  version: z.literal(1).describe('Of this format.'),
  tenants: tenants.min(1),
});

/** The content of a policy file. */
export const policySchema = z.strictObject({
  version: z.literal(1).describe('Of this format.'),
  dataApp: identifier.describe('The data app of the API key.'),
  workspace: identifier.describe('Where the templates are.'),
  datamart: identifier.describe('Where the copies read.'),
  session: z
    .strictObject({
      claims: z.record(identifier, z.enum(claimTypes)).describe('The claims that expressions read, with their types.'),
      tenant: z
        .union([expression, tenantLookup])
        .describe('CEL over claims that gives the clientId, or a list of them to choose from; or a look-up of it.'),
      roles: expression.describe('CEL over claims that gives the roles.'),
    })
    .describe('What is read of a session.'),
  expiryMinutes: minutes.default(60).describe('How long a token lives where a rule says nothing else.'),
  templates: z.record(templateName, template).describe('Dashboards of the workspace that tenants get copies of.'),
  onSignUp: z.array(templateName).default([]).describe('Templates that a tenant has copies of before anybody logs in.'),
  rules: rules.min(1).describe('Every one whose `when` is true adds what it grants.'),
  restrictions: restrictions.default([]).describe('Every one whose `when` is true holds, on all that is granted.'),
  tenants: tenants.default([]),
  tenantFiles: z
    .array(z.string().min(1).max(1000))
    .default([])
    .describe('More such overrides: files, or folders of *.tenants.yaml, relative to this file.'),
});
export type PolicyDocument = z.output<typeof policySchema>;
export type OverrideDocument = PolicyDocument['tenants'][number];
export type GrantDocument = PolicyDocument['rules'][number]['grant'];
export type RestrictDocument = PolicyDocument['restrictions'][number]['restrict'];
