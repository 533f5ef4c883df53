/**
 * The parts of a metric that a guest may send. They have their own schema: a field that is added to the export (SQL,
 * RLS variables) must not become valid in a request of a browser.
 */
import { z } from 'zod';
import { measureAggregates } from '../../../model/dashboard/metric.js';
import { type GuestDefinition, guestLimits, type NewGuestDefinition } from '../../../model/guest/metric.js';
import {
  columnRef,
  guestFilterValue,
  identifier,
  limits,
  list,
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

/** Maximum number of dimensions, of measures and of filters in one metric. */
const maxParts = 50;

const predicate = predicateOf(limits.items);
const { where, having } = treesOf(limits.items);

const parts = {
  chart,
  from: tableRef.describe('The table whose rows are counted. Joins start from it.'),
  dimensions: list(dimension, maxParts),
  measures: list(
    z.strictObject({
      name: identifier,
      aggregate: z.enum(measureAggregates),
      column: columnRef.optional(),
      indicator: predicate.optional(),
      percentile: z.number().min(0).max(1).optional(),
      isHidden,
    }),
    maxParts,
  ),
  where,
  having,
  calculations: list(calculation, maxParts),
  comparison,
  filters: list(
    z.strictObject({
      name: identifier,
      label: identifier,
      column: columnRef,
      dataType: z.enum(['string', 'number', 'date', 'boolean']),
      predicate: predicate.optional(),
      defaultValue: guestFilterValue.optional(),
    }),
    maxParts,
  ),
  underlying: list(columnRef, limits.properties),
  drillPath: list(dimension, maxParts),
  sort: list(sort, maxParts),
  limit: z.number().int().positive().max(limits.rows).nullable(),
  others,
};

const isBounded = (value: unknown): boolean => JSON.stringify(value).length <= guestLimits.definitionLength;
const bound = `at most ${guestLimits.definitionLength} characters of JSON`;

const part = z.strictObject(parts).partial();

/** A change of a definition: missing parts keep their values. */
export const guestDefinition = part
  .refine(isBounded, bound)
  .meta({ id: 'GuestDefinition' }) satisfies z.ZodType<GuestDefinition>;

/** A new definition: missing parts are empty. */
export const newGuestDefinition = part
  .required({ chart: true, from: true })
  .refine(isBounded, bound)
  .meta({ id: 'NewGuestDefinition' }) satisfies z.ZodType<NewGuestDefinition>;
