/** The definition that an editor changes, and its names. Every draft passes the schema of the service. */
import type { Chart } from '../../model/dashboard/chart.js';
import type {
  Calculation,
  Comparison,
  Dimension,
  HavingTree,
  Measure,
  Sort,
  VisualDefinition,
} from '../../model/dashboard/metric.js';
import type { TableRef } from '../../model/datamart/datamart.js';
import type { Condition } from '../../model/filter/filter.js';
import { type Deep, type Either, leavesOf, renamedIn, shelvesOf, treeOf } from './conditions.js';

/** A condition on the values of a measure. */
export type GroupCondition = Extract<HavingTree, { readonly measure: string }>;

export type Draft = {
  readonly chart: Chart;
  /** Null until the first field or table is chosen. */
  readonly from: TableRef | null;
  readonly dimensions: readonly Dimension[];
  readonly measures: readonly Measure[];
  readonly calculations: readonly Calculation[];
  readonly filters: readonly Either<Condition>[];
  /** Conditions on groups. */
  readonly having: readonly Either<GroupCondition>[];
  readonly drillPath: readonly Dimension[];
  readonly comparison: Comparison | null;
  readonly sort: readonly Sort[];
  readonly limit: number | null;
  /** Whether the groups beyond the limit are combined. */
  readonly others?: boolean | undefined;
  readonly kept: Kept;
};

/** Parts that no shelf shows. They stay as they are. */
type Kept = {
  readonly filters?: VisualDefinition['filters'] | undefined;
  readonly rlsVariables?: VisualDefinition['rlsVariables'] | undefined;
  readonly underlying?: VisualDefinition['underlying'] | undefined;
  readonly where?: readonly Deep<Condition>[] | undefined;
  readonly having?: readonly Deep<GroupCondition>[] | undefined;
};

/** What a draft says: a definition without empty parts. */
export type Drafted = Omit<VisualDefinition, 'kind' | 'filters' | 'rlsVariables' | 'underlying'> &
  Pick<Kept, 'filters' | 'rlsVariables' | 'underlying'>;

export const emptyDraft: Draft = {
  chart: { type: 'table' },
  from: null,
  dimensions: [],
  measures: [],
  calculations: [],
  filters: [],
  having: [],
  drillPath: [],
  comparison: null,
  sort: [],
  limit: null,
  kept: {},
};

/** Without the parts that are undefined or empty lists. */
const present = <Parts extends object>(parts: Parts): Partial<Parts> =>
  Object.fromEntries(
    Object.entries(parts).filter(([, part]) => part !== undefined && !(Array.isArray(part) && part.length === 0)),
  ) as Partial<Parts>;

/** Returns the definition that is sent to the service. Undefined if no table is chosen. */
export const definitionOf = (draft: Draft): Drafted | undefined => {
  const { from, filters, having, comparison, calculations, kept, ...parts } = draft;
  const { where: deepWhere = [], having: deepHaving = [], ...rest } = kept;
  if (from === null) return undefined;
  const optional = {
    calculations,
    where: treeOf(filters, deepWhere),
    having: treeOf(having, deepHaving),
    comparison: comparison ?? undefined,
  };
  return { ...parts, from, ...present(optional), ...present(rest) };
};

const empty = {
  ...{ dimensions: [], measures: [], filters: [], rlsVariables: [] },
  ...{ underlying: [], drillPath: [], sort: [], limit: null },
} as const;

/** Returns the whole definition of the host. */
export const wholeOf = (parts: Pick<VisualDefinition, 'chart' | 'from'> & Partial<Drafted>): VisualDefinition => ({
  ...empty,
  ...(present(parts) as typeof parts & VisualDefinition),
  limit: parts.limit ?? null,
  kind: 'visual',
});

/** Returns the draft of a definition. */
export const draftOf = (definition: VisualDefinition): Draft => {
  const {
    chart,
    from,
    dimensions,
    measures,
    calculations = [],
    drillPath,
    comparison = null,
    sort,
    limit,
    others,
  } = definition;
  const { filters: metricFilters, rlsVariables, underlying } = definition;
  const where = shelvesOf<Condition>(definition.where);
  const having = shelvesOf<GroupCondition>(definition.having);
  const kept = { filters: metricFilters, rlsVariables, underlying, where: where.deep, having: having.deep };
  return {
    ...{ chart, from, dimensions, measures, calculations, drillPath, comparison, sort, limit },
    ...(others === true ? { others } : {}),
    ...{ filters: where.shown, having: having.shown, kept: present(kept) },
  };
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

const keptOf = <Item>(items: readonly Item[] | undefined, isKept: (item: Item) => boolean) => {
  const left = items?.filter(isKept) ?? [];
  return left.length === 0 ? undefined : left;
};

/** Removes what names a column that the draft no longer has. */
const tidyChart = ({ chart, dimensions, measures, calculations, drillPath }: Draft): Chart => {
  const values = [...measures.filter(({ isHidden }) => isHidden !== true), ...calculations].map(({ name }) => name);
  const groups = dimensions.map(({ name }) => name);
  const shown = [...values, ...groups, ...drillPath.map(({ name }) => name)];
  const isValue = ({ measure }: { readonly measure: string }): boolean => values.includes(measure);
  const parts = {
    ...chart,
    series: keptOf(chart.series, isValue),
    numbers: keptOf(chart.numbers, isValue),
    dates: keptOf(chart.dates, ({ name }) => shown.includes(name)),
    lines: keptOf(chart.lines, (line) => line.kind === 'value' || isValue(line)),
    rules: keptOf(chart.rules, isValue),
    bars: keptOf(chart.bars, (name) => values.includes(name)),
    across: keptOf(chart.across, (name) => groups.includes(name)),
  };
  return Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== undefined)) as Chart;
};

/** Returns the draft without conditions, sorts and parts of the chart that name what it no longer has. */
export const tidied = (draft: Draft): Draft => {
  const { dimensions, measures, calculations, having, kept } = draft;
  const names = [...dimensions, ...measures, ...calculations].map(({ name }) => name);
  const isMeasured = (one: GroupCondition): boolean => measures.some(({ name }) => name === one.measure);
  return {
    ...draft,
    having: having.filter(isMeasured),
    kept: present({ ...kept, having: kept.having?.filter((tree) => leavesOf(tree).every(isMeasured)) }),
    sort: draft.sort.filter(({ name }) => names.includes(name)),
    chart: tidyChart(draft),
  };
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
    having: draft.having.map(measured),
    kept: present({ ...draft.kept, having: draft.kept.having?.map((tree) => renamedIn(tree, write)) }),
    sort: draft.sort.map(named),
    chart: {
      ...chart,
      series: chart.series?.map(measured),
      numbers: chart.numbers?.map(measured),
      dates: chart.dates?.map(named),
      lines: chart.lines?.map(measured),
      rules: chart.rules?.map(measured),
      bars: chart.bars?.map(write),
      across: chart.across?.map(write),
    },
  });
};
