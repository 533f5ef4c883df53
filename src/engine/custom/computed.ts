/** Custom columns of the datamart, and measures that are custom expressions. */
import { sql } from 'kysely';
import type { ExpressionMeasure, Measure, ModelMeasure } from '../../model/dashboard/metric.js';
import {
  type ColumnRef,
  type DatamartTable,
  findColumn,
  findTable,
  isMeasureColumn,
  sameTable,
  type TableRef,
  tableKey,
} from '../../model/datamart/datamart.js';
import type { Condition } from '../../model/filter/filter.js';
import { handled } from '../../model/handled.js';
import { type Catalog, columnName, typeOf } from '../dialect/catalog.js';
import { castTo, type Sql } from '../dialect/dialect.js';
import { refuseQuery, rethrowUnnamed } from '../dialect/refuse.js';
import { isOpaque, isReadAsText, type SqlType } from '../dialect/sql-type.js';
import type { ParsedExpression, Path, SqlParser, Template } from '../parsing/sql-parser.js';
import type { Computed } from '../plan/plan.js';
import { assertOperators, findOwnColumn, loadParser, rememberPerDatabase, type SqlContext } from './context.js';
import { leavesFor, type Naming, type Shape, shapeOf } from './statement.js';

const parses = rememberPerDatabase<ParsedExpression>();

const parse = async (context: SqlContext, parser: SqlParser, text: string): Promise<ParsedExpression> => {
  const parsed = await parses(parser, text, () => parser.expression(text));
  assertOperators(context, parsed.operators);
  return parsed;
};

/** Custom columns by `tableKey`, and the catalog with their types. */
export type Computations = { readonly catalog: Catalog; readonly columns: ReadonlyMap<string, readonly Computed[]> };

/** A column; `isHidden` where only a condition that the caller may not know of names it. */
export type NamedColumn = ColumnRef & { readonly isHidden?: boolean | undefined };

export const namedBy = ({ column, isHidden }: Condition): NamedColumn => ({ ...column, isHidden });

/** Reads the custom columns among `refs`, each once. */
export const readComputed = async (context: SqlContext, refs: readonly NamedColumn[]): Promise<Computations> => {
  const tables = new Map(context.catalog.tables);
  const columns = new Map<string, readonly Computed[]>();
  for (const ref of refs) {
    const key = tableKey(ref);
    const known = columns.get(key) ?? [];
    const isCustom = findColumn(context.datamart, ref)?.isCustomColumn === true;
    if (!isCustom || known.some((one) => one.columnName === ref.columnName)) continue;
    const computing = handled(computeColumn(context, ref));
    const { computed, type } = await computing.catch((cause: unknown) => rethrowUnnamed(ref.isHidden, cause));
    columns.set(key, [...known, computed]);
    tables.set(key, new Map([...(tables.get(key) ?? []), [ref.columnName, type]]));
  }
  return { catalog: { ...context.catalog, tables }, columns };
};

const computeColumn = async (context: SqlContext, ref: ColumnRef) => {
  const parser = loadParser(context);
  const column = findColumn(context.datamart, ref);
  const { template, isAggregate } = await parse(context, parser, column?.sql ?? '');
  if (isAggregate || column?.isAggregate === true) {
    refuseQuery(
      `Custom column ${columnName(ref)} already aggregates. Choose it as a measure, or name it in the expression of one.`,
      'custom-column-aggregates',
    );
  }
  const resolved = template.map((part) =>
    typeof part === 'string' ? part : ownColumn(context, parser, ref, part.path),
  );
  const write = (from: string): Sql => templateSql(resolved, (name) => sql.id(from, name.columnName));
  const name = 'gl_leaf_0';
  const { schemaName, tableName } = ref;
  const plain = { table: { schemaName, tableName }, isMarked: false, isBarrier: true, name } as const;
  const shape = await shapeOf(context, [tableKey(ref), ref.columnName, column?.sql], [plain], () => {
    return sql`SELECT (${write(name)}) AS ${sql.id('gl_c0')} FROM ${sql.id(name)}`;
  });
  const { type, cast } = typeFor(shape[0]);
  const computed: Computed = {
    columnName: ref.columnName,
    reads: columnsIn(resolved).map(({ columnName: name }) => name),
    write: (dialect, from) => castTo(dialect, sql`(${write(from)})`, cast),
  };
  return { computed, type };
};

/** The type as far as the database reports it. Numbers are decimals, and dates are timestamps. */
const typeFor = (column: Shape[number] | undefined): { type: SqlType; cast: string | null } => {
  if (column?.valueType != null) return { type: column.valueType, cast: null };
  switch (column?.dataType) {
    case 'number':
      return { type: { kind: 'decimal', cast: 'DECIMAL(38,0)' }, cast: column?.readCast ?? null };
    case 'boolean':
      return { type: { kind: 'boolean', cast: 'BOOLEAN' }, cast: null };
    case 'date':
      return { type: { kind: 'timestamp', cast: 'TIMESTAMP' }, cast: 'TIMESTAMP' };
    default:
      return { type: { kind: 'text', cast: 'VARCHAR' }, cast: 'VARCHAR' };
  }
};

const templateSql = <Hole extends object>(template: Template<Hole>, write: (hole: Hole) => Sql): Sql =>
  sql.join(
    template.map((part) => (typeof part === 'string' ? sql.raw(part) : write(part))),
    sql``,
  );

const isNamed = (parser: SqlParser, table: DatamartTable, qualifier: Path): boolean => {
  const [name, schema, ...more] = qualifier.toReversed();
  const isTable = name === undefined || parser.isSameName(name, table.tableName);
  return isTable && (schema === undefined || parser.isSameName(schema, table.schemaName)) && more.length === 0;
};

const refuseColumn: (path: Path, where: string) => never = (path, where) =>
  refuseQuery(
    `An expression names ${path.join('.')}, which is not one column of ${where}; correct it.`,
    'expression-column-unknown',
  );

/** A datasource column of the custom column's own table. */
const ownColumn = (context: SqlContext, parser: SqlParser, ref: ColumnRef, path: Path): ColumnRef => {
  const table = findTable(context.datamart, ref);
  const isOwn = table !== undefined && isNamed(parser, table, path.slice(0, -1));
  const name = isOwn ? findOwnColumn(context, parser, table, path.at(-1) ?? '') : undefined;
  return name === undefined
    ? refuseColumn(path, `the datasource in ${ref.tableName}`)
    : { schemaName: ref.schemaName, tableName: ref.tableName, columnName: name };
};

/** A measure that is an expression, or one of the datamart, which is taken as it is. */
export type WrittenMeasure = ExpressionMeasure | ModelMeasure;

export const isWritten = (measure: Measure): measure is WrittenMeasure =>
  measure.aggregate === undefined || measure.aggregate === 'AGGREGATE';

/** No expression contains NUL. */
export const expressionKey = ({ expression, column }: WrittenMeasure): string =>
  expression ?? (column === undefined ? '' : `\0${tableKey(column)}${column.columnName}`);

/**
 * Expressions of measures by `expressionKey`, over columns of the metric's tables. Aggregating custom columns are
 * expanded in them.
 */
export type Expressions = ReadonlyMap<string, Template<ColumnRef>>;

export const readExpressions = async (
  context: SqlContext,
  measures: readonly WrittenMeasure[],
  near: readonly TableRef[],
): Promise<Expressions> => {
  const expressions = new Map<string, Template<ColumnRef>>();
  for (const measure of measures) {
    const template =
      measure.expression === undefined
        ? await readModelMeasure(context, measure, near[0])
        : await readExpression(context, measure, near);
    expressions.set(expressionKey(measure), template);
  }
  return expressions;
};

/** `root`: the table whose rows are counted where the measure names no column. */
const readModelMeasure = async (
  context: SqlContext,
  { name, column }: ModelMeasure,
  root: TableRef | undefined,
): Promise<Template<ColumnRef>> => {
  const found = column === undefined ? undefined : findColumn(context.datamart, column);
  if (column === undefined || found === undefined || !isMeasureColumn(found)) {
    return refuseQuery(
      `Measure ${name} is to be taken as it is, but ${column === undefined ? 'names no column' : `${columnName(column)} is no measure of datamart ${context.datamart.name}`}. Choose a custom column with isAggregate.`,
      'measure-without-column',
    );
  }
  const template = await expandMeasure(context, loadParser(context), column, found.sql ?? '');
  if (columnsIn(template).length === 0 && (root === undefined || !sameTable(root, column))) {
    refuseQuery(
      `Measure ${name} counts rows of ${column.tableName}, so the metric must start from that table.`,
      'measure-without-column',
    );
  }
  return template;
};

const readExpression = async (
  context: SqlContext,
  { name, expression }: ExpressionMeasure,
  near: readonly TableRef[],
): Promise<Template<ColumnRef>> => {
  const parser = loadParser(context);
  const parsed = await parse(context, parser, expression);
  const parts: Template<ColumnRef>[] = [];
  for (const part of parsed.template) {
    parts.push(typeof part === 'string' ? [part] : await expand(context, parser, part.path, near));
  }
  // Outside an aggregate, only an aggregating custom column may be named.
  const isBare = parts.some((inner, at) => typeof parsed.template[at] !== 'string' && inner.length === 1);
  const hasColumns = parsed.template.some((part) => typeof part !== 'string');
  if (!parsed.isAggregate && (isBare || !hasColumns)) {
    refuseQuery(
      `Measure ${name} is an expression that aggregates nothing; write it with SUM, COUNT and the like.`,
      'expression-not-aggregate',
    );
  }
  return parts.flat();
};

/** Whether the database writes values of the type in a form of its own: money as text of a language, and values without an order. */
const isWrittenApart = (type: SqlType | undefined): boolean =>
  type !== undefined &&
  (isReadAsText(type) || isOpaque(type) || (type.kind === 'decimal' && type.readAs !== undefined));

/**
 * The types that the values of expressions are cast to before they are answered, by `expressionKey`; left out: they are
 * answered as they are. Asks the database only about expressions over types that it writes in a form of its own.
 */
export const readCasts = async (
  context: SqlContext,
  expressions: Expressions,
  { catalog, columns }: Computations,
): Promise<ReadonlyMap<string, string>> => {
  const casts = new Map<string, string>();
  for (const [key, template] of expressions) {
    const refs = columnsIn(template);
    if (!refs.some((ref) => isWrittenApart(typeOf(catalog, ref)))) continue;
    const keys = refs.map(tableKey);
    const nameOf: Naming = (table) => `gl_leaf_${keys.indexOf(tableKey(table))}`;
    const leaves = leavesFor(refs, nameOf).map((leaf) => ({ ...leaf, computed: columns.get(tableKey(leaf.table)) }));
    const shape = await shapeOf({ ...context, catalog }, template, leaves, () => {
      const value = templateSql(template, (ref) => sql.id(nameOf(ref), ref.columnName));
      return sql`SELECT (${value}) AS ${sql.id('gl_c0')} FROM ${sql.join(leaves.map(({ name }) => sql.id(name)))}`;
    });
    const readCast = shape[0]?.readCast;
    if (readCast != null) casts.set(key, readCast);
  }
  return casts;
};

/** The columns that the expressions sum as they are, where the database itself would sum anything. */
export const readSums = async (
  context: SqlContext,
  measures: readonly WrittenMeasure[],
  near: readonly TableRef[],
): Promise<readonly { readonly aggregate: string; readonly column: ColumnRef }[]> => {
  const parser = loadParser(context);
  const sums: { readonly aggregate: string; readonly column: ColumnRef }[] = [];
  for (const measure of measures) {
    const own = measure.column;
    const text = measure.expression ?? (own === undefined ? '' : (findColumn(context.datamart, own)?.sql ?? ''));
    const parsed = await parse(context, parser, text);
    for (const { aggregate, path } of parsed.sums ?? []) {
      const [column] =
        own === undefined
          ? columnsIn(await expand(context, parser, path, near))
          : [ownColumn(context, parser, own, path)];
      if (column !== undefined) sums.push({ aggregate, column });
    }
  }
  return sums;
};

/** The column itself, or the expansion of an aggregating custom column. */
const expand = async (
  context: SqlContext,
  parser: SqlParser,
  path: Path,
  near: readonly TableRef[],
): Promise<Template<ColumnRef>> => {
  const name = path.at(-1) ?? '';
  const isNear = (table: TableRef): boolean => near.some((other) => sameTable(other, table));
  const found = context.datamart.tables
    .filter((table) => path.length > 1 || isNear(table))
    .filter((table) => isNamed(parser, table, path.slice(0, -1)))
    .flatMap((table) => {
      const exact = table.columns.filter(({ columnName }) => columnName === name);
      const columns = exact.length > 0 ? exact : table.columns.filter((one) => parser.isSameName(one.columnName, name));
      return columns.map((column) => ({ table, column }));
    });
  const [one, ...others] = found;
  if (one === undefined || others.length > 0) return refuseColumn(path, "the metric's tables");
  const { schemaName, tableName } = one.table;
  const ref = { schemaName, tableName, columnName: one.column.columnName };
  if (!isMeasureColumn(one.column)) return [ref];
  return expandMeasure(context, parser, ref, one.column.sql ?? '');
};

const expandMeasure = async (
  context: SqlContext,
  parser: SqlParser,
  ref: ColumnRef,
  text: string,
): Promise<Template<ColumnRef>> => {
  const { template, isAggregate } = await parse(context, parser, text);
  if (!isAggregate) {
    refuseQuery(
      `Custom column ${columnName(ref)} has isAggregate, but its SQL aggregates nothing.`,
      'custom-column-not-aggregate',
    );
  }
  const parts = template.map((part) => (typeof part === 'string' ? part : ownColumn(context, parser, ref, part.path)));
  return ['(', ...parts, ')'];
};

/** The columns that an expression names. */
export const columnsIn = (template: Template<ColumnRef>): readonly ColumnRef[] =>
  template.filter((part): part is ColumnRef => typeof part !== 'string');
