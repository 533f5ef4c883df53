/**
 * Writes a plan as the SELECT of a metric in SQL, as an author could have typed it: over the tables of the datamart, with
 * values as literals. The text is never run as it is. The plan was not scoped, so the text holds nothing of a tenant.
 * When the metric runs, each table is scoped to the tenant of the user who asks.
 */
import { type IdentifierNode, OperationNodeTransformer, type RawNode, sql, ValueNode } from 'kysely';
import { refuseAsSql } from '../../model/dashboard/as-sql.js';
import { type TableRef, tableKey } from '../../model/datamart/datamart.js';
import type { Dialect, Sql } from '../dialect/dialect.js';
import { databasePlaceholder } from '../parsing/sql-parser.js';
import type { Computed, Output, OutputColumn, Plan } from '../plan/plan.js';
import { havingSql } from './calculations.js';
import { aggregateSql, argumentSql, dimensionSql, isAggregate, isCalculated, leafName } from './expressions.js';
import { joinSql, type RelationOf, treeSql } from './from.js';

/** What is written of a plan. It has no conditions but the author's own. */
type Written = Pick<Plan, 'joins' | 'where' | 'output' | 'having'> & { readonly tables: readonly TableRef[] };

/** Custom columns by `tableKey`. */
type CustomColumns = ReadonlyMap<string, readonly Computed[]>;

/** Throws METRIC_QUERY_ERROR for names and values that a SELECT of an author cannot hold. */
export const writtenSql = (own: Dialect, plan: Written, custom: CustomColumns): string => {
  const dialect = inline(own);
  const aliases = aliasesOf(plan.tables);
  const relationOf: RelationOf = (leaf) => {
    const { schemaName, tableName } = plan.tables[leaf] ?? missing();
    return sql`${sql.id(schemaName, tableName)} AS ${sql.id(aliases[leaf] ?? missing())}`;
  };
  const columns = plan.tables.map((table) => custom.get(tableKey(table)) ?? []);
  const parts = [
    sql`SELECT\n  ${sql.join(columnsSql(dialect, plan), sql`,\n  `)}`,
    sql`FROM ${relationOf(0)}`,
    ...plan.joins.map((join) => joinSql(dialect, join, relationOf)),
    ...(plan.where === null ? [] : [sql`WHERE ${treeSql(dialect, plan.where, relationOf)}`]),
    ...groupsSql(plan.output),
    ...(plan.having === null
      ? []
      : [sql`HAVING ${havingSql(dialect, plan.having, (output) => valueSql(dialect, plan, output))}`]),
  ];
  const text = sql.join(parts, sql`\n`).withPlugin({
    transformQuery: ({ node }) => new Literals(dialect, columns, aliases).transformNode(node),
    transformResult: async ({ result }) => result,
  });
  const { sql: written, parameters } = dialect.compile(text, []);
  if (parameters.length > 0) throw new TypeError('a value that was not written as a literal');
  return written;
};

const missing = (): never => {
  throw new TypeError('a leaf that the plan does not have');
};

/** Values of a list one by one, and no outer SELECT that only saves time. */
const inline = (dialect: Dialect): Dialect => ({
  ...dialect,
  isGroupedAsStored: () => false,
  isStoredOrNull: () => false,
  list: (value, kind, { texts, cast }) => {
    const values = sql.join(texts.map((text) => dialect.cast({ text, cast })));
    return kind === 'oneOf' ? sql`(${value} IN (${values}))` : sql`(${value} NOT IN (${values}))`;
  },
});

/** The name of each leaf's table, and a number where several leaves have one. */
const aliasesOf = (tables: readonly TableRef[]): readonly string[] => {
  const taken = new Set<string>();
  return tables.map(({ tableName }) => {
    let alias = tableName;
    for (let number = 2; taken.has(alias.toLowerCase()); number += 1) alias = `${tableName}_${number}`;
    taken.add(alias.toLowerCase());
    return alias;
  });
};

const valueSql = (dialect: Dialect, { output }: Written, index: number): Sql => {
  const expression = output.columns[index]?.expression ?? missing();
  if (isCalculated(expression)) return refuseAsSql('it has calculations');
  if (!isAggregate(expression)) return dimensionSql(dialect, expression);
  if (expression.kind === 'rowCount') return sql`count(*)`;
  return aggregateSql(dialect, expression, argumentSql(dialect, expression, []));
};

const shown = ({ isLeftOut }: OutputColumn): boolean => isLeftOut !== true;

const columnsSql = (dialect: Dialect, plan: Written): readonly Sql[] =>
  plan.output.columns.flatMap((column, index) =>
    shown(column) ? [sql`${valueSql(dialect, plan, index)} AS ${sql.id(column.name)}`] : [],
  );

/** By position, as the engine groups. Dimensions are all shown, and come first. */
const groupsSql = ({ columns }: Output): readonly Sql[] => {
  const groups = columns.flatMap(({ expression }, index) => (isAggregate(expression) ? [] : [sql.lit(index + 1)]));
  return groups.length === 0 ? [] : [sql`GROUP BY ${sql.join(groups)}`];
};

/** Half of a text literal, or of a name, in one database is a whole one in another: no such character is written. */
const unwritable = /[\\\p{Cc}\p{Cs}]/u;
const reserved = /^gl_|_variable$/i;

const assertName = (name: string): string => {
  if (unwritable.test(name) || reserved.test(name) || name.includes(databasePlaceholder))
    return refuseAsSql(
      `the name ${JSON.stringify(name)} is not allowed in SQL: names may not begin with gl_, end in _variable, or hold a backslash or control character`,
    );
  return name;
};

const literalOf = (value: unknown): string | number | boolean => {
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (typeof value !== 'string') throw new TypeError('a value that has no literal');
  return unwritable.test(value) || value.includes(databasePlaceholder)
    ? refuseAsSql('one of its values holds a backslash, a control character or the placeholder of a database')
    : value;
};

const leafPattern = /^gl_leaf_([0-9]+)$/;

const isName = (node: { readonly kind: string }): node is IdentifierNode => node.kind === 'IdentifierNode';

/** Writes values as literals, leaves by their aliases, and custom columns as what they are computed from. */
class Literals extends OperationNodeTransformer {
  readonly #dialect: Dialect;
  /** Of each leaf. */
  readonly #custom: readonly (readonly Computed[])[];
  readonly #aliases: readonly string[];

  constructor(dialect: Dialect, custom: readonly (readonly Computed[])[], aliases: readonly string[]) {
    super();
    this.#dialect = dialect;
    this.#custom = custom;
    this.#aliases = aliases;
  }

  protected override transformValue({ value }: ValueNode): ValueNode {
    return ValueNode.createImmediate(literalOf(value));
  }

  protected override transformIdentifier(node: IdentifierNode): IdentifierNode {
    assertName(node.name);
    return node;
  }

  protected override transformRaw(node: RawNode): RawNode {
    const [leaf, column, ...more] = node.parameters;
    if (leaf === undefined || column === undefined || more.length > 0 || !isName(leaf) || !isName(column))
      return super.transformRaw(node);
    const [, index] = leafPattern.exec(leaf.name) ?? [];
    return index === undefined ? super.transformRaw(node) : this.#columnOf(Number(index), column.name);
  }

  #columnOf(index: number, name: string): RawNode {
    const custom = this.#custom[index]?.find(({ columnName }) => columnName === name);
    const written =
      custom === undefined
        ? sql.id(assertName(this.#aliases[index] ?? missing()), assertName(name))
        : custom.write(this.#dialect, leafName(index));
    const node = written.toOperationNode();
    return (custom === undefined ? node : this.transformNode(node)) as RawNode;
  }
}
