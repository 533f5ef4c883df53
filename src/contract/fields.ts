/** Fields that several operations share, and the limits of names and values: written down here once. */
import { z } from 'zod';

/** Names and ids: 1 to 255 characters, no control characters. spec-gap: the specification gives no limits. */
export const identifier = z
  .string()
  .min(1)
  .max(255)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  .regex(/^[^\u0000-\u001f\u007f]*$/, 'must hold no control characters');

/** Free text of up to 4,000 characters. */
export const text = z.string().max(4000);

export const filterColumns = z.strictObject({ tableName: identifier, columns: z.array(identifier) });

const filterText = z.string().max(4000);

/** Every kind of value that a filter takes; which one fits is decided by the filter's data type. */
export const filterValue = z.union([
  z.boolean(),
  z.number(),
  filterText,
  z.array(filterText).max(10_000),
  z.strictObject({ startDate: filterText, endDate: filterText }),
  z.strictObject({ start: filterText, end: filterText }),
  z.strictObject({ min: z.number().optional(), max: z.number().optional() }),
  z.strictObject({ sql: z.string().max(20_000), columnName: identifier }),
]);

export const filterValues = z.record(identifier, filterValue);

export const columnRef = z.strictObject({ schemaName: identifier, tableName: identifier, columnName: identifier });
export const tableRef = z.strictObject({ schemaName: identifier, tableName: identifier });
