/**
 * The bucket width of a histogram: the smallest of 1, 2, 2.5, 5 and their multiples by powers of ten with which the
 * wanted number of buckets is enough.
 */
import { compareExact, divide, type Exact, exact, multiply, subtract, zero } from './exact.js';

const mantissas = [exact(1n), exact(2n), exact(5n, 2n), exact(5n)];

/** One value, or none, gives one bucket of width 1. A column of whole numbers gets a whole width. */
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
