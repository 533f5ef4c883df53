/** The definition that an editor changes, and its names. Every draft passes the schema of the service. */
import type { Chart } from '../../domain/dashboard/chart.js';
import type {
  AggregateMeasure,
  Calculation,
  Comparison,
  Dimension,
  Measure,
  MetricDefinition,
  Sort,
  VisualDefinition,
} from '../../domain/dashboard/metric.js';
import type { TableRef } from '../../domain/datamart/datamart.js';
import type { Condition } from '../../domain/filter/filter.js';
import type { NewGuestDefinition } from '../../domain/guest/metric.js';

export type Draft = {
  readonly chart: Chart;
  /** Null until the first field or table is chosen. */
  readonly from: TableRef | null;
  readonly dimensions: readonly Dimension[];
  readonly measures: readonly AggregateMeasure[];
  readonly calculations: readonly Calculation[];
  /** All of them must pass. */
  readonly filters: readonly Condition[];
  readonly drillPath: readonly Dimension[];
  readonly comparison: Comparison | null;
  readonly sort: readonly Sort[];
  readonly limit: number | null;
};

export const emptyDraft: Draft = {
  chart: { type: 'table' },
  from: null,
  dimensions: [],
  measures: [],
  calculations: [],
  filters: [],
  drillPath: [],
  comparison: null,
  sort: [],
  limit: null,
};

/** Returns the definition that is sent to the service. Undefined if no table is chosen. */
export const definitionOf = ({ from, filters, comparison, ...parts }: Draft): NewGuestDefinition | undefined =>
  from === null
    ? undefined
    : {
        ...parts,
        from,
        ...(filters.length === 0 ? {} : { where: { all: filters } }),
        ...(comparison === null ? {} : { comparison }),
      };

const isAggregate = (measure: Measure): measure is AggregateMeasure => measure.expression === undefined;

/** The conditions that must all pass. Undefined for a tree that the editor cannot show. */
const conditionsOf = ({ where }: VisualDefinition): readonly Condition[] | undefined => {
  if (where === undefined) return [];
  if ('predicate' in where) return [where];
  if (!('all' in where)) return undefined;
  const conditions = where.all.filter((node): node is Condition => 'predicate' in node);
  return conditions.length === where.all.length ? conditions : undefined;
};

/**
 * Returns the draft of a definition. Undefined if it has parts that the editor cannot show: SQL, an expression, a
 * condition on groups, or conditions of which one suffices.
 */
export const draftOf = (definition: MetricDefinition): Draft | undefined => {
  if (definition.kind === 'sql' || definition.having !== undefined) return undefined;
  const { chart, from, dimensions, calculations = [], drillPath, comparison = null, sort, limit } = definition;
  const filters = conditionsOf(definition);
  const measures = definition.measures.filter(isAggregate);
  if (filters === undefined || measures.length < definition.measures.length) return undefined;
  return { chart, from, dimensions, measures, calculations, filters, drillPath, comparison, sort, limit };
};

/** Returns the definition with what the draft says. Parts that no draft has stay: metric filters, variables, underlying columns. */
export const redefined = (definition: VisualDefinition, next: NewGuestDefinition): VisualDefinition => {
  const { where: _, calculations: __, comparison: ___, ...kept } = definition;
  const { calculations = [], ...rest } = next;
  const own = calculations.length === 0 ? {} : { calculations };
  return { ...kept, ...rest, ...own, kind: 'visual' } as VisualDefinition;
};

/** The service compares names without regard to case. */
export const sameName = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

const greatestName = 255;

/** Returns the text as the service takes it as a name; empty if nothing is left. */
export const cleanName = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Cs}]+/gu, ' ')
    .trim()
    .slice(0, greatestName)
    .replace(/\p{Cs}/gu, '');

/** Returns every name of the draft: of the answer's columns, and of those after a drill. */
export const namesOf = ({ dimensions, measures, calculations, drillPath }: Draft): readonly string[] =>
  [...dimensions, ...measures, ...calculations, ...drillPath].map(({ name }) => name);

/** Returns the wanted name, with a number if the draft has it already. */
export const freeName = (draft: Draft, wanted: string): string => {
  const taken = new Set(namesOf(draft).map((name) => name.toLowerCase()));
  const base = cleanName(wanted) || '#';
  for (let number = 1; ; number += 1) {
    const end = number === 1 ? '' : ` ${number}`;
    const name = `${cleanName(base.slice(0, greatestName - end.length))}${end}`;
    if (!taken.has(name.toLowerCase())) return name;
  }
};

const kept = <Item>(items: readonly Item[] | undefined, isKept: (item: Item) => boolean) => {
  const left = items?.filter(isKept) ?? [];
  return left.length === 0 ? undefined : left;
};

/** Removes what names a column that the draft no longer has. */
const tidyChart = ({ chart, dimensions, measures, calculations }: Draft): Chart => {
  const values = [...measures, ...calculations].map(({ name }) => name);
  const groups = dimensions.map(({ name }) => name);
  const isValue = ({ measure }: { readonly measure: string }): boolean => values.includes(measure);
  const parts = {
    ...chart,
    series: kept(chart.series, isValue),
    numbers: kept(chart.numbers, isValue),
    lines: kept(chart.lines, (line) => line.kind === 'value' || isValue(line)),
    rules: kept(chart.rules, isValue),
    bars: kept(chart.bars, (name) => values.includes(name)),
    across: kept(chart.across, (name) => groups.includes(name)),
  };
  return Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== undefined)) as Chart;
};

/** Returns the draft without sorts and parts of the chart that name what it no longer has. */
export const tidied = (draft: Draft): Draft => {
  const { dimensions, measures, calculations } = draft;
  const names = [...dimensions, ...measures, ...calculations].map(({ name }) => name);
  return { ...draft, sort: draft.sort.filter(({ name }) => names.includes(name)), chart: tidyChart(draft) };
};

/** Returns the draft with another name of a column, wherever it is named. */
export const renamed = (draft: Draft, from: string, to: string): Draft => {
  const write = (name: string): string => (name === from ? to : name);
  const named = <Item extends { readonly name: string }>(item: Item): Item => ({ ...item, name: write(item.name) });
  const measured = <Item extends object>(item: Item): Item =>
    'measure' in item && typeof item.measure === 'string' ? { ...item, measure: write(item.measure) } : item;
  const { chart } = draft;
  const calculated = (one: Calculation): Calculation => {
    const of = write(one.of);
    if (one.kind === 'shareOfTotal') return named({ ...one, of, within: one.within?.map(write) });
    return named({ ...one, of, along: one.along === undefined ? undefined : write(one.along) });
  };
  return tidied({
    ...draft,
    dimensions: draft.dimensions.map(named),
    measures: draft.measures.map(named),
    drillPath: draft.drillPath.map(named),
    calculations: draft.calculations.map(calculated),
    sort: draft.sort.map(named),
    chart: {
      ...chart,
      series: chart.series?.map(measured),
      numbers: chart.numbers?.map(measured),
      lines: chart.lines?.map(measured),
      rules: chart.rules?.map(measured),
      bars: chart.bars?.map(write),
      across: chart.across?.map(write),
    },
  });
};
