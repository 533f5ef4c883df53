/** Fields that several operations share, and every limit on requests. */
import { z } from 'zod';
import { firstFaultRecord } from './first-fault.js';

/** Limits of requests. spec-gap: the specification gives none. */
export const limits = {
  /** Characters in a name or an id. */
  nameLength: 255,
  /** Characters in free text, and in one filter value. */
  textLength: 4000,
  /** Characters in an SQL text. */
  sqlLength: 20_000,
  /** Characters of a picture as a `data:` address. */
  pictureLength: 280_000,
  /** Items in a list that has no limit of its own. */
  items: 1000,
  /** Values in one multi-select filter. */
  filterValues: 10_000,
  /** Columns in one table, and tables in one datamart. */
  columns: 2000,
  /** Synonyms of one table or column. */
  synonyms: 10,
  /** Maximum `limit` and maximum `offset` of one query, in rows. */
  rows: 10_000,
  offset: 10_000_000,
  pageNumber: 1_000_000,
  /** Seconds for which a rotated credential may stay valid: 30 days. */
  graceSeconds: 2_592_000,
  /** Properties in an object whose names the caller chooses. */
  properties: 200,
  /** Properties in any object, including custom metadata. */
  anyProperties: 2000,
  /** Characters of custom metadata, as JSON. */
  metadataLength: 65_536,
  /** Parts of a form. */
  formParts: 50,
  /** Levels of nesting in a body. */
  depth: 32,
  /**
   * Maximum bytes of a body, for operations that need large ones: whole datamarts and dashboards, and lists of filter
   * values.
   */
  bodyBytes: 2 * 1024 * 1024,
  /** Maximum bytes of a body for all other operations. */
  usualBodyBytes: 256 * 1024,
} as const;

/** Stops all further checks of the value, so that a list of a thousand bad names is refused at the first one. */
const first = { abort: true } as const;

/** An array with an upper bound. */
export const list = <Item extends z.ZodType>(item: Item, max: number = limits.items) => z.array(item).max(max);

/**
 * The rules for names and ids, as text for the reference. The schema below enforces them. spec-gap: the specification
 * gives no limits.
 */
export const namingRules = [
  `Names and ids have 1 to ${limits.nameLength} characters (UTF-16 code units) of any script, in well-formed Unicode.`,
  'They contain no control characters. Spaces, punctuation and emoji are allowed, and nothing is trimmed.',
  'They are compared exactly: case matters, and a composed letter (U+00E9) is not equal to its decomposed form.',
  '`__proto__` is a valid name, but not a valid field.',
  'Two items of one kind cannot have the same name. The second creation is refused, also if both run at the same time.',
] as const;

/**
 * A name or an id, by `namingRules`. Control characters and unpaired surrogates are refused: databases store any
 * unpaired surrogate as U+FFFD, so two different ids would become equal.
 */
export const identifier = z
  .string()
  .min(1, first)
  .max(limits.nameLength, first)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, { error: 'text without control characters, in well-formed Unicode', ...first });

/**
 * Free text of at most 4,000 characters. NUL and unpaired surrogates are refused, since databases cannot store them.
 */
export const text = z
  .string()
  .max(limits.textLength, first)
  .regex(/^[^\0\p{Cs}]*$/u, { error: 'text without NUL, in well-formed Unicode', ...first });

/** An object whose property names the caller chooses. */
export const named = <Value extends z.ZodType>(value: Value) =>
  firstFaultRecord(identifier, value).refine(
    (entries) => Object.keys(entries).length <= limits.properties,
    `at most ${limits.properties} names`,
  );

/** An object that the caller defines. It is stored and returned unchanged. */
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
const end = z.union([number, filterText]).describe('A number, or a decimal number as text.');
const numberRange = z.strictObject({ min: end.optional(), max: end.optional() });
const valuesOfQuery = z.strictObject({ sql: z.string().min(1).max(limits.sqlLength), columnName: identifier });

/** A filter value from a host's backend. The filter's data type decides which kinds of value fit. */
export const filterValue = z
  .union([z.boolean(), number, filterText, multiSelect, dateRange, shortDateRange, numberRange, valuesOfQuery])
  .meta({
    id: 'FilterValue',
    description:
      'A boolean, a number, a text (also a period such as `Last 30 Days`), a list of texts, a range of dates or numbers (a whole number beyond 2^53 - 1 is sent as text), or the values of `columnName` in the rows of `sql`.',
  });

/** A filter value from a browser. Unlike `filterValue`, it cannot contain SQL. */
export const guestFilterValue = z
  .union([z.boolean(), number, filterText, multiSelect, dateRange, shortDateRange, numberRange])
  .meta({
    id: 'GuestFilterValue',
    description:
      'A boolean, a number, a text (also a period such as `Last 30 Days`), a list of texts, or a range of dates or numbers. A whole number beyond 2^53 - 1 is sent as text.',
  });

export const filterValues = named(filterValue);
export const guestFilterValues = named(guestFilterValue);

export const scalar = z.union([text, z.number(), z.boolean()]);

export const columnRef = z
  .strictObject({ schemaName: identifier, tableName: identifier, columnName: identifier })
  .meta({ id: 'ColumnRef' });
export const tableRef = z.strictObject({ schemaName: identifier, tableName: identifier }).meta({ id: 'TableRef' });

const pageNumber = z.number().int().min(1).max(limits.pageNumber);

/** Paging fields in JSON, the same in every list: ten items per page. */
export const pagination = {
  isPagination: z.boolean().default(false).describe('True: the answer is one page of 10 items.'),
  pageNumber: pageNumber.default(1).describe('Starts at 1. Used only if pagination is on.'),
};

/** Paging fields in a query string. */
export const queryPagination = {
  isPagination: text
    .optional()
    .describe('The string `true` turns pagination on (10 items per page); any other value turns it off.'),
  pageNumber: text.optional().describe('Numeric string, starting at 1. Used only if pagination is on. Default `1`.'),
};

/** Reads the paging fields of a query string. The page number is not checked unless paging is on. */
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
