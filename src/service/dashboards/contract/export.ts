/**
 * The dashboard export `{_meta, data}`. The interface defines the envelope; this project defines the inner items, with
 * their version in `_meta.version`. Templates are files in this format, and `importDashboardData` takes its `data`.
 */
import { z } from 'zod';
import type { DashboardContent, DashboardFilter } from '../../../model/dashboard/dashboard.js';
import {
  maxLineage,
  measureAggregates,
  type SqlDefinition,
  type VisualDefinition,
} from '../../../model/dashboard/metric.js';
import { translationsFault } from '../../../model/dashboard/translations.js';
import type { Encoded } from '../../../platform/http/interface/callable.js';
import {
  columnRef,
  filterValue,
  identifier,
  limits,
  list,
  metadata,
  tableRef,
} from '../../../platform/http/interface/fields.js';
import {
  calculation,
  chart,
  comparison,
  dimension,
  isHidden,
  others,
  predicateOf,
  sort,
  treesOf,
} from '../../common/contract/metric-parts.js';
import { tiles } from '../../common/contract/tiles.js';

/** Version of the inner items. A reader upgrades older versions and refuses newer ones. */
export const exportVersion = 3;

const predicate = predicateOf(limits.filterValues);
const { where, having } = treesOf(limits.filterValues);
const dataType = z.enum(['string', 'number', 'date', 'boolean']);

const measure = z.union([
  z.strictObject({
    name: identifier,
    aggregate: z.enum(measureAggregates),
    column: columnRef.optional(),
    indicator: predicate.optional(),
    percentile: z.number().min(0).max(1).optional(),
    isHidden,
  }),
  z.strictObject({ name: identifier, expression: z.string().min(1).max(limits.textLength), isHidden }),
]);

const filters = list(
  z.strictObject({
    name: identifier,
    label: identifier,
    column: columnRef,
    dataType,
    predicate: predicate.optional(),
    defaultValue: filterValue.optional(),
  }),
).default([]);
const rlsVariables = list(
  z.strictObject({ name: identifier, column: columnRef.optional(), isOptional: z.boolean().default(false) }),
).default([]);
const limit = z.number().int().positive().max(limits.rows).nullable().default(null);
const sorts = list(sort).default([]);

const withoutBaseFilters = list(tableRef, limits.properties)
  .min(1)
  .optional()
  .describe('Tables that the metric reads without their `baseFilters`, such as one that counts deleted rows.');

const visualDefinition = z.strictObject({
  kind: z.literal('visual'),
  chart,
  from: tableRef,
  dimensions: list(dimension).default([]),
  measures: list(measure).default([]),
  where: where.optional(),
  having: having.optional(),
  calculations: list(calculation).optional(),
  comparison: comparison.optional(),
  filters,
  rlsVariables,
  underlying: list(columnRef).default([]),
  drillPath: list(dimension).default([]),
  sort: sorts,
  limit,
  withoutBaseFilters,
  others,
}) satisfies z.ZodType<VisualDefinition, unknown>;

const sqlOutput = z.strictObject({ name: identifier });

export const sqlDefinition = z.strictObject({
  kind: z.literal('sql'),
  chart,
  sql: z
    .string()
    .min(1)
    .max(limits.sqlLength)
    .describe(
      'One SELECT over the datamart’s tables. `client_id_variable` and `<name>_variable` become bound parameters.',
    ),
  dimensions: list(sqlOutput).default([]),
  measures: list(sqlOutput).default([]),
  filters,
  rlsVariables,
  sort: sorts,
  limit,
  withoutBaseFilters,
}) satisfies z.ZodType<SqlDefinition, unknown>;

/** What the host may define: also SQL and expressions, which no request of a guest may hold. */
export const metricDefinition = z.discriminatedUnion('kind', [visualDefinition, sqlDefinition]);

export const dashboardFilter = z.strictObject({
  name: identifier,
  dataType,
  applyOnTables: list(columnRef.extend({ dataType: identifier })).min(1),
  defaultValue: filterValue.optional(),
  isSingleChoice: z
    .literal(true)
    .optional()
    .describe('The filter bar lets a guest choose one value at most. Only for text.'),
}) satisfies z.ZodType<DashboardFilter, unknown>;

const card = z.strictObject({
  metricId: identifier,
  x: z.number().int().min(0).max(11),
  y: z.number().int().min(0).max(10_000),
  w: z.number().int().min(1).max(12),
  h: z.number().int().min(1).max(1000),
});

const metric = z.strictObject({ metricId: identifier, name: identifier, definition: metricDefinition });

const board = {
  layout: list(card),
  filters: list(dashboardFilter),
  gridMargin: list(z.number().min(0).max(1000), 12),
};

/** Data of version 1. A metric without a card is in the gallery. */
export const dashboardDataV1 = z.strictObject({ ...board, metrics: list(metric) });

const placedMetric = metric.extend({
  lineage: list(identifier, maxLineage).describe('Ids of the metrics that it was copied from, nearest first.'),
  placement: z.enum(['METRIC', 'GALLERY']).describe('On the board, or in the gallery.'),
});

const dashboardMetadata = metadata
  .superRefine(({ translations }, context) => {
    const fault = translations === undefined ? undefined : translationsFault(translations);
    if (fault === undefined) return;
    context.addIssue({ code: 'custom', path: ['translations', ...fault.path], message: fault.message });
  })
  .describe(
    'Anything of the host’s. `translations` has names of dashboard, metrics, filters, columns and units in other languages: by language, then by the written text. `values` of a language has labels of texts in rows: by the name of the column or filter, then by the stored text.',
  );

const data = z.strictObject({
  version: z
    .literal(exportVersion)
    .optional()
    .describe('Version of the data. If missing, the oldest version that fits is assumed.'),
  ...board,
  metrics: list(placedMetric),
  tiles,
  isAllowPrivateMetricsByDefault: z.boolean().optional(),
  metadata: dashboardMetadata.nullable().optional(),
});

/** The `data` object: the metrics, and the layout, whose cards refer to the metrics by id. */
export const dashboardData = data.meta({ id: 'DashboardData' });

/** A dashboard with its content, for an export. */
export type ExportedDashboard = {
  readonly dashboardId: string;
  readonly name: string;
  readonly content: DashboardContent;
};

export const dashboardExport = z.strictObject({
  _meta: z.strictObject({ version: z.literal(exportVersion), dashboardId: z.string(), name: z.string() }),
  // Input has defaults and output has none, so these are two schemas, which need two names.
  data: data.meta({ id: 'ExportedDashboardData' }),
});
export type DashboardExport = z.output<typeof dashboardExport>;

/** The `data` of an export. */
export const encodeContent = (content: DashboardContent): Encoded<typeof data> =>
  // Definitions were stored by this schema. Their type in the domain also has a predicate that it refuses.
  ({ version: exportVersion, ...content }) as Encoded<typeof data>;

export const encodeExport = ({ dashboardId, name, content }: ExportedDashboard): Encoded<typeof dashboardExport> => ({
  _meta: { version: exportVersion, dashboardId, name },
  data: encodeContent(content),
});
