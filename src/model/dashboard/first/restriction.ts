/** What the policy of a first dashboard restricts some users to: one value of a category, such as a department. Pure. */
import { labelOf, singularName, wordsOf } from '../../datamart/column-names.js';
import { type Datamart, qualifiedName, sameColumn, sameTable, type TableRef } from '../../datamart/datamart.js';
import { findWay, otherEnd } from '../../datamart/ways.js';
import { type DashboardFilter, sameName } from '../dashboard.js';
import { type Facts, factsOf } from './facts.js';
import type { FirstDashboard, FirstMetric } from './first-dashboard.js';
import { type Group, groupsOf, textsOf } from './groups.js';
import { columnOf } from './measures.js';

export type FirstRestriction = {
  readonly filter: DashboardFilter;
  /** The charts that a restricted user does not see, because the category says nothing of their rows. */
  readonly hidden: readonly { readonly name: string; readonly reason: string }[];
};

/** Words of what people are responsible for. */
const responsible = new Set('department team group region country branch office site location'.split(' '));
const isResponsible = ({ columnName }: Group): boolean => wordsOf(columnName).some((word) => responsible.has(word));

const sameGroup = (a: Group, b: Group): boolean =>
  sameTable(a.facts.table, b.facts.table) && a.columnName === b.columnName;

/** The categories of what the charts show, each once. */
const categoriesOf = (datamart: Datamart, facts: Facts, metrics: readonly FirstMetric[]): readonly Group[] =>
  metrics
    .flatMap(({ definition }) => factsOf(facts, definition.from) ?? [])
    .filter((one, at, all) => all.indexOf(one) === at)
    .flatMap((from) => groupsOf(datamart, facts, from).filter(({ isCategory }) => isCategory))
    .filter((one, at, all) => all.findIndex((other) => sameGroup(other, one)) === at);

/**
 * Why the category says nothing of the rows of a table; null: it does. An order has the categories of its lines. But where a
 * way first leads up and then down, as from the payments of a customer to the customer's tickets, it would leave all rows in.
 */
const whyNot = (datamart: Datamart, from: TableRef, { facts: { table: to } }: Pick<Group, 'facts'>): string | null => {
  const found = findWay(datamart, from, to);
  const names = `from ${qualifiedName(from)} to ${qualifiedName(to)}`;
  if (found.kind === 'none') return `no relationship leads ${names}`;
  if (found.kind === 'several') return `several ways lead ${names}`;
  let [at, isUp] = [from, false];
  for (const relationship of found.way) {
    const { parent, cardinality } = relationship;
    const isUpwards = cardinality === 'OneToOne' || cardinality === (sameTable(parent, at) ? 'ManyToOne' : 'OneToMany');
    if (isUp && !isUpwards)
      return `rows of ${qualifiedName(from)} and ${qualifiedName(to)} have only ${qualifiedName(at)} in common`;
    isUp ||= isUpwards;
    at = otherEnd(relationship, at) ?? at;
  }
  return null;
};

type Named = Pick<Group, 'facts' | 'columnName' | 'name'>;

/** A column that a restriction may name, as `schema.table.column`. */
export type RestrictionChoice = { readonly column: string; readonly restriction: FirstRestriction };

const nameWithTable = ({ facts, columnName }: Pick<Group, 'facts' | 'columnName'>): string =>
  labelOf(`${singularName(facts.table.tableName)} ${columnName}`);

const filterOf = ({ facts, columnName, name }: Named, filters: readonly DashboardFilter[]): DashboardFilter => {
  const column = columnOf(facts, columnName);
  const shown = filters.find(
    ({ dataType, applyOnTables }) => dataType === 'string' && applyOnTables.some((one) => sameColumn(one, column)),
  );
  if (shown !== undefined) return shown;
  const isTaken = filters.some((one) => sameName(one.name, name));
  return {
    name: isTaken ? nameWithTable({ facts, columnName }) : name,
    dataType: 'string',
    applyOnTables: [{ ...column, dataType: 'string' }],
  };
};

const choiceOf = (datamart: Datamart, { metrics, filters }: FirstDashboard, group: Named): RestrictionChoice => ({
  column: `${qualifiedName(group.facts.table)}.${group.columnName}`,
  restriction: {
    filter: filterOf(group, filters),
    hidden: metrics
      .map(({ name, definition: { from } }) => ({ name, reason: whyNot(datamart, from, group) }))
      .filter((one): one is { readonly name: string; readonly reason: string } => one.reason !== null),
  },
});

/** The categories of which several have one name, such as the statuses of two tables, with the names of their tables. */
const toldApart = (groups: readonly Group[]): readonly Group[] =>
  groups.map((group) => {
    const isAlone = groups.every((other) => other === group || !sameName(other.name, group.name));
    return isAlone ? group : { ...group, name: nameWithTable(group) };
  });

/** The categories that a restriction may name, the best first: those that most charts can be narrowed by. */
export const restrictionChoices = (
  datamart: Datamart,
  facts: Facts,
  dashboard: FirstDashboard,
): readonly RestrictionChoice[] => {
  const found = toldApart(categoriesOf(datamart, facts, dashboard.metrics)).map((group) => {
    const choice = choiceOf(datamart, dashboard, group);
    return {
      group,
      choice,
      hidden: choice.restriction.hidden.length,
      isShown: dashboard.filters.includes(choice.restriction.filter),
    };
  });
  return found
    .filter(({ hidden }) => hidden < dashboard.metrics.length)
    .toSorted(
      (a, b) =>
        Number(b.isShown) - Number(a.isShown) ||
        a.hidden - b.hidden ||
        Number(isResponsible(b.group)) - Number(isResponsible(a.group)),
    )
    .map(({ choice }) => choice);
};

/** Every column with texts that ends with this name, as `column`, `table.column` or with its schema. `hidden` may have every chart. */
export const restrictionsNamed = (
  datamart: Datamart,
  facts: Facts,
  dashboard: FirstDashboard,
  name: string,
): readonly RestrictionChoice[] =>
  facts.tables
    .filter(({ isTenants }) => !isTenants)
    .flatMap(textsOf)
    .map((group) => choiceOf(datamart, dashboard, group))
    .filter(({ column }) => `.${column}`.endsWith(`.${name}`));
