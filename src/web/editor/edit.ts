/**
 * The core of the editor: `edit(draft, catalogue, action)` returns the next draft. An action that is not possible
 * changes nothing, and `refusalOf` says why beforehand. Pure, so that every sequence of actions can be tested.
 */
import type { Chart } from '../../model/dashboard/chart.js';
import type {
  AggregateMeasure,
  Calculation,
  Comparison,
  Dimension,
  Measure,
  MeasureAggregate,
  TimeGrain,
} from '../../model/dashboard/metric.js';
import { othersFaults } from '../../model/dashboard/others.js';
import type { ColumnRef, TableRef } from '../../model/datamart/datamart.js';
import type { ColumnDates } from '../../model/datamart/dates.js';
import type { Predicate } from '../../model/filter/filter.js';
import { withDimensionFormats, withMeasureFormats } from '../../model/guest/column-formats.js';
import { missingCurrencies } from '../../model/guest/currency-groups.js';
import { greatestDecimals } from '../../model/query/numbers.js';
import { areJoinable, type Catalogue, findField, findTable, titleOf } from './catalogue.js';
import { hasRoomBeside } from './conditions.js';
import { datedColumns, withDates } from './dated.js';
import { cleanName, type Draft, definitionOf, freeName, namesOf, renamed, sameName, tidied, wholeOf } from './draft.js';
import {
  aggregateFault,
  calculationFault,
  groupingFault,
  isNumberMeasure,
  isPeriod,
  measureType,
  predicateFault,
  type Reason,
} from './fitting.js';

export type Grouping = {
  readonly grain?: TimeGrain | undefined;
  readonly bucketWidth?: number | undefined;
  readonly bucketCount?: number | undefined;
};
/** Fields to group by: those of the answer, or those that clicks lead to. */
export type GroupShelf = 'dimensions' | 'drillPath';
/** Lists of conditions: of rows, and of groups. */
export type ConditionShelf = 'filters' | 'having';
export type Shelf = GroupShelf | ConditionShelf | 'measures' | 'calculations';

/** How a chart writes its numbers. */
export type ChartNumbers = Pick<Chart, 'format' | 'unit' | 'currency' | 'notation' | 'decimals'>;

/** Names are suggestions: a name that is taken gets a number. */
export type Action =
  | { readonly kind: 'chooseTable'; readonly table: TableRef }
  | {
      readonly kind: 'addMeasure';
      /** Null: count rows. */
      readonly column: ColumnRef | null;
      readonly aggregate?: MeasureAggregate | undefined;
      readonly percentile?: number | undefined;
      readonly name?: string | undefined;
    }
  | {
      readonly kind: 'changeMeasure';
      readonly at: number;
      readonly aggregate: MeasureAggregate;
      readonly percentile?: number | undefined;
    }
  /** Whether the measure is only computed, for calculations, conditions and the order. */
  | { readonly kind: 'hideMeasure'; readonly at: number; readonly isHidden: boolean }
  | {
      readonly kind: 'addGroup';
      readonly shelf: GroupShelf;
      readonly column: ColumnRef;
      readonly grouping?: Grouping | undefined;
      readonly name?: string | undefined;
    }
  | { readonly kind: 'changeGroup'; readonly shelf: GroupShelf; readonly at: number; readonly grouping: Grouping }
  /** The database's own SQL. Guests' definitions cannot hold one. */
  | { readonly kind: 'addExpression'; readonly expression: string; readonly name?: string | undefined }
  | { readonly kind: 'changeExpression'; readonly at: number; readonly expression: string }
  | { readonly kind: 'addFilter'; readonly column: ColumnRef; readonly predicate: Predicate }
  | { readonly kind: 'addGroupFilter'; readonly measure: string; readonly predicate: Predicate }
  | { readonly kind: 'changeGroupFilter'; readonly at: number; readonly predicate: Predicate }
  /** Whether the condition or the one before it suffices. */
  | { readonly kind: 'join'; readonly shelf: ConditionShelf; readonly at: number; readonly isOr: boolean }
  | { readonly kind: 'changeFilter'; readonly at: number; readonly predicate: Predicate }
  | { readonly kind: 'addCalculation'; readonly calculation: Calculation }
  | { readonly kind: 'compare'; readonly comparison: Comparison | null }
  | { readonly kind: 'remove'; readonly shelf: Shelf; readonly at: number }
  | { readonly kind: 'move'; readonly shelf: Shelf; readonly at: number; readonly to: number }
  | { readonly kind: 'rename'; readonly from: string; readonly to: string }
  | { readonly kind: 'chooseChart'; readonly type: Chart['type'] }
  | { readonly kind: 'formatNumbers'; readonly numbers: ChartNumbers }
  | { readonly kind: 'formatDates'; readonly name: string; readonly dates: ColumnDates }
  | { readonly kind: 'sort'; readonly name: string | null; readonly direction?: 'ASC' | 'DESC' | undefined }
  | { readonly kind: 'limit'; readonly rows: number | null }
  /** Whether the groups beyond the limit are combined. */
  | { readonly kind: 'others'; readonly isCombined: boolean };

type Kind = Action['kind'];
type Of<K extends Kind> = Extract<Action, { readonly kind: K }>;
/** One kind of action: why it is not possible, or null; and what it does where it is. */
type Rule<K extends Kind> = {
  readonly fault: (draft: Draft, catalogue: Catalogue, action: Of<K>) => Reason | null;
  readonly apply: (draft: Draft, catalogue: Catalogue, action: Of<K>) => Draft;
};

const greatestShelf = 50;
const greatestRows = 10_000;
const greatestPeriods = 1000;

const isEmpty = ({ dimensions, measures, filters, drillPath, comparison, kept }: Draft): boolean =>
  dimensions.length + measures.length + filters.length + drillPath.length + Object.keys(kept).length === 0 &&
  comparison === null;

/** An empty draft takes the table of its first field. */
const fromOf = (draft: Draft, table: TableRef): TableRef =>
  draft.from === null || isEmpty(draft) ? { schemaName: table.schemaName, tableName: table.tableName } : draft.from;

const refOf = ({ schemaName, tableName, columnName }: ColumnRef): ColumnRef => ({ schemaName, tableName, columnName });

/** Why the draft cannot read the column, or null. */
const columnFault = (draft: Draft, catalogue: Catalogue, column: ColumnRef): Reason | null => {
  if (findField(catalogue, column) === undefined) return 'unknown-field';
  return areJoinable(catalogue, fromOf(draft, column), column) ? null : 'not-joined';
};

const fieldFault = (
  draft: Draft,
  catalogue: Catalogue,
  column: ColumnRef,
  fault: (field: NonNullable<ReturnType<typeof findField>>) => Reason | null,
): Reason | null => {
  const field = findField(catalogue, column);
  return columnFault(draft, catalogue, column) ?? (field === undefined ? 'unknown-field' : fault(field));
};

const roomFault = (items: readonly unknown[]): Reason | null => (items.length < greatestShelf ? null : 'full');

/** What a measure of the field most likely means. */
const aggregateOf = (
  catalogue: Catalogue,
  column: ColumnRef | null,
  aggregate: MeasureAggregate | undefined,
): MeasureAggregate =>
  aggregate ?? (column === null ? undefined : findField(catalogue, column)?.suggestedAggregates[0]) ?? 'COUNT';

/** What people call the field or, where rows are counted, the table. */
const titled = (catalogue: Catalogue, of: ColumnRef | TableRef | null): string => {
  const found = of === null ? undefined : 'columnName' in of ? findField(catalogue, of) : findTable(catalogue, of);
  return found === undefined ? '' : titleOf(found);
};

const replaced = <Item>(items: readonly Item[], at: number, change: (item: Item) => Item): readonly Item[] =>
  items.map((item, index) => (index === at ? change(item) : item));

/** Dates are grouped by the grain that the model says of their column, else by month. */
const groupingOf = (catalogue: Catalogue, column: ColumnRef, grouping: Grouping | undefined): Grouping => {
  if (grouping !== undefined) return grouping;
  const field = findField(catalogue, column);
  return field?.type === 'date' ? { grain: field.defaultGrain ?? 'month' } : {};
};

const given = ({ grain, bucketWidth, bucketCount }: Grouping): Grouping => ({
  ...(grain === undefined ? {} : { grain }),
  ...(bucketWidth === undefined ? {} : { bucketWidth }),
  ...(bucketCount === undefined ? {} : { bucketCount }),
});

/** The measure's values are written as the model says of its column. What the author chose for it stays. */
const writtenAs = (draft: Draft, catalogue: Catalogue, measure: Measure | undefined): Draft => {
  const field = measure?.column && findField(catalogue, measure.column);
  return measure === undefined || field === undefined
    ? draft
    : { ...draft, chart: withMeasureFormats(draft.chart, measure, field) };
};

/** The draft with the groups that keep the currencies of its measures apart: without them, the service refuses it. */
const withCurrencies = (draft: Draft, catalogue: Catalogue): Draft => {
  const { dimensions, measures: all } = draft;
  const where = definitionOf(draft)?.where;
  const missing = missingCurrencies(catalogue, { dimensions, measures: all, where }, (title) => freeName(draft, title));
  return missing.length === 0 ? draft : { ...draft, dimensions: [...dimensions, ...missing] };
};

const hiding = (isHidden: boolean | undefined): Pick<Measure, 'isHidden'> => (isHidden === true ? { isHidden } : {});

const measures: { readonly [K in 'addMeasure' | 'changeMeasure' | 'hideMeasure']: Rule<K> } = {
  hideMeasure: {
    fault: ({ measures: all, calculations }, _, { at, isHidden }) => {
      const measure = all[at];
      if (measure === undefined) return 'unknown-part';
      return !isHidden || calculations.some(({ of }) => of === measure.name) ? null : 'needs-calculation';
    },
    apply: (draft, _, { at, isHidden }) => ({
      ...draft,
      measures: replaced(draft.measures, at, ({ isHidden: _before, ...one }) => ({ ...one, ...hiding(isHidden) })),
    }),
  },
  addMeasure: {
    fault: (draft, catalogue, { column, aggregate, percentile }) => {
      const room = roomFault(draft.measures);
      if (room !== null) return room;
      const chosen = aggregateOf(catalogue, column, aggregate);
      if (column !== null) return fieldFault(draft, catalogue, column, (it) => aggregateFault(it, chosen, percentile));
      if (chosen !== 'COUNT' || percentile !== undefined) return 'aggregate-does-not-fit';
      return draft.from === null ? 'unknown-field' : null;
    },
    apply: (draft, catalogue, { column, aggregate, percentile, name }) => {
      const chosen = aggregateOf(catalogue, column, aggregate);
      const measure: AggregateMeasure = {
        name: freeName(draft, name ?? titled(catalogue, column ?? draft.from)),
        aggregate: chosen,
        ...(column === null ? {} : { column: refOf(column) }),
        ...(percentile === undefined ? {} : { percentile }),
      };
      const from = column === null ? draft.from : fromOf(draft, column);
      const next = writtenAs({ ...draft, from, measures: [...draft.measures, measure] }, catalogue, measure);
      return withCurrencies(next, catalogue);
    },
  },
  changeMeasure: {
    fault: ({ measures: all }, catalogue, { at, aggregate, percentile }) => {
      const column = all[at]?.column;
      const field = column === undefined ? undefined : findField(catalogue, column);
      if (all[at] === undefined || all[at].expression !== undefined) return 'unknown-part';
      if (column !== undefined) {
        return field === undefined ? 'unknown-field' : aggregateFault(field, aggregate, percentile);
      }
      return aggregate === 'COUNT' && percentile === undefined ? null : 'aggregate-does-not-fit';
    },
    apply: (draft, catalogue, { at, aggregate, percentile }) => {
      const next = replaced(draft.measures, at, ({ name, column, indicator, isHidden }) => ({
        name,
        aggregate,
        ...(indicator === undefined ? {} : { indicator }),
        ...(column === undefined ? {} : { column }),
        ...(percentile === undefined ? {} : { percentile }),
        ...hiding(isHidden),
      }));
      return withCurrencies(writtenAs({ ...draft, measures: next }, catalogue, next[at]), catalogue);
    },
  },
};

const groups: { readonly [K in 'addGroup' | 'changeGroup']: Rule<K> } = {
  addGroup: {
    fault: (draft, catalogue, { shelf, column, grouping }) =>
      roomFault(draft[shelf]) ??
      fieldFault(draft, catalogue, column, (field) => groupingFault(field, groupingOf(catalogue, column, grouping))),
    apply: (draft, catalogue, { shelf, column, grouping, name }) => {
      const dimension: Dimension = {
        name: freeName(draft, name ?? titled(catalogue, column)),
        column: refOf(column),
        ...given(groupingOf(catalogue, column, grouping)),
      };
      const next = { ...draft, from: fromOf(draft, column), [shelf]: [...draft[shelf], dimension] };
      const field = findField(catalogue, column);
      return field === undefined ? next : { ...next, chart: withDimensionFormats(next.chart, dimension, field) };
    },
  },
  changeGroup: {
    fault: (draft, catalogue, { shelf, at, grouping }) => {
      const column = draft[shelf][at]?.column;
      if (column === undefined) return 'unknown-part';
      const field = findField(catalogue, column);
      return field === undefined ? 'unknown-field' : groupingFault(field, grouping);
    },
    apply: (draft, _, { shelf, at, grouping }) => ({
      ...draft,
      [shelf]: replaced(draft[shelf], at, ({ name, column }) => ({ name, column, ...given(grouping) })),
    }),
  },
};

const filters: { readonly [K in 'addFilter' | 'changeFilter']: Rule<K> } = {
  addFilter: {
    fault: (draft, catalogue, { column, predicate }) =>
      roomFault(draft.filters) ??
      (hasRoomBeside(draft.kept.where)
        ? fieldFault(draft, catalogue, column, (field) => predicateFault(field, predicate))
        : 'too-deep'),
    apply: (draft, _, { column, predicate }) => ({
      ...draft,
      from: fromOf(draft, column),
      filters: [...draft.filters, { column: refOf(column), predicate }],
    }),
  },
  changeFilter: {
    fault: (draft, catalogue, { at, predicate }) => {
      const column = draft.filters[at]?.column;
      if (column === undefined) return 'unknown-part';
      const field = findField(catalogue, column);
      return field === undefined ? 'unknown-field' : predicateFault(field, predicate);
    },
    apply: (draft, _, { at, predicate }) => ({
      ...draft,
      filters: replaced(draft.filters, at, (one) => ({ ...one, predicate })),
    }),
  },
};

const greatestExpression = 4000;

const expressionFault = (expression: string): Reason | null => {
  const isText = expression.trim() !== '' && expression.length <= greatestExpression;
  return isText && !/[\0\p{Cs}]/u.test(expression) ? null : 'wrong-value';
};

const expressions: { readonly [K in 'addExpression' | 'changeExpression']: Rule<K> } = {
  addExpression: {
    fault: (draft, _, { expression }) =>
      draft.from === null ? 'unknown-field' : (roomFault(draft.measures) ?? expressionFault(expression)),
    apply: (draft, _, { expression, name = expression }) => ({
      ...draft,
      measures: [...draft.measures, { name: freeName(draft, name.slice(0, 40)), expression }],
    }),
  },
  changeExpression: {
    fault: (draft, _, { at, expression }) =>
      draft.measures[at]?.expression === undefined ? 'unknown-part' : expressionFault(expression),
    apply: (draft, _, { at, expression }) => ({
      ...draft,
      measures: replaced(draft.measures, at, ({ name, isHidden }) => ({ name, expression, ...hiding(isHidden) })),
    }),
  },
};

/** Why the measure cannot have the condition, or null. */
const groupFault = (draft: Draft, catalogue: Catalogue, name: string, predicate: Predicate): Reason | null => {
  const measure = draft.measures.find((one) => one.name === name);
  if (measure === undefined) return 'unknown-part';
  const type = measureType(measure, measure.column && findField(catalogue, measure.column));
  return predicateFault({ type }, predicate);
};

const groupFilters: { readonly [K in 'addGroupFilter' | 'changeGroupFilter' | 'join']: Rule<K> } = {
  addGroupFilter: {
    fault: (draft, catalogue, { measure, predicate }) =>
      roomFault(draft.having) ??
      (hasRoomBeside(draft.kept.having) ? groupFault(draft, catalogue, measure, predicate) : 'too-deep'),
    apply: (draft, _, { measure, predicate }) => ({ ...draft, having: [...draft.having, { measure, predicate }] }),
  },
  changeGroupFilter: {
    fault: (draft, catalogue, { at, predicate }) =>
      groupFault(draft, catalogue, draft.having[at]?.measure ?? '', predicate),
    apply: (draft, _, { at, predicate }) => ({
      ...draft,
      having: replaced(draft.having, at, (one) => ({ ...one, predicate })),
    }),
  },
  join: {
    fault: (draft, _, { shelf, at }) => (at < 1 || draft[shelf][at] === undefined ? 'unknown-part' : null),
    apply: (draft, _, { shelf, at, isOr }) => {
      const joined = <Item extends object>({ isOr: _before, ...one }: Item & { isOr?: true | undefined }) =>
        isOr ? { ...one, isOr: true } : one;
      return { ...draft, [shelf]: replaced<object>(draft[shelf], at, joined) };
    },
  },
};

const isNumbersIn =
  (catalogue: Catalogue) =>
  (measure: Measure): boolean =>
    isNumberMeasure(measure, measure.column && findField(catalogue, measure.column));

const comparing: { readonly [K in 'addCalculation' | 'compare']: Rule<K> } = {
  addCalculation: {
    fault: (draft, catalogue, { calculation }) =>
      roomFault(draft.calculations) ?? calculationFault(draft, calculation, isNumbersIn(catalogue)),
    apply: (draft, _, { calculation }) => {
      const named = { ...calculation, name: freeName(draft, calculation.name) };
      return { ...draft, calculations: [...draft.calculations, named] };
    },
  },
  compare: {
    fault: (draft, catalogue, { comparison }) => {
      if (comparison === null) return null;
      const { column, grain, periods } = comparison;
      const isInRange = Number.isInteger(periods) && periods >= 1 && periods <= greatestPeriods;
      return fieldFault(draft, catalogue, column, ({ type }) => {
        if (type !== 'date') return 'needs-date';
        return isPeriod(grain) && isInRange ? null : 'wrong-value';
      });
    },
    apply: (draft, _, { comparison }) =>
      comparison === null
        ? { ...draft, comparison }
        : {
            ...draft,
            from: fromOf(draft, comparison.column),
            comparison: { ...comparison, column: refOf(comparison.column) },
          },
  },
};

const moved = <Item>(items: readonly Item[], at: number, to: number): readonly Item[] => {
  const item = items.slice(at, at + 1);
  const others = items.toSpliced(at, 1);
  return [...others.slice(0, to), ...item, ...others.slice(to)];
};

const places: { readonly [K in 'remove' | 'move' | 'chooseTable']: Rule<K> } = {
  remove: {
    fault: (draft, _, { shelf, at }) => (draft[shelf][at] === undefined ? 'unknown-part' : null),
    apply: (draft, _, { shelf, at }) => ({ ...draft, [shelf]: draft[shelf].toSpliced(at, 1) }),
  },
  move: {
    fault: (draft, _, { shelf, at, to }) =>
      draft[shelf][at] === undefined || draft[shelf][to] === undefined ? 'unknown-part' : null,
    apply: (draft, _, { shelf, at, to }) => ({ ...draft, [shelf]: moved<unknown>(draft[shelf], at, to) }),
  },
  chooseTable: {
    fault: (draft, catalogue, { table }) => {
      if (findTable(catalogue, table) === undefined) return 'unknown-field';
      const isJoined = draft.from === null || isEmpty(draft) || areJoinable(catalogue, draft.from, table);
      return isJoined ? null : 'not-joined';
    },
    apply: (draft, _, { table: { schemaName, tableName } }) => ({ ...draft, from: { schemaName, tableName } }),
  },
};

const shown: {
  readonly [K in 'rename' | 'chooseChart' | 'formatNumbers' | 'formatDates' | 'sort' | 'limit' | 'others']: Rule<K>;
} = {
  rename: {
    fault: (draft, _, { from, to }) => {
      const names = namesOf(draft);
      if (!names.includes(from)) return 'unknown-part';
      if (cleanName(to) === '') return 'name-empty';
      return names.some((name) => name !== from && sameName(name, cleanName(to))) ? 'name-taken' : null;
    },
    apply: (draft, _, { from, to }) => renamed(draft, from, cleanName(to)),
  },
  chooseChart: { fault: () => null, apply: (draft, _, { type }) => ({ ...draft, chart: { ...draft.chart, type } }) },
  formatNumbers: {
    fault: (_, __, { numbers: { currency, unit, decimals = 0 } }) =>
      (currency === undefined || /^[A-Z]{3}$/.test(currency)) &&
      (unit === undefined || cleanName(unit) !== '') &&
      [...Array(greatestDecimals + 1).keys()].includes(decimals)
        ? null
        : 'wrong-value',
    apply: (draft, _, { numbers }) => {
      const { format: _format, unit: _unit, currency: _currency, notation: _notation, ...kept } = draft.chart;
      const { decimals: _decimals, ...chart } = kept;
      const { unit } = numbers;
      const named = { ...numbers, unit: unit === undefined ? undefined : cleanName(unit) };
      const parts = Object.entries(named).filter(([, value]) => value !== undefined);
      return { ...draft, chart: { ...chart, ...Object.fromEntries(parts) } };
    },
  },
  formatDates: {
    fault: (draft, catalogue, { name }) =>
      datedColumns(draft, catalogue).some((one) => one.name === name) ? null : 'unknown-part',
    apply: (draft, _, { name, dates }) => withDates(draft, name, dates),
  },
  sort: {
    fault: ({ dimensions, measures: all, calculations }, _, { name }) =>
      name === null || [...dimensions, ...all, ...calculations].some((one) => one.name === name)
        ? null
        : 'unknown-part',
    apply: (draft, _, { name, direction = 'ASC' }) => ({ ...draft, sort: name === null ? [] : [{ name, direction }] }),
  },
  limit: {
    fault: (_, __, { rows }) =>
      rows === null || (Number.isInteger(rows) && rows >= 1 && rows <= greatestRows) ? null : 'wrong-value',
    apply: (draft, _, { rows }) => ({ ...draft, limit: rows }),
  },
  others: {
    fault: (draft, _, { isCombined }) => (!isCombined || mayCombineOthers(draft) ? null : 'others-do-not-fit'),
    apply: ({ others: _before, ...draft }, _, { isCombined }) => (isCombined ? { ...draft, others: true } : draft),
  },
};

const rules: { readonly [K in Kind]: Rule<K> } = {
  ...measures,
  ...groups,
  ...expressions,
  ...filters,
  ...groupFilters,
  ...comparing,
  ...places,
  ...shown,
};

const ruleOf = (action: Action): Rule<Kind> => rules[action.kind] as Rule<Kind>;

/** Whether the groups beyond the limit may be combined. */
export const mayCombineOthers = (draft: Draft): boolean => {
  const definition = definitionOf({ ...draft, others: true });
  return definition !== undefined && othersFaults(wholeOf(definition)).length === 0;
};

const withoutMisfit = ({ others, ...draft }: Draft): Draft =>
  others === true && mayCombineOthers(draft) ? { ...draft, others } : draft;

/** Returns why the action is not possible, or null. */
export const refusalOf = (draft: Draft, catalogue: Catalogue, action: Action): Reason | null =>
  ruleOf(action).fault(draft, catalogue, action);

/**
 * Calculations and conditions on groups that the change leaves without their measure or dimension, or with one of
 * another type, are removed. A measure of which nothing is calculated is shown. The first condition of a list has none before it.
 */
const settled = (draft: Draft, catalogue: Catalogue): Draft => {
  const isKept = (one: Calculation): boolean => calculationFault(draft, one, isNumbersIn(catalogue)) === null;
  const having = draft.having.filter((one) => groupFault(draft, catalogue, one.measure, one.predicate) === null);
  const calculations = draft.calculations.filter(isKept);
  return withoutMisfit(
    tidied({
      ...draft,
      calculations,
      measures: draft.measures.map((one) => (calculations.some(({ of }) => of === one.name) ? one : shownAgain(one))),
      having: begun(having),
      filters: begun(draft.filters),
    }),
  );
};

const shownAgain = ({ isHidden: _, ...measure }: Measure): Measure => measure;

const begun = <Item extends { readonly isOr?: true | undefined }>(list: readonly Item[]): readonly Item[] =>
  list.map((item, at) => {
    if (at > 0 || item.isOr === undefined) return item;
    const { isOr: _, ...first } = item;
    return first as Item;
  });

/** Returns the draft after the action; the same draft if the action is not possible. */
export const edit = (draft: Draft, catalogue: Catalogue, action: Action): Draft =>
  refusalOf(draft, catalogue, action) === null
    ? settled(ruleOf(action).apply(draft, catalogue, action), catalogue)
    : draft;
