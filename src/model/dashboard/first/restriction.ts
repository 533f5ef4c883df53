/** What the policy of a first dashboard restricts some users to: one value of a category, such as a department. Pure. */
import { wordsOf } from '../../datamart/column-names.js';
import { type Datamart, qualifiedName, sameColumn, sameTable, type TableRef } from '../../datamart/datamart.js';
import { findWay, otherEnd } from '../../datamart/ways.js';
import type { DashboardFilter } from '../dashboard.js';
import { type Facts, factsOf } from './facts.js';
import type { FirstDashboard, FirstMetric } from './first-dashboard.js';
import { type Group, groupsOf } from './groups.js';
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
const whyNot = (datamart: Datamart, from: TableRef, { facts: { table: to } }: Group): string | null => {
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

const filterOf = ({ facts, columnName, name }: Group): DashboardFilter => ({
  name,
  dataType: 'string',
  applyOnTables: [{ ...columnOf(facts, columnName), dataType: 'string' }],
});

/** The categories that a restriction may name, as `table.column`, the best first: those that most charts can be narrowed by. */
export const restrictionChoices = (
  datamart: Datamart,
  facts: Facts,
  { metrics, filters }: FirstDashboard,
): readonly { readonly column: string; readonly restriction: FirstRestriction }[] => {
  const shown = filters.find(({ dataType }) => dataType === 'string');
  const found = categoriesOf(datamart, facts, metrics).map((group) => {
    const filter = filterOf(group);
    const isShown =
      shown?.applyOnTables.some((one) => filter.applyOnTables.some((own) => sameColumn(own, one))) === true;
    const hidden = metrics
      .map(({ name, definition: { from } }) => ({ name, reason: whyNot(datamart, from, group) }))
      .filter((one): one is { readonly name: string; readonly reason: string } => one.reason !== null);
    const column = `${qualifiedName(group.facts.table)}.${group.columnName}`;
    return { group, isShown, column, restriction: { filter: isShown ? shown : filter, hidden } };
  });
  return found
    .filter(({ restriction }) => restriction.hidden.length < metrics.length)
    .toSorted(
      (a, b) =>
        Number(b.isShown) - Number(a.isShown) ||
        a.restriction.hidden.length - b.restriction.hidden.length ||
        Number(isResponsible(b.group)) - Number(isResponsible(a.group)),
    )
    .map(({ column, restriction }) => ({ column, restriction }));
};
