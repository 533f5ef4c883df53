/**
 * Reads and replaces the content of a dashboard. The ids of dashboard, embeds and metrics stay the same, so all
 * references to them stay valid.
 */
import { z } from 'zod';
import { type ContentChange, contentChangeKinds } from '../../../model/dashboard/changes.js';
import type { Dashboard, DashboardContent, TriedMetric } from '../../../model/dashboard/dashboard.js';
import type { CopySettings } from '../../../model/dashboard/embed.js';
import type { AuthorConflict } from '../../../model/dashboard/merge/merge-authors.js';
import { type RefusedMetrics, restrictedFields } from '../../../model/guest/refused-metrics.js';
import { identifier, limits, list } from '../../../platform/http/interface/fields.js';
import { noError, operation } from '../../../platform/http/interface/operation.js';
import { accessSettings, exampleSettings } from '../../common/contract/access-settings.js';
import { columnPath, masks } from '../../guest-tokens/contract/guest-tokens.js';
import { dashboardExport, type ExportedDashboard, encodeContent, encodeExport } from './export.js';
import { importedData } from './versions.js';

const digest = z
  .string()
  .max(64)
  .regex(/^[0-9a-f]{64}$/, 'a digest from getDashboardContent')
  .describe('SHA-256 of the content. It changes if anything under `data` of the export changes.');

const exampleDigest = '3f0a1d5c8b7e6f4a9c2d1e0f3b5a7c9d8e6f4a2b1c3d5e7f9a0b2c4d6e8f0a1b';
const exampleData = { version: 3, layout: [], filters: [], metrics: [], gridMargin: [8, 8] } as const;

const target = { dashboardId: identifier, workspaceName: identifier };

const settings = z.strictObject({
  name: identifier,
  accessSettings: accessSettings.omit({ datamartName: true }),
}) satisfies z.ZodType<CopySettings>;

const { datamartName: _, ...exampleAccess } = exampleSettings;

type Content = ExportedDashboard & { readonly digest: string };

export const getDashboardContent = operation({
  name: 'getDashboardContent',
  section: 'facts',
  resource: 'Dashboards',
  summary: 'Read a dashboard’s content with its digest',
  description:
    'Returns the export and the digest that a replacement must name. An API key can read dashboards of its own clients and of the organization. `with=settings` adds the name and the access settings of the embed of a client’s dashboard, without its datamart; the digest is then of both.',
  credentials: ['apiKey', 'serviceToken'],
  reads: 'definitions',
  roles: ['author', 'publisher', 'auditor'],
  input: z.strictObject({ ...target, with: z.literal('settings').optional() }),
  output: dashboardExport.extend({
    digest,
    settings: settings.optional().describe('With `with=settings`, if the dashboard has an embed with settings.'),
  }),
  encode: ({ content: { settings: own, ...content }, digest: current, ...named }: Content) => ({
    ...encodeExport({ ...named, content }),
    digest: current,
    ...(own === undefined ? {} : { settings: own as z.input<typeof settings> }),
  }),
  errors: { AUTHENTICATION_ERROR: 401, WORKSPACE_ID_ERROR: 400, INVALID_DASHBOARD_ID: 400 },
  bindings: [{ method: 'GET', path: '/api/v2/data-app/dashboards/content', from: 'query' }],
  example: {
    input: { dashboardId: 'delays--LAX', workspaceName: 'flights', with: 'settings' as const },
    output: structuredClone({
      _meta: { version: 3, dashboardId: 'delays--LAX', name: 'Delays' },
      data: exampleData,
      digest: exampleDigest,
      settings: { name: 'Delays', accessSettings: exampleAccess },
    }) as never,
  },
});

export const replaceDashboardContent = operation({
  name: 'replaceDashboardContent',
  section: 'facts',
  resource: 'Dashboards',
  summary: 'Replace a dashboard’s content',
  description:
    'Replaces everything or nothing, and only if `expectedDigest` is the digest of the current content. Each metric of the content is matched by id: with the dashboard’s metric of that id, or its copy of it, or one that an earlier replacement removed. A metric without a match is created as a copy with a new id. Metrics that the content does not name are removed from the dashboard but stay stored. If `tiles`, `metadata` or `isAllowPrivateMetricsByDefault` is missing, it keeps its value. Items that guests created do not change. `settings` replaces the name and all access settings of the embed of a client’s dashboard, but not its datamart; `expectedDigest` is then the one of a read `with=settings`. An API key can replace dashboards of its clients; those of the organization (templates) need a service token.',
  bodyBytes: limits.bodyBytes,
  credentials: ['apiKey', 'serviceToken'],
  reads: 'definitions',
  roles: ['author'],
  input: z.strictObject({
    ...target,
    content: importedData.describe('The `data` object of a dashboard export, or the whole export.'),
    expectedDigest: digest,
    settings: settings.optional(),
  }),
  output: z.object({ id: z.string(), digest, error: noError }),
  encode: ({ dashboard, digest: made }: { readonly dashboard: Dashboard; readonly digest: string }) => ({
    id: dashboard.externalDashboardId,
    digest: made,
    error: null,
  }),
  errors: {
    AUTHENTICATION_ERROR: 401,
    WORKSPACE_ID_ERROR: 400,
    INVALID_DASHBOARD_ID: 400,
    INVALID_DASHBOARD_DATA: 400,
    DASHBOARD_CHANGED: 409,
  },
  bindings: [{ method: 'PUT', path: '/api/v2/data-app/dashboards/content', from: 'body' }],
  example: {
    input: {
      dashboardId: 'delays--LAX',
      workspaceName: 'flights',
      content: structuredClone(exampleData),
      expectedDigest: exampleDigest,
    },
    output: { id: 'delays--LAX', digest: exampleDigest, error: null },
  },
});

const change = z.object({
  kind: z.enum(contentChangeKinds),
  metricId: z.string().nullable().describe('Null for a change of a filter or of the dashboard.'),
  text: z.string().describe('The change as one sentence.'),
});

export const compareDashboardContent = operation({
  name: 'compareDashboardContent',
  section: 'facts',
  resource: 'Dashboards',
  summary: 'Say what changed on a dashboard since its content was read',
  description:
    'Answers each change from `content` to the dashboard’s current content as a sentence, and the digest of the current content. After a refused replacement (409 DASHBOARD_CHANGED), send the content that you had read: the answer says what others changed meanwhile, so that you can merge. Empty if nothing changed. Metrics are matched by id, filters by name. Settings that `content` leaves out count as unchanged. Reads definitions, never rows, and writes nothing.',
  bodyBytes: limits.bodyBytes,
  credentials: ['serviceToken'],
  reads: 'definitions',
  readsOnly: true,
  roles: ['author', 'publisher', 'auditor'],
  input: z.strictObject({
    ...target,
    content: importedData.describe('The `data` object of a dashboard export, or the whole export.'),
  }),
  output: z.object({
    data: z.array(change),
    digest,
    error: noError,
  }),
  encode: ({ changes, digest: current }: { readonly changes: readonly ContentChange[]; readonly digest: string }) => ({
    data: changes,
    digest: current,
    error: null,
  }),
  errors: {
    AUTHENTICATION_ERROR: 401,
    WORKSPACE_ID_ERROR: 400,
    INVALID_DASHBOARD_ID: 400,
    INVALID_DASHBOARD_DATA: 400,
  },
  bindings: [{ method: 'POST', path: '/api/v2/data-app/dashboards/content/compare', from: 'body' }],
  example: {
    input: { dashboardId: 'delays', workspaceName: 'flights', content: structuredClone(exampleData) },
    output: {
      data: [{ kind: 'metricAdded', metricId: 'busiest-routes', text: 'Metric "Busiest routes" was added.' }],
      digest: exampleDigest,
      error: null,
    },
  },
});

type Merged = {
  readonly content: DashboardContent;
  readonly conflicts: readonly AuthorConflict[];
  readonly given: readonly ContentChange[];
  readonly current: readonly ContentChange[];
  readonly digest: string;
};

const sides = ['given', 'current'] as const;

export const mergeDashboardContent = operation({
  name: 'mergeDashboardContent',
  section: 'facts',
  resource: 'Dashboards',
  summary: 'Merge a change of a dashboard with what others changed meanwhile',
  description:
    'For a replacement that was refused with 409 DASHBOARD_CHANGED. `base` is the content that you had read, and `content` the one that you wanted to write. The answer has the changes of both sides as sentences, and a content with both. What both sides changed differently is a conflict: choose a side for each by its path, and call again; a conflict without a choice has your value. Send the merged content with the answer’s digest to PUT /api/v2/data-app/dashboards/content. A card that overlaps one that you moved is put below the others. Reads definitions, never rows, and writes nothing.',
  bodyBytes: limits.bodyBytes,
  credentials: ['serviceToken'],
  reads: 'definitions',
  readsOnly: true,
  roles: ['author'],
  input: z.strictObject({
    ...target,
    base: importedData.describe('The `data` object of the export that you had read.'),
    content: importedData.describe('The `data` object of the export that you want to write.'),
    choices: z
      .record(z.string().max(limits.textLength), z.enum(sides))
      .default({})
      .describe('Whose value a conflict gets, by its path.'),
  }),
  output: z.object({
    data: dashboardExport.shape.data,
    conflicts: z.array(
      z.object({
        path: z.string().describe('For example `metrics["delays"].name`.'),
        kind: z.enum(['changed-by-both', 'added-by-both', 'removed-by-given', 'removed-by-current']),
        base: z.unknown().describe('The value that both sides had read. Null: none.'),
        given: z.unknown().describe('Your value. Null: none.'),
        current: z.unknown().describe('The value that the dashboard has now. Null: none.'),
      }),
    ),
    changes: z.object({
      given: z.array(change).describe('Your changes.'),
      current: z.array(change).describe('What others changed meanwhile.'),
    }),
    digest: digest.describe('The digest of the dashboard’s content now.'),
    error: noError,
  }),
  encode: ({ content, conflicts, given, current, digest: now }: Merged) => ({
    data: encodeContent(content),
    conflicts: conflicts.map(({ base = null, given: own = null, current: other = null, ...conflict }) => ({
      ...conflict,
      base,
      given: own,
      current: other,
    })),
    changes: { given, current },
    digest: now,
    error: null,
  }),
  errors: {
    AUTHENTICATION_ERROR: 401,
    WORKSPACE_ID_ERROR: 400,
    INVALID_DASHBOARD_ID: 400,
    INVALID_DASHBOARD_DATA: 400,
  },
  bindings: [{ method: 'POST', path: '/api/v2/data-app/dashboards/content/merge', from: 'body' }],
  example: {
    input: {
      dashboardId: 'delays',
      workspaceName: 'flights',
      base: structuredClone(exampleData),
      content: { ...structuredClone(exampleData), gridMargin: [4, 4] },
      choices: {},
    },
    output: {
      data: { ...structuredClone(exampleData), gridMargin: [4, 4] } as never,
      conflicts: [],
      changes: {
        given: [{ kind: 'dashboardChanged', metricId: null, text: "The dashboard's gridMargin changed." }],
        current: [],
      },
      digest: exampleDigest,
      error: null,
    },
  },
});

export const proposeDashboardContent = operation({
  name: 'proposeDashboardContent',
  section: 'facts',
  resource: 'Dashboards',
  summary: 'Propose a first dashboard from the tables of a datamart',
  description:
    'Proposes cards and filters: single values, counts over time, the greatest groups, and a table of the latest rows. They come from names, datatypes, keys and relationships, and from the number of rows that the database estimates; no row is read. Columns and tables that the datamart hides, and tables that no query may read, are left out. Empty if no table holds what a card could show. Nothing is written: send what you keep of it to PUT /api/v2/data-app/dashboards/content.',
  credentials: ['serviceToken'],
  reads: 'definitions',
  readsOnly: true,
  roles: ['author'],
  input: z.strictObject({
    datamartName: identifier,
    tables: list(z.string().min(1).max(600))
      .optional()
      .describe('`schema.table` of the tables that the cards may show. If missing, all of the datamart.'),
  }),
  output: z.object({ data: dashboardExport.shape.data, error: noError }),
  encode: (content: DashboardContent) => ({ data: encodeContent(content), error: null }),
  errors: { AUTHENTICATION_ERROR: 401, INVALID_DATAMART: 400, DATASOURCE_CONNECTION_ERROR: 400 },
  bindings: [{ method: 'POST', path: '/api/v2/data-app/dashboards/content/propose', from: 'body' }],
  example: {
    input: { datamartName: 'flights', tables: ['main.flights'] },
    output: { data: structuredClone(exampleData) as never, error: null },
  },
});

type UnreadableMetric = { readonly metricId: string; readonly name: string; readonly message: string };

export const listUnreadableMetrics = operation({
  name: 'listUnreadableMetrics',
  section: 'facts',
  resource: 'Dashboards',
  summary: 'List the metrics of a dashboard that read a table whose rows belong to nobody',
  description:
    'Every query of these metrics is refused. With `content`, its metrics are checked, not those that the dashboard has now. The gateway rolls out no template that has one. Each metric is prepared as for a query, without reading a row. Where each client has a database of its own, that of one client of the latest sync stands in.',
  bodyBytes: limits.bodyBytes,
  credentials: ['apiKey', 'serviceToken'],
  reads: 'definitions',
  // The database prepares the SQL of `content`, so those may ask who may write it.
  roles: ['author'],
  readsOnly: true,
  input: z.strictObject({
    ...target,
    datamartName: identifier,
    content: importedData
      .optional()
      .describe(
        'The `data` object of an export, such as another version of the dashboard. If missing, what it has now.',
      ),
    tableTenancySettings: list(z.strictObject({ name: identifier, clientColumn: identifier }))
      .optional()
      .describe('Client columns that the embeds of its copies add.'),
  }),
  output: z.object({
    data: z.array(z.object({ metricId: z.string(), name: z.string(), message: z.string() })),
    error: noError,
  }),
  encode: (found: readonly UnreadableMetric[]) => ({ data: found, error: null }),
  errors: { AUTHENTICATION_ERROR: 401, WORKSPACE_ID_ERROR: 400, INVALID_DASHBOARD_ID: 400, INVALID_DATAMART: 400 },
  bindings: [{ method: 'POST', path: '/api/v2/data-app/dashboards/unreadable-metrics', from: 'body' }],
  example: {
    input: { dashboardId: 'delays', workspaceName: 'flights', datamartName: 'flights' },
    output: { data: [], error: null },
  },
});

const restrictedName = list(z.string().min(1).max(limits.nameLength));

export const listRefusedMetrics = operation({
  name: 'listRefusedMetrics',
  section: 'facts',
  resource: 'Dashboards',
  summary: 'List the metrics of a dashboard that a token with given restrictions could not read',
  description:
    'Answers each metric that the host made, and why a query of it would be refused: for which restriction, column or definition. Each metric is opened and prepared as a guest’s query is, with values that stand in for those of the token, and no row is read. Name the restrictions as a policy does: filters and variables by name, without values. Without `clientId`, a client that does not exist stands in; where each client has a database of its own, one of the latest sync.',
  credentials: ['apiKey'],
  reads: 'definitions',
  readsOnly: true,
  input: z.strictObject({
    ...target,
    dashboardId: identifier.describe('A dashboard of the client, or a template.'),
    clientId: identifier.optional(),
    accessSettings: accessSettings.optional().describe('Of a template: those that the embed of a copy would have.'),
    datasourceName: identifier.optional().describe('The datasource that the token names.'),
    datamartName: identifier.optional().describe('The datamart that the token names.'),
    restrictions: z.strictObject({
      dashboardFilters: restrictedName.default([]),
      appFilters: restrictedName.default([]),
      rls: restrictedName.default([]),
      hideDashboardFilters: restrictedName.default([]),
      hideMetrics: restrictedName.default([]).describe('Names or ids of metrics.'),
      hideColumns: list(columnPath).default([]),
      maskColumns: masks.default({}),
    }),
  }),
  output: z.object({
    data: z.array(
      z.object({
        metricId: z.string(),
        name: z.string(),
        placement: z.enum(['METRIC', 'GALLERY']),
        refusal: z
          .object({
            refuses: z
              .enum(['metric', 'token'])
              .describe('`token`: a token with these restrictions is not made at all.'),
            cause: z
              .enum(['hidden', 'column', 'restriction', 'definition'])
              .describe('`definition`: it is refused without restrictions too.'),
            reason: z.string().describe('As the log names it.'),
            by: z
              .array(z.object({ field: z.enum(restrictedFields), name: z.string() }))
              .describe('The restrictions that are the cause.'),
            message: z.string().describe('Tables, columns and relationships, and how to mend it. No value.'),
          })
          .nullable()
          .describe('Null: it can be read.'),
      }),
    ),
    refusal: z.string().nullable().describe('Why a token with these rules for columns is not made at all.'),
    error: noError,
  }),
  encode: ({ metrics, refusal }: RefusedMetrics) => ({ data: metrics, refusal, error: null }),
  errors: {
    AUTHENTICATION_ERROR: 401,
    WORKSPACE_ID_ERROR: 400,
    INVALID_DASHBOARD_ID: 400,
    CLIENT_ID_ERROR: 400,
    DATASOURCE_NAME_ERROR: 400,
  },
  bindings: [{ method: 'POST', path: '/api/v2/data-app/dashboards/refused-metrics', from: 'body' }],
  example: {
    input: {
      dashboardId: 'delays',
      workspaceName: 'flights',
      restrictions: { dashboardFilters: ['Destination state'] },
    },
    output: {
      data: [{ metricId: 'busiest-routes', name: 'Busiest routes', placement: 'METRIC', refusal: null }],
      refusal: null,
      error: null,
    },
  },
});

export const tryDashboardContent = operation({
  name: 'tryDashboardContent',
  section: 'facts',
  resource: 'Dashboards',
  summary: 'Run metrics for the client of a dashboard, before they are written to it',
  description:
    'Runs each metric of the content with the tenant scope of the client that owns the dashboard, and answers whether it can be answered, never its rows. RLS variables of columns have no values here; a metric whose SQL compares with one is not tried. Writes nothing.',
  bodyBytes: limits.bodyBytes,
  credentials: ['apiKey'],
  reads: 'outcomes',
  roles: ['author'],
  input: z.strictObject({
    ...target,
    content: importedData.describe('The `data` object of a dashboard export, or the whole export.'),
    isMeasured: z
      .boolean()
      .optional()
      .describe('Whether to run each metric whole, as a guest would, and say how it was answered. Default: false.'),
    datasourceName: identifier.optional().describe('The datasource that guest tokens of this client name.'),
    datamartName: identifier.optional().describe('The datamart that guest tokens of this client name.'),
  }),
  output: z.object({
    data: z.array(
      z.object({
        metricId: z.string(),
        name: z.string(),
        outcome: z.enum(['answered', 'failed', 'untried']),
        message: z.string().nullable().describe('Why it failed, or was not tried.'),
        measured: z
          .object({ isEmpty: z.boolean(), isTruncated: z.boolean(), milliseconds: z.number() })
          .optional()
          .describe('Only with `isMeasured`, for a metric that was answered.'),
      }),
    ),
    error: noError,
  }),
  encode: (tried: readonly TriedMetric[]) => ({ data: tried, error: null }),
  errors: {
    AUTHENTICATION_ERROR: 401,
    WORKSPACE_ID_ERROR: 400,
    INVALID_DASHBOARD_ID: 400,
    INVALID_DASHBOARD_DATA: 400,
    CLIENT_ID_ERROR: 400,
    DATASOURCE_NAME_ERROR: 400,
  },
  bindings: [{ method: 'POST', path: '/api/v2/data-app/dashboards/content/try', from: 'body' }],
  example: {
    input: { dashboardId: 'delays--LAX', workspaceName: 'flights', content: structuredClone(exampleData) },
    output: {
      data: [{ metricId: 'busiest-routes', name: 'Busiest routes', outcome: 'answered', message: null }],
      error: null,
    },
  },
});
