/** The answer of a metric in SQL: its rows as they are, sorted and paged from outside. */
import { type CompiledQuery, sql } from 'kysely';
import { type ColumnRef, tableKey } from '../../domain/datamart.js';
import { outputNames, type SqlDefinition } from '../../domain/metric.js';
import type { Cell, MetricAnswer, MetricQuestion } from '../../domain/ports.js';
import { type CompiledPlan, pageSql } from '../compile.js';
import type { Dialect, Sql } from '../dialect.js';
import { outputName } from '../expressions.js';
import { rowsAs } from '../leaves.js';
import type { Column, Leaf, PageOfRows, Secured } from '../plan.js';
import { answerLimit, orderBy } from '../planning.js';
import { refuseQuery } from '../refuse.js';
import { assertCount, resolveColumn, resolveCondition, resolveZone } from '../resolve.js';
import type { RunResult } from '../run.js';
import { secure } from '../secure.js';
import { readComputed } from './computed.js';
import { type Restrictions, restrict } from './conditions.js';
import { readQueries } from './queries.js';
import type { Reader } from './reader.js';
import {
  leavesFor,
  type Naming,
  readStatement,
  type Shape,
  type Statement,
  shapeOf,
  statementSql,
} from './statement.js';

export type SqlQuestion = MetricQuestion & { readonly definition: SqlDefinition };

/** A metric in SQL before anything is SQL of the database's. */
type SqlPlan = {
  readonly leaves: readonly Leaf[];
  readonly statement: Statement;
  readonly restrictions: Restrictions;
  readonly nameOf: Naming;
  readonly columns: readonly { readonly name: string; readonly source: string }[];
  readonly order: readonly { readonly output: number; readonly direction: 'ASC' | 'DESC' }[];
  readonly page: PageOfRows;
};

export type Run = (query: CompiledPlan, page: PageOfRows) => Promise<RunResult>;

/** Throws METRIC_QUERY_ERROR for SQL that is not allowed, and for conditions that it cannot take. */
export const answerSql = async (reader: Reader, question: SqlQuestion, run: Run): Promise<MetricAnswer> => {
  const { datamart, catalog, tenant, dialect } = reader;
  const { plan, shape } = await planSql(reader, question);
  const secured = secure(plan, tenant, { datamart, catalog });
  const { rows, total } = await run(compileSql(dialect, secured), plan.page);
  return shapeAnswer(question.definition, shape, rows, total);
};

const planSql = async (reader: Reader, question: SqlQuestion) => {
  const { definition, conditions } = question;
  const statement = await readStatement(reader, definition.sql);
  const keys = statement.tables.map(tableKey);
  const nameOf: Naming = (table) => `gl_sql_${keys.indexOf(tableKey(table))}`;
  const leaves = leavesFor(statement.tables, nameOf);
  const shape = await shapeOf(reader, definition.sql, leaves, () => statementSql(reader.dialect, statement, nameOf));
  const columns = matchOutputs(definition, statement, shape);
  const queries = await readQueries(reader, conditions);
  const { catalog, columns: computed } = await readComputed(
    reader,
    conditions.map(({ column }) => column),
  );
  const zone = question.timezone === null ? null : resolveZone(question.timezone);
  const columnOf = (ref: ColumnRef): Column => resolveColumn(ref, reader.datamart, catalog, zone);
  const resolved = conditions.map((condition) => resolveCondition(condition, columnOf, queries));
  const restrictions = restrict({ reader, statement, columnOf }, resolved);
  const withComputed = (leaf: Leaf): Leaf => ({ ...leaf, computed: computed.get(tableKey(leaf.table)) });
  const plan: SqlPlan = {
    leaves: [
      ...[...leaves, ...restrictions.leaves].map(withComputed),
      ...[...queries.values()].flatMap((query) => query.leaves),
    ],
    statement,
    restrictions,
    nameOf,
    columns,
    order: orderBy(question.sort ?? definition.sort, columns, definition.dimensions.length),
    page: {
      cap: assertCount(definition.limit, "The metric's limit"),
      limit: assertCount(question.limit, 'limit') ?? answerLimit,
      offset: assertCount(question.offset, 'offset') ?? 0,
    },
  };
  return { plan, shape: columns.map(({ source }) => shape.find(({ name }) => name === source)) };
};

/** Dimensions and measures are all of the result's columns, and nothing else. */
const matchOutputs = (definition: SqlDefinition, { parser }: Statement, shape: Shape): SqlPlan['columns'] => {
  const declared = outputNames(definition);
  const columns = declared.flatMap((name) => {
    const found = shape.filter((column) => parser.isSameName(column.name, name));
    return found.length === 1 && found[0] !== undefined ? [{ name, source: found[0].name }] : [];
  });
  const isWhole = columns.length === declared.length && shape.length === declared.length;
  return isWhole && new Set(columns.map(({ source }) => source)).size === shape.length
    ? columns
    : refuseQuery(
        `The metric's SQL answers the columns ${shape.map(({ name }) => name).join(', ')}, but its dimensions and measures are ${declared.join(', ')}; make them the same (names in quotes keep their case).`,
        'sql-columns-differ',
      );
};

const compileSql = (dialect: Dialect, plan: Secured<SqlPlan>): CompiledPlan => {
  const compile = (selected: Sql): CompiledQuery => {
    const rows = statementSql(dialect, plan.statement, plan.nameOf, plan.restrictions.write(dialect));
    return dialect.compile(sql`${rowsAs(dialect, plan, 'gl_q', rows)} ${selected}`);
  };
  const columns = plan.columns.map(
    ({ source }, index) => sql`${sql.id('gl_q', source)} AS ${sql.id(outputName(index))}`,
  );
  const keys = plan.order.map(({ output, direction }) =>
    dialect.order({ position: output + 1, name: outputName(output) }, direction),
  );
  const selected = sql`SELECT ${sql.join(columns)} FROM ${sql.id('gl_q')}`;
  const ordered = keys.length === 0 ? selected : sql`${dialect.sortable(selected)} ORDER BY ${sql.join(keys)}`;
  return {
    page: compile(sql`${ordered}${pageSql(dialect, plan.page)}`),
    count: compile(sql`SELECT count(*) FROM ${sql.id('gl_q')}`),
  };
};

const shapeAnswer = (
  definition: SqlDefinition,
  shape: readonly (Shape[number] | undefined)[],
  rows: readonly (readonly Cell[])[],
  total: number,
): MetricAnswer => {
  if (total === 0) return { rows: [], columns: [], groupbyColumnList: [], totalRecords: 0 };
  const names = outputNames(definition);
  return {
    rows: rows.map((row) => Object.fromEntries(names.map((name, index) => [name, row[index] ?? null]))),
    columns: names.map((name, index) => ({ name, dataType: shape[index]?.dataType ?? 'string' })),
    groupbyColumnList: definition.dimensions.map(({ name }) => name),
    totalRecords: total,
  };
};
