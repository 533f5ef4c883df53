/**
 * Faults of types in a metric: aggregates, grains, buckets and values that do not fit the datatype of their column. Only
 * what every query on every database would refuse is a fault. A datatype that is not known, such as that of a custom
 * column, fits everything: only the database knows it.
 */
import { type ColumnRef, type Datamart, findColumn } from '../datamart/datamart.js';
import { columnKind, type DatatypeKind } from '../datamart/datatypes.js';
import { isNumberValue } from '../filter/exact-number.js';
import type { FilterDataType, FilterValue, Predicate, Scalar } from '../filter/filter.js';
import { type Abilities, abilitiesOf } from './abilities.js';
import type { DashboardFilter } from './dashboard.js';
import { written } from './definition.js';
import {
  type Calculation,
  type ConditionTree,
  type Dimension,
  type HavingTree,
  type Measure,
  type MetricDefinition,
  type MetricFilter,
  testsOf,
  type VisualDefinition,
} from './metric.js';

/** `kind` undefined: only the database knows, so everything fits. */
type Typed = { readonly kind: DatatypeKind | undefined; readonly says: string };

const can = (kind: DatatypeKind | undefined): Abilities | undefined => kind && abilitiesOf[kind];

const words: Readonly<Record<DatatypeKind, string>> = {
  integer: 'whole numbers',
  number: 'numbers',
  text: 'text',
  enum: 'a fixed list of texts',
  uuid: 'UUIDs',
  boolean: 'booleans',
  date: 'dates',
  json: 'JSON',
  other: 'values of its own type',
  opaque: 'values that cannot be compared',
};

/** What values of a kind are called. */
export const wordsOfKind = (kind: DatatypeKind): string => words[kind];

const typeOf = (ref: ColumnRef, datamart: Datamart): Typed => {
  const column = findColumn(datamart, ref);
  const kind = column && columnKind(column);
  return { kind, says: `column ${written(ref)} holds ${words[kind ?? 'other']} (${column?.datatype ?? ''})` };
};

type Expected = 'text' | 'a UUID as text' | 'true or false' | 'a number' | 'a date as text';

/** Returns the form that the values of a kind must have; undefined if only the database knows it. */
const expectedOf = (kind: DatatypeKind | undefined): Expected | undefined => {
  switch (kind) {
    case 'text':
    case 'enum':
    case 'json':
    case 'other':
      return 'text';
    case 'uuid':
      return 'a UUID as text';
    case 'boolean':
      return 'true or false';
    case 'integer':
    case 'number':
      return 'a number';
    case 'date':
      return 'a date as text';
    default:
      return undefined;
  }
};

const fits = (expected: Expected, value: Scalar): boolean => {
  if (expected === 'a number') return isNumberValue(value);
  return typeof value === (expected === 'true or false' ? 'boolean' : 'string');
};

const valuesOf = (predicate: Predicate): readonly Scalar[] => {
  switch (predicate.kind) {
    case 'oneOf':
    case 'noneOf':
      return predicate.values;
    case 'compare':
      return [predicate.value];
    case 'range':
      return [predicate.from, predicate.to].filter((end) => end !== null);
    default:
      return [];
  }
};

/** Returns the faults of a predicate on values of a type. `says` is what holds them, such as a column. */
export const predicateFaults = (
  place: string,
  predicate: Predicate | undefined,
  { kind, says }: Typed,
): readonly string[] => {
  if (predicate === undefined || predicate.kind === 'isNull' || predicate.kind === 'isNotNull') return [];
  if (kind === 'opaque') return [`${place}: ${says}; use another column`];
  if (predicate.kind === 'like' && can(kind)?.hasPatterns === false)
    return [`${place}: a pattern is matched with text, and ${says}; use another kind of predicate`];
  if (predicate.kind === 'relative')
    return isDated(can(kind))
      ? []
      : [`${place}: ${predicate.period} is a period, and ${says}; choose a column of dates`];
  const expected = expectedOf(kind);
  if (expected === undefined || valuesOf(predicate).every((value) => fits(expected, value))) return [];
  return [`${place}: ${says}, so each value must be ${expected}`];
};

const isDated = (abilities: Abilities | undefined): boolean =>
  abilities === undefined || abilities.filter === 'date' || abilities.alsoFilters.includes('date');

const canBeSummed = 'choose a column of numbers, or COUNT, COUNT_DISTINCT, MIN or MAX';

const measureFaults = (measure: Measure, index: number, datamart: Datamart): readonly string[] => {
  const { name, aggregate, column, indicator } = measure;
  if (aggregate === undefined || column === undefined) return [];
  const place = `measures[${index}] ${JSON.stringify(name)}`;
  const typed = typeOf(column, datamart);
  if (indicator !== undefined) return predicateFaults(`${place}.indicator`, indicator, typed);
  const isRefused = can(typed.kind)?.never.some((one) => one === aggregate);
  return isRefused === true ? [`${place}: ${aggregate} needs numbers, and ${typed.says}; ${canBeSummed}`] : [];
};

const dimensionFaults = (
  list: string,
  { name, column, grain, bucketWidth, bucketCount }: Dimension,
  index: number,
  datamart: Datamart,
): readonly string[] => {
  const place = `${list}[${index}] ${JSON.stringify(name)}`;
  const { kind, says } = typeOf(column, datamart);
  const isBucketed = bucketWidth !== undefined || bucketCount !== undefined;
  return [
    ...(grain !== undefined && can(kind)?.hasGrains === false
      ? [`${place}: a grain needs dates, and ${says}; leave the grain out, or choose a column of dates`]
      : []),
    ...(isBucketed && can(kind)?.hasBuckets === false
      ? [`${place}: buckets need numbers, and ${says}; leave the buckets out, or choose a column of numbers`]
      : []),
  ];
};

/** Whether values of a filter of this data type can be compared with the column. */
const takes = (kind: DatatypeKind | undefined, dataType: FilterDataType): boolean => {
  const abilities = can(kind);
  return abilities === undefined || abilities.filter === dataType || abilities.alsoFilters.includes(dataType);
};

const isNumberOnText = (value: FilterValue | undefined, kind: DatatypeKind | undefined): boolean =>
  typeof value === 'number' && (kind === 'text' || kind === 'enum');

const filterFaults = (
  place: string,
  { dataType, defaultValue }: Pick<DashboardFilter, 'dataType' | 'defaultValue'>,
  { kind, says }: Typed,
): readonly string[] => {
  if (!takes(kind, dataType))
    return [`${place}: its dataType is "${dataType}", and ${says}; choose the dataType of the column`];
  return isNumberOnText(defaultValue, kind) ? [`${place}.defaultValue: ${says}, so it must be text`] : [];
};

const metricFilterFaults = (filter: MetricFilter, index: number, datamart: Datamart): readonly string[] => {
  const place = `filters[${index}] ${JSON.stringify(filter.name)}`;
  const typed = typeOf(filter.column, datamart);
  // A filter with a predicate takes no value, so its data type has no effect.
  return filter.predicate === undefined
    ? filterFaults(place, filter, typed)
    : predicateFaults(`${place}.predicate`, filter.predicate, typed);
};

const whereFaults = (where: ConditionTree | undefined, datamart: Datamart): readonly string[] =>
  testsOf(where).flatMap(({ column, predicate }) => predicateFaults('where', predicate, typeOf(column, datamart)));

const numbers: Typed['kind'] = 'number';

/** The kind of a measure's values. */
const measureKind = ({ aggregate, column, indicator }: Measure, datamart: Datamart): DatatypeKind | undefined => {
  if (aggregate === undefined || aggregate === 'AGGREGATE' || column === undefined || indicator !== undefined)
    return numbers;
  const { kind } = typeOf(column, datamart);
  if (aggregate === 'MIN' || aggregate === 'MAX') return kind;
  const isDate = kind === 'date' && (aggregate === 'MEDIAN' || aggregate === 'PERCENTILE');
  return isDate ? 'date' : numbers;
};

/** What the values of a measure or calculation are. Undefined: only the database knows, or the metric has none of the name. */
export const kindOfMeasure = (
  definition: MetricDefinition,
  name: string,
  datamart: Datamart,
): DatatypeKind | undefined => {
  if (definition.kind === 'sql') return undefined;
  const { measures, calculations = [] } = definition;
  const of = calculations.find((calculation) => calculation.name === name)?.of ?? name;
  const measure = measures.find((one) => one.name === of);
  return measure?.expression === undefined && measure?.aggregate !== 'AGGREGATE' && measure !== undefined
    ? measureKind(measure, datamart)
    : undefined;
};

const havingFaults = (
  having: HavingTree | undefined,
  measures: readonly Measure[],
  datamart: Datamart,
): readonly string[] => {
  if (having === undefined) return [];
  if (!('measure' in having))
    return ('all' in having ? having.all : having.any).flatMap((one) => havingFaults(one, measures, datamart));
  const measure = measures.find(({ name }) => name === having.measure);
  if (measure === undefined) return [];
  const kind = measureKind(measure, datamart);
  const says = `measure ${JSON.stringify(measure.name)} has ${words[kind ?? 'other']}`;
  return predicateFaults('having', having.predicate, { kind, says });
};

const calculationFaults = (
  { name, of }: Calculation,
  index: number,
  measures: readonly Measure[],
  datamart: Datamart,
): readonly string[] => {
  const measure = measures.find((one) => one.name === of);
  const kind = measure === undefined ? numbers : measureKind(measure, datamart);
  if (can(kind)?.hasBuckets !== false) return [];
  const place = `calculations[${index}] ${JSON.stringify(name)}`;
  return [
    `${place}: needs a measure of numbers, and ${JSON.stringify(of)} has ${words[kind ?? 'other']}; name another in "of"`,
  ];
};

const visualFaults = (definition: VisualDefinition, datamart: Datamart): readonly string[] => {
  const { dimensions, drillPath, measures, where, having, calculations = [] } = definition;
  return [
    ...measures.flatMap((one, index) => measureFaults(one, index, datamart)),
    ...dimensions.flatMap((one, index) => dimensionFaults('dimensions', one, index, datamart)),
    ...drillPath.flatMap((one, index) => dimensionFaults('drillPath', one, index, datamart)),
    ...whereFaults(where, datamart),
    ...havingFaults(having, measures, datamart),
    ...calculations.flatMap((one, index) => calculationFaults(one, index, measures, datamart)),
  ];
};

/** Returns the faults of types in one metric for this datamart. Columns that it lacks are no fault of a type. */
export const definitionTypeFaults = (definition: MetricDefinition, datamart: Datamart): readonly string[] => [
  ...(definition.kind === 'visual' ? visualFaults(definition, datamart) : []),
  ...definition.filters.flatMap((filter, index) => metricFilterFaults(filter, index, datamart)),
];

/** Returns the faults of types in a filter of a dashboard. A column counts in the datamarts that have it. */
export const dashboardFilterTypeFaults = (filter: DashboardFilter, datamarts: readonly Datamart[]): readonly string[] =>
  filter.applyOnTables.flatMap((ref) => {
    const having = datamarts.filter((datamart) => findColumn(datamart, ref) !== undefined);
    const place = `filters[${JSON.stringify(filter.name)}]`;
    const faults = having.map((datamart) => filterFaults(place, filter, typeOf(ref, datamart)));
    return faults.toSorted((a, b) => a.length - b.length)[0] ?? [];
  });
