/** Fields that several operations share, and every limit of the wire: written down here once. */
import { z } from 'zod';
import { firstFaultRecord } from './first-fault.js';

/** Limits of requests. spec-gap: the specification gives none. */
export const limits = {
  /** Characters of a name or an id. */
  nameLength: 255,
  /** Characters of free text, and of one filter value. */
  textLength: 4000,
  /** Characters of SQL. */
  sqlLength: 20_000,
  /** Items of a list, where nothing else is said. */
  items: 1000,
  /** Values of one multi-select filter. */
  filterValues: 10_000,
  /** Columns of one table, and tables of one datamart. */
  columns: 2000,
  /** Synonyms of one table or column. */
  synonyms: 10,
  /** Rows that one query may ask for, and how far it may skip. */
  rows: 10_000,
  offset: 10_000_000,
  pageNumber: 1_000_000,
  /** Seconds that a rotated credential still works: 30 days. */
  graceSeconds: 2_592_000,
  /** Properties of one object whose names the caller chooses. */
  properties: 200,
  /** Properties of any object whatsoever, the caller's own included. */
  anyProperties: 2000,
  /** Characters of custom metadata, as JSON. */
  metadataLength: 65_536,
  /** Parts of a form. */
  formParts: 50,
  /** Levels of nesting of a body. */
  depth: 32,
  /** Size of the largest body, of operations that say so: whole datamarts and dashboards, and lists of filter values. */
  bodyBytes: 2 * 1024 * 1024,
  /** Size of a body where the operation says nothing else. */
  usualBodyBytes: 256 * 1024,
} as const;

/** A check that ends all work on its value: a list of a thousand bad names stops at the first one, where only that is wanted. */
const first = { abort: true } as const;

/** An array with an upper bound. */
export const list = <Item extends z.ZodType>(item: Item, max: number = limits.items) => z.array(item).max(max);

/** What names and ids may be, for the reference: the schema below enforces it. spec-gap: the specification gives no limits. */
export const namingRules = [
  `Names and ids have 1 to ${limits.nameLength} characters (UTF-16 code units) of any script, in well-formed Unicode.`,
  'They hold no control characters; spaces, punctuation and emoji are allowed, and nothing is trimmed.',
  'They are compared exactly: case counts, and two ways to compose one letter are two names.',
  '`__proto__` may be a name, and never a field.',
  'Two of one kind never share a name; a second creation is refused, also one at the same moment.',
] as const;

/**
 * Names and ids, by `namingRules`. Control characters and halves of surrogate pairs are refused: databases store each half as U+FFFD,
 * so that two ids would become one.
 */
export const identifier = z
  .string()
  .min(1, first)
  .max(limits.nameLength, first)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, { error: 'text without control characters, in well-formed Unicode', ...first });

/** Free text of up to 4,000 characters, without NUL and without halves of surrogate pairs, which no database keeps. */
export const text = z
  .string()
  .max(limits.textLength, first)
  .regex(/^[^\0\p{Cs}]*$/u, { error: 'text without NUL, in well-formed Unicode', ...first });

/** An object whose names the caller chooses. */
export const named = <Value extends z.ZodType>(value: Value) =>
  firstFaultRecord(identifier, value).refine(
    (entries) => Object.keys(entries).length <= limits.properties,
    `at most ${limits.properties} names`,
  );

/** An object of the caller's own, kept and given back as it is. */
export const metadata = z
  .record(z.string().max(limits.nameLength), z.unknown())
  .refine(
    (value) => JSON.stringify(value).length <= limits.metadataLength,
    `at most ${limits.metadataLength} characters of JSON`,
  );

export const filterColumns = z
  .strictObject({
    tableName: identifier.describe('Fully qualified: `schema.table`.'),
    columns: list(identifier, limits.columns),
  })
  .meta({ id: 'FilterColumns' });

const number = z.number();
const filterText = text;
const multiSelect = list(filterText, limits.filterValues);
const dateRange = z.strictObject({ startDate: filterText, endDate: filterText });
const shortDateRange = z.strictObject({ start: filterText, end: filterText });
const end = z.union([number, filterText]).describe('A number, or its decimal text.');
const numberRange = z.strictObject({ min: end.optional(), max: end.optional() });
const valuesOfQuery = z.strictObject({ sql: z.string().min(1).max(limits.sqlLength), columnName: identifier });

/** Every kind of value that a host's backend gives a filter; which one fits is decided by the filter's data type. */
export const filterValue = z
  .union([z.boolean(), number, filterText, multiSelect, dateRange, shortDateRange, numberRange, valuesOfQuery])
  .meta({
    id: 'FilterValue',
    description:
      'A boolean, a number, text (also a date preset such as `Last 30 Days`), a list of texts, a range of dates or numbers (a whole number beyond 2^53 - 1 as text), or the values of `columnName` in the rows of `sql`.',
  });

/** What a browser gives a filter: the same, but it knows no SQL. */
export const guestFilterValue = z
  .union([z.boolean(), number, filterText, multiSelect, dateRange, shortDateRange, numberRange])
  .meta({
    id: 'GuestFilterValue',
    description:
      'A boolean, a number, text (also a date preset such as `Last 30 Days`), a list of texts, or a range of dates or numbers. A whole number beyond 2^53 - 1 is text.',
  });

export const filterValues = named(filterValue);
export const guestFilterValues = named(guestFilterValue);

export const scalar = z.union([text, z.number(), z.boolean()]);

export const columnRef = z
  .strictObject({ schemaName: identifier, tableName: identifier, columnName: identifier })
  .meta({ id: 'ColumnRef' });
export const tableRef = z.strictObject({ schemaName: identifier, tableName: identifier }).meta({ id: 'TableRef' });

const pageNumber = z.number().int().min(1).max(limits.pageNumber);

/** Paging as JSON, as every listing takes it: ten items a page. */
export const pagination = {
  isPagination: z.boolean().default(false).describe('True answers one page of 10 items.'),
  pageNumber: pageNumber.default(1).describe('1-based; used only when pagination is on.'),
};

/** Paging as query strings. */
export const queryPagination = {
  isPagination: text
    .optional()
    .describe('The string `true` turns pagination on (10 items a page); any other value, off.'),
  pageNumber: text.optional().describe('1-based numeric string; used only when pagination is on. Default `1`.'),
};

/** Reads paging from query strings. A page number that is not used is not looked at. */
export const decodePagination = (
  query: { readonly isPagination?: string | undefined; readonly pageNumber?: string | undefined },
  context: z.RefinementCtx,
): { isPagination: boolean; pageNumber: number } => {
  const isPagination = query.isPagination === 'true';
  if (!isPagination || query.pageNumber === undefined) return { isPagination, pageNumber: 1 };
  const page = pageNumber.safeParse(/^[0-9]{1,9}$/.test(query.pageNumber) ? Number(query.pageNumber) : undefined);
  if (page.success) return { isPagination, pageNumber: page.data };
  context.addIssue({ code: 'custom', path: ['pageNumber'], message: 'a whole number from 1' });
  return { isPagination, pageNumber: 1 };
};
