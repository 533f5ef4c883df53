/** Titles of an answer's columns for files that people read. */
import { type MetricDefinition, outputNames } from '../dashboard/metric.js';
import { type ColumnRef, type Datamart, findColumn } from '../datamart/datamart.js';

type Output = { readonly name: string; readonly column?: ColumnRef | undefined };

const outputsOf = (definition: MetricDefinition): readonly Output[] =>
  definition.kind === 'sql' ? [] : [...definition.dimensions, ...definition.measures];

/** The datamart's label, where the metric's author left the column's own name. A name that the author chose stays. */
const labelOf = ({ name, column }: Output, datamart: Datamart): string => {
  if (column === undefined || column.columnName !== name) return name;
  return findColumn(datamart, column)?.label.trim() || name;
};

/** Returns the title of each column by its name. Two columns never have the same title. */
export const columnLabels = (definition: MetricDefinition, datamart: Datamart): ReadonlyMap<string, string> => {
  const names = outputNames(definition);
  const labels = new Map(names.map((name) => [name, name]));
  for (const output of outputsOf(definition)) labels.set(output.name, labelOf(output, datamart));
  const shared = [...labels.values()].filter((label, at, all) => all.indexOf(label) !== at);
  return new Map([...labels].map(([name, label]) => [name, shared.includes(label) ? name : label]));
};
