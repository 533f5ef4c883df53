/** The columns of a SELECT as its author uses them in a metric: split by, shown as a value, or left out. Pure. */
import type { Chart } from '../../../model/dashboard/chart.js';
import type { SqlDefinition } from '../../../model/dashboard/metric.js';
import type { WireKind } from '../../../model/datamart/datatypes.js';
import type { AnswerColumn, MetricAnswer } from '../../../model/query/engine.js';
import type { Catalogue } from '../../editor/catalogue.js';
import { type ChartFit, chartFits, chartNeed, suggestedChart } from '../../editor/charts.js';
import { type Draft, emptyDraft, sameName, tidied } from '../../editor/draft.js';

export const uses = ['dimension', 'measure', 'none'] as const;
export type Use = (typeof uses)[number];
export type SqlColumn = Pick<AnswerColumn, 'name' | 'dataType'> & { readonly use: Use };

/** What the author chose before stays where the column is still there. New columns are used as proposed. */
export const usedColumns = (
  found: readonly SqlColumn[],
  before: readonly Omit<SqlColumn, 'dataType'>[],
): readonly SqlColumn[] =>
  found.map((column) => ({
    ...column,
    use: before.find(({ name }) => sameName(name, column.name))?.use ?? column.use,
  }));

/** The uses that a saved metric says. */
export const usesOf = ({ dimensions, measures }: SqlDefinition): readonly Omit<SqlColumn, 'dataType'>[] => [
  ...dimensions.map(({ name }) => ({ name, use: 'dimension' as const })),
  ...measures.map(({ name }) => ({ name, use: 'measure' as const })),
];

const named = (columns: readonly SqlColumn[], use: Use): readonly { readonly name: string }[] =>
  columns.filter((column) => column.use === use).map(({ name }) => ({ name }));

/** The metric with these columns. What its chart and its order say of columns that are gone is left out. */
export const withColumns = (
  definition: SqlDefinition,
  columns: readonly SqlColumn[],
  type: Chart['type'],
): SqlDefinition => {
  const { draft } = shapeOf(columns);
  const { chart, sort } = tidied({ ...draft, chart: { ...definition.chart, type }, sort: definition.sort });
  return {
    ...definition,
    ...{ chart, sort, dimensions: named(columns, 'dimension'), measures: named(columns, 'measure') },
  };
};

/** The metric as it is run: its author need not have said yet what its columns are. */
export const plainSql = (definition: SqlDefinition, sql: string): SqlDefinition => ({
  ...definition,
  ...{ sql, chart: { type: 'table' }, dimensions: [], measures: [], sort: [] },
});

/** The same in the metric's order, which decides what is shown where the rows are limited. Columns that are gone order nothing. */
export const inOrder = (
  plain: SqlDefinition,
  columns: readonly Pick<AnswerColumn, 'name'>[],
  sort: SqlDefinition['sort'],
): SqlDefinition => {
  const known = sort.filter(({ name }) => columns.some((column) => column.name === name));
  if (known.length === 0) return plain;
  return { ...plain, dimensions: columns.map(({ name }) => ({ name })), sort: known };
};

const kinds: Readonly<Record<AnswerColumn['dataType'], WireKind>> = {
  ...{ date: 'date', number: 'number', string: 'text', boolean: 'boolean' },
};

const rows = { schemaName: '', tableName: 'rows' };

/** The columns as a draft of the editor and its fields, so that the same rules say which charts fit. */
const shapeOf = (columns: readonly SqlColumn[]): { readonly draft: Draft; readonly catalogue: Catalogue } => {
  const columnOf = (columnName: string) => ({ ...rows, columnName });
  const fields = columns.map(({ name, dataType }) => ({
    ...{ columnName: name, label: name, description: null, synonyms: [], type: kinds[dataType], columnType: null },
    ...{ isIdentifier: false, isMeasure: false, aggregates: [], suggestedAggregates: [], numbers: null },
  }));
  const ofUse = (use: Use) => columns.filter((column) => column.use === use);
  return {
    draft: {
      ...emptyDraft,
      from: rows,
      dimensions: ofUse('dimension').map(({ name }) => ({ name, column: columnOf(name) })),
      measures: ofUse('measure').map(({ name }) => ({ name, aggregate: 'MAX', column: columnOf(name) })),
    },
    catalogue: {
      tables: [{ ...rows, label: '', description: null, synonyms: [], joinGroup: 0, fields }],
      relationships: [],
    },
  };
};

export const fitsOf = (columns: readonly SqlColumn[]): readonly ChartFit[] => {
  const { draft, catalogue } = shapeOf(columns);
  return chartFits(draft, catalogue);
};

/** The wished chart where it fits, else the one that fits best. */
export const fittingChart = (columns: readonly SqlColumn[], wished: Chart['type'] | null): Chart['type'] => {
  const { draft, catalogue } = shapeOf(columns);
  return wished !== null && chartNeed(wished, draft, catalogue) === null ? wished : suggestedChart(draft, catalogue);
};

/** The answer to the SQL as the metric has it: those of its columns that are not left out. */
export const answerWith = (answer: MetricAnswer, columns: readonly SqlColumn[]): MetricAnswer => {
  const used = [...named(columns, 'dimension'), ...named(columns, 'measure')];
  return {
    ...answer,
    columns: used.flatMap(({ name }) => answer.columns.find((column) => column.name === name) ?? []),
    groupbyColumnList: named(columns, 'dimension').map(({ name }) => name),
  };
};
