/** A parsed and resolved SELECT: which tables of the datamart it reads, with which values. */
import { sql } from 'kysely';
import { sameTable, type TableRef } from '../../model/datamart/datamart.js';
import type { Scalar } from '../../model/filter/filter.js';
import type { AnswerColumn } from '../../model/query/engine.js';
import { columnsOf } from '../dialect/catalog.js';
import type { Dialect, Sql } from '../dialect/dialect.js';
import { refuseQuery } from '../dialect/refuse.js';
import { type SqlType, unboundedDecimal } from '../dialect/sql-type.js';
import {
  type ParsedSelect,
  type SelectHole,
  type SqlParser,
  type Template,
  withoutPlaceholder,
  writtenPath,
} from '../parsing/sql-parser.js';
import type { Leaf } from '../plan/plan.js';
import { scopeToTenant } from '../scope/scope-to-tenant.js';
import { rowsAs } from '../sql/leaves.js';
import {
  assertOperators,
  findOwnColumn,
  loadParser,
  rememberPerDatabase,
  resolveTable,
  type SqlContext,
} from './context.js';
import { assertSum } from './sums.js';

export type Statement = {
  readonly parser: SqlParser;
  readonly template: Template<SelectHole>;
  /** By the template's table numbers. */
  readonly tables: readonly TableRef[];
  /** The tables whose values may be shown; the others only decide which rows result. */
  readonly shown: readonly TableRef[];
  /** The tables of the outermost FROM by alias, each read once in the statement; null: no condition can be added. */
  readonly block: readonly { readonly table: TableRef; readonly alias: string }[] | null;
  readonly values: ReadonlyMap<string, readonly Scalar[] | null>;
};

const parses = rememberPerDatabase<ParsedSelect>();

/** Throws METRIC_QUERY_ERROR for anything but one SELECT over the datamart's tables with declared variables. */
export const readStatement = async (context: SqlContext, text: string): Promise<Statement> => {
  const parser = loadParser(context);
  const parsed = await parses(parser, text, () => parser.select(withoutPlaceholder(text)));
  assertOperators(context, parsed.operators);
  const tables = parsed.tables.map((path) => resolveTable(context, parser, writtenPath(path)));
  for (const table of tables) assertThere(context, table);
  for (const { tables: among, name } of parsed.columns ?? []) {
    const read = among.flatMap((table) => tables[table] ?? []);
    assertColumn(context, parser, read, name);
  }
  if (context.isWritten) assertSums(context, parser, parsed.sums ?? [], tables);
  const isOnce = tables.every((table, index) => tables.findIndex((other) => sameTable(other, table)) === index);
  const block = parsed.block?.flatMap(({ table, alias }) => {
    const found = tables[table];
    return found === undefined ? [] : [{ table: found, alias }];
  });
  return {
    parser,
    template: parsed.template,
    tables,
    shown: parsed.shown.map((path) => resolveTable(context, parser, writtenPath(path))),
    block: isOnce ? (block ?? null) : null,
    values: new Map(parsed.variables.map((name) => [name, valuesOf(context, name)])),
  };
};

const assertThere = ({ catalog, datamart }: SqlContext, table: TableRef): void => {
  if (columnsOf(catalog, table).size > 0) return;
  refuseQuery(
    `Table ${table.schemaName}.${table.tableName} of datamart ${datamart.name} is not in its datasource; update the datamart.`,
    'table-not-in-datasource',
  );
};

const assertColumn = (context: SqlContext, parser: SqlParser, tables: readonly TableRef[], name: string): void => {
  const isThere = tables.some((table) =>
    columnsOf(context.catalog, table).has(findOwnColumn(context, parser, table, name) ?? ''),
  );
  if (isThere) return;
  const [table, ...others] = tables;
  refuseQuery(
    `The SQL reads column ${name} of ${table === undefined || others.length > 0 ? 'a query' : table.tableName}, which the datamart does not have; a column of a query gets its name by AS.`,
    'sql-column-unknown',
  );
};

const assertSums = (
  context: SqlContext,
  parser: SqlParser,
  sums: NonNullable<ParsedSelect['sums']>,
  tables: readonly TableRef[],
): void => {
  for (const { aggregate, path, tables: among } of sums) {
    const columns = among.flatMap((number) => {
      const table = tables[number];
      const name = table === undefined ? undefined : findOwnColumn(context, parser, table, path.at(-1) ?? '');
      return table === undefined || name === undefined ? [] : [{ ...table, columnName: name }];
    });
    assertSum(context, aggregate, columns);
  }
};

/** Null: an optional variable without a value, which becomes NULL. */
const valuesOf = ({ tenant, datamart, declared, variables }: SqlContext, name: string): readonly Scalar[] | null => {
  const isNamed = (other: string): boolean => other.toLowerCase() === name.toLowerCase();
  if (isNamed('client_id')) {
    if (tenant.kind === 'tenant') return [tenant.clientId];
    return refuseQuery(
      `The SQL compares with client_id_variable, but datamart ${datamart.name} has no tenancy configured.`,
      'sql-untenanted-client',
    );
  }
  const [variable, ...others] = declared.filter((one) => isNamed(one.name));
  if (variable === undefined || others.length > 0) {
    return refuseQuery(
      `The SQL compares with ${name}_variable, which is not declared exactly once in the metric's rlsVariables. Declare it there.`,
      'sql-variable-unknown',
    );
  }
  const values = variables.get(variable.name);
  if (values !== undefined && values.length > 0) return values;
  if (variable.isOptional) return null;
  return refuseQuery(
    `The SQL compares with ${name}_variable, which has no value in this query.`,
    'sql-variable-without-value',
  );
};

/** The name of a table's leaf in the written statement. */
export type Naming = (table: TableRef) => string;

/** Writes the statement. `conditions` are ANDed to the rows of its outermost block. */
export const statementSql = (
  dialect: Dialect,
  statement: Statement,
  nameOf: Naming,
  conditions: readonly Sql[] = [],
): Sql => {
  const write = (hole: SelectHole): Sql => holeSql(dialect, statement, hole, nameOf, conditions);
  return sql.join(
    statement.template.map((part) => (typeof part === 'string' ? sql.raw(part) : write(part))),
    sql``,
  );
};

const holeSql = (
  dialect: Dialect,
  statement: Statement,
  hole: SelectHole,
  nameOf: Naming,
  conditions: readonly Sql[],
): Sql => {
  if (hole.kind === 'table') {
    const table = statement.tables[hole.table];
    if (table === undefined) throw new TypeError('a hole names a table that the statement does not have');
    return sql`${sql.id(nameOf(table))} AS ${sql.id(hole.alias)}`;
  }
  if (hole.kind === 'variable') return valueSql(dialect, hole.name, statement.values.get(hole.name), hole.isItem);
  return conditions.length === 0 ? sql`` : sql` AND (${sql.join(conditions, sql` AND `)})`;
};

/** Bound as untyped text: the database gives it the type of what it is compared with. */
const valueSql = (
  dialect: Dialect,
  name: string,
  values: readonly Scalar[] | null | undefined,
  isItem: boolean,
): Sql => {
  if (values === undefined) throw new TypeError('a variable without its value');
  if (values === null) return sql`NULL`;
  if (values.length > 1 && !isItem) {
    refuseQuery(
      `${name}_variable has several values here, and stands outside of IN (…); write it as IN (${name}_variable).`,
      'sql-variable-of-several',
    );
  }
  const bind = (value: Scalar): Sql =>
    typeof value === 'boolean' ? dialect.cast({ text: String(value), cast: 'BOOLEAN' }) : sql`${String(value)}`;
  return sql.join(values.map(bind));
};

/** One barrier leaf per table. */
export const leavesFor = (tables: readonly TableRef[], nameOf: Naming): readonly (Leaf & { readonly name: string })[] =>
  tables
    .filter((table, index) => tables.findIndex((other) => sameTable(other, table)) === index)
    .map((table) => ({ table, isMarked: false, isBarrier: true, isNamedBySql: true, name: nameOf(table) }));

export type Shape = readonly {
  readonly name: string;
  readonly dataType: AnswerColumn['dataType'];
  readonly valueType: SqlType | null;
  /** The type that its values are cast to before they are answered; see ResultTable. */
  readonly readCast: string | null;
}[];

const shapes = rememberPerDatabase<Shape>();

/** The columns that `rows` would answer. Runs the statement with LIMIT 0. */
export const shapeOf = (
  context: SqlContext,
  key: unknown,
  leaves: readonly Leaf[],
  rows: () => Sql,
): Promise<Shape> => {
  const { dialect, datamart, tenant, stored, maskKey, memory } = context;
  const known = [datamart.id, datamart.updatedAt, datamart.ruled?.key, stored.client?.database, key];
  return shapes(memory, known, async () => {
    const scoped = scopeToTenant({ leaves }, tenant, { datamart, catalog: stored, maskKey });
    const query = sql`${rowsAs(dialect, scoped, 'gl_q', rows())} SELECT * FROM ${sql.id('gl_q')}${dialect.page(0, 0)}`;
    const { names, dataTypes, valueTypes, readCasts } = await context.run(dialect.compile(query, scoped.leaves));
    return names.map((name, index) => ({
      name,
      dataType: readCasts?.[index] === unboundedDecimal ? 'number' : (dataTypes[index] ?? 'string'),
      valueType: valueTypes?.[index] ?? null,
      readCast: readCasts?.[index] ?? null,
    }));
  });
};
