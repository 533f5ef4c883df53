/** The order of a filter's options: the same whichever metric an option comes from, and whether a number is answered as one or as text. */
import { compareNumbers } from './exact-number.js';
import type { FilterDataType, Scalar } from './filter.js';

const byText = (a: Scalar, b: Scalar): number => (a < b ? -1 : a > b ? 1 : 0);

/** Years beyond four digits have a sign, and sort by their number; the rest of a date has one length. */
const yearOf = (text: string): number => Number(/^(-?Infinity|[+-]?[0-9]+)/.exec(text)?.[0] ?? Number.NaN);

const byDate = (a: Scalar, b: Scalar): number => {
  const [left, right] = [yearOf(String(a)), yearOf(String(b))];
  if (left === right || Number.isNaN(left) || Number.isNaN(right)) return byText(a, b);
  return left < right ? -1 : 1;
};

export const optionOrder = (dataType: FilterDataType): ((a: Scalar, b: Scalar) => number) => {
  if (dataType === 'number') return (a, b) => compareNumbers(a, b) ?? byText(a, b);
  return dataType === 'date' ? byDate : byText;
};
