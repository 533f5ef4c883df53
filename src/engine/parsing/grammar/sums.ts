/** Finds the columns that SUM and AVG take as they are, for databases that would sum text and dates too. */
import type { Summed } from '../sql-parser.js';
import type { Grammar } from './grammar.js';
import { variableOf } from './scope.js';
import type { Call } from './tree.js';

const needsNumbers: ReadonlySet<string> = new Set(['SUM', 'AVG']);

/** The column in `SUM(x)`. Undefined for every other call, and where the database itself refuses what has no sum. */
export const summedBy = ({ name, args }: Call, { features }: Grammar): Summed | undefined => {
  const aggregate = name.toUpperCase();
  const [only] = args === 'all' ? [] : args;
  if (!features.has('sums-anything') || !needsNumbers.has(aggregate) || only?.kind !== 'column') return undefined;
  return variableOf(only.path) === undefined ? { aggregate, path: only.path } : undefined;
};
