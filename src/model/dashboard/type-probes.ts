/**
 * Parts of a metric whose types only the database knows: expressions, custom columns, enums, domains and custom SQL. Each
 * is a metric of its own, so that the database's refusal of one has a place.
 */
import { type ColumnRef, type Datamart, findColumn } from '../datamart/datamart.js';
import { columnKind } from '../datamart/datatypes.js';
import type { Condition } from '../filter/filter.js';
import { columnsOf, written } from './definition.js';
import { type ConditionTree, type MetricDefinition, testsOf, type VisualDefinition } from './metric.js';

export type TypeProbe = {
  /** Such as `measures[0] "Total".expression`. Empty for the whole metric. */
  readonly place: string;
  readonly definition: MetricDefinition;
  /** Conditions that apply in every query. */
  readonly conditions: readonly Condition[];
  /** What the datamart says of the columns that the part names. */
  readonly says: string;
};

const isUnknown = (ref: ColumnRef, datamart: Datamart): boolean => {
  const column = findColumn(datamart, ref);
  const kind = column && columnKind(column);
  return column !== undefined && (kind === undefined || kind === 'other' || kind === 'json' || kind === 'opaque');
};

/** Whether the datamart does not know every type in the metric. */
export const hasUnknownTypes = (definition: MetricDefinition, datamart: Datamart): boolean =>
  definition.kind === 'sql' ||
  definition.measures.some(({ expression }) => expression !== undefined) ||
  columnsOf(definition).some((ref) => isUnknown(ref, datamart));

/** The metric as it is written, without variables' values: only a token has them. */
const withoutValues = <D extends MetricDefinition>(definition: D): D => ({
  ...definition,
  rlsVariables: definition.rlsVariables.map((one) => ({ ...one, isOptional: true })),
});

const always = ({ filters }: MetricDefinition): readonly Condition[] =>
  filters.flatMap(({ column, predicate }) => (predicate === undefined ? [] : [{ column, predicate }]));

export const wholeProbe = (definition: MetricDefinition): TypeProbe => ({
  place: definition.kind === 'sql' ? 'sql' : '',
  definition: withoutValues(definition),
  conditions: always(definition),
  says: '',
});

const count = { name: 'n', aggregate: 'COUNT' } as const;

const partOf = (definition: VisualDefinition, parts: Partial<VisualDefinition>): VisualDefinition => ({
  kind: 'visual',
  ...{ chart: { type: 'table' }, from: definition.from, dimensions: [], measures: [count], filters: [] },
  ...{ rlsVariables: [], underlying: [], drillPath: [], sort: [], limit: null },
  ...parts,
});

const typeOf = (ref: ColumnRef, datamart: Datamart): string => {
  const column = findColumn(datamart, ref);
  return column?.isCustomColumn === true
    ? `${written(ref)} is a custom column`
    : `${written(ref)} has the type ${column?.datatype ?? 'unknown'}`;
};

/** The columns that an expression may name, by the last part of their names. */
const namedIn = (expression: string, { tables }: Datamart): readonly ColumnRef[] => {
  const words = new Set(expression.toLowerCase().match(/[\p{L}\p{N}_$]+/gu));
  return tables
    .filter(({ tableName }) => words.has(tableName.toLowerCase()))
    .flatMap(({ schemaName, tableName, columns }) =>
      columns
        .filter(({ columnName }) => words.has(columnName.toLowerCase()))
        .map(({ columnName }) => ({ schemaName, tableName, columnName })),
    );
};

/** Returns the parts of a metric, the more telling ones first. */
export const partProbes = (definition: MetricDefinition, datamart: Datamart): readonly TypeProbe[] => {
  if (definition.kind === 'sql') return [];
  const { dimensions, measures, where } = definition;
  const says = (refs: readonly ColumnRef[]): string => refs.map((ref) => typeOf(ref, datamart)).join(', ');
  const probe = (place: string, parts: Partial<VisualDefinition>, refs: readonly ColumnRef[]): TypeProbe => ({
    ...{ place, definition: partOf(definition, parts), conditions: [], says: says(refs) },
  });
  return [
    ...measures.map((measure, index) => {
      const { name, expression, column } = measure;
      const place = `measures[${index}] ${JSON.stringify(name)}${expression === undefined ? '' : '.expression'}`;
      const refs = expression === undefined ? (column ?? []) : namedIn(expression, datamart);
      return probe(place, { measures: [measure] }, [refs].flat());
    }),
    ...dimensions.map((one, index) =>
      probe(`dimensions[${index}] ${JSON.stringify(one.name)}`, { dimensions: [one] }, [one.column]),
    ),
    ...testsOf(where).map((one: ConditionTree & Condition) => probe('where', { where: one }, [one.column])),
    ...definition.filters.flatMap(({ name, column, predicate }, index) =>
      predicate === undefined
        ? []
        : [
            {
              ...probe(`filters[${index}] ${JSON.stringify(name)}.predicate`, {}, [column]),
              conditions: [{ column, predicate }],
            },
          ],
    ),
  ];
};

/** Dimensions that only a drill shows. */
export const drillProbes = (definition: MetricDefinition, datamart: Datamart): readonly TypeProbe[] =>
  definition.kind === 'sql'
    ? []
    : definition.drillPath.flatMap((one, index) =>
        isUnknown(one.column, datamart)
          ? [
              {
                place: `drillPath[${index}] ${JSON.stringify(one.name)}`,
                definition: partOf(definition, { dimensions: [one] }),
                conditions: [],
                says: typeOf(one.column, datamart),
              },
            ]
          : [],
      );

/** Custom columns that only the underlying rows show. Their values are read like those of a dimension. */
export const rowProbes = (definition: MetricDefinition, datamart: Datamart): readonly TypeProbe[] =>
  definition.kind === 'sql'
    ? []
    : definition.underlying.flatMap((column, index) =>
        findColumn(datamart, column)?.isCustomColumn === true
          ? [
              {
                place: `underlying[${index}]`,
                definition: partOf(definition, { dimensions: [{ name: 'value', column }] }),
                conditions: [],
                says: typeOf(column, datamart),
              },
            ]
          : [],
      );
