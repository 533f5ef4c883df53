/** A random case made into a datamart and a question of it, tame enough that most of them have an answer. */
import type { Cardinality, ColumnRef, Datamart, Relationship, TableRef } from '../../src/domain/datamart.js';
import { sameTable } from '../../src/domain/datamart.js';
import type { Condition } from '../../src/domain/filter.js';
import type { ConditionTree, Dimension, Measure, VisualDefinition } from '../../src/domain/metric.js';
import { byClients, columnRef, datamart, metric, relationship, table } from '../engine/world.js';
import { type ACase, type AColumn, type ATest, type ATree, type ColumnName, isText, predicateOf } from './cases.js';
import {
  clientColumns,
  columns,
  type Dataset,
  numberOf,
  ownTables,
  shardOf,
  sharedTables,
  type TableName,
  tenants,
} from './dataset.js';
import { type Asked, multipliedMeasures } from './evaluator.js';
import { stepsTo, Unanswerable } from './evaluator-joins.js';

/** What the engine computes so far: parts that it refuses are not asked for. */
export const features = { where: false, having: false, calculations: false, percentile: false, fanOut: false };

export type Posed = {
  /** With tenancy, over the shared database, and without any, over the tenant's own. */
  readonly shared: Datamart;
  readonly alone: Datamart;
  readonly clientId: string;
  readonly asked: Asked;
  readonly option: ColumnRef;
  readonly search: string | null;
  /** The relationships say what is so, and a measure's rows can be told from their repetitions. */
  readonly isTrue: boolean;
};

const pairs: readonly (readonly [string, string])[] = [
  ['ref', 'id'],
  ['id', 'ref'],
  ['code', 'code'],
  ['tenant', 'tenant'],
  ['id', 'id'],
  ['ref', 'ref'],
];

const isUnique = (dataset: Dataset, name: TableName, column: string): boolean =>
  tenants.every((tenant) => {
    const values = (shardOf(dataset, tenant).get(name) ?? []).flatMap((row) => row[column] ?? []);
    return new Set(values).size === values.length;
  });

const cardinalities = (isParentUnique: boolean, isChildUnique: boolean): readonly (Cardinality | null)[] => [
  ...(isParentUnique && isChildUnique ? (['OneToOne'] as const) : []),
  ...(isChildUnique ? (['ManyToOne'] as const) : []),
  ...(isParentUnique ? (['OneToMany'] as const) : []),
  'ManyToMany',
  null,
];

const knownUnique = new WeakMap<Dataset, Map<string, boolean>>();
const isKnownUnique = (dataset: Dataset, name: TableName, column: string): boolean => {
  const known = knownUnique.get(dataset) ?? new Map<string, boolean>();
  knownUnique.set(dataset, known);
  const key = `${name}.${column}`;
  const answer = known.get(key) ?? isUnique(dataset, name, column);
  known.set(key, answer);
  return answer;
};

const joinable = (name: TableName, column: string, isNumber: boolean): string => {
  if (name === 'clients') return isNumber ? 'no' : 'id';
  return isNumber && column === 'tenant' ? 'tenant_no' : column;
};

const relationshipsOf = (dataset: Dataset, { tables, edges, flaw, isNumber }: ACase): readonly Relationship[] => {
  const made = tables.slice(1).flatMap((name, index): readonly Relationship[] => {
    const edge = edges[index];
    const other = tables[(edge?.to ?? 0) % (index + 1)];
    if (edge === undefined || other === undefined || (flaw === 'gap' && index === 0)) return [];
    const [left, right] = (name === 'clients' || other === 'clients'
      ? ['tenant', 'tenant']
      : pairs[edge.pair % pairs.length]) ?? ['id', 'id'];
    const [parent, child] = edge.isFlipped ? [other, name] : [name, other];
    const ends = [joinable(parent, left, isNumber), joinable(child, right, isNumber)] as const;
    const true_ = cardinalities(isKnownUnique(dataset, parent, ends[0]), isKnownUnique(dataset, child, ends[1]));
    const said = flaw === 'untrue' ? 'OneToOne' : (true_[edge.cardinality % true_.length] ?? null);
    return [relationship(`${parent}.${ends[0]}`, `${child}.${ends[1]}`, edge.join, said)];
  });
  const [first] = made;
  return flaw === 'loop' && first !== undefined
    ? [...made, { ...first, relationshipName: 'another way', join: 'LEFT JOIN' }]
    : made;
};

const martOf = (dataset: Dataset, aCase: ACase, isTenanted: boolean): Datamart => {
  const client = aCase.isNumber ? 'tenant_no' : 'tenant';
  const owned = ownTables as readonly TableName[];
  const tenancy = byClients(aCase.isNumber ? 'NUMBER' : 'STRING');
  return datamart({
    tenancy: isTenanted
      ? ({ ...tenancy, tablePrimaryKeyColumn: aCase.isNumber ? 'no' : 'id' } as NonNullable<Datamart['tenancy']>)
      : null,
    tables: aCase.tables.map((name) =>
      table(name, name === 'clients' ? clientColumns : columns, isTenanted && owned.includes(name) ? client : null),
    ),
    relationships: relationshipsOf(dataset, aCase),
    sharedTables: sharedTables.map((name) => `main.${name}`),
  });
};

/** The columns that a test may name: of the master list there are few. */
const refIn = (
  { tables }: ACase,
  { table: index, column }: AColumn,
  near?: readonly TableName[],
): ColumnRef & { readonly column: ColumnName } => {
  const among = near ?? tables;
  const name = among[index % among.length] ?? 'orders';
  if (name !== 'clients') return { ...columnRef(`${name}.${column}`), column };
  return column === 'amount' || column === 'id' || column === 'ref' || column === 'weight' || column === 'price'
    ? { ...columnRef('clients.amount'), column: 'amount' }
    : { ...columnRef(`clients.${isText(column) ? 'name' : 'id'}`), column: 'label' };
};

const bare = ({ schemaName, tableName, columnName }: ColumnRef): ColumnRef => ({ schemaName, tableName, columnName });

const conditionOf = (aCase: ACase, test: ATest, near?: readonly TableName[]): Condition => {
  const ref = refIn(aCase, test, near);
  return { column: bare(ref), predicate: predicateOf({ ...test, column: ref.column }) };
};

const treeOf = (aCase: ACase, tree: ATree, near: readonly TableName[]): ConditionTree => {
  if ('all' in tree) return { all: tree.all.map((item) => treeOf(aCase, item, near)) };
  if ('any' in tree) return { any: tree.any.map((item) => treeOf(aCase, item, near)) };
  return conditionOf(aCase, tree, near);
};

const dates: ReadonlySet<string> = new Set(['day', 'at', 'stamp', 'moment']);
const numbers: ReadonlySet<string> = new Set(['id', 'ref', 'amount', 'price', 'weight']);

const dimensionOf = (
  aCase: ACase,
  at: ACase['dimensions'][number],
  index: number,
  near: readonly TableName[],
): Dimension => {
  const { column, ...ref } = refIn(aCase, at, near);
  const isBucketed = numbers.has(column) && at.bucket !== null;
  return {
    name: `by ${index}`,
    column: ref,
    ...(dates.has(column) && at.isGrained ? { grain: at.grain } : {}),
    ...(isBucketed ? { bucketWidth: at.bucket ?? 1 } : {}),
  };
};

const measureOf = (aCase: ACase, at: ACase['measures'][number], index: number, near: readonly TableName[]): Measure => {
  const name = `of ${index}`;
  if (at.aggregate === 'COUNT' && at.isOfRows) return { name, aggregate: 'COUNT' };
  const { column, ...ref } = refIn(aCase, at, near);
  const indicator = at.indicator === null ? null : predicateOf({ ...at.indicator, column });
  const isIndicated = indicator !== null && indicator.kind !== 'isNull' && indicator.kind !== 'isNotNull';
  const isNumeric = numbers.has(column) || isIndicated;
  const needsNumbers =
    at.aggregate === 'SUM' || at.aggregate === 'AVG' || at.aggregate === 'MEDIAN' || at.aggregate === 'PERCENTILE';
  const aggregate =
    (needsNumbers && !isNumeric) || (at.aggregate === 'PERCENTILE' && !features.percentile)
      ? 'COUNT_DISTINCT'
      : at.aggregate;
  return {
    name,
    aggregate,
    column: ref,
    ...(isIndicated ? { indicator } : {}),
    ...(aggregate === 'PERCENTILE' ? { percentile: at.share } : {}),
  };
};

/** Sums of floats and averages of decimals depend on the order of addition in their last digit: no order of rows may hang on that. */
const isSortable = ({ aggregate, column }: Measure): boolean =>
  aggregate === 'COUNT' ||
  aggregate === 'COUNT_DISTINCT' ||
  aggregate === 'MIN' ||
  aggregate === 'MAX' ||
  (aggregate === 'SUM' && column?.columnName !== 'weight');

/** Only tables that the first leads to, so that a case is refused for a flaw that it is meant to have. */
const nearTables = (mart: Datamart, { tables, flaw }: ACase, from: TableName): readonly TableName[] =>
  flaw === 'wild'
    ? tables
    : [from, ...tables.filter((name) => name !== from)].filter((name) => {
        const ref: TableRef = columnRef(`${name}.id`);
        return sameTable(ref, columnRef(`${from}.id`)) || leads(mart, columnRef(`${from}.id`), ref);
      });

const leads = (mart: Datamart, from: TableRef, to: TableRef): boolean => {
  try {
    return stepsTo(mart, from, [to]).length > 0;
  } catch (cause) {
    if (cause instanceof Unanswerable) return false;
    throw cause;
  }
};

/** A measure that a join would repeat is asked for as one that may be repeated; now and then it stays, to be refused. */
const tamed = (mart: Datamart, asked: Asked, aCase: ACase): Asked => {
  if (features.fanOut || aCase.flaw === 'wild' || aCase.flaw === 'gap' || aCase.flaw === 'loop') return asked;
  const multiplied = multipliedMeasures({ mart, rowsOf: () => [], timezone: null }, asked);
  const measures = asked.definition.measures.map((measure): Measure => {
    if (!multiplied.includes(measure.name)) return measure;
    const column = measure.column ?? { ...asked.definition.from, columnName: 'id' };
    return { name: measure.name, aggregate: 'COUNT_DISTINCT', column };
  });
  return { ...asked, definition: { ...asked.definition, measures } };
};

const definitionOf = (aCase: ACase, mart: Datamart): VisualDefinition => {
  const from = aCase.tables[aCase.from % aCase.tables.length] ?? 'orders';
  const near = nearTables(mart, aCase, from);
  const dimensions = aCase.dimensions.map((at, index) => dimensionOf(aCase, at, index, near));
  const measures = aCase.measures.map((at, index) => measureOf(aCase, at, index, near));
  const sortable = [...dimensions, ...measures.filter(isSortable)].map(({ name }) => name);
  const sort = aCase.sorts.flatMap(({ of, direction }) => {
    const name = sortable[of % Math.max(sortable.length, 1)];
    return name === undefined ? [] : [{ name, direction }];
  });
  const underlying = aCase.underlying.map((at) => bare(refIn(aCase, at, near)));
  return metric(from, {
    dimensions,
    measures: dimensions.length + measures.length === 0 ? [{ name: 'of 0', aggregate: 'COUNT' }] : measures,
    ...(features.where && aCase.where !== null ? { where: treeOf(aCase, aCase.where, near) } : {}),
    sort: sort.filter(({ name }, index) => sort.findIndex((other) => other.name === name) === index),
    limit: aCase.cap,
    underlying: underlying.filter(
      (ref, index) =>
        underlying.findIndex((other) => other.tableName === ref.tableName && other.columnName === ref.columnName) ===
        index,
    ),
  });
};

/** `hasFullJoin`: of this database; without it, one is asked for only now and then. */
export const pose = (dataset: Dataset, given: ACase, hasFullJoin: boolean): Posed => {
  const aCase: ACase =
    hasFullJoin || given.flaw === 'wild'
      ? given
      : {
          ...given,
          edges: given.edges.map((edge) => (edge.join === 'FULL JOIN' ? { ...edge, join: 'LEFT JOIN' } : edge)),
        };
  const alone = martOf(dataset, aCase, false);
  const from = aCase.tables[aCase.from % aCase.tables.length] ?? 'orders';
  const near = nearTables(alone, aCase, from);
  const definition = definitionOf(aCase, alone);
  const conditions = aCase.conditions.map((test) => conditionOf(aCase, test, near));
  const option = refIn(aCase, aCase.option, near);
  const { isSortAsked, limit, offset, isWorksheet, flaw, isNumber, tenant } = aCase;
  const asked: Asked = {
    definition: isSortAsked ? { ...definition, sort: [] } : definition,
    conditions,
    isWorksheet,
    sort: isSortAsked ? definition.sort : null,
    limit,
    offset,
  };
  return {
    shared: martOf(dataset, aCase, true),
    alone,
    clientId: isNumber ? numberOf(tenant) : tenant,
    asked: aCase.ask === 'answer' ? tamed(alone, asked, aCase) : asked,
    option: bare(option),
    search: isText(option.column) ? aCase.search : null,
    isTrue: flaw !== 'untrue',
  };
};
