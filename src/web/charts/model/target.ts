/** A target of one number, in words. Pure. */
import type { GuestChart } from '../../../model/guest/view.js';
import type { Format, NumberHint } from '../../base/format.js';

/** Says whether `value` reaches the target `at`, if the chart says which direction is good; else names both. */
export const targetText = (
  value: number,
  at: number,
  hint: NumberHint,
  { better }: Pick<GuestChart, 'better'>,
  format: Format,
): string => {
  const target = format.measure(at, hint);
  if (better === undefined)
    return format.text('Target {target}, now {value}', { target, value: format.measure(value, hint) });
  const isReached = better === 'lower' ? value <= at : value >= at;
  return isReached
    ? format.text('Target {target}, reached', { target })
    : format.text('Target {target}, not reached', { target });
};
