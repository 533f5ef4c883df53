/** The parts of a datamart, as requests send them. */
import { z } from 'zod';
import { rollupAggregates, rollupGrains, rollupPeriods } from '../../../model/datamart/datamart.js';
import { greatestScale } from '../../../model/datamart/money.js';
import { isTimezone } from '../../../model/filter/date-range.js';
import { periods } from '../../../model/filter/period.js';
import { timePattern } from '../../../model/schedule/recurrence.js';
import { identifier, limits, list, text } from '../../../platform/http/interface/fields.js';
import { dates, numbers, predicateOf } from '../../common/contract/metric-parts.js';

export const cardinality = z.enum(['ManyToMany', 'ManyToOne', 'OneToMany', 'OneToOne']);
export const join = z.enum(['INNER JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN']);

/** The expression of a custom column. The engine parses it and never runs the text itself. */
export const expression = z
  .string()
  .max(limits.sqlLength)
  .regex(/^[^\0\p{Cs}]*$/u, 'text without NUL, in well-formed Unicode');

/** How numbers are written, as a chart has it. */
export const columnNumbers = z.strictObject(numbers);

/** What the numbers of a column are, and how they are written. */
export const modelNumbers = columnNumbers.extend({
  scale: z
    .number()
    .int()
    .min(1)
    .max(greatestScale)
    .optional()
    .describe(
      'How many of the last digits of the stored numbers are decimal places: 2 for cents. Every read has whole units: filters, alerts, expressions and SQL too.',
    ),
  currency: z
    .union([
      numbers.currency.unwrap(),
      z.strictObject({ column: identifier.describe('A column of the same table that has a code in each row.') }),
      z.strictObject({
        tenantColumn: identifier.describe('A column of the client master table that has the code of each client.'),
      }),
    ])
    .optional()
    .describe(
      'ISO 4217 code, or where it is read. Amounts of several currencies are never combined: a metric is grouped by the column, or filtered to one, or refused.',
    ),
});

/** How dates are written, as a chart has it. */
export const columnDates = z.strictObject(dates);

const column = z
  .strictObject({
    name: identifier,
    alias: text.optional(),
    label: text.optional(),
    isHide: z.boolean().default(false),
    isCustomColumn: z.boolean().optional().describe('True for a custom column, which requires `sql`.'),
    sql: expression
      .optional()
      .describe(
        'Only for a custom column: an expression over columns of the same table, in the SQL of the datasource.',
      ),
    isAggregate: z.boolean().optional().describe('True: measures on this column get the drop type AGGREGATE.'),
    allowAggregate: z.boolean().optional().describe('True: a measure on this column uses `defaultAggregation`.'),
    defaultAggregation: identifier.nullish().describe('For example `SUM` or `COUNT_DISTINCT`.'),
    isApplyTimezone: z.boolean().optional().describe('True: values are converted to the timezone of the guest token.'),
    isBoolean: z
      .boolean()
      .optional()
      .describe(
        'Only for a `tinyint(1)` of MySQL or MariaDB, which holds numbers: true declares that every number except 0 means true. Left out: as it was; false in a new datamart.',
      ),
    defaultSort: z.enum(['ASC', 'DESC', '']).nullish().describe('Empty, null or missing clears it.'),
    defaultGrain: z
      .enum(periods)
      .nullish()
      .describe('The grain by which dates of the column are grouped in new metrics. Left out: by month.'),
    numbers: modelNumbers.nullish().describe('What the numbers of the column are, and how they are written.'),
    dates: columnDates
      .nullish()
      .describe('How dates of the column are written in new metrics and in rows behind metrics.'),
  })
  .refine(({ isCustomColumn, sql }) => isCustomColumn !== true || (sql !== undefined && sql.trim() !== ''), {
    path: ['sql'],
    message: 'an expression, since isCustomColumn is true',
  })
  // spec-gap: dropping the expression silently would leave a plain column that the caller takes for a custom one.
  .refine(({ isCustomColumn, sql }) => isCustomColumn === true || sql === undefined || sql === '', {
    path: ['sql'],
    message: 'nothing or an empty text, unless isCustomColumn is true',
  });

export const through = z
  .strictObject({
    relationship: identifier.describe(
      'Name of a relationship that is many-to-one from another table, the bridge, to this table.',
    ),
    columns: list(identifier, limits.columns)
      .min(1)
      .describe('The columns that may be read. All others of the table are hidden.'),
  })
  .describe(
    'For TABLE tenancy, in a table whose rows belong to several clients, such as users: a client reads the rows that its rows of the bridge refer to, such as its memberships.',
  );

export const baseFilters = list(
  z.strictObject({
    columnName: identifier.describe('A column of the table in the datasource; it need not be in `columns`.'),
    predicate: predicateOf(limits.filterValues).refine(
      ({ kind }) => kind !== 'relative',
      'a condition that is the same on every day; filter metrics by periods relative to the present day',
    ),
  }),
  limits.properties,
)
  .min(1)
  .describe(
    'Conditions that every read of the table applies, such as `deleted_at` `isNull`. All must hold. A metric of an author is without them only if its `withoutBaseFilters` names the table.',
  );

export const table = z.strictObject({
  name: identifier.describe('Name of a table of the datasource; case-sensitive.'),
  schemaName: identifier.optional().describe('Defaults to the datasource’s default schema.'),
  clientColumn: identifier.nullish().describe('For TABLE tenancy: the column that holds the clientId.'),
  tenancyPath: identifier
    .nullish()
    .describe(
      'For TABLE tenancy, in a table without `clientColumn` that has several paths to a tenant’s table: the `relationshipName` to follow.',
    ),
  through: through.nullish(),
  baseFilters: baseFilters.nullish(),
  leftOut: list(identifier, limits.columns)
    .nullish()
    .describe(
      'Columns of the datasource that are left out on purpose. A comparison with the database does not offer them.',
    ),
  isHide: z.boolean().optional(),
  label: text.optional(),
  wildcard: identifier.nullish().describe('Index pattern, for OpenSearch only.'),
  columns: list(column, limits.columns).min(1).describe('Columns of the datasource, and custom columns.'),
});

const tableTenancyFields = [
  'clientColumnType',
  'schemaName',
  'tableName',
  'tableClientNameColumn',
  'tablePrimaryKeyColumn',
] as const;

const level = z.enum(['TABLE', 'DATABASE', 'MULTI_DATABASE']);

const tenancyFields = {
  clientColumnType: z
    .enum(['NUMBER', 'STRING'])
    .optional()
    .describe('Required for TABLE, as are the next four fields.'),
  schemaName: identifier.optional(),
  tableName: identifier.optional().describe('The client master table: one row for each client.'),
  tableClientNameColumn: identifier.optional().describe('Its column with the clients’ names.'),
  tablePrimaryKeyColumn: identifier.optional().describe('Its column with the client ids.'),
  primaryDatabase: identifier
    .nullish()
    .describe(
      'For DATABASE and MULTI_DATABASE: the database that belongs to no client. With MULTI_DATABASE, its tables are shared by all clients, and each must be listed in `sharedTables`.',
    ),
};

type Settings = { readonly [Field in (typeof tableTenancyFields)[number] | 'tenancyLevel']?: string | undefined };

const checkTableTenancy = (settings: Settings, context: z.RefinementCtx): void => {
  if (settings.tenancyLevel !== 'TABLE') return;
  for (const field of tableTenancyFields) {
    if (settings[field] === undefined) {
      context.addIssue({ code: 'custom', path: [field], message: 'a value, since tenancyLevel is TABLE' });
    }
  }
};

export const tenancySettings = z
  .strictObject({ tenancyLevel: level.optional().describe('If missing, the stored level is kept.'), ...tenancyFields })
  .superRefine(checkTableTenancy);

/** Settings of a new datamart. The tenancy level is required, since there is no stored one to keep. */
export const newTenancySettings = z
  .strictObject({ tenancyLevel: level, ...tenancyFields })
  .superRefine(checkTableTenancy);

export const relationship = z.strictObject({
  parentTableName: identifier.describe(
    'The table that `cardinality` is read from: with ManyToOne, many of its rows have one row of the child table. For a foreign key, that is the table with the key. `schema.table`, or only the table name if it is unique.',
  ),
  parentColumnName: identifier.describe('The column of the parent table, such as the foreign key.'),
  childTableName: identifier.describe(
    'The table that `cardinality` is read to: for a foreign key with ManyToOne, the table that the key names.',
  ),
  childColumnName: identifier.describe('The column of the child table, such as its primary key.'),
  relationshipName: identifier,
  cardinality: cardinality
    .nullish()
    .describe('From the parent table to the child table. If missing, a primary or unique key may prove it.'),
  join: join.nullish().describe('Defaults to LEFT JOIN.'),
});

/**
 * One day, in seconds. Revoked and erased rows are unreachable at once; they leave the cache after this time at the
 * latest.
 */
const maxCacheTtlSeconds = 86_400;

export const cacheTtlSeconds = z
  .number()
  .int()
  .min(0)
  .max(maxCacheTtlSeconds)
  .nullish()
  .describe('Seconds for which an answer is cached for the same client; 0: never. Null: the server’s setting applies.');

export const cacheStaleSeconds = z
  .number()
  .int()
  .min(0)
  .max(maxCacheTtlSeconds)
  .nullish()
  .describe('Seconds after that for which a card may show the answer, marked as stale, while it is asked anew.');

export const sharedTables = list(identifier).describe(
  'Names of the tables whose rows all tenants may read; `*` is refused. Every other table needs a `clientColumn`, or a relationship to a tenant’s table.',
);

const rollupMeasure = z.strictObject({
  aggregate: z
    .enum(rollupAggregates)
    .describe('AVG is kept as a sum and a number. Sums of floats are refused: they depend on the order of rows.'),
  column: identifier,
});

const rollup = z.strictObject({
  name: identifier.describe('Unique in the datamart.'),
  from: identifier.describe('The table whose rows are summed: `schema.table`, or only the table name if it is unique.'),
  dimensions: list(identifier, limits.properties).describe(
    'Columns that questions group by or have conditions on. The client column is added.',
  ),
  grain: z.enum(rollupGrains).describe('The finest period of time that questions may group by.'),
  measures: list(rollupMeasure, limits.properties).describe('The number of rows is added.'),
  partition: z.strictObject({
    column: identifier.describe('The time of a row. Questions group by it, and have ranges of it.'),
    by: z.enum(rollupPeriods).describe('One file is made for each period.'),
    closesAfterHours: z
      .number()
      .int()
      .min(0)
      .max(8760)
      .default(24)
      .describe('A period is built once it has been over for so long.'),
  }),
  refresh: z
    .strictObject({
      everyMinutes: z.number().int().min(1).max(44_640).optional().describe('Without it and `at`: 60.'),
      at: z.string().regex(timePattern).max(5).optional().describe('A time of each day: `06:00`.'),
      timezone: z
        .string()
        .max(100)
        .refine(isTimezone, 'an IANA name, such as Europe/Berlin')
        .optional()
        .describe('Of `at`.'),
      again: z
        .number()
        .int()
        .min(0)
        .max(1000)
        .default(1)
        .describe('So many of the latest closed periods are built anew each time, for late rows.'),
      changeColumn: identifier
        .optional()
        .describe('Each write sets it higher than in all rows before, so each change of a closed period is noticed.'),
    })
    .refine(({ at, timezone }) => (at === undefined) === (timezone === undefined), '`at` and `timezone` go together')
    .prefault({}),
});

export const rollups = list(rollup, 50).describe(
  'Sums of a table that are kept beside the datasource. A question is answered from one only if every column of the question and of every condition is in it; otherwise the datasource answers.',
);

/** As a listing has it: with what the defaults say. */
export const listedRollups = z.array(
  rollup.extend({ partition: rollup.shape.partition, refresh: rollup.shape.refresh.unwrap() }),
);
