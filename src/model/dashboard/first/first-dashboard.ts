/** The first dashboard, from the tables of a draft and what their rows look like: single values, sums over time, groups, a table. Pure. */

import { labelOf, singularName, wordsOf } from '../../datamart/column-names.js';
import { type ColumnRef, type Datamart, sameTable, type TableRef } from '../../datamart/datamart.js';
import { currencyOf } from '../../datamart/money.js';
import { isAmount } from '../../datamart/proposed-amounts.js';
import { labelColumnOf } from '../../datamart/source-proposals.js';
import type { Period } from '../../filter/period.js';
import type { DashboardFilter } from '../dashboard.js';
import type { Dimension, Measure, VisualDefinition } from '../metric.js';
import { type Facts, factsOf, type TableFacts } from './facts.js';
import { type Group, groupsOf, reachable } from './groups.js';
import { amountLabel, amountOf, columnOf, countOf, hasOwnTotal, totalOf } from './measures.js';
import { isPersonTable, isStage, isTimeOfEvent, isTimeOfWriting, namesRows } from './roles.js';

export type FirstMetric = {
  readonly metricId: string;
  readonly name: string;
  readonly shape: 'value' | 'time' | 'groups' | 'table';
  /** Whether its groups are stages that rows pass, in the order that their enum declares. */
  readonly isOfStages?: true;
  readonly definition: VisualDefinition;
};

export type FirstDashboard = {
  readonly metrics: readonly FirstMetric[];
  /** The texts among them are kinds of rows, so that the policy may restrict people to one. */
  readonly filters: readonly DashboardFilter[];
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

/** The date of what the rows tell of: by it the table is counted over time, and filtered. */
const dateOf = (facts: TableFacts): string | undefined =>
  facts.roles.dates.find((name) => facts.spans.has(name) && isTimeOfEvent(name));

/** Rows that happened, with the table in which they add up to something: itself, or its lines. */
type Subject = {
  readonly timeline: TableFacts;
  readonly detail: TableFacts;
  readonly total: Amount | null;
  readonly groups: readonly Group[];
};

/** A measure, and the column by which it is split, since its amounts are of several currencies; null: they are not. */
type Amount = { readonly measure: Measure; readonly currency: ColumnRef | null };

const plain = (measure: Measure): Amount => ({ measure, currency: null });

/** The column that has the currency of a table's amounts: its own, or that of the rows that it is a part of. */
const currencyColumn = (datamart: Datamart, facts: Facts, of: TableFacts, columnName: string): ColumnRef | null => {
  const own = currencyOf(datamart, columnOf(of, columnName));
  if (own !== undefined) return own.kind === 'row' ? own.ref : null;
  if (!isAmount(columnName)) return null;
  const [above] = reachable(datamart, facts, of)
    .filter((one) => one !== of && !one.isTenants)
    .flatMap((one) =>
      one.table.columns.flatMap((column) => currencyOf(datamart, columnOf(one, column.columnName)) ?? []),
    )
    .flatMap((currency) => (currency.kind === 'row' ? [currency.ref] : []));
  return above ?? null;
};

const totalIn = (datamart: Datamart, facts: Facts, of: TableFacts): Amount | null => {
  const total = totalOf(of);
  return total && { measure: total.measure, currency: currencyColumn(datamart, facts, of, total.columnName) };
};

const currencyName = 'Currency';
/** The groups of a measure whose currencies are kept apart. */
const apart = ({ currency }: Amount): readonly Dimension[] =>
  currency === null ? [] : [{ name: currencyName, column: currency }];

/** Table of the totals: the timeline itself, or its lines: rows of their own without a date, of which it has many. */
const detailOf = (datamart: Datamart, facts: Facts, timeline: TableFacts): TableFacts => {
  if (hasOwnTotal(timeline)) return timeline;
  const [detail] = facts.tables
    .filter((one) => one.isOwned && !one.isTenants && one.rows > 0 && totalOf(one) !== null)
    .filter((one) => dateOf(one) === undefined && isPartOf(datamart, one, timeline))
    .toSorted((a, b) => b.rows - a.rows);
  return detail ?? timeline;
};

const isPartOf = ({ relationships }: Datamart, part: TableFacts, whole: TableFacts): boolean =>
  relationships.some(
    ({ parent, child, cardinality }) =>
      cardinality === 'ManyToOne' && sameTable(parent, part.table) && sameTable(child, whole.table),
  );

const subjectOf = (datamart: Datamart, facts: Facts, timeline: TableFacts): Subject => {
  const detail = detailOf(datamart, facts, timeline);
  return { timeline, detail, total: totalIn(datamart, facts, detail), groups: groupsOf(datamart, facts, detail) };
};

/**
 * The subjects as they are shown together: each card begins at a table with a date, so that the filter of dates reaches
 * it.
 */
const together = (subjects: readonly Subject[]): readonly Subject[] =>
  subjects.length === 1 ? subjects : subjects.map((one) => ({ ...one, detail: one.timeline }));

const sameGroup = (a: Group, b: Group): boolean =>
  sameTable(a.facts.table, b.facts.table) && a.columnName === b.columnName;

/**
 * What could be shown, the best first: what adds up to something before what is only counted, and then what has the most
 * rows. Tables of people and views are the last resort.
 */
const candidates = (datamart: Datamart, facts: Facts): readonly Subject[] => {
  const worthIt = facts.tables.filter(({ isOwned, isTenants, rows }) => isOwned && !isTenants && rows > 0);
  const happened = worthIt.filter(({ table, source }) => !isPersonTable(table.tableName) && source.kind !== 'view');
  const dated = (of: readonly TableFacts[]) => of.filter((one) => dateOf(one) !== undefined);
  const found = [dated(happened), dated(worthIt), happened, worthIt].find((list) => list.length > 0) ?? [];
  const scoreOf = ({ total, groups }: Subject): number =>
    Number(total !== null) * 2 + Number(groups.some(({ isCategory }) => isCategory));
  return found
    .map((timeline) => subjectOf(datamart, facts, timeline))
    .toSorted((a, b) => scoreOf(b) - scoreOf(a) || b.timeline.rows - a.timeline.rows);
};

type Chosen = { readonly subjects: readonly Subject[]; readonly category: Group | null };

const mostSubjects = 4;
const fewestTogether = 3;

/**
 * Chooses subjects, and a category by which all of them can be filtered, because a filter that does not reach a card
 * fails there. Without a category that reaches three of them, the best subjects are shown and none is filtered by text.
 */
const choose = (all: readonly Subject[]): Chosen => {
  const categories = (all[0]?.groups ?? []).filter(({ isCategory }) => isCategory);
  const reached = categories.map((category) => ({
    category,
    subjects: all.filter(({ groups }) => groups.some((one) => sameGroup(one, category))),
  }));
  const [best] = reached.toSorted((a, b) => b.subjects.length - a.subjects.length);
  const isEnough = best !== undefined && best.subjects.length >= Math.min(fewestTogether, all.length);
  const { subjects, category } = isEnough ? best : { subjects: all, category: null };
  return { subjects: together(subjects.slice(0, mostSubjects)), category };
};

const single = (name: string, from: TableFacts, amount: Amount): FirstMetric => ({
  metricId: idOf(`total ${name}`),
  name,
  shape: 'value',
  definition: metricOf({
    from: refOf(from),
    chart: { type: 'singleValue', format: 'number' },
    dimensions: apart(amount),
    measures: [amount.measure],
    sort: apart(amount).map((dimension) => ({ name: dimension.name, direction: 'ASC' })),
  }),
});

const counted = ({ timeline }: Subject): FirstMetric => {
  const measure = countOf(timeline);
  return single(measure.name, timeline, plain(measure));
};

const summed = ({ detail, total }: Subject): readonly FirstMetric[] =>
  total === null ? [] : [single(total.measure.name, detail, total)];

type Known = { readonly datamart: Datamart; readonly facts: Facts };

const average = ({ datamart, facts }: Known, { timeline }: Subject): readonly FirstMetric[] => {
  const level = [amountOf(timeline), ...timeline.roles.levels].find((name) => name !== undefined);
  if (level === undefined) return [];
  const name = `Average ${amountLabel(timeline, level).toLowerCase()}`;
  const measure: Measure = { name, aggregate: 'AVG', column: columnOf(timeline, level) };
  return [single(name, timeline, { measure, currency: currencyColumn(datamart, facts, timeline, level) })];
};

/** What each subject comes to; of a single subject also how many, and its average. */
const valueMetrics = (known: Known, subjects: readonly Subject[]): readonly FirstMetric[] => {
  const [main, ...others] = subjects;
  if (main === undefined) return [];
  const mostly = subjects.map((one) => summed(one)[0] ?? counted(one));
  const more = [counted(main), ...average(known, main)];
  const alone = [counted(main), ...summed(main), ...average(known, main)];
  return (others.length === 0 ? alone : [...mostly, ...more]).slice(0, 3);
};

const line = ({ timeline }: Subject, from: TableFacts, amount: Amount): readonly FirstMetric[] => {
  const { measure } = amount;
  const date = dateOf(timeline);
  const span = date === undefined ? undefined : timeline.spans.get(date);
  if (date === undefined || span === undefined) return [];
  const said = timeline.table.columns.find(({ columnName }) => columnName === date)?.defaultGrain;
  const grain = said ?? grainOf(span);
  const dimension: Dimension = { name: labelOf(grain), column: columnOf(timeline, date), grain };
  return [
    {
      metricId: idOf(`${measure.name} by ${grain}`),
      name: `${measure.name} by ${grain}`,
      shape: 'time',
      definition: metricOf({
        from: refOf(from),
        chart: { type: 'line', format: 'number' },
        dimensions: [dimension, ...apart(amount)],
        measures: [measure],
        sort: [{ name: dimension.name, direction: 'ASC' }],
      }),
    },
  ];
};

const timeMetrics = (subjects: readonly Subject[]): readonly FirstMetric[] => {
  const totals = subjects.flatMap((one) => (one.total === null ? [] : line(one, one.detail, one.total)));
  const counts = subjects
    .toSorted((a, b) => Number(a.total !== null) - Number(b.total !== null))
    .flatMap((one) => line(one, one.timeline, plain(countOf(one.timeline))));
  const isAlone = subjects.length === 1;
  return (isAlone ? [...counts, ...totals] : [...totals, ...counts]).slice(0, 2);
};

type ChartOf = 'stages' | 'doughnut' | 'bar';

/** The stages that rows pass, in the order that their enum declares. */
const stagesOf = (subjects: readonly Subject[]): Group | undefined =>
  subjects
    .flatMap(({ groups }) => groups)
    .filter(({ facts }) => facts.isOwned && (subjects.length === 1 || dateOf(facts) !== undefined))
    .find(({ columnName, values, isOrdered }) => isOrdered && isStage(columnName) && values >= 3);

const groupMetric = (from: TableFacts, amount: Amount, group: Group, type: ChartOf): FirstMetric => {
  const { measure } = amount;
  const by = group.name.toLowerCase();
  const isCut = group.values > mostBars && type === 'bar';
  // Amounts of several currencies have no order of size.
  const isInOrder = type === 'stages' || amount.currency !== null;
  const sort = isInOrder
    ? { name: group.name, direction: 'ASC' as const }
    : { name: measure.name, direction: 'DESC' as const };
  return {
    metricId: idOf(`${measure.name} by ${group.name}`),
    name: isCut ? `${measure.name}: top ${mostBars} by ${by}` : `${measure.name} by ${by}`,
    shape: 'groups',
    ...(type === 'stages' ? { isOfStages: true } : {}),
    definition: metricOf({
      from: refOf(from),
      chart: { type: type === 'stages' ? 'bar' : type, format: 'number' },
      dimensions: [{ name: group.name, column: columnOf(group.facts, group.columnName) }, ...apart(amount)],
      measures: [measure],
      sort: [sort],
      limit: type === 'bar' && !isInOrder ? mostBars : null,
    }),
  };
};

/** Groups of one chart of bars. */
const mostBars = 10;

const maxGroups = { alone: 3, together: 4 } as const;

/** Stages, and one group of each subject after the other. No column is there twice, and one chart is a share. */
const groupMetrics = (subjects: readonly Subject[]): readonly FirstMetric[] => {
  const stage = stagesOf(subjects);
  const most = (subjects.length === 1 ? maxGroups.alone : maxGroups.together) - (stage === undefined ? 0 : 1);
  const taken: { readonly subject: Subject; readonly group: Group }[] = [];
  const isFree = (one: Group): boolean =>
    ![...taken.map(({ group }) => group), ...(stage === undefined ? [] : [stage])].some((other) =>
      sameGroup(other, one),
    );
  for (let round = 0; round < most && taken.length < most; round += 1) {
    for (const subject of subjects) {
      const group = subject.groups.find(isFree);
      if (group !== undefined && taken.length < most) taken.push({ subject, group });
    }
  }
  // A share needs amounts that add up.
  const share = taken.find(
    ({ subject: { total }, group: { isCategory, values } }) =>
      isCategory && values <= 6 && (total?.currency ?? null) === null,
  );
  const charts = taken.map((one) => {
    const { detail, timeline, total } = one.subject;
    const type = one === share ? 'doughnut' : 'bar';
    const isRanked = total !== null && total.currency !== null && one.group.values > mostBars;
    return total === null || isRanked
      ? groupMetric(timeline, plain(countOf(timeline)), one.group, type)
      : groupMetric(detail, total, one.group, type);
  });
  return stage === undefined
    ? charts
    : [groupMetric(stage.facts, plain(countOf(stage.facts)), ofItsOwn(stage), 'stages'), ...charts];
};

/** The group as the table itself calls it: the status of tasks by `Status`. */
const ofItsOwn = (group: Group): Group => ({ ...group, name: labelOf(group.columnName) });

/** Names of what rows refer to, where their keys would say nothing. */
const namesFor = (datamart: Datamart, facts: Facts, from: TableFacts): readonly Dimension[] =>
  reachable(datamart, facts, from)
    .filter((one) => one !== from && !one.isTenants)
    .flatMap((one) => {
      const label = labelColumnOf(one.source);
      const isShown = label !== null && one.table.columns.some(({ columnName }) => columnName === label);
      return isShown ? [{ name: labelOf(singularName(one.table.tableName)), column: columnOf(one, label) }] : [];
    });

/** The measure as the column of one row is called, since nothing is added up there: `Total` instead of `Revenue`. */
const asItIs = (of: TableFacts, measure: Measure, beside: readonly Dimension[]): Measure => {
  const name = measure.column === undefined ? measure.name : amountLabel(of, measure.column.columnName);
  return beside.some((one) => one.name === name) ? measure : { ...measure, name };
};

/** The latest rows: when, what they refer to, what they are called, and of which kind. No keys, which people cannot read. */
const latestMetric = (datamart: Datamart, facts: Facts, { timeline }: Subject): readonly FirstMetric[] => {
  const date = dateOf(timeline);
  if (date === undefined) return [];
  const name = `Latest ${labelOf(timeline.table.tableName).toLowerCase()}`;
  const otherDates = timeline.roles.dates.filter(
    (one) => one !== date && timeline.spans.has(one) && !isTimeOfWriting(one),
  );
  // What is the same in every row of a tenant tells that tenant nothing.
  const varied = timeline.roles.categories.filter((one) => (timeline.distinct.get(one) ?? 0) > 1);
  const [called] = timeline.table.columns.map(({ columnName }) => columnName).filter(isNumberOrName(timeline));
  const own = [...(called === undefined ? [] : [called]), ...otherDates.slice(0, 1), ...varied.slice(0, 3)];
  const dimensions = [
    ...[date, ...new Set(own)].map((column) => ({ name: labelOf(column), column: columnOf(timeline, column) })),
    ...namesFor(datamart, facts, timeline).slice(0, 3),
  ].filter(({ name: one }, at, all) => all.findIndex((other) => other.name === one) === at);
  const found = totalIn(datamart, facts, timeline) ?? plain({ name: 'Rows', aggregate: 'COUNT' });
  const total = { ...found, measure: asItIs(timeline, found.measure, dimensions) };
  return [
    {
      metricId: idOf(name),
      name,
      shape: 'table',
      definition: metricOf({
        from: refOf(timeline),
        chart: { type: 'table', format: 'number' },
        dimensions: [...dimensions, ...apart(total)],
        measures: [total.measure],
        sort: [{ name: labelOf(date), direction: 'DESC' }],
        limit: 20,
      }),
    },
  ];
};

/** Whether a column is what people call a row: a number or name that is no key of the database. */
const isNumberOrName =
  ({ source, table, roles }: TableFacts) =>
  (columnName: string): boolean => {
    const column = table.columns.find((one) => one.columnName === columnName);
    if (source.primaryKey.includes(columnName) || column?.kind === 'uuid') return false;
    return namesRows(columnName) && !roles.dates.includes(columnName) && !wordsOf(columnName).includes('currency');
  };

/** One date of each table that a card begins at: a card is filtered by that of its own table. */
const dateFilter = (tables: readonly TableFacts[]): readonly DashboardFilter[] => {
  const columns = [...new Set(tables)].flatMap((table) => {
    const date = dateOf(table);
    return date === undefined ? [] : [columnOf(table, date)];
  });
  const [only, ...others] = columns;
  if (only === undefined) return [];
  const name = others.length === 0 ? labelOf(only.columnName) : 'Date';
  return [{ name, dataType: 'date', applyOnTables: columns.map((column) => ({ ...column, dataType: 'date' })) }];
};

const filtersOf = ({ subjects, category }: Chosen, begun: readonly TableFacts[]): readonly DashboardFilter[] => {
  const dates = dateFilter([...subjects.map(({ timeline }) => timeline), ...begun]);
  if (category === null) return dates;
  const applyOnTables = [{ ...columnOf(category.facts, category.columnName), dataType: 'string' }];
  return [...dates, { name: category.name, dataType: 'string', applyOnTables }];
};

/** Ids are unique, and no metric is named twice. */
export const firstDashboard = (datamart: Datamart, facts: Facts): FirstDashboard => {
  const chosen = choose(candidates(datamart, facts));
  const { subjects } = chosen;
  const [main] = subjects;
  if (main === undefined) return { metrics: [], filters: [] };
  const metrics = [
    ...valueMetrics({ datamart, facts }, subjects),
    ...timeMetrics(subjects),
    ...groupMetrics(subjects),
    ...latestMetric(datamart, facts, main),
  ];
  const seen = new Set<string>();
  const once = metrics.filter(({ metricId }) => !seen.has(metricId) && seen.add(metricId));
  const begun = once.flatMap(({ definition }) => factsOf(facts, definition.from) ?? []);
  return { metrics: once, filters: filtersOf(chosen, begun) };
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
