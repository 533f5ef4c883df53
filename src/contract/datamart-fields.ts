/** What a datamart is made of, as callers write it. */
import { z } from 'zod';
import { identifier, limits, list, text } from './fields.js';

export const cardinality = z.enum(['ManyToMany', 'ManyToOne', 'OneToMany', 'OneToOne']);
export const join = z.enum(['INNER JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN']);

/** Of a custom column. What computes it parses it first, and never runs the text itself. */
const expression = z
  .string()
  .max(limits.sqlLength)
  .regex(/^[^\0\p{Cs}]*$/u, 'text without NUL, in well-formed Unicode');

const column = z
  .strictObject({
    name: identifier,
    alias: text.optional(),
    label: text.optional(),
    isHide: z.boolean().default(false),
    isCustomColumn: z.boolean().optional().describe('True: `sql` is required.'),
    sql: expression
      .optional()
      .describe('An expression over columns of the same table, in the datasource’s own SQL; of a custom column only.'),
    isAggregate: z.boolean().optional().describe('Marks the AGGREGATE drop type.'),
    allowAggregate: z.boolean().optional().describe('Use `defaultAggregation` when it is added as a measure.'),
    defaultAggregation: identifier.nullish().describe('Such as `SUM` or `COUNT_DISTINCT`.'),
    isApplyTimezone: z.boolean().optional().describe('Convert by the timezone of the guest token.'),
    defaultSort: z.enum(['ASC', 'DESC', '']).nullish().describe('Empty, null or left out clears it.'),
  })
  .refine(({ isCustomColumn, sql }) => isCustomColumn !== true || (sql !== undefined && sql.trim() !== ''), {
    path: ['sql'],
    message: 'an expression, since isCustomColumn is true',
  })
  // spec-gap: to drop the expression in silence would leave a plain column that the caller takes for a custom one.
  .refine(({ isCustomColumn, sql }) => isCustomColumn === true || sql === undefined || sql === '', {
    path: ['sql'],
    message: 'nothing or an empty text, unless isCustomColumn is true',
  });

export const table = z.strictObject({
  name: identifier.describe('A table of the datasource; case counts.'),
  schemaName: identifier.optional().describe("Left out: the datasource's default schema."),
  clientColumn: identifier.nullish().describe('The column that holds the client, for TABLE tenancy.'),
  tenancyPath: identifier
    .nullish()
    .describe(
      'The `relationshipName` to follow to the table whose tenant owns the rows. For TABLE tenancy, of a table without `clientColumn`, where there are several ways.',
    ),
  isHide: z.boolean().optional(),
  label: text.optional(),
  wildcard: identifier.nullish().describe('Index pattern; OpenSearch only.'),
  columns: list(column, limits.columns).min(1).describe('Columns of the datasource, or custom ones.'),
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
  clientColumnType: z.enum(['NUMBER', 'STRING']).optional().describe('Required for TABLE, as the next four.'),
  schemaName: identifier.optional(),
  tableName: identifier.optional().describe('The table of clients.'),
  tableClientNameColumn: identifier.optional().describe('Its column of their names.'),
  tablePrimaryKeyColumn: identifier.optional().describe('Its column of client ids.'),
  primaryDatabase: identifier
    .nullish()
    .describe(
      'For DATABASE and MULTI_DATABASE: never a client’s. Under MULTI_DATABASE its tables are for all clients, and each is listed in `sharedTables`.',
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
  .strictObject({ tenancyLevel: level.optional().describe('Kept if left out.'), ...tenancyFields })
  .superRefine(checkTableTenancy);

/** Of a new datamart, which has no level to keep. */
export const newTenancySettings = z
  .strictObject({ tenancyLevel: level, ...tenancyFields })
  .superRefine(checkTableTenancy);

export const relationship = z.strictObject({
  parentTableName: identifier.describe('`schema.table`, or the name alone where that means one table.'),
  parentColumnName: identifier,
  childTableName: identifier,
  childColumnName: identifier,
  relationshipName: identifier,
  cardinality: cardinality.nullish(),
  join: join.nullish().describe('Left out: LEFT JOIN.'),
});

/** A day: what was erased or revoked is out of reach at once, and what was kept of it is gone after that. */
export const maxCacheTtlSeconds = 86_400;

export const cacheTtlSeconds = z
  .number()
  .int()
  .min(0)
  .max(maxCacheTtlSeconds)
  .nullish()
  .describe(
    'For how long an answer may be given again to the same client; 0: never. Null: as the server is configured.',
  );

export const sharedTables = list(identifier).describe(
  'Tables whose rows are for all tenants, each by name; `*` is refused. Any other table needs a `clientColumn`, or a relationship to a tenant’s table.',
);
