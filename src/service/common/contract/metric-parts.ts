/** Parts of a metric's definition that exports and requests of guests share. */
import { z } from 'zod';
import { type Chart, chartTypes, seriesTypes, tones } from '../../../model/dashboard/chart.js';
import {
  type Calculation,
  type Comparison,
  type ConditionTree,
  type Dimension,
  type HavingTree,
  maxPeriods,
} from '../../../model/dashboard/metric.js';
import { datePrecisions, dateStyles } from '../../../model/datamart/dates.js';
import type { Predicate } from '../../../model/filter/filter.js';
import { periods } from '../../../model/filter/period.js';
import { greatestCount, readRelative } from '../../../model/filter/relative.js';
import { greatestDecimals } from '../../../model/query/numbers.js';
import { columnRef, identifier, limits, list, scalar, text } from '../../../platform/http/interface/fields.js';

const operators = ['=', '<>', '<', '<=', '>', '>='] as const;

/** A condition on one column. A list in it holds at most `maxValues` values. */
export const predicateOf = (maxValues: number) =>
  z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.enum(['oneOf', 'noneOf']), values: list(scalar, maxValues).min(1) }),
    z.strictObject({ kind: z.literal('compare'), operator: z.enum(operators), value: scalar }),
    z.strictObject({
      kind: z.literal('range'),
      from: scalar.nullable(),
      to: scalar.nullable(),
      toIsExclusive: z.boolean(),
    }),
    z.strictObject({
      kind: z.literal('relative'),
      period: text
        .refine(
          (name) => readRelative(name) !== undefined,
          `a period such as "Last 30 Days", counting at most ${greatestCount}`,
        )
        .describe(
          'Days named by their distance from the reader’s present day, as in date filters: `This Month`, `Last 30 Days`, `Next 2 Weeks`, `Year to Date`. Counted when the metric is asked, in the reader’s time zone.',
        ),
    }),
    z.strictObject({ kind: z.literal('like'), pattern: text }),
    z.strictObject({ kind: z.literal('isNull') }),
    z.strictObject({ kind: z.literal('isNotNull') }),
  ]) satisfies z.ZodType<Predicate>;

export const dimension = z.strictObject({
  name: identifier,
  column: columnRef,
  grain: z.enum([...periods, 'hourOfDay', 'dayOfWeek']).optional(),
  bucketWidth: z.number().positive().optional(),
  bucketCount: z.number().int().min(1).max(1000).optional(),
}) satisfies z.ZodType<Dimension>;

export const numbers = {
  format: z.enum(['number', 'percent']).optional(),
  unit: identifier.optional(),
  currency: z
    .string()
    .length(3)
    .regex(/^[A-Z]{3}$/)
    .optional()
    .describe('ISO 4217 code: numbers are amounts of this currency.'),
  notation: z.enum(['full', 'compact']).optional().describe('`compact` writes 1,234,567 as 1.2M.'),
  decimals: z
    .number()
    .int()
    .min(0)
    .max(greatestDecimals)
    .optional()
    .describe('How many decimal places numbers have. Left out: as many as their size needs.'),
};

export const dates = {
  style: z
    .enum(dateStyles)
    .optional()
    .describe(
      '`short`: digits only. `medium`: a short name of the month. `long`: its whole name. `full`: the day of the week too. The order of the parts is that of the reader’s language.',
    ),
  precision: z
    .enum(datePrecisions)
    .optional()
    .describe('The smallest part that is written. Dates with a grain are written as their period.'),
};

/** A line on the value axis. */
const line = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('value'), value: z.number(), name: identifier.optional() }),
  z.strictObject({ kind: z.enum(['average', 'measure']), measure: identifier, name: identifier.optional() }),
]);

const cellRule = z.strictObject({
  measure: identifier,
  operator: z.enum(operators),
  value: z.number(),
  tone: z.enum(tones),
  word: identifier.optional().describe('Shown beside the value.'),
});

const valueColour = z.strictObject({
  name: identifier.describe('Of a dimension.'),
  value: scalar.nullable(),
  colour: z
    .string()
    .length(7)
    .regex(/^#[0-9a-fA-F]{6}$/, 'a colour such as #2f6bd8'),
});

export const chart = z.strictObject({
  type: z.enum(chartTypes),
  ...numbers,
  numbers: list(z.strictObject({ measure: identifier, ...numbers }), limits.properties)
    .optional()
    .describe('How numbers of one measure are written, if not as the chart says.'),
  dates: list(z.strictObject({ name: identifier, ...dates }), limits.properties)
    .optional()
    .describe('How dates of one dimension or measure are written, by its name.'),
  lines: list(line, 10)
    .optional()
    .describe('Lines on the value axis: at a value, at the average of a measure, or along a measure.'),
  colours: list(valueColour, limits.properties)
    .optional()
    .describe(
      'Colours of values of a dimension. A guest gets them with the answer, for values in the guest’s rows. Other values get colours of the palette when they first appear, and keep them.',
    ),
  rules: list(cellRule, limits.properties)
    .optional()
    .describe('For tables: marks cells of a measure. The first rule that holds applies.'),
  bars: list(identifier, limits.properties)
    .optional()
    .describe('For tables: measures whose cells have a bar of the value’s size.'),
  better: z
    .enum(['higher', 'lower'])
    .optional()
    .describe('For a single value: the direction of a change that is good.'),
  missing: z
    .enum(['gap', 'zero'])
    .optional()
    .describe('How a period without rows is drawn: as a gap, the default, or as zero.'),
  series: list(
    z.strictObject({ measure: identifier, type: z.enum(seriesTypes), axis: z.enum(['left', 'right']).optional() }),
    limits.properties,
  )
    .optional()
    .describe('For a combo chart.'),
  across: list(identifier, limits.properties)
    .optional()
    .describe('For a pivot table: the dimensions whose values become columns.'),
  range: z
    .strictObject({ min: z.number(), max: z.number(), target: z.number().optional() })
    .refine(({ min, max }) => min < max, 'min below max')
    .optional()
    .describe('Of a gauge.'),
}) satisfies z.ZodType<Chart>;

/** Of a measure. */
export const isHidden = z
  .literal(true)
  .optional()
  .describe(
    'Computed for calculations, conditions on groups and sorts, but no column of the answer: so a running total is shown alone.',
  );

export const others = z
  .boolean()
  .optional()
  .describe(
    'With `limit` and a `sort` that begins with a measure, DESC: the limit counts values of the last dimension, and all other values are combined into one.',
  );

export const sort = z.strictObject({ name: identifier, direction: z.enum(['ASC', 'DESC']) });

export const calculation = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('shareOfTotal'),
    name: identifier,
    of: identifier,
    within: list(identifier, limits.properties).optional(),
  }),
  z.strictObject({
    kind: z.literal('runningTotal'),
    name: identifier,
    of: identifier,
    along: identifier.optional(),
  }),
  z.strictObject({
    kind: z.literal('previousPeriod'),
    name: identifier,
    of: identifier,
    along: identifier.optional(),
    periods: z.number().int().min(1).max(maxPeriods).optional(),
    result: z.enum(['value', 'change', 'relativeChange']).optional(),
  }),
]) satisfies z.ZodType<Calculation>;

export const comparison = z.strictObject({
  column: columnRef,
  grain: z.enum(periods),
  periods: z.number().int().min(1).max(1000),
}) satisfies z.ZodType<Comparison>;

const groupOf = <Item extends z.ZodType>(item: Item) => {
  const items = list(item, limits.properties).min(1);
  return [z.strictObject({ all: items }), z.strictObject({ any: items })] as const;
};

/** Groups of conditions, nested at most three deep. Two levels are enough to express any formula. */
const treeOf = <Leaf extends z.ZodType>(leaf: Leaf) => {
  const groups = z.union([leaf, ...groupOf(leaf)]);
  const deeper = z.union([leaf, ...groupOf(groups)]);
  return z.union([leaf, ...groupOf(deeper)]);
};

/** Filters of rows and of groups, combined by `all` and `any`. A list in them holds at most `maxValues` values. */
export const treesOf = (maxValues: number) => {
  const predicate = predicateOf(maxValues);
  return {
    where: treeOf(z.strictObject({ column: columnRef, predicate })) satisfies z.ZodType<ConditionTree>,
    having: treeOf(z.strictObject({ measure: identifier, predicate })) satisfies z.ZodType<HavingTree>,
  };
};
