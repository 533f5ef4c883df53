/** The rows of an answer that combine all other values of a dimension, as elements hold them. */
import type { Cell, MetricAnswer } from '../../model/query/engine.js';

/** What these rows have in place of a value. No text of a database that allows no NUL is equal, nor what a reader can type. */
export const othersCell = '\u0000others';

export const isOthers = (value: Cell | undefined): boolean => value === othersCell;

/** Returns the answer with `othersCell` in the rows of the others, so that they differ from the group without a value. */
export const withOthersCells = (answer: MetricAnswer): MetricAnswer => {
  const { others, rows } = answer;
  if (others === undefined) return answer;
  const first = rows.length - others.rows;
  return { ...answer, rows: rows.map((row, at) => (at < first ? row : { ...row, [others.name]: othersCell })) };
};
