/** Columns in a metric's definition, and the definition's faults for a datamart. */
import { type ColumnRef, type Datamart, findColumn, findTable, type TableRef } from '../datamart/datamart.js';
import { sameName } from './dashboard.js';
import {
  type Calculation,
  type ConditionTree,
  type HavingTree,
  type Measure,
  type MetricDefinition,
  outputNames,
  type SqlDefinition,
  testsOf,
  type VisualDefinition,
} from './metric.js';

/** Returns a column's name as fault messages write it. */
export const written = (ref: ColumnRef): string => `${ref.schemaName}.${ref.tableName}.${ref.columnName}`;

const columnOf = ({ column }: { readonly column?: ColumnRef | undefined }): readonly ColumnRef[] =>
  column === undefined ? [] : [column];

/**
 * Returns every column that the definition names. Columns in SQL and expressions are not included, since only a parser
 * of the database's SQL can find them.
 */
export const columnsOf = (definition: MetricDefinition): readonly ColumnRef[] => {
  const filtered = [...definition.filters.map(({ column }) => column), ...definition.rlsVariables.flatMap(columnOf)];
  if (definition.kind === 'sql') return filtered;
  return [
    ...[...definition.dimensions, ...definition.drillPath].map(({ column }) => column),
    ...definition.measures.flatMap(columnOf),
    ...filtered,
    ...testsOf(definition.where).map(({ column }) => column),
    ...(definition.comparison === undefined ? [] : [definition.comparison.column]),
    ...definition.underlying,
  ];
};

const repeated = (names: readonly string[]): readonly string[] =>
  names.filter((name, index) => names.findIndex((other) => sameName(other, name)) < index);

/**
 * Returns repeated names among the filters' names and labels. If a name of one filter were the label of another, a key
 * could select either of them.
 */
const sharedFilterNames = ({ filters }: MetricDefinition): readonly string[] =>
  repeated(filters.flatMap(({ name, label }) => (sameName(name, label) ? [name] : [name, label])));

/** Returns all faults of one metric for this datamart. */
export const definitionFaults = (definition: MetricDefinition, datamart: Datamart): readonly string[] => {
  const names = outputNames(definition);
  return [
    ...(definition.kind === 'visual' ? tableFaults(definition.from, datamart) : []),
    ...columnsOf(definition)
      .filter((ref) => findColumn(datamart, ref) === undefined)
      .map((ref) => `the datamart has no column ${written(ref)}`),
    ...repeated(names).map((name) => `two columns of the answer are named "${name}"`),
    ...sharedFilterNames(definition).map((name) => `two filters have the name or label "${name}"`),
    ...definition.sort
      .filter(({ name }) => !names.includes(name))
      .map(({ name }) => `sort: no dimension or measure "${name}"`),
    ...(definition.kind === 'visual' ? visualFaults(definition) : sqlFaults(definition)),
    ...chartFaults(definition),
    ...(names.length === 0 ? ['it has neither a dimension nor a measure'] : []),
  ];
};

const tableFaults = (from: TableRef, datamart: Datamart): readonly string[] =>
  findTable(datamart, from) === undefined
    ? [`from: the datamart has no table ${from.schemaName}.${from.tableName}`]
    : [];

const visualFaults = (definition: VisualDefinition): readonly string[] => {
  const measures = new Set(definition.measures.map(({ name }) => name));
  return [
    ...definition.measures.flatMap(measureFaults),
    ...definition.rlsVariables
      .filter(({ column }) => column === undefined)
      .map(({ name }) => `rlsVariables: "${name}" needs a column; only custom SQL goes without`),
    ...havingMeasures(definition.having)
      .filter((name) => !measures.has(name))
      .map((name) => `having: no measure "${name}"`),
    ...(definition.calculations ?? []).flatMap((calculation) => calculationFaults(calculation, definition)),
    ...treeFaults('where', definition.where),
    ...treeFaults('having', definition.having),
  ];
};

const measureFaults = ({ name, aggregate, column, indicator, percentile }: Measure): readonly string[] => [
  ...(aggregate !== undefined && column === undefined && (aggregate !== 'COUNT' || indicator !== undefined)
    ? [`measure "${name}" needs a column`]
    : []),
  ...((aggregate === 'PERCENTILE') === (percentile === undefined)
    ? [`measure "${name}": percentile (0 to 1) belongs to the aggregate PERCENTILE, which needs it`]
    : []),
];

const havingMeasures = (tree: HavingTree | undefined): readonly string[] => {
  if (tree === undefined) return [];
  if ('measure' in tree) return [tree.measure];
  return ('all' in tree ? tree.all : tree.any).flatMap(havingMeasures);
};

/**
 * Returns faults for empty groups. An empty "any" would match nothing and an empty "all" everything; the author means
 * neither.
 */
const treeFaults = (where: string, tree: ConditionTree | HavingTree | undefined): readonly string[] => {
  if (tree === undefined || 'predicate' in tree) return [];
  const items: readonly (ConditionTree | HavingTree)[] = 'all' in tree ? tree.all : tree.any;
  return items.length === 0
    ? [`${where}: a group holds no condition`]
    : items.flatMap((item) => treeFaults(where, item));
};

const calculationFaults = (calculation: Calculation, { dimensions, measures }: VisualDefinition): readonly string[] => {
  const { name, of, kind } = calculation;
  const named =
    kind === 'shareOfTotal' ? (calculation.within ?? []) : [calculation.along].filter((it) => it !== undefined);
  const along = kind === 'shareOfTotal' ? undefined : (calculation.along ?? dimensions[0]?.name);
  const walked = dimensions.find((dimension) => dimension.name === along);
  return [
    ...(measures.some((measure) => measure.name === of) ? [] : [`calculation "${name}": no measure "${of}"`]),
    ...named
      .filter((wanted) => !dimensions.some((dimension) => dimension.name === wanted))
      .map((wanted) => `calculation "${name}": no dimension "${wanted}"`),
    ...(kind !== 'shareOfTotal' && walked === undefined ? [`calculation "${name}" needs a dimension to go along`] : []),
    ...(kind === 'previousPeriod' && walked !== undefined && !isPeriodic(walked.grain)
      ? [`calculation "${name}": dimension "${walked.name}" needs a grain from minute to year`]
      : []),
  ];
};

const isPeriodic = (grain: string | undefined): boolean =>
  grain !== undefined && grain !== 'hourOfDay' && grain !== 'dayOfWeek';

const sqlFaults = ({ rlsVariables, sql }: SqlDefinition): readonly string[] =>
  rlsVariables
    .filter(({ name, column }) => column === undefined && !sql.toLowerCase().includes(`${name.toLowerCase()}_variable`))
    .map(({ name }) => `rlsVariables: "${name}" has no column, and the SQL does not compare with ${name}_variable`);

const chartFaults = (definition: MetricDefinition): readonly string[] => {
  const { chart, dimensions } = definition;
  const names = outputNames(definition);
  const measured = {
    series: chart.series?.map(({ measure }) => measure),
    numbers: chart.numbers?.map(({ measure }) => measure),
    lines: chart.lines?.flatMap((line) => (line.kind === 'value' ? [] : [line.measure])),
    rules: chart.rules?.map(({ measure }) => measure),
    bars: chart.bars,
  };
  return [
    ...Object.entries(measured).flatMap(([place, measures = []]) =>
      measures.filter((name) => !names.includes(name)).map((name) => `chart.${place}: no measure "${name}"`),
    ),
    ...(chart.across ?? [])
      .filter((name) => !dimensions.some((dimension) => dimension.name === name))
      .map((name) => `chart.across: no dimension "${name}"`),
  ];
};
