/**
 * The dashboard export: `{_meta, data}`. The envelope is the interface's; the inner items are ours and versioned in
 * `_meta.version`. Templates are written in it, and `importDashboardData` takes its `data`.
 */
import { z } from 'zod';
import type { DashboardFilter } from '../domain/dashboard.js';
import type { Predicate } from '../domain/filter.js';
import type { MetricDefinition } from '../domain/metric.js';
import { columnRef, filterValue, identifier, limits, list, scalar, tableRef, text } from './fields.js';

/** Version of the inner schema. A reader refuses a newer one and upgrades an older one. */
export const exportVersion = 1;

const dataType = z.enum(['string', 'number', 'date', 'boolean']);

const predicate = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.enum(['oneOf', 'noneOf']), values: list(scalar, limits.filterValues).min(1) }),
  z.strictObject({ kind: z.literal('compare'), operator: z.enum(['=', '<>', '<', '<=', '>', '>=']), value: scalar }),
  z.strictObject({
    kind: z.literal('range'),
    from: scalar.nullable(),
    to: scalar.nullable(),
    toIsExclusive: z.boolean(),
  }),
  z.strictObject({ kind: z.literal('like'), pattern: text }),
  z.strictObject({ kind: z.literal('isNull') }),
  z.strictObject({ kind: z.literal('isNotNull') }),
]) satisfies z.ZodType<Predicate>;

const dimension = z.strictObject({
  name: identifier,
  column: columnRef,
  grain: z.enum(['minute', 'hour', 'day', 'week', 'month', 'quarter', 'year', 'hourOfDay', 'dayOfWeek']).optional(),
  bucketWidth: z.number().positive().optional(),
});

const measure = z.strictObject({
  name: identifier,
  aggregate: z.enum(['SUM', 'AVG', 'MIN', 'MAX', 'COUNT', 'COUNT_DISTINCT', 'MEDIAN']),
  column: columnRef.optional(),
  indicator: predicate.optional(),
});

const metricDefinition = z.strictObject({
  kind: z.literal('visual'),
  chart: z.strictObject({
    type: z.enum(['line', 'bar', 'singleValue', 'table']),
    format: z.enum(['number', 'percent']).optional(),
    unit: identifier.optional(),
  }),
  from: tableRef,
  dimensions: list(dimension).default([]),
  measures: list(measure).default([]),
  filters: list(
    z.strictObject({
      name: identifier,
      label: identifier,
      column: columnRef,
      dataType,
      predicate: predicate.optional(),
      defaultValue: filterValue.optional(),
    }),
  ).default([]),
  rlsVariables: list(
    z.strictObject({ name: identifier, column: columnRef, isOptional: z.boolean().default(false) }),
  ).default([]),
  underlying: list(columnRef).default([]),
  drillPath: list(dimension).default([]),
  sort: list(z.strictObject({ name: identifier, direction: z.enum(['ASC', 'DESC']) })).default([]),
  limit: z.number().int().positive().max(limits.rows).nullable().default(null),
}) satisfies z.ZodType<MetricDefinition, unknown>;

const dashboardFilter = z.strictObject({
  name: identifier,
  dataType,
  applyOnTables: list(columnRef.extend({ dataType: identifier })).min(1),
  defaultValue: filterValue.optional(),
}) satisfies z.ZodType<DashboardFilter, unknown>;

/** The `data` object: metrics by their ids here, the layout's cards naming them; a metric without a card is in the gallery. */
export const dashboardData = z
  .strictObject({
    layout: list(
      z.strictObject({
        metricId: identifier,
        x: z.number().int().min(0).max(11),
        y: z.number().int().min(0).max(10_000),
        w: z.number().int().min(1).max(12),
        h: z.number().int().min(1).max(1000),
      }),
    ),
    filters: list(dashboardFilter),
    metrics: list(z.strictObject({ metricId: identifier, name: identifier, definition: metricDefinition })),
    gridMargin: list(z.number().min(0).max(1000), 12),
  })
  .meta({ id: 'DashboardData' });
export type DashboardData = z.output<typeof dashboardData>;

export const dashboardExport = z.strictObject({
  _meta: z.strictObject({
    version: z.literal(exportVersion),
    dashboardId: identifier,
    name: identifier,
  }),
  data: dashboardData,
});
export type DashboardExport = z.output<typeof dashboardExport>;
