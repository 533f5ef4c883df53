/** The calculations that the editor offers over the measures of a draft. Pure. */
import type { Calculation } from '../../model/dashboard/metric.js';
import type { Text } from '../../model/texts/text.js';
import type { Draft } from './draft.js';
import type { Action } from './edit.js';
import { isPeriod } from './fitting.js';

/**
 * Each with its name. The core says which of them are possible. `overlapping`: names of measures whose groups share rows, as
 * the last answer says, of which no share is offered.
 */
export const calculationsOf = (
  { dimensions, measures }: Draft,
  text: Text,
  overlapping: ReadonlySet<string> = new Set(),
): readonly { readonly label: string; readonly action: Action }[] => {
  const [first] = dimensions;
  const course = dimensions.find(({ grain }) => isPeriod(grain));
  const offered = measures.flatMap(({ name, name: of }) => {
    const share: Calculation = { kind: 'shareOfTotal', name: text('{name}: share of the total', { name }), of };
    const along = (course ?? first)?.name;
    const total: Calculation = { kind: 'runningTotal', name: text('{name}: running total', { name }), of, along };
    const change: Calculation = {
      ...{ kind: 'previousPeriod', name: text('{name}: change since the period before', { name }), of },
      ...{ along: course?.name, result: 'relativeChange' },
    };
    const shares = overlapping.has(of) ? [] : [share];
    return [...(first === undefined ? [] : [...shares, total]), ...(course === undefined ? [] : [change])];
  });
  return offered.map((calculation) => ({
    label: calculation.name,
    action: { kind: 'addCalculation', calculation } as const,
  }));
};
