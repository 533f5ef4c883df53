/** Columns in a metric's definition, and the definition's faults for a datamart. */
import {
  type ColumnRef,
  type Datamart,
  findColumn,
  findTable,
  isMeasureColumn,
  type TableRef,
} from '../datamart/datamart.js';
import { sameName } from './dashboard.js';
import {
  type Calculation,
  type ConditionTree,
  type HavingTree,
  type Measure,
  type MetricDefinition,
  outputNames,
  type SqlDefinition,
  sortableNames,
  type VisualDefinition,
} from './metric.js';
import { othersFaults } from './others.js';

/** Returns a column's name as fault messages write it. */
export const written = (ref: ColumnRef): string => `${ref.schemaName}.${ref.tableName}.${ref.columnName}`;

const columnOf = ({ column }: { readonly column?: ColumnRef | undefined }): readonly ColumnRef[] =>
  column === undefined ? [] : [column];

/** A column of a definition, with its JSON path there. */
export type PlacedColumn = { readonly path: string; readonly column: ColumnRef };

const placed = (
  list: string,
  items: readonly { readonly column?: ColumnRef | undefined }[] | undefined,
): readonly PlacedColumn[] =>
  (items ?? []).flatMap((item, index) =>
    columnOf(item).map((column) => ({ path: `${list}[${index}].column`, column })),
  );

const inTree = (path: string, tree: ConditionTree | undefined): readonly PlacedColumn[] => {
  if (tree === undefined) return [];
  if ('predicate' in tree) return [{ path: `${path}.column`, column: tree.column }];
  const [kind, items] = 'all' in tree ? (['all', tree.all] as const) : (['any', tree.any] as const);
  return items.flatMap((item, index) => inTree(`${path}.${kind}[${index}]`, item));
};

/**
 * Returns every column that the definition names. Columns in SQL and expressions are not included, since only a parser
 * of the database's SQL can find them.
 */
const placedColumns = (definition: MetricDefinition): readonly PlacedColumn[] => {
  const filtered = [...placed('filters', definition.filters), ...placed('rlsVariables', definition.rlsVariables)];
  if (definition.kind === 'sql') return filtered;
  const { dimensions, drillPath, measures, where, comparison, underlying } = definition;
  return [
    ...placed('dimensions', dimensions),
    ...placed('drillPath', drillPath),
    ...placed('measures', measures),
    ...filtered,
    ...inTree('where', where),
    ...(comparison === undefined ? [] : [{ path: 'comparison.column', column: comparison.column }]),
    ...underlying.map((column, index) => ({ path: `underlying[${index}]`, column })),
  ];
};

/** As `placedColumns`, without the paths. */
export const columnsOf = (definition: MetricDefinition): readonly ColumnRef[] =>
  placedColumns(definition).map(({ column }) => column);

/** Returns a fault for each column that the datamart does not have. */
export const missingColumns = (definition: MetricDefinition, datamart: Datamart): readonly string[] =>
  placedColumns(definition)
    .filter(({ column }) => findColumn(datamart, column) === undefined)
    .map(({ path, column }) => `${path}: the datamart has no column ${written(column)}`);

/** Returns the fault without its path, which changes when a part before it is removed. */
export const withoutPath = (fault: string): string => fault.replace(/^[\w.[\]]+: /, '');

const isRepeated = (names: readonly string[], index: number): boolean =>
  names.findIndex((other) => sameName(other, names[index] ?? '')) < index;

/** Returns a fault for each column of the answer whose name an earlier one has. */
const repeatedNames = (definition: MetricDefinition): readonly string[] => {
  const calculations = definition.kind === 'visual' ? (definition.calculations ?? []) : [];
  const lists = { dimensions: definition.dimensions, measures: definition.measures, calculations };
  const columns = Object.entries(lists).flatMap(([list, items]) =>
    items.map(({ name }, index) => ({ path: `${list}[${index}].name`, name })),
  );
  const names = columns.map(({ name }) => name);
  return columns
    .filter((_, index) => isRepeated(names, index))
    .map(({ path, name }) => `${path}: two columns of the answer are named "${name}"`);
};

/**
 * Returns repeated names among the filters' names and labels. If a name of one filter were the label of another, a key
 * could select either of them.
 */
const sharedFilterNames = ({ filters }: MetricDefinition): readonly string[] => {
  const keys = filters.flatMap(({ name, label }, index) =>
    sameName(name, label)
      ? [{ index, name }]
      : [
          { index, name },
          { index, name: label },
        ],
  );
  const names = keys.map(({ name }) => name);
  return keys
    .filter((_, at) => isRepeated(names, at))
    .map(({ index, name }) => `filters[${index}]: two filters have the name or label "${name}"`);
};

/** Returns all faults of one metric for this datamart. */
export const definitionFaults = (definition: MetricDefinition, datamart: Datamart): readonly string[] => [
  ...partFaults(definition, datamart),
  ...(outputNames(definition).length === 0 ? ['measures: it has neither a dimension nor a measure that is shown'] : []),
];

/** As `definitionFaults`, but SQL needs not say yet which of its columns are dimensions and measures. */
export const triedFaults = (definition: MetricDefinition, datamart: Datamart): readonly string[] =>
  definition.kind === 'sql' ? partFaults(definition, datamart) : definitionFaults(definition, datamart);

const partFaults = (definition: MetricDefinition, datamart: Datamart): readonly string[] => {
  const sortable = sortableNames(definition);
  return [
    ...(definition.kind === 'visual' ? tableFaults('from', definition.from, datamart) : []),
    ...missingColumns(definition, datamart),
    ...repeatedNames(definition),
    ...sharedFilterNames(definition),
    ...definition.sort.flatMap(({ name }, index) =>
      sortable.includes(name) ? [] : [`sort[${index}].name: no dimension or measure "${name}"`],
    ),
    ...(definition.kind === 'visual' ? visualFaults(definition, datamart) : sqlFaults(definition)),
    ...chartFaults(definition),
    ...(definition.withoutBaseFilters ?? []).flatMap((table, index) =>
      tableFaults(`withoutBaseFilters[${index}]`, table, datamart),
    ),
  ];
};

const tableFaults = (path: string, table: TableRef, datamart: Datamart): readonly string[] =>
  findTable(datamart, table) === undefined
    ? [`${path}: the datamart has no table ${table.schemaName}.${table.tableName}`]
    : [];

const visualFaults = (definition: VisualDefinition, datamart: Datamart): readonly string[] => {
  const measures = new Set(definition.measures.map(({ name }) => name));
  return [
    ...definition.measures.flatMap(measureFaults),
    ...definition.measures.flatMap((measure, index) => modelMeasureFaults(measure, index, datamart)),
    ...definition.rlsVariables
      .filter(({ column }) => column === undefined)
      .map(({ name }) => `rlsVariables: "${name}" needs a column; only custom SQL goes without`),
    ...havingMeasures('having', definition.having)
      .filter(({ name }) => !measures.has(name))
      .map(({ path, name }) => `${path}: no measure "${name}"`),
    ...(definition.calculations ?? []).flatMap((calculation, index) =>
      calculationFaults(calculation, `calculations[${index}]`, definition),
    ),
    ...treeFaults('where', definition.where),
    ...treeFaults('having', definition.having),
    ...othersFaults(definition),
  ];
};

/** A measure of the datamart is taken as it is. */
const modelMeasureFaults = (
  { name, aggregate, column, indicator }: Measure,
  index: number,
  datamart: Datamart,
): readonly string[] => {
  if (aggregate !== 'AGGREGATE' || column === undefined) return [];
  const found = findColumn(datamart, column);
  if (found !== undefined && !isMeasureColumn(found)) {
    return [
      `measures[${index}].column: measure "${name}" takes ${written(column)} as it is (AGGREGATE), which is no measure of the datamart: a custom column with isAggregate`,
    ];
  }
  return indicator === undefined
    ? []
    : [`measures[${index}].indicator: measure "${name}" is a measure of the datamart, which is taken as it is`];
};

const measureFaults = (
  { name, aggregate, column, indicator, percentile }: Measure,
  index: number,
): readonly string[] => [
  ...(aggregate !== undefined && column === undefined && (aggregate !== 'COUNT' || indicator !== undefined)
    ? [`measures[${index}].column: measure "${name}" needs a column`]
    : []),
  ...((aggregate === 'PERCENTILE') === (percentile === undefined)
    ? [
        `measures[${index}].percentile: measure "${name}": percentile (0 to 1) belongs to the aggregate PERCENTILE, which needs it`,
      ]
    : []),
];

const havingMeasures = (
  path: string,
  tree: HavingTree | undefined,
): readonly { readonly path: string; readonly name: string }[] => {
  if (tree === undefined) return [];
  if ('measure' in tree) return [{ path: `${path}.measure`, name: tree.measure }];
  const [kind, items] = 'all' in tree ? (['all', tree.all] as const) : (['any', tree.any] as const);
  return items.flatMap((item, index) => havingMeasures(`${path}.${kind}[${index}]`, item));
};

/**
 * Returns faults for empty groups. An empty "any" would match nothing and an empty "all" everything; the author means
 * neither.
 */
const treeFaults = (where: string, tree: ConditionTree | HavingTree | undefined): readonly string[] => {
  if (tree === undefined || 'predicate' in tree) return [];
  const kind = 'all' in tree ? 'all' : 'any';
  const items: readonly (ConditionTree | HavingTree)[] = 'all' in tree ? tree.all : tree.any;
  return items.length === 0
    ? [`${where}.${kind}: a group holds no condition`]
    : items.flatMap((item, index) => treeFaults(`${where}.${kind}[${index}]`, item));
};

const calculationFaults = (
  calculation: Calculation,
  path: string,
  { dimensions, measures }: VisualDefinition,
): readonly string[] => {
  const { name, of, kind } = calculation;
  const named =
    kind === 'shareOfTotal' ? (calculation.within ?? []) : [calculation.along].filter((it) => it !== undefined);
  const along = kind === 'shareOfTotal' ? undefined : (calculation.along ?? dimensions[0]?.name);
  const walked = dimensions.find((dimension) => dimension.name === along);
  return [
    ...(measures.some((measure) => measure.name === of)
      ? []
      : [`${path}.of: calculation "${name}": no measure "${of}"`]),
    ...named
      .filter((wanted) => !dimensions.some((dimension) => dimension.name === wanted))
      .map(
        (wanted) =>
          `${path}.${kind === 'shareOfTotal' ? 'within' : 'along'}: calculation "${name}": no dimension "${wanted}"`,
      ),
    ...(kind !== 'shareOfTotal' && walked === undefined
      ? [`${path}.along: calculation "${name}" needs a dimension to go along`]
      : []),
    ...(kind === 'previousPeriod' && walked !== undefined && !isPeriodic(walked.grain)
      ? [`${path}.along: calculation "${name}": dimension "${walked.name}" needs a grain from minute to year`]
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
  const steps = definition.kind === 'visual' ? definition.drillPath.map(({ name }) => name) : [];
  const measured = {
    series: chart.series?.map(({ measure }) => measure),
    numbers: chart.numbers?.map(({ measure }) => measure),
    lines: chart.lines?.map((line) => (line.kind === 'value' ? undefined : line.measure)),
    rules: chart.rules?.map(({ measure }) => measure),
    bars: chart.bars,
  };
  return [
    ...Object.entries(measured).flatMap(([place, measures = []]) =>
      measures.flatMap((name, index) =>
        name === undefined || names.includes(name) ? [] : [`chart.${place}[${index}]: no measure "${name}"`],
      ),
    ),
    ...(chart.dates ?? []).flatMap(({ name }, index) =>
      [...names, ...steps].includes(name) ? [] : [`chart.dates[${index}].name: no dimension or measure "${name}"`],
    ),
    ...(chart.across ?? []).flatMap((name, index) =>
      dimensions.some((dimension) => dimension.name === name) ? [] : [`chart.across[${index}]: no dimension "${name}"`],
    ),
  ];
};
