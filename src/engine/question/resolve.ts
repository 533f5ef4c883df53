import { heldConditions, ownTables } from '../../model/dashboard/mapped-columns.js';
import type { ConditionTree, VisualDefinition } from '../../model/dashboard/metric.js';
import type { ColumnRef, Datamart, TableRef } from '../../model/datamart/datamart.js';
import { findColumn, findTable, qualifiedName, sameTable, tableKey } from '../../model/datamart/datamart.js';
import { findTimezone } from '../../model/filter/date-range.js';
import type { Condition } from '../../model/filter/filter.js';
import type { MetricQuestion } from '../../model/query/engine.js';
import type { Queries } from '../custom/queries.js';
import { type Custom, noCustom } from '../custom/read-custom.js';
import { type Catalog, columnName, columnsOf, typeOf } from '../dialect/catalog.js';
import type { Column } from '../dialect/dialect.js';
import { refuseQuery, withoutNames } from '../dialect/refuse.js';
import { declaredType } from '../dialect/sql-type.js';
import type { Having, PageOfRows } from '../plan/plan.js';
import { type BoundPredicate, bindPredicate } from '../plan/values.js';
import { storedDatamart, storedName } from '../scope/column-rules.js';
import { greatestScaled } from '../sql/scales.js';
import { withCardinalities } from './cardinalities.js';
import { type ResolvedCalculation, resolveCalculations } from './resolve-calculation.js';
import { type ResolvedDimension, resolveDimension } from './resolve-dimension.js';
import { type ResolvedMeasure, resolveHaving, resolveMeasure } from './resolve-measure.js';

/** A question whose names were found and whose values were checked. */
export type Resolved = Columns & {
  readonly datamart: Datamart;
  readonly from: TableRef;
  /** A worksheet joins every reachable table of the datamart. */
  readonly isWorksheet: boolean;
  readonly dimensions: readonly ResolvedDimension[];
  readonly measures: readonly ResolvedMeasure[];
  readonly conditions: readonly ResolvedCondition[];
  /** The conditions of the question that hold: those of `conditions` and of `whereRead`, as they were given. */
  readonly applied: readonly Condition[];
  /**
   * The token's conditions that hold wherever a question reads this table. Throws METRIC_QUERY_ERROR for one that
   * does not fit.
   */
  readonly whereRead: (table: TableRef) => readonly ResolvedCondition[];
  /** The definition's own filter, in addition to the conditions. */
  readonly where: ResolvedTree | null;
  readonly having: Having | null;
  /** In the order of the output columns, after the measures. */
  readonly calculations: readonly ResolvedCalculation[];
  readonly page: PageOfRows;
};

/** How a question finds columns. */
export type Columns = {
  /** A column as the token shows it. */
  readonly columnOf: (ref: ColumnRef) => Column;
  /** A column as it is stored, for relationships and for the token's own conditions. */
  readonly storedOf: (ref: ColumnRef) => Column;
};

export type ResolvedCondition = {
  readonly column: Column;
  readonly predicate: BoundPredicate;
  readonly isHidden?: boolean | undefined;
  readonly restriction?: Condition['restriction'];
  readonly isOfToken?: Condition['isOfToken'];
};
export type ResolvedTree =
  | ResolvedCondition
  | { readonly kind: 'all' | 'any'; readonly items: readonly ResolvedTree[] };

/** A question for options has no sort and no offset. */
export type Question = Omit<MetricQuestion, 'sort' | 'offset' | 'definition'> & {
  readonly definition: VisualDefinition;
  readonly offset?: number;
};

/**
 * Finds every name of the question in the datamart and the datasource. Throws METRIC_QUERY_ERROR with what to
 * correct.
 */
export const resolve = (question: Question, { catalog, stored }: Catalogs, custom: Custom = noCustom): Resolved => {
  const { definition } = question;
  const datamart = withCardinalities(question.datamart, stored);
  const zone = question.timezone === null ? null : resolveZone(question.timezone);
  const columns = createColumns(
    question.datamart,
    { catalog: custom.catalog ?? catalog, stored },
    zone,
    custom.columns,
  );
  const { columnOf } = columns;
  assertTable(definition.from, datamart, stored);
  const dimensions = definition.dimensions.map((dimension) => resolveDimension(dimension, columnOf));
  const measures = definition.measures.map((measure) => ({
    ...resolveMeasure(measure, columnOf, custom),
    isHidden: measure.isHidden,
  }));
  const isRead = isReadBy(question, measures);
  const held = splitHeld(question.conditions, ownTables(definition), isRead, (condition) =>
    resolveCondition(condition, columns, custom.queries),
  );
  return {
    datamart,
    ...columns,
    from: definition.from,
    isWorksheet: question.joinModel === 'single',
    dimensions,
    measures,
    ...held,
    where: definition.where === undefined ? null : resolveTree(definition.where, columns, custom.queries),
    having: definition.having === undefined ? null : resolveHaving(definition.having, measures, dimensions.length),
    calculations: resolveCalculations(definition.calculations ?? [], dimensions, measures),
    page: {
      cap: assertCount(definition.limit, "The metric's limit"),
      limit: assertCount(question.limit, 'limit'),
      offset: assertCount(question.offset ?? 0, 'offset') ?? 0,
    },
  };
};

/**
 * Whether the metric reads the table. A guest's conditions follow the tables before a drill; the token's follow those
 * before and after it.
 */
const isReadBy = ({ definition, readBefore }: Question, measures: readonly ResolvedMeasure[]) => {
  const measured = measures.flatMap(({ column, custom = [] }) =>
    [column, ...custom].flatMap((part) => (part === null || typeof part === 'string' ? [] : [part.ref])),
  );
  const always: readonly TableRef[] = [definition.from, ...measured];
  const now = definition.dimensions.map(({ column }) => column);
  return (table: TableRef, { restriction }: Condition): boolean => {
    const shown = restriction === undefined ? (readBefore ?? now) : [...now, ...(readBefore ?? [])];
    return [...always, ...shown].some((one) => sameTable(one, table));
  };
};

/**
 * Splits the conditions into those on the question's rows and those on every read of their table. Conditions on
 * tables that no question reads are not resolved.
 */
export const splitHeld = (
  conditions: readonly Condition[],
  own: readonly TableRef[],
  isRead: Parameters<typeof heldConditions>[2],
  resolveOne: (condition: Condition) => ResolvedCondition,
): Pick<Resolved, 'conditions' | 'applied' | 'whereRead'> => {
  const held = heldConditions(conditions, own, isRead);
  return {
    applied: held,
    conditions: held.filter(({ restriction }) => restriction !== 'whereRead').map(resolveOne),
    whereRead: (table) =>
      held.filter(({ restriction, column }) => restriction === 'whereRead' && sameTable(column, table)).map(resolveOne),
  };
};

/** The zone in Intl's spelling, from any case. */
export const resolveZone = (timezone: string): string =>
  findTimezone(timezone) ??
  refuseQuery('The timezone is unknown; give an IANA name such as Europe/Berlin.', 'timezone-unknown');

const assertTable = (table: TableRef, datamart: Datamart, catalog: Catalog): void => {
  if (findTable(datamart, table) === undefined) {
    refuseQuery(
      `Table ${qualifiedName(table)} is not in datamart ${datamart.name}; add it there or correct the name (case counts).`,
      'table-not-in-datamart',
    );
  }
  if (columnsOf(catalog, table).size === 0) {
    refuseQuery(
      catalog.client === undefined
        ? `Table ${qualifiedName(table)} of datamart ${datamart.name} is not in its datasource; update the datamart.`
        : `Table ${qualifiedName(table)} of datamart ${datamart.name} is not in this client's database, or may not be read there. Create it there as in the datasource's own database.`,
      'table-not-in-datasource',
    );
  }
};

/** `catalog`: with the types of what the token shows, and of custom columns. `stored`: as the datasource has them. */
export type Catalogs = { readonly catalog: Catalog; readonly stored: Catalog };

export const createColumns = (
  datamart: Datamart,
  { catalog, stored }: Catalogs,
  zone: string | null,
  computed: Custom['columns'],
): Columns => {
  const columnOf = (ref: ColumnRef): Column => resolveColumn(ref, datamart, catalog, zone);
  return {
    columnOf,
    storedOf: (ref) => {
      const table = findTable(datamart, ref);
      const name = storedName(table, ref.columnName);
      if (name !== undefined) return { ...resolveColumn(ref, storedDatamart(datamart), stored, zone), stored: name };
      const { reads = [] } = computed.get(tableKey(ref))?.find(({ columnName: own }) => own === ref.columnName) ?? {};
      if (reads.some((own) => storedName(table, own) !== undefined)) {
        refuseQuery(
          `A condition of the token is on custom column ${columnName(ref)}, which reads a column that the token masks. Put the condition on a column of the datasource.`,
          'condition-on-masked',
        );
      }
      return columnOf(ref);
    },
  };
};

const resolveColumn = (ref: ColumnRef, datamart: Datamart, catalog: Catalog, zone: string | null): Column => {
  assertTable(ref, datamart, catalog);
  const column = findColumn(datamart, ref);
  const through = findTable(datamart, ref)?.through;
  if (column === undefined && through != null) {
    return refuseQuery(
      `Column ${columnName(ref)} is not among the columns that may be read through ${through.relationship}; add it to through.columns of the table, or use ${through.columns.join(', ')}.`,
      'column-not-in-datamart',
    );
  }
  if (column === undefined) {
    return refuseQuery(
      `Column ${columnName(ref)} is not in datamart ${datamart.name}; add it there or correct the name (case counts).`,
      'column-not-in-datamart',
    );
  }
  const type = typeOf(catalog, ref);
  if (type === undefined && column.numbers?.scale !== undefined) {
    return refuseQuery(
      `Column ${columnName(ref)} has a scale in datamart ${datamart.name}, but is not in its datasource, or holds no numbers of at most ${greatestScaled(column.numbers.scale)} digits. Correct the datamart, or cast the column in a view.`,
      'column-not-in-datasource',
    );
  }
  if (type === undefined) {
    return refuseQuery(
      catalog.client === undefined
        ? `Column ${columnName(ref)} of datamart ${datamart.name} is not in its datasource; update the datamart.`
        : `Column ${columnName(ref)} of datamart ${datamart.name} is not in this client's database. Create it there as in the datasource's own database.`,
      'column-not-in-datasource',
    );
  }
  const declared = declaredType(type, column);
  return { ref, type: declared, zone: localZone(declared.kind, column.isApplyTimezone, zone) };
};

/**
 * An instant is read in the question's zone, else in UTC. A timestamp is converted only where the datamart says that
 * it is stored in UTC.
 */
const localZone = (kind: Column['type']['kind'], isApplyTimezone: boolean, zone: string | null): string | null => {
  if (kind === 'instant') return isApplyTimezone ? (zone ?? 'UTC') : 'UTC';
  return kind === 'timestamp' && isApplyTimezone ? zone : null;
};

const resolveTree = (tree: ConditionTree, columns: Columns, queries: Queries): ResolvedTree => {
  if ('predicate' in tree) return resolveCondition(tree, columns, queries);
  const [kind, items] = 'all' in tree ? (['all', tree.all] as const) : (['any', tree.any] as const);
  if (items.length === 0) {
    refuseQuery("A group of the metric's where has no condition. Add one, or remove the group.", 'group-empty');
  }
  return { kind, items: items.map((item) => resolveTree(item, columns, queries)) };
};

/** `queries` holds the prepared SQL of conditions in SQL. */
export const resolveCondition = (
  condition: Condition,
  { columnOf, storedOf }: Columns,
  queries: Queries,
): ResolvedCondition => {
  const { isHidden, restriction, isOfToken } = condition;
  return withoutNames(isHidden, () => {
    const column = isOfToken === true ? storedOf(condition.column) : columnOf(condition.column);
    const query = queries.get(condition.predicate);
    const predicate = query?.bind(column.ref, column.type) ?? bindPredicate(condition.predicate, column);
    return { column, predicate, isHidden, restriction, isOfToken };
  });
};

export const assertCount = (count: number | null, what: string): number | null =>
  count === null || (Number.isSafeInteger(count) && count >= 0)
    ? count
    : refuseQuery(`${what} must be a whole number, 0 or above.`, 'count-invalid');
