/**
 * Colours that the author pinned to values of a dimension. An answer has them only for values that stand in its rows: the
 * pins of others would tell that these values exist. Pure.
 */
import type { Chart } from '../dashboard/chart.js';
import type { MetricAnswer } from './engine.js';

/** Returns the answer with the pinned colours of the values in its rows. */
export const colourAnswer = (answer: MetricAnswer, { colours = [] }: Pick<Chart, 'colours'>): MetricAnswer => {
  if (colours.length === 0) return answer;
  const columns = answer.columns.map((column) => {
    const own = colours.filter(({ name }) => name === column.name);
    if (own.length === 0) return column;
    const values = new Set(answer.rows.map((row) => row[column.name] ?? null));
    const shown = own.filter(({ value }) => values.has(value));
    return shown.length === 0
      ? column
      : { ...column, valueColours: shown.map(({ value, colour }) => ({ value, colour })) };
  });
  return { ...answer, columns };
};
