/**
 * Reads with a guest token. Operations of this project, in the style of the interface. The requests come from browsers,
 * so no request has a field for SQL.
 */
import { z } from 'zod';
import type { FilterValue } from '../../../model/filter/filter.js';
import { periods } from '../../../model/filter/period.js';
import { guestPermissionNames } from '../../../model/guest/grant.js';
import {
  type CrossFilter,
  type GuestDashboard,
  type GuestMetric,
  type GuestOption,
  type GuestQuery,
  type GuestTheme,
  greatestOptions,
  type MetricReply,
} from '../../../model/guest/view.js';
import { recordOf } from '../../../model/record-of.js';
import { reportFormats } from '../../../model/schedule/schedule.js';
import type { Encoded } from '../../../platform/http/interface/callable.js';
import {
  guestFilterValue,
  guestFilterValues,
  identifier,
  limits,
  list,
  scalar,
  text,
} from '../../../platform/http/interface/fields.js';
import { noError, operation } from '../../../platform/http/interface/operation.js';
import { chart } from '../../common/contract/metric-parts.js';
import { tiles } from '../../common/contract/tiles.js';
import { encodeAccess, guestAccess, noAccess } from '../../guest-tokens/contract/access.js';
import { guestPermissions } from '../../guest-tokens/contract/guest-tokens.js';
import { encodeReply, exampleAnswer, metricAnswer } from '../../metrics/contract.js';
import { encodeListedBoard, listedBoard } from './listed-board.js';
import { encodeView, guestView } from './view.js';

export const language = z
  .string()
  .max(35)
  .regex(/^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$/, 'a language such as de or pt-BR')
  .optional()
  .describe('The reader’s language, for what has a translation. Default: the first of `Accept-Language`.');

const filter = z
  .object({
    name: z.string(),
    label: z.string().optional().describe('The name in the reader’s language, if it has a translation.'),
    hasValueLabels: z
      .literal(true)
      .optional()
      .describe('Some values have labels in the reader’s language: the options have them.'),
    dataType: z.enum(['string', 'number', 'date', 'boolean']),
    defaultValue: guestFilterValue.nullable().describe('Applies until the guest chooses another value.'),
    isSingleChoice: z.literal(true).optional().describe('The guest chooses one value at most.'),
    appliedValue: guestFilterValue
      .optional()
      .describe('Value that the token enforces. It is sent only if the token makes it visible (`isShowOnUrl`).'),
  })
  .meta({ id: 'GuestFilter' });

const guestChart = chart.extend({
  dimensions: z.array(z.string()).describe('Columns of the answer by which rows are grouped, in order.'),
  measures: z.array(z.string()).describe('Columns of the answer with aggregated values, in order.'),
  isDrillable: z.boolean(),
  isWithoutRows: z
    .literal(true)
    .optional()
    .describe('No rows behind the chart can be listed: it is custom SQL, or names no columns for them.'),
  grains: z
    .record(z.string(), z.enum([...periods, 'hourOfDay', 'dayOfWeek']))
    .optional()
    .describe('Grain of each dimension that has one, by name.'),
  drillLevels: z.number().int().optional().describe('How many times the metric can be drilled into.'),
  crossFilters: z
    .record(z.string(), z.array(z.string()))
    .optional()
    .describe('Ids of the metrics that a mark of a dimension filters, by its name: see `crossFilter` of a query.'),
  combine: z
    .record(z.string(), z.enum(['sum', 'min', 'max']))
    .optional()
    .describe('How values of a measure combine in a total, by name. A measure that is left out has no total.'),
  takesMaxPoints: z.literal(true).optional().describe('A query may say by `maxPoints` how many points it can show.'),
  comparison: z
    .object({ grain: z.enum(periods), periods: z.number() })
    .optional()
    .describe('How much earlier `comparisonValue` is.'),
});

export const guestMetric = z
  .object({ metricId: z.string(), name: z.string(), chart: guestChart, filters: z.array(filter) })
  .meta({ id: 'GuestMetric' });

const properties = z.record(z.string(), z.string()).describe('Values of CSS custom properties by their names.');
const theme = z
  .object({
    name: z.string(),
    scheme: z.enum(['light', 'dark']).optional().describe('Without it, the elements follow their page.'),
    light: properties.optional(),
    dark: properties.optional().describe('What differs in dark colours.'),
  })
  .meta({ id: 'GuestTheme' });

const dashboard = z
  .object({
    dashboardId: z.string(),
    name: z.string(),
    description: z.string().optional().describe('`embedDescription` of the embed. Left out: it has none.'),
    layout: z
      .array(z.object({ metricId: z.string(), x: z.number(), y: z.number(), w: z.number(), h: z.number() }))
      .describe('Cards on a grid of 12 columns.'),
    metrics: z.array(guestMetric),
    filters: z.array(filter),
    permissions: z.record(guestPermissions.keyof(), z.boolean()),
    accessPermissions: guestAccess,
    theme: theme.nullable(),
    defaultView: guestView.nullable().describe('The saved view that the dashboard opens with.'),
    hasOwnLayout: z
      .boolean()
      .optional()
      .describe('Whether the guest saved `layout`. Only with the permission `isEnableCustomizeLayout`.'),
    scheduleFormats: z
      .array(z.enum(reportFormats))
      .optional()
      .describe('What the guest may schedule here: see `POST …/schedules`. Left out: nothing.'),
    chat: z
      .object({
        llmNames: z.array(z.string()).describe('Models that the guest may choose, the usual one first.'),
        hasSuggestions: z.boolean().describe('Whether `GET …/suggestions` answers.'),
      })
      .optional()
      .describe('Whether the guest may ask in words: see `POST …/chat`. Left out: not here.'),
    hasSummary: z.literal(true).optional().describe('Whether `POST …/summary` answers.'),
    tiles,
    boards: z
      .array(listedBoard)
      .optional()
      .describe(
        'Own dashboards of the user, and those shared by others. Left out if there are none and the guest may make none.',
      ),
  })
  .meta({ id: 'GuestDashboard' });

type Filter = Encoded<typeof filter>;

/** Returns the default value for the guest. A default that is SQL applies on the server but is not sent. */
const encodeDefault = (value: FilterValue | null): Filter['defaultValue'] => {
  if (value === null || typeof value !== 'object') return value;
  const visible = guestFilterValue.safeParse(value);
  return visible.success ? visible.data : null;
};

const encodeFilter = (filter: GuestMetric['filters'][number]): Filter => ({
  name: filter.name,
  label: filter.label,
  hasValueLabels: filter.hasValueLabels,
  dataType: filter.dataType,
  defaultValue: encodeDefault(filter.defaultValue),
  isSingleChoice: filter.isSingleChoice,
  appliedValue: encodeDefault(filter.appliedValue ?? null) ?? undefined,
});

/** Encodes a metric for guests. */
export const encodeMetric = ({ metricId, name, chart, filters }: GuestMetric): Encoded<typeof guestMetric> => ({
  metricId,
  name,
  chart,
  filters: filters.map(encodeFilter),
});

const encodeDashboard = (view: GuestDashboard): Encoded<typeof dashboard> => ({
  dashboardId: view.dashboardId,
  name: view.name,
  description: view.description,
  layout: view.layout.map(({ metricId, x, y, w, h }) => ({ metricId, x, y, w, h })),
  metrics: view.metrics.map(encodeMetric),
  filters: view.filters.map(encodeFilter),
  permissions: view.permissions,
  accessPermissions: encodeAccess(view.accessPermissions),
  theme: view.theme,
  defaultView: view.defaultView === null ? null : encodeView(view.defaultView),
  hasOwnLayout: view.hasOwnLayout,
  scheduleFormats: view.scheduleFormats,
  chat: view.chat,
  hasSummary: view.hasSummary,
  tiles: view.tiles,
  boards: view.boards?.map(encodeListedBoard),
});

export const readErrors = { TOKEN_EXPIRED: 401, AUTHENTICATION_ERROR: 401, UNAUTHORIZED: 403 } as const;
export const queryErrors = {
  ...readErrors,
  METRIC_QUERY_ERROR: 400,
  CLIENT_ID_ERROR: 400,
  RLS_SETTINGS_PARAM_ERROR: 400,
  APP_FILTER_PARAM_ERROR: 400,
} as const;

export const exampleGuestMetric = {
  metricId: 'flights-a-day--LAX',
  name: 'Flights a day',
  chart: { type: 'line' as const, dimensions: ['Day'], measures: ['Flights'], isDrillable: false },
  filters: [],
};

const noPermissions = recordOf(guestPermissionNames, () => false);

export const getGuestDashboard = operation({
  name: 'getGuestDashboard',
  section: 'guest',
  resource: 'Guest reads',
  summary: 'Read a dashboard as the guest sees it',
  credentials: ['guestToken'],
  viewedAs: 'user',
  reads: 'definitions',
  tool: {
    name: 'describe_dashboard',
    description: 'Describes a dashboard: its metrics with their columns, and the filters that you may set.',
    isForAll: true,
  },
  takesLanguage: true,
  input: z.strictObject({ dashboardId: identifier.describe('An embed id or a dashboard id.'), language }),
  output: z.object({ data: dashboard, error: noError }),
  encode: (view: GuestDashboard) => ({ data: encodeDashboard(view), error: null }),
  errors: readErrors,
  bindings: [{ method: 'GET', path: '/api/v2/guest/dashboards/{dashboardId}', from: 'path' }],
  example: {
    input: { dashboardId: 'delays--LAX' },
    output: {
      data: {
        dashboardId: 'delays--LAX',
        name: 'Delays',
        layout: [{ metricId: 'flights-a-day--LAX', x: 0, y: 0, w: 12, h: 4 }],
        metrics: [exampleGuestMetric],
        filters: [{ name: 'Destination state', dataType: 'string', defaultValue: null }],
        permissions: { ...noPermissions, isEnableUnderlyingData: true, isShowDashboardName: true },
        accessPermissions: noAccess,
        theme: null,
        defaultView: null,
      },
      error: null,
    },
  },
});

export const getGuestMetric = operation({
  name: 'getGuestMetric',
  section: 'guest',
  resource: 'Guest reads',
  summary: 'Read the metric of a metric embed',
  credentials: ['guestToken'],
  viewedAs: 'user',
  reads: 'definitions',
  tool: {
    name: 'describe_metric',
    description: 'Describes a single metric that is listed without a dashboard.',
    isForAll: true,
  },
  takesLanguage: true,
  input: z.strictObject({ metricId: identifier.describe('The id of a metric embed, or of its metric.'), language }),
  output: z.object({ data: guestMetric.extend({ theme: theme.nullable() }), error: noError }),
  encode: (view: GuestMetric & { readonly theme: GuestTheme | null }) => ({
    data: { ...encodeMetric(view), theme: view.theme },
    error: null,
  }),
  errors: readErrors,
  bindings: [{ method: 'GET', path: '/api/v2/guest/metrics/{metricId}', from: 'path' }],
  example: {
    input: { metricId: 'flights-a-day--LAX' },
    output: { data: { ...exampleGuestMetric, theme: null }, error: null },
  },
});

const mark = { metricId: identifier.describe('The metric that shows the mark.'), columnName: identifier };
const crossFilter = z
  .union([
    z.strictObject({ ...mark, value: scalar.nullable() }),
    z
      .strictObject({ ...mark, from: z.union([z.string(), z.number()]), to: z.union([z.string(), z.number()]) })
      .describe('The marks from one to another, both included. For a dimension with periods or buckets.'),
  ])
  .meta({ id: 'CrossFilter' }) satisfies z.ZodType<CrossFilter>;

export const guestQuery = z.strictObject({
  metricId: identifier,
  dashboardId: identifier
    .optional()
    .describe('The dashboard through which the metric is read. Required unless the metric has an embed of its own.'),
  dashboardFilter: guestFilterValues.optional().describe('Values by the name of a dashboard filter.'),
  metricFilter: guestFilterValues.optional().describe('Values by the name of a filter of the metric.'),
  crossFilter: list(crossFilter, 20)
    .optional()
    .describe(
      'Marks of metrics on this dashboard, as their answers have them. A metric takes a mark of another one if it shows the same column, at least as fine, or if the guest may filter by that column; otherwise it ignores the mark. A metric’s own marks filter only the rows behind it.',
    ),
  drill: list(z.strictObject({ columnName: identifier, value: scalar.nullable() }), 20)
    .optional()
    .describe('One item for each drill-down click.'),
  sort: list(z.strictObject({ name: identifier, direction: z.enum(['ASC', 'DESC']) }), 20)
    .optional()
    .describe('Sort order by columns of the answer.'),
  limit: z.number().int().min(1).max(limits.rows).optional(),
  offset: z.number().int().min(0).max(limits.offset).optional(),
  maxPoints: z
    .number()
    .int()
    .min(10)
    .max(limits.rows)
    .optional()
    .describe(
      'How many points the chart can show, if its `chart.takesMaxPoints` is true. Longer answers are made shorter and say so in `points`. Has no effect with `limit` or `offset`.',
    ),
  language,
}) satisfies z.ZodType<GuestQuery>;

export const exampleQuery = {
  metricId: 'flights-a-day--LAX',
  dashboardId: 'delays--LAX',
  dashboardFilter: { 'Destination state': ['CA', 'NV'] },
  sort: [{ name: 'Day', direction: 'ASC' as const }],
  limit: 100,
};
export const exampleReply = { ...exampleAnswer, metricid: 'flights-a-day--LAX' };

export const queryGuestMetric = operation({
  name: 'queryGuestMetric',
  section: 'guest',
  resource: 'Guest reads',
  summary: 'Query a metric as a guest',
  description:
    'The guest’s choices are added to the filters of the token; they never replace them. The answer has an `ETag`; a request with `If-None-Match` that names it gets 304 without a body if the answer is still the same. Rights are checked first, and a tag fits one client and its restrictions.',
  credentials: ['guestToken'],
  viewedAs: 'user',
  reads: 'rows',
  readsOnly: true,
  tool: {
    name: 'query_metric',
    description:
      'Answers the rows of a metric. Name the dashboard that shows it, set filters, and ask for few rows with `limit`.',
    isForAll: true,
  },
  takesLanguage: true,
  input: guestQuery,
  output: metricAnswer,
  encode: encodeReply,
  tagOf: ({ tag }: MetricReply) => tag,
  errors: queryErrors,
  bindings: [{ method: 'POST', path: '/api/v2/guest/metrics/{metricId}/query', from: 'body' }],
  example: { input: exampleQuery, output: exampleReply },
});

export const listGuestUnderlying = operation({
  name: 'listGuestUnderlying',
  section: 'guest',
  resource: 'Guest reads',
  summary: 'List the rows behind a metric',
  description: 'Refused unless the permissions allow it. The filters of the metric apply.',
  credentials: ['guestToken'],
  viewedAs: 'user',
  reads: 'rows',
  readsOnly: true,
  tool: { name: 'list_underlying_rows', description: 'Lists single rows behind a metric. Ask for few with `limit`.' },
  takesLanguage: true,
  input: guestQuery,
  output: metricAnswer,
  encode: encodeReply,
  errors: queryErrors,
  bindings: [{ method: 'POST', path: '/api/v2/guest/metrics/{metricId}/underlying', from: 'body' }],
  example: { input: exampleQuery, output: exampleReply },
});

const optionsInput = z.strictObject({
  dashboardId: identifier,
  filter: identifier.describe('The name of a filter of the dashboard.'),
  search: text.optional().describe('Part of the value or of its label; case is ignored.'),
  language,
});

export const listGuestFilterOptions = operation({
  name: 'listGuestFilterOptions',
  section: 'guest',
  resource: 'Guest reads',
  summary: 'List the values that a dashboard filter can take',
  description: `Returns only values that occur in rows that this guest may see, at most ${greatestOptions}. \`hasMore\` says whether there are more.`,
  credentials: ['guestToken'],
  viewedAs: 'user',
  reads: 'rows',
  readsOnly: true,
  tool: {
    name: 'list_filter_values',
    description: 'Lists the values that a filter of a dashboard can take.',
    isForAll: true,
  },
  takesLanguage: true,
  input: optionsInput.extend({
    dashboardFilter: guestFilterValues
      .optional()
      .describe(
        'Values by the name of another filter of the dashboard: only values that occur in rows that pass them are listed. The defaults of other filters apply then too. Left out: the values of all rows.',
      ),
  }),
  output: z.object({
    data: z.array(z.object({ label: z.string(), value: z.union([z.string(), z.number(), z.boolean()]) })),
    hasMore: z
      .boolean()
      .optional()
      .describe('Whether more values match. A search narrows them. Services before 0.3 leave it out.'),
    error: noError,
  }),
  encode: (options: readonly GuestOption[]) => ({
    data: options.slice(0, greatestOptions).map(({ label, value }) => ({ label, value })),
    hasMore: options.length > greatestOptions,
    error: null,
  }),
  errors: queryErrors,
  bindings: [
    { method: 'POST', path: '/api/v2/guest/dashboards/{dashboardId}/filters/{filter}/options', from: 'body' },
    {
      ...{ method: 'GET', path: '/api/v2/guest/dashboards/{dashboardId}/filters/{filter}/options', from: 'query' },
      input: optionsInput,
    },
  ],
  example: {
    input: {
      ...{ dashboardId: 'delays--LAX', filter: 'Destination state', search: 'c' },
      dashboardFilter: { Airline: ['AA'] },
    },
    output: { data: [{ label: 'CA', value: 'CA' }], hasMore: false, error: null },
  },
});
