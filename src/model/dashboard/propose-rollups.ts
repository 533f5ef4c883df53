/**
 * Proposes rollups out of what was asked: the columns, measures and conditions of metrics whose questions cost the
 * datasource most. Pure, and knows definitions and sums of use alone, never a row or a value.
 */

import type { ColumnRef, Datamart, DatamartTable, Rollup, RollupMeasure, TableRef } from '../datamart/datamart.js';
import { findTable, rollupAggregates, sameTable } from '../datamart/datamart.js';
import { storedKind } from '../datamart/datatypes.js';
import { nameTables, shortName } from '../datamart/relationships.js';
import { type RollupDraft, rollupFaults } from '../datamart/rollups.js';
import { counted } from '../texts/counted.js';
import type { DashboardFilter } from './dashboard.js';
import { type MetricDefinition, type TimeGrain, testsOf, type VisualDefinition } from './metric.js';

/** A metric with what its questions cost: queries of the datasource, and their time. */
export type AskedMetric = {
  /** Null: a guest named it. */
  readonly name: string | null;
  readonly definition: MetricDefinition;
  /** Of its dashboards. */
  readonly filters: readonly DashboardFilter[];
  readonly queries: number;
  readonly ms: number;
};

/** `names`: those of metrics. */
type Use = { readonly names: readonly string[]; readonly queries: number; readonly ms: number };

export type ProposedRollup = Use & { readonly rollup: RollupDraft; readonly reason: string };
/** Metrics that no rollup answers, by the reason. */
export type LeftMetrics = Use & { readonly why: string };

export type RollupProposal = {
  readonly proposed: readonly ProposedRollup[];
  readonly left: readonly LeftMetrics[];
};

/** What a rollup must have so that it answers a metric. */
type Needs = {
  readonly from: TableRef;
  readonly dimensions: readonly string[];
  readonly grain: Rollup['grain'];
  readonly time: string;
  readonly measures: readonly RollupMeasure[];
};

class Unfit extends Error {
  override readonly name = 'Unfit';
}
const unfit = (why: string): never => {
  throw new Unfit(why);
};

const grainOf: Readonly<Record<TimeGrain, Rollup['grain'] | null>> = {
  ...{ minute: null, hour: 'hour', hourOfDay: 'hour' },
  ...{ day: 'day', week: 'day', dayOfWeek: 'day' },
  ...{ month: 'month', quarter: 'month', year: 'month' },
};

const finest = (grains: readonly Rollup['grain'][]): Rollup['grain'] =>
  (['hour', 'day'] as const).find((grain) => grains.includes(grain)) ?? 'month';

const measureOf = (measure: VisualDefinition['measures'][number], from: TableRef): readonly RollupMeasure[] => {
  const { aggregate, column, indicator } = measure;
  if (aggregate === undefined || aggregate === 'AGGREGATE') return unfit('a measure is an expression');
  if (indicator !== undefined) return unfit('a measure counts only some rows');
  if (column === undefined) return [];
  if (!sameTable(column, from)) return unfit('it joins other tables');
  const known = rollupAggregates.find((one) => one === aggregate);
  if (known === undefined) return unfit(`${aggregate} does not add up`);
  return [{ aggregate: known, column: column.columnName }];
};

/** Columns of the table that conditions name: the metric's own, those of tokens, and those of filters. */
const conditionColumns = ({ definition, filters }: AskedMetric, { from }: VisualDefinition): readonly ColumnRef[] => [
  ...(definition.kind === 'visual' ? testsOf(definition.where).map(({ column }) => column) : []),
  ...definition.filters.map(({ column }) => column),
  ...definition.rlsVariables.flatMap(({ column }) => column ?? []),
  // A filter of another table applies through a relationship, which a rollup does not follow.
  ...filters.flatMap(({ applyOnTables }) => applyOnTables.filter((column) => sameTable(column, from))),
];

const isTime = (table: DatamartTable, name: string): boolean => {
  const column = table.columns.find(({ columnName }) => columnName === name);
  return column !== undefined && storedKind(column) === 'date';
};

/** Throws Unfit. */
const needsOf = (asked: AskedMetric, datamart: Datamart): Needs => {
  const { definition } = asked;
  if (definition.kind === 'sql') return unfit('it is written in SQL');
  const { from } = definition;
  const table = findTable(datamart, from) ?? unfit('its table is not in the datamart');
  if (definition.withoutBaseFilters !== undefined) unfit('it is without base filters');
  const conditions = conditionColumns(asked, definition);
  if (![...definition.dimensions.map(({ column }) => column), ...conditions].every((one) => sameTable(one, from)))
    unfit('it joins other tables');
  const grained = definition.dimensions.filter(({ grain }) => grain !== undefined);
  const grains = grained.map(({ grain }) => (grain === undefined ? null : grainOf[grain]));
  if (grains.includes(null)) unfit('its time is finer than an hour');
  const isOfTime = ({ columnName }: ColumnRef): boolean => isTime(table, columnName);
  // Where nothing that it asks is of a time, the rows are divided by any.
  const [time = unfit('its table has no date')] = [
    ...grained.map(({ column }) => column.columnName),
    ...conditions.filter(isOfTime).map(({ columnName }) => columnName),
    ...table.columns.map(({ columnName }) => columnName).filter((name) => isTime(table, name)),
  ];
  const columns = [...definition.dimensions.map(({ column }) => column), ...conditions].map(
    ({ columnName }) => columnName,
  );
  return {
    from,
    time,
    grain: finest([...grains.flatMap((grain) => grain ?? []), ...(conditions.some(isOfTime) ? ['day' as const] : [])]),
    dimensions: [...new Set(columns)].filter((name) => name !== time && name !== table.clientColumn).toSorted(),
    measures: definition.measures.flatMap((measure) => measureOf(measure, from)),
  };
};

const finer: Readonly<Record<Rollup['grain'], number>> = { hour: 0, day: 1, month: 2 };

const has = ({ measures }: Pick<Rollup, 'measures'>, { aggregate, column }: RollupMeasure): boolean =>
  measures.some((one) => one.column === column && one.aggregate === aggregate);

/** Whether the rollup holds what the metric needs. */
const covers = (rollup: Omit<Rollup, 'name' | 'refresh'>, needs: Needs): boolean =>
  sameTable(rollup.from, needs.from) &&
  rollup.partition.column === needs.time &&
  finer[rollup.grain] <= finer[needs.grain] &&
  needs.dimensions.every((name) => rollup.dimensions.includes(name)) &&
  needs.measures.every((measure) => has(rollup, measure));

type Fitting = { readonly asked: AskedMetric; readonly needs: Needs };

const useOf = (asked: readonly AskedMetric[]): Use => ({
  names: [...new Set(asked.flatMap(({ name }) => name ?? []))].toSorted(),
  queries: asked.reduce((sum, { queries }) => sum + queries, 0),
  ms: Math.round(asked.reduce((sum, { ms }) => sum + ms, 0)),
});

const seconds = (ms: number): string => (ms / 1000).toLocaleString('en', { maximumFractionDigits: 1 });

/** Columns of one rollup at most: with more of them, it has about as many rows as its table. */
const mostDimensions = 8;

const unique = <Item>(items: readonly Item[]): readonly Item[] => [
  ...new Map(items.map((item) => [JSON.stringify(item), item])).values(),
];

/** The rollup that answers all of them. */
const mergedOf = (fitting: readonly Fitting[]): Omit<Rollup, 'name' | 'refresh'> => {
  const needs = fitting.map((one) => one.needs);
  const [first] = needs;
  if (first === undefined) throw new TypeError('a rollup of no metric');
  return {
    from: first.from,
    dimensions: [...new Set(needs.flatMap(({ dimensions }) => dimensions))].toSorted(),
    grain: finest(needs.map(({ grain }) => grain)),
    measures: unique(needs.flatMap(({ measures }) => measures)),
    partition: { column: first.time, by: 'month', closesAfterHours: 24 },
  };
};

/** Joins metrics of one table and time while their columns stay few, the most expensive first. */
const grouped = (fitting: readonly Fitting[]): readonly (readonly Fitting[])[] => {
  const groups: Fitting[][] = [];
  for (const one of fitting.toSorted((a, b) => b.asked.ms - a.asked.ms)) {
    const isNear = (group: readonly Fitting[]): boolean => {
      const [first] = group;
      if (first === undefined || !sameTable(first.needs.from, one.needs.from) || first.needs.time !== one.needs.time)
        return false;
      return mergedOf([...group, one]).dimensions.length <= mostDimensions;
    };
    const found = groups.find(isNear);
    if (found === undefined) groups.push([one]);
    else found.push(one);
  }
  return groups;
};

const freeName = (wanted: string, taken: ReadonlySet<string>): string => {
  let name = wanted;
  for (let number = 2; taken.has(name); number += 1) name = `${wanted} ${number}`;
  return name;
};

const draftOf = (fitting: readonly Fitting[], datamart: Datamart, taken: Set<string>): RollupDraft => {
  const merged = mergedOf(fitting);
  const name = freeName(`${merged.from.tableName} by ${merged.grain}`, taken);
  taken.add(name);
  return {
    ...{ name, ...merged, from: shortName(merged.from, nameTables(datamart.tables)) },
    refresh: { everyMinutes: 60, again: 1 },
  };
};

const byReason = (left: readonly { readonly asked: AskedMetric; readonly why: string }[]): readonly LeftMetrics[] => {
  const reasons = [...new Set(left.map(({ why }) => why))];
  return reasons
    .map((reason) => ({ why: reason, ...useOf(left.flatMap(({ why, asked }) => (why === reason ? asked : []))) }))
    .toSorted((a, b) => b.ms - a.ms);
};

type Sorted = { readonly fitting: readonly Fitting[]; readonly left: { asked: AskedMetric; why: string }[] };

const sorted = (datamart: Datamart, asked: readonly AskedMetric[]): Sorted => {
  const { rollups = [] } = datamart;
  const fitting: Fitting[] = [];
  const left: Sorted['left'] = [];
  for (const one of asked) {
    try {
      const needs = needsOf(one, datamart);
      const known = rollups.find((rollup) => covers(rollup, needs));
      if (known === undefined) fitting.push({ asked: one, needs });
      else left.push({ asked: one, why: `the rollup ${JSON.stringify(known.name)} has its columns` });
    } catch (cause) {
      if (!(cause instanceof Unfit)) throw cause;
      left.push({ asked: one, why: cause.message });
    }
  }
  return { fitting, left };
};

/** `days`: the time in which the metrics were asked. */
export const proposeRollups = (datamart: Datamart, asked: readonly AskedMetric[], days: number): RollupProposal => {
  const { fitting, left } = sorted(datamart, asked);
  const whole = { ...datamart, named: nameTables(datamart.tables) };
  const taken = new Set((datamart.rollups ?? []).map(({ name }) => name));
  const proposed: ProposedRollup[] = [];
  for (const group of grouped(fitting)) {
    const rollup = draftOf(group, datamart, taken);
    const metrics = group.map((one) => one.asked);
    const [fault] = rollupFaults([rollup], whole);
    if (fault !== undefined) {
      left.push(...metrics.map((one) => ({ asked: one, why: fault })));
      continue;
    }
    const use = useOf(metrics);
    const reason = `In ${counted(days, 'day')}, ${counted(use.queries, 'query', 'queries')} and ${seconds(use.ms)} s of the datasource were of metrics whose columns it has.`;
    proposed.push({ rollup, ...use, reason });
  }
  return { proposed: proposed.toSorted((a, b) => b.ms - a.ms), left: byReason(left) };
};
