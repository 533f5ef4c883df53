import type { BaseFilter } from './datamart.js';

/** A base filter in words: `deleted_at is empty`. */
export const baseFilterWords = ({ columnName, predicate }: BaseFilter): string => {
  if (predicate.kind === 'isNull') return `${columnName} is empty`;
  if (predicate.kind === 'isNotNull') return `${columnName} is not empty`;
  if (predicate.kind === 'compare') return `${columnName} ${predicate.operator} ${predicate.value}`;
  return `${columnName} ${JSON.stringify(predicate)}`;
};
