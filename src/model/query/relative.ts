/** Replaces the relative periods of a question's predicates by the days that they mean for the reader. */
import type { HavingTree, MetricDefinition, VisualDefinition } from '../dashboard/metric.js';
import { relativeDays } from '../filter/date-range.js';
import type { Condition, Predicate } from '../filter/filter.js';
import { Refusal } from '../refusal.js';

/** Returns the predicate's days if it is relative, else the predicate. Throws METRIC_QUERY_ERROR for an unknown name. */
export const datedPredicate = (predicate: Predicate, today: string | undefined): Predicate => {
  if (predicate.kind !== 'relative') return predicate;
  if (today === undefined) throw new TypeError('a question with a relative period needs the present day');
  const days = relativeDays(predicate.period, today);
  if (days !== undefined) return { kind: 'range', ...days, toIsExclusive: true };
  throw new Refusal(
    'METRIC_QUERY_ERROR',
    'A filter of the metric names an unknown period. Name one such as "Last 30 Days", "This Month" or "Year to Date".',
    { reason: 'value-of-wrong-type' },
  );
};

type HavingTest = Extract<HavingTree, Tested>;
type Dating = (predicate: Predicate) => Predicate;

type Tested = { readonly predicate: Predicate };
type Tree<Leaf> = Leaf | { readonly all: readonly Tree<Leaf>[] } | { readonly any: readonly Tree<Leaf>[] };

const isLeaf = <Leaf extends Tested>(tree: Tree<Leaf>): tree is Leaf => 'predicate' in tree;

const inTree = <Leaf extends Tested>(tree: Tree<Leaf>, date: Dating): Tree<Leaf> => {
  if (isLeaf(tree)) return { ...tree, predicate: date(tree.predicate) };
  const walk = (one: Tree<Leaf>) => inTree<Leaf>(one, date);
  return 'all' in tree ? { all: tree.all.map(walk) } : { any: tree.any.map(walk) };
};

const inDefinition = (definition: VisualDefinition, date: Dating): VisualDefinition => {
  const { where, having, measures } = definition;
  return {
    ...definition,
    measures: measures.map((one) => (one.indicator === undefined ? one : { ...one, indicator: date(one.indicator) })),
    ...(where === undefined ? {} : { where: inTree<Condition>(where, date) }),
    ...(having === undefined ? {} : { having: inTree<HavingTest>(having, date) }),
  };
};

type Relative = {
  readonly definition: MetricDefinition;
  readonly conditions: readonly Condition[];
  readonly today?: string | undefined;
};

/** Returns the question without relative predicates. */
export const datedQuestion = <Question extends Relative>(question: Question): Question => {
  const { definition, conditions, today } = question;
  const date: Dating = (predicate) => datedPredicate(predicate, today);
  return {
    ...question,
    conditions: conditions.map((one) =>
      one.predicate.kind === 'relative' ? { ...one, predicate: date(one.predicate) } : one,
    ),
    definition: definition.kind === 'visual' ? inDefinition(definition, date) : definition,
  };
};
