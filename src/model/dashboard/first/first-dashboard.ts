/** The first dashboard, from the tables of a draft and what their rows look like: single values, counts over time, groups, a table. Pure. */

import { wordsOf } from '../../datamart/column-names.js';
import { type ColumnRef, type Datamart, sameTable, type TableRef } from '../../datamart/datamart.js';
import { labelColumnOf } from '../../datamart/source-proposals.js';
import type { Period } from '../../filter/period.js';
import type { DashboardFilter } from '../dashboard.js';
import type { Dimension, Measure, VisualDefinition } from '../metric.js';
import { type Facts, factsOf, type TableFacts } from './facts.js';

export type FirstMetric = {
  readonly metricId: string;
  readonly name: string;
  readonly shape: 'value' | 'time' | 'groups' | 'table';
  readonly definition: VisualDefinition;
};

export type FirstDashboard = {
  readonly metrics: readonly FirstMetric[];
  readonly filters: readonly DashboardFilter[];
};

/** Words of a name as a label: `ship_country` is `Ship country`. */
const labelOf = (name: string): string => {
  const text = wordsOf(name).join(' ');
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
};

const idOf = (name: string): string => wordsOf(name).join('-') || 'metric';

/** A metric without filters. */
export const metricOf = (parts: Partial<VisualDefinition> & Pick<VisualDefinition, 'from'>): VisualDefinition => ({
  kind: 'visual',
  chart: { type: 'table' },
  dimensions: [],
  measures: [],
  filters: [],
  rlsVariables: [],
  underlying: [],
  drillPath: [],
  sort: [],
  limit: null,
  ...parts,
});

const refOf = ({ table: { schemaName, tableName } }: TableFacts): TableRef => ({ schemaName, tableName });
const columnOf = (facts: TableFacts, columnName: string): ColumnRef => ({ ...refOf(facts), columnName });

const dayMs = 86_400_000;

/** The grain that gives a line of a readable number of points. */
const grainOf = ({ from, to }: { readonly from: string; readonly to: string }): Period => {
  const days = (Date.parse(to) - Date.parse(from)) / dayMs;
  if (!Number.isFinite(days)) return 'month';
  if (days <= 45) return 'day';
  if (days <= 200) return 'week';
  if (days <= 2_200) return 'month';
  return days <= 8_000 ? 'quarter' : 'year';
};

/** The table whose rows are counted over time: that with the most rows among those that have a date. */
const timelineOf = ({ tables }: Facts): TableFacts | undefined => {
  const events = tables.filter(({ isOwned, isTenants, rows }) => isOwned && !isTenants && rows > 0);
  const [dated] = events
    .filter(({ roles, spans }) => roles.dates.some((name) => spans.has(name)))
    .toSorted((a, b) => b.rows - a.rows);
  return dated ?? events.toSorted((a, b) => b.rows - a.rows)[0];
};

const dateOf = (facts: TableFacts): string | undefined => facts.roles.dates.find((name) => facts.spans.has(name));

/** Tables that a row of this table has one row of, by many-to-one relationships; itself first. */
const reachable = (datamart: Datamart, facts: Facts, from: TableFacts): readonly TableFacts[] => {
  const reached = [from];
  for (const near of reached) {
    for (const { parent, child, cardinality } of datamart.relationships) {
      const next = sameTable(parent, near.table) && cardinality !== null ? factsOf(facts, child) : undefined;
      if (next !== undefined && !reached.includes(next)) reached.push(next);
    }
  }
  return reached;
};

const isPlainName = (name: string): boolean => /^[a-z_][a-z0-9_]*$/.test(name);

/** What a table adds up to: a quantity times its price, else its first amount; null if it has neither. */
const totalOf = ({ table, roles }: TableFacts): Measure | null => {
  const quantity = roles.amounts.find((name) => /^(quantity|qty)$/.test(wordsOf(name).join(' ')));
  const price = roles.levels.find((name) => /^(unit )?price$/.test(wordsOf(name).join(' ')));
  if (quantity !== undefined && price !== undefined && [table.tableName, quantity, price].every(isPlainName)) {
    const [a, b] = [quantity, price].map((name) => `${table.tableName}.${name}`);
    return { name: `${labelOf(quantity)} × ${labelOf(price).toLowerCase()}`, expression: `SUM(${a} * ${b})` };
  }
  const [amount] = roles.amounts;
  const { schemaName, tableName } = table;
  return amount === undefined
    ? null
    : { name: labelOf(amount), aggregate: 'SUM', column: { schemaName, tableName, columnName: amount } };
};

/** Table of the totals: the one with the most rows that adds up to something and leads to the timeline. */
const detailOf = (datamart: Datamart, facts: Facts, timeline: TableFacts): TableFacts => {
  const [detail] = facts.tables
    .filter((one) => one.isOwned && !one.isTenants && one.rows > 0 && totalOf(one) !== null)
    .filter((one) => reachable(datamart, facts, one).includes(timeline))
    .toSorted((a, b) => b.rows - a.rows);
  return detail ?? timeline;
};

type Group = {
  readonly facts: TableFacts;
  readonly columnName: string;
  readonly values: number;
  readonly name: string;
};

/** Columns to group by: names of what rows refer to, then texts with few values. */
const groupsOf = (datamart: Datamart, facts: Facts, detail: TableFacts): readonly Group[] =>
  reachable(datamart, facts, detail)
    .filter(({ isTenants }) => !isTenants)
    .flatMap((one) => {
      const label = one === detail ? null : labelColumnOf(one.source);
      return one.roles.categories.map((columnName) => {
        const values = one.distinct.get(columnName) ?? 0;
        const isLabel = columnName === label;
        const tableWord = labelOf(one.table.tableName);
        const name =
          isLabel && !one.isOwned
            ? labelOf(
                wordsOf(columnName)
                  .join(' ')
                  .replace(/ name$/, ''),
              )
            : labelOf(columnName);
        return { facts: one, columnName, values, isLabel, name: name === 'Name' ? tableWord : name };
      });
    })
    .filter(({ values, isLabel }) => values >= 2 && (isLabel || values <= 40))
    // Few values first: they make the most readable chart. What a row refers to comes before what it says itself.
    .toSorted((a, b) => Number(b.isLabel) - Number(a.isLabel) || Number(a.values > 12) - Number(b.values > 12));

const dimensionOf = ({ facts, columnName, name }: Group): Dimension => ({ name, column: columnOf(facts, columnName) });

const valueMetrics = (timeline: TableFacts, detail: TableFacts, total: Measure | null): readonly FirstMetric[] => {
  const counted = labelOf(timeline.table.tableName);
  const single = (name: string, from: TableFacts, measure: Measure): FirstMetric => ({
    metricId: idOf(`total ${name}`),
    name,
    shape: 'value',
    definition: metricOf({ from: refOf(from), chart: { type: 'singleValue', format: 'number' }, measures: [measure] }),
  });
  const level = [...timeline.roles.amounts, ...timeline.roles.levels][0];
  return [
    single(counted, timeline, { name: counted, aggregate: 'COUNT' }),
    ...(total === null ? [] : [single(total.name, detail, total)]),
    ...(level === undefined
      ? []
      : [
          single(`Average ${labelOf(level).toLowerCase()}`, timeline, {
            name: `Average ${labelOf(level).toLowerCase()}`,
            aggregate: 'AVG',
            column: columnOf(timeline, level),
          }),
        ]),
  ];
};

const timeMetrics = (timeline: TableFacts, detail: TableFacts, total: Measure | null): readonly FirstMetric[] => {
  const date = dateOf(timeline);
  const span = date === undefined ? undefined : timeline.spans.get(date);
  if (date === undefined || span === undefined) return [];
  const grain = grainOf(span);
  const dimension: Dimension = { name: labelOf(grain), column: columnOf(timeline, date), grain };
  const line = (from: TableFacts, measure: Measure): FirstMetric => ({
    metricId: idOf(`${measure.name} by ${grain}`),
    name: `${measure.name} by ${grain}`,
    shape: 'time',
    definition: metricOf({
      from: refOf(from),
      chart: { type: 'line', format: 'number' },
      dimensions: [dimension],
      measures: [measure],
      sort: [{ name: dimension.name, direction: 'ASC' }],
    }),
  });
  const counted: Measure = { name: labelOf(timeline.table.tableName), aggregate: 'COUNT' };
  return [line(timeline, counted), ...(total === null ? [] : [line(detail, total)])];
};

const groupMetric = (detail: TableFacts, total: Measure | null, group: Group): FirstMetric => {
  const measure: Measure = total ?? { name: labelOf(detail.table.tableName), aggregate: 'COUNT' };
  const title =
    group.values > 10
      ? `${measure.name}: top 10 by ${group.name.toLowerCase()}`
      : `${measure.name} by ${group.name.toLowerCase()}`;
  return {
    metricId: idOf(`${measure.name} by ${group.name}`),
    name: title,
    shape: 'groups',
    definition: metricOf({
      from: refOf(detail),
      chart: { type: 'bar', format: 'number' },
      dimensions: [dimensionOf(group)],
      measures: [measure],
      sort: [{ name: measure.name, direction: 'DESC' }],
      limit: 10,
    }),
  };
};

/** The latest rows of the timeline, by its key and date. */
const latestMetric = (timeline: TableFacts): readonly FirstMetric[] => {
  const date = dateOf(timeline);
  const [key, ...otherKeys] = timeline.source.primaryKey;
  if (date === undefined || key === undefined || otherKeys.length > 0) return [];
  // What is the same in every row of a tenant tells that tenant nothing.
  const varied = timeline.roles.categories.filter((name) => (timeline.distinct.get(name) ?? 0) > 1);
  const otherDates = timeline.roles.dates.filter((name) => name !== date && timeline.spans.has(name));
  const shown = [...otherDates.slice(0, 2), ...varied.slice(0, 3)];
  const [amount] = timeline.roles.amounts;
  const name = `Latest ${labelOf(timeline.table.tableName).toLowerCase()}`;
  const dateName = labelOf(date);
  return [
    {
      metricId: idOf(name),
      name,
      shape: 'table',
      definition: metricOf({
        from: refOf(timeline),
        chart: { type: 'table', format: 'number' },
        dimensions: [key, date, ...shown].map((column) => ({
          name: labelOf(column),
          column: columnOf(timeline, column),
        })),
        measures:
          amount === undefined
            ? [{ name: 'Rows', aggregate: 'COUNT' }]
            : [{ name: labelOf(amount), aggregate: 'SUM', column: columnOf(timeline, amount) }],
        sort: [{ name: dateName, direction: 'DESC' }],
        limit: 20,
      }),
    },
  ];
};

const filtersOf = (timeline: TableFacts, groups: readonly Group[]): readonly DashboardFilter[] => {
  const date = dateOf(timeline);
  const [group] = groups;
  const dateFilter: DashboardFilter[] =
    date === undefined
      ? []
      : [{ name: labelOf(date), dataType: 'date', applyOnTables: [{ ...columnOf(timeline, date), dataType: 'date' }] }];
  if (group === undefined) return dateFilter;
  const applyOnTables = [{ ...columnOf(group.facts, group.columnName), dataType: 'string' }];
  return [...dateFilter, { name: group.name, dataType: 'string', applyOnTables }];
};

const maxGroups = 3;

/** Ids are unique, and no metric is named twice. */
export const firstDashboard = (datamart: Datamart, facts: Facts): FirstDashboard => {
  const timeline = timelineOf(facts);
  if (timeline === undefined) return { metrics: [], filters: [] };
  const detail = detailOf(datamart, facts, timeline);
  const total = totalOf(detail);
  const groups = groupsOf(datamart, facts, detail).slice(0, maxGroups);
  const metrics = [
    ...valueMetrics(timeline, detail, total),
    ...timeMetrics(timeline, detail, total),
    ...groups.map((group) => groupMetric(detail, total, group)),
    ...latestMetric(timeline),
  ];
  const seen = new Set<string>();
  const once = metrics.filter(({ metricId }) => !seen.has(metricId) && seen.add(metricId));
  return { metrics: once, filters: filtersOf(timeline, groups) };
};

const sizes = { value: { w: 4, h: 2 }, time: { w: 6, h: 4 }, groups: { w: 6, h: 4 }, table: { w: 12, h: 5 } } as const;

/** Places the cards in rows of twelve columns; cards of one shape share a row and fill it. */
export const layOut = (metrics: readonly FirstMetric[]) => {
  let y = 0;
  return (['value', 'time', 'groups', 'table'] as const).flatMap((shape) => {
    const { w, h } = sizes[shape];
    const cards = metrics.filter((metric) => metric.shape === shape);
    const perRow = Math.min(cards.length, 12 / w);
    const placed = cards.map(({ metricId }, at) => {
      const inRow = Math.min(perRow, cards.length - Math.floor(at / perRow) * perRow);
      const width = 12 / inRow;
      return { metricId, x: (at % perRow) * width, y: y + Math.floor(at / perRow) * h, w: width, h };
    });
    y += perRow === 0 ? 0 : Math.ceil(cards.length / perRow) * h;
    return placed;
  });
};
