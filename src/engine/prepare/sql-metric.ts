/** Answers a metric in SQL: its rows as they are, sorted and paged by an outer SELECT. */
import { sql } from 'kysely';
import { ownTables } from '../../model/dashboard/mapped-columns.js';
import { outputNames, type SqlDefinition } from '../../model/dashboard/metric.js';
import { sameTable, tableKey } from '../../model/datamart/datamart.js';
import type { AnswerColumn, MetricAnswer, MetricQuestion } from '../../model/query/engine.js';
import { namedBy, readComputed } from '../custom/computed.js';
import type { SqlContext } from '../custom/context.js';
import { readQueries } from '../custom/queries.js';
import {
  leavesFor,
  type Naming,
  readStatement,
  type Shape,
  type Statement,
  shapeOf,
  statementSql,
} from '../custom/statement.js';
import { type Statement as CompiledStatement, castTo, type Dialect, type Sql } from '../dialect/dialect.js';
import { refuseQuery } from '../dialect/refuse.js';
import type { Leaf, PageOfRows, TenantScoped } from '../plan/plan.js';
import { orderBy } from '../question/build-plan.js';
import { assertSqlCurrencies } from '../question/currencies.js';
import { assertCount, createColumns, resolveCondition, resolveZone, splitHeld } from '../question/resolve.js';
import { testsOfLeaf } from '../question/row-set.js';
import type { RunResult } from '../run/run.js';
import { rowsByName } from '../run/shape.js';
import { scopeToTenant } from '../scope/scope-to-tenant.js';
import { type CompiledPlan, pageSql } from '../sql/compile.js';
import { outputName } from '../sql/expressions.js';
import { rowsAs } from '../sql/leaves.js';
import { leavesOfQueries, withBridges, withComputed, withTests } from './hidden-rows.js';
import type { Prepared } from './prepared.js';
import { type Restrictions, restrict } from './sql-conditions.js';

export type SqlQuestion = MetricQuestion & { readonly definition: SqlDefinition };

/** A planned metric in SQL, before it is scoped and compiled. */
type SqlPlan = {
  readonly leaves: readonly Leaf[];
  readonly statement: Statement;
  readonly restrictions: Restrictions;
  readonly nameOf: Naming;
  readonly columns: readonly {
    readonly name: string;
    readonly source: string;
    readonly isFloat: boolean;
    readonly readCast: string | null;
  }[];
  readonly order: readonly { readonly output: number; readonly direction: 'ASC' | 'DESC' }[];
  readonly page: PageOfRows;
};

/** Throws METRIC_QUERY_ERROR for SQL that is not allowed, and for conditions that it cannot take. */
export const prepareSql = async (context: SqlContext, question: SqlQuestion): Promise<Prepared> => {
  const { datamart, stored, maskKey, tenant, dialect } = context;
  const { plan, shape } = await planSql(context, question);
  const { withoutBaseFilters } = question.definition;
  const scoped = scopeToTenant(plan, tenant, { datamart, catalog: stored, maskKey, withoutBaseFilters });
  const columns = answerColumns(plan, shape);
  return {
    question,
    scoped,
    compiled: compileSql(dialect, scoped),
    page: plan.page,
    tenantCurrency: null,
    written: columns,
    hasOtherTypes: ({ dataTypes }) => columns.some(({ dataType }, index) => dataTypes[index] !== dataType),
    shape: (result) => shapeAnswer(question.definition, columns, result),
    shapeBatch: ({ rows }) => ({ columns, rows }),
  };
};

const planSql = async (context: SqlContext, question: SqlQuestion) => {
  const { definition, conditions } = question;
  const statement = await readStatement(context, definition.sql);
  assertCompared(context, statement);
  assertSqlCurrencies(context.datamart, definition.sql, statement.tables);
  const keys = statement.tables.map(tableKey);
  const nameOf: Naming = (table) => `gl_sql_${keys.indexOf(tableKey(table))}`;
  const leaves = leavesFor(statement.tables, nameOf);
  const shape = await shapeOf(context, definition.sql, leaves, () => statementSql(context.dialect, statement, nameOf));
  const columns = matchOutputs(definition, statement, shape);
  const queries = await readQueries(context, conditions);
  const { catalog, columns: computed } = await readComputed(context, conditions.map(namedBy));
  const zone = question.timezone === null ? null : resolveZone(question.timezone);
  const found = createColumns(context.datamart, { catalog, stored: context.stored }, zone, computed);
  const held = splitHeld(
    conditions,
    ownTables(definition),
    (table) => statement.tables.some((read) => sameTable(read, table)),
    (condition) => resolveCondition(condition, found, queries),
  );
  const unfiltered = definition.withoutBaseFilters ?? [];
  const restrictions = restrict({ context, statement, storedOf: found.storedOf, nameOf, unfiltered }, held.conditions);
  const whereRead = (leaf: Leaf): Leaf => ({ ...leaf, ...testsOfLeaf(held.whereRead, leaf.table) });
  const visible = (leaf: Leaf): Leaf =>
    withTests({ ...leaf, isMarked: restrictions.isMarked(leaf.table) }, restrictions.testsOf(leaf.table));
  const read = [...leaves.map(whereRead).map(visible), ...restrictions.leaves.map(whereRead)];
  const hiding = { datamart: context.datamart, storedOf: found.storedOf, ...held };
  const plan: SqlPlan = {
    leaves: withComputed(withBridges([...read, ...leavesOfQueries(queries, hiding)], hiding), computed),
    statement,
    restrictions,
    nameOf,
    columns,
    order: orderBy(question.sort ?? definition.sort, columns, definition.dimensions.length),
    page: {
      cap: assertCount(definition.limit, "The metric's limit"),
      limit: assertCount(question.limit, 'limit'),
      offset: assertCount(question.offset, 'offset') ?? 0,
    },
  };
  return { plan, shape: columns.map(({ source }) => shape.find(({ name }) => name === source)) };
};

/**
 * Refuses SQL that ignores a variable: the value of a variable without a column restricts nothing unless the SQL
 * compares with it.
 */
const assertCompared = ({ declared, variables }: SqlContext, { values }: Statement): void => {
  const compared = new Set([...values.keys()].map((name) => name.toLowerCase()));
  const isLost = declared.some(
    ({ name, column }) => column === undefined && variables.has(name) && !compared.has(name.toLowerCase()),
  );
  if (!isLost) return;
  refuseQuery(
    "The metric's SQL does not compare with every RLS variable that has a value here; write each as <name>_variable, or take it out of rlsVariables.",
    'sql-variable-unused',
  );
};

/**
 * Each dimension and measure must be a column of the result; columns that are neither are left out. SQL that declares none
 * yet, which only an author tries, answers all of its columns.
 */
const matchOutputs = (definition: SqlDefinition, { parser }: Statement, shape: Shape): SqlPlan['columns'] => {
  const outputs = outputNames(definition);
  const declared = outputs.length === 0 ? shape.map(({ name }) => name) : outputs;
  const columns = declared.flatMap((name) => {
    const found = shape.filter((column) => parser.isSameName(column.name, name));
    const [one, ...others] = found;
    if (one === undefined || others.length > 0) return [];
    const { name: source, valueType, readCast } = one;
    return [{ name, source, isFloat: valueType?.kind === 'float', readCast }];
  });
  const isWhole = new Set(columns.map(({ source }) => source)).size === declared.length;
  return isWhole
    ? columns
    : refuseQuery(
        `The metric's SQL answers the columns ${shape.map(({ name }) => name).join(', ')}, but its dimensions and measures are ${declared.join(', ')}; each must be one column of the SQL, by a name of its own (names in quotes keep their case).`,
        'sql-columns-differ',
      );
};

const compileSql = (dialect: Dialect, plan: TenantScoped<SqlPlan>): CompiledPlan => {
  const compile = (selected: Sql): CompiledStatement => {
    const rows = statementSql(dialect, plan.statement, plan.nameOf, plan.restrictions.write(dialect));
    return dialect.compile(sql`${rowsAs(dialect, plan, 'gl_q', rows)} ${selected}`, plan.leaves);
  };
  const columns = plan.columns.map(({ source, readCast }, index) => {
    return sql`${castTo(dialect, sql.id('gl_q', source), readCast)} AS ${sql.id(outputName(index))}`;
  });
  const keys = plan.order.map(({ output, direction }) =>
    dialect.order(
      { position: output + 1, name: outputName(output), isFloat: plan.columns[output]?.isFloat === true },
      direction,
    ),
  );
  const selected = sql`SELECT ${sql.join(columns)} FROM ${sql.id('gl_q')}`;
  const ordered = keys.length === 0 ? selected : sql`${dialect.sortable(selected)} ORDER BY ${sql.join(keys)}`;
  return {
    page: compile(sql`${ordered}${pageSql(dialect, plan.page)}`),
    count: compile(sql`SELECT count(*) FROM ${sql.id('gl_q')}`),
  };
};

const answerColumns = ({ columns }: SqlPlan, shape: readonly (Shape[number] | undefined)[]): readonly AnswerColumn[] =>
  columns.map(({ name }, index) => ({ name, dataType: shape[index]?.dataType ?? 'string' }));

const shapeAnswer = (
  definition: SqlDefinition,
  columns: readonly AnswerColumn[],
  { rows, total, isCut }: RunResult,
): MetricAnswer => {
  if (total === 0) return { rows: [], columns: [], groupbyColumnList: [], totalRecords: 0 };
  return {
    rows: rowsByName(
      columns.map(({ name }) => name),
      rows,
      columns.map(({ dataType }) => dataType),
    ),
    columns,
    groupbyColumnList: definition.dimensions.map(({ name }) => name),
    totalRecords: total,
    ...(isCut === true ? { isTruncated: true } : {}),
  };
};
