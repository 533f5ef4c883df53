/** A target of one number, in words. Pure. */
import type { GuestChart } from '../../../model/guest/view.js';
import type { Format, NumberHint } from '../../base/format.js';

/** Says whether `value` reaches the target `at`. Where lower is better, it must not be above. */
export const targetText = (
  value: number,
  at: number,
  hint: NumberHint,
  { better }: Pick<GuestChart, 'better'>,
  format: Format,
): string => {
  const target = format.measure(at, hint);
  const isReached = better === 'lower' ? value <= at : value >= at;
  return isReached
    ? format.text('Target {target}, reached', { target })
    : format.text('Target {target}, not reached', { target });
};
