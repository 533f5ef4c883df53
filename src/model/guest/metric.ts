/** Metrics that guests define: their limits, and the faults of a definition for the columns that a guest may use. */
import { definitionFaults, missingColumns, withoutPath } from '../dashboard/definition.js';
import type { AggregateMeasure, Metric, MetricDefinition, VisualDefinition } from '../dashboard/metric.js';
import { definitionTypeFaults } from '../dashboard/type-faults.js';
import { type Datamart, findTable, visibleDatamart } from '../datamart/datamart.js';
import type { Moment } from '../filter/date-range.js';
import { readFilterValue } from '../filter/value.js';
import { Refusal } from '../refusal.js';

/** Limits for guests. spec-gap: the interface has no limits for what guests make. */
export const guestLimits = {
  /** Metrics that guests of one client may have on one dashboard, including archived ones. */
  metrics: 200,
  /** Views that one user may have on one dashboard. */
  views: 100,
  /** Own dashboards that one user may have on one dashboard, and that a client's users may share there. */
  boards: 20,
  sharedBoards: 100,
  /** Characters of a definition, and of a view's choices, as JSON. */
  definitionLength: 65_536,
  choicesLength: 65_536,
  /** Characters of the cards and tiles of an own dashboard, as JSON. */
  boardLength: 65_536,
} as const;

/**
 * The parts of a definition that a guest may send: no SQL, no RLS variables, and no way out of base filters. A missing part keeps its value, or is
 * empty in a new definition.
 */
export type GuestDefinition = {
  readonly [Part in Exclude<keyof VisualDefinition, 'kind' | 'rlsVariables' | 'measures' | 'withoutBaseFilters'>]?:
    | VisualDefinition[Part]
    | undefined;
} & { readonly measures?: readonly AggregateMeasure[] | undefined };

/** A metric of guests as one who may change it sees it. */
export type OwnMetric = {
  readonly metricId: string;
  readonly name: string;
  readonly isArchived: boolean;
  /** Only its maker sees it. */
  readonly isPrivate: boolean;
  /** Whether it is made by a user, who may publish it. */
  readonly canPublish: boolean;
};

/** A definition that a guest reads to change it. `digest` changes with the name and the definition. */
export type OwnDefinition = Pick<OwnMetric, 'metricId' | 'name'> & {
  readonly definition: NewGuestDefinition;
  readonly digest: string;
};

const nothing = {
  kind: 'visual',
  dimensions: [],
  measures: [],
  filters: [],
  rlsVariables: [],
  underlying: [],
  drillPath: [],
  sort: [],
  limit: null,
} as const;

/** A definition with the required parts: chart and table. */
export type NewGuestDefinition = GuestDefinition & Pick<VisualDefinition, 'chart' | 'from'>;

/** Whether the parts are enough for a new definition. */
export const isWhole = (parts: GuestDefinition): parts is NewGuestDefinition =>
  parts.chart !== undefined && parts.from !== undefined;

const given = ({ ...parts }: GuestDefinition): Partial<VisualDefinition> =>
  Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== undefined));

export const newDefinition = ({ chart, from, ...parts }: NewGuestDefinition): MetricDefinition => ({
  ...nothing,
  chart,
  from,
  ...given(parts),
});

/**
 * Returns the metric's definition with the given parts replaced. They never contain RLS variables. A change of more than
 * the chart ends the author's way out of base filters: it was given for what the author's metric shows.
 */
export const changedDefinition = ({ definition }: Metric, parts: GuestDefinition): MetricDefinition => {
  const beyondChart = Object.keys(given(parts)).filter((part) => part !== 'chart');
  if (definition.kind === 'visual') {
    const { withoutBaseFilters: _, ...filtered } = definition;
    return { ...(beyondChart.length === 0 ? definition : filtered), ...given(parts) };
  }
  if (beyondChart.length === 0) return { ...definition, chart: parts.chart ?? definition.chart };
  throw new Refusal(
    'METRIC_QUERY_ERROR',
    `The metric is SQL of the host's: of its definition, only the chart can be changed.`,
    {
      reason: 'guest-changes-sql',
    },
  );
};

/** Returns the parts that a guest sent as a definition; whatever was not sent is empty. */
const sent = (parts: GuestDefinition): VisualDefinition => ({
  ...nothing,
  chart: { type: 'table' },
  from: { schemaName: '', tableName: '' },
  ...given(parts),
});

/** Returns faults for tables and columns that do not exist for guests, including hidden ones. */
const missing = (parts: GuestDefinition, datamart: Datamart): readonly string[] => {
  const { from } = parts;
  return [
    ...(from !== undefined && findTable(datamart, from) === undefined
      ? [`from: the datamart has no table ${from.schemaName}.${from.tableName}`]
      : []),
    ...missingColumns(sent(parts), datamart),
  ];
};

const defaultFaults = ({ filters = [] }: GuestDefinition, moment: Moment): readonly string[] =>
  filters.flatMap(({ name, dataType, defaultValue }, index) => {
    const reading = defaultValue === undefined ? undefined : readFilterValue(dataType, defaultValue, moment);
    return reading !== undefined && 'expected' in reading
      ? [`filters[${index}].defaultValue: filter ${JSON.stringify(name)} takes ${reading.expected}`]
      : [];
  });

/** What a guest writes: the parts that were sent, the resulting definition, and the one that they change. */
export type DefinitionWrite = {
  readonly parts: GuestDefinition;
  readonly whole: MetricDefinition;
  /** Null for a new metric. */
  readonly before: MetricDefinition | null;
};

/**
 * Returns the faults of the parts that a guest sent and of the resulting definition; each starts with its JSON path in
 * the definition; and `stored`, the faults that the changed metric had before. These name parts that the guest did not send, perhaps hidden columns, so no guest may read
 * them.
 */
export const guestFaults = (
  { parts, whole, before }: DefinitionWrite,
  datamart: Datamart,
  moment: Moment,
): { readonly sent: readonly string[]; readonly stored: readonly string[] } => {
  const own = [
    ...missing(parts, visibleDatamart(datamart)),
    ...definitionTypeFaults(sent(parts), visibleDatamart(datamart)),
    ...defaultFaults(parts, moment),
  ];
  const earlier = new Set((before === null ? [] : definitionFaults(before, datamart)).map(withoutPath));
  const isEarlier = (fault: string): boolean => earlier.has(withoutPath(fault));
  const resulting = definitionFaults(whole, datamart);
  return {
    sent: [...new Set([...own, ...resulting.filter((fault) => !isEarlier(fault))])],
    stored: resulting.filter((fault) => isEarlier(fault) && !own.includes(fault)),
  };
};
