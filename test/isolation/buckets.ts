/** How wide a histogram's buckets are: the least of 1, 2, 2.5, 5 and ten times those, with which the count is enough. */
import { compareExact, divide, type Exact, exact, multiply, subtract, zero } from './exact.js';

const mantissas = [exact(1n), exact(2n), exact(5n, 2n), exact(5n)];

/** One value, or none, is one bucket of width 1; a column of whole numbers has whole buckets. */
export const roundWidth = (values: readonly Exact[], count: number, isWhole: boolean): number => {
  const sorted = [...values].sort(compareExact);
  const [least = zero, greatest = zero] = [sorted[0], sorted.at(-1)];
  const wanted = divide(subtract(greatest, least), exact(BigInt(count)));
  if (compareExact(wanted, zero) <= 0) return 1;
  for (let power = exact(1n, 10n ** 20n); ; power = multiply(power, exact(10n))) {
    for (const mantissa of mantissas) {
      const width = multiply(mantissa, power);
      if (compareExact(width, wanted) >= 0 && (!isWhole || width.d === 1n)) return Number(width.n) / Number(width.d);
    }
  }
};
