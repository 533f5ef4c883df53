/** The one value of a column that conditions leave. Pure. */

import type { Condition, Scalar } from '../filter/filter.js';
import type { ConditionTree } from './metric.js';

/** The conditions that every row passes. */
export const demanded = (tree: ConditionTree | undefined): readonly Condition[] => {
  if (tree === undefined) return [];
  if ('predicate' in tree) return [tree];
  return 'all' in tree ? tree.all.flatMap(demanded) : [];
};

/** Undefined: the condition leaves several values. */
export const onlyValue = ({ predicate }: Pick<Condition, 'predicate'>): Scalar | undefined => {
  if (predicate.kind === 'compare') return predicate.operator === '=' ? predicate.value : undefined;
  if (predicate.kind !== 'oneOf') return undefined;
  const [value, ...others] = new Set(predicate.values);
  return others.length === 0 ? value : undefined;
};
