/** Rational numbers without rounding, since exact decimals cannot be verified with floats. */

/** The number `n / d`, reduced; `d` is above 0. */
export type Exact = { readonly n: bigint; readonly d: bigint };

const divisor = (a: bigint, b: bigint): bigint => (b === 0n ? a : divisor(b, a % b));

export const exact = (n: bigint, d = 1n): Exact => {
  if (d === 0n) throw new RangeError('a division by zero');
  const sign = d < 0n ? -1n : 1n;
  const common = divisor(n < 0n ? -n : n, d * sign);
  return common === 0n ? { n: 0n, d: 1n } : { n: (n * sign) / common, d: (d * sign) / common };
};

export const zero = exact(0n);
export const one = exact(1n);

/** Reads decimal notation: `-12.50`, `1e-7`. */
export const parseExact = (text: string): Exact => {
  const match = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(text);
  if (match === null) throw new RangeError(`${JSON.stringify(text)} is no number`);
  const [, sign, whole = '', fraction = '', power = '0'] = match;
  const digits = BigInt(`${sign}${whole}${fraction}`);
  const shift = Number(power) - fraction.length;
  return shift >= 0 ? exact(digits * 10n ** BigInt(shift)) : exact(digits, 10n ** BigInt(-shift));
};

/** The exact value of a float, which differs from its shortest text. */
export const exactOfFloat = (value: number): Exact => {
  let [number, power] = [value, 0n];
  while (!Number.isInteger(number)) {
    number *= 2;
    power += 1n;
  }
  return exact(BigInt(number), 2n ** power);
};

export const add = (a: Exact, b: Exact): Exact => exact(a.n * b.d + b.n * a.d, a.d * b.d);
export const subtract = (a: Exact, b: Exact): Exact => exact(a.n * b.d - b.n * a.d, a.d * b.d);
export const multiply = (a: Exact, b: Exact): Exact => exact(a.n * b.n, a.d * b.d);
export const divide = (a: Exact, b: Exact): Exact => exact(a.n * b.d, a.d * b.n);
export const compareExact = (a: Exact, b: Exact): number => {
  const difference = a.n * b.d - b.n * a.d;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
};
/** The greatest whole number that is not above the value. */
export const floor = ({ n, d }: Exact): Exact => exact((n - (((n % d) + d) % d)) / d);
export const toNumber = ({ n, d }: Exact): number => {
  // More digits than floats have, whatever their size.
  const scaled = (n * 10n ** 40n) / d;
  return Number(scaled) / 1e40;
};
