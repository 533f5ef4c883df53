/** Parts of a metric's definition that its author's file and a guest's request share. */
import { z } from 'zod';
import type { Predicate } from '../domain/filter.js';
import { columnRef, identifier, list, scalar, text } from './fields.js';

/** What is asked of one column; a list holds so many values at most. */
export const predicateOf = (maxValues: number) =>
  z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.enum(['oneOf', 'noneOf']), values: list(scalar, maxValues).min(1) }),
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

export const dimension = z.strictObject({
  name: identifier,
  column: columnRef,
  grain: z.enum(['minute', 'hour', 'day', 'week', 'month', 'quarter', 'year', 'hourOfDay', 'dayOfWeek']).optional(),
  bucketWidth: z.number().positive().optional(),
});
