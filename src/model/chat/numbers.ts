/** Numbers in a text of a model: each must occur in what the model read. Pure. */

/** Digits with separators of any language. */
const written = /[-−]?\p{Nd}[\p{Nd}.,٫٬'’\u00a0\u202f]*/gu;

const zeros = ['0', '٠', '۰', '०', '０'].map((zero) => zero.codePointAt(0) ?? 0);

/** Digits of other scripts as those of English. */
const plainDigits = (text: string): string =>
  text.replace(/\p{Nd}/gu, (digit) => {
    const code = digit.codePointAt(0) ?? 0;
    const zero = zeros.find((first) => code >= first && code < first + 10);
    return zero === undefined ? digit : String(code - zero);
  });

/** All numbers that a writing can mean: `1.234` is 1234 in German, and 1.234 in English. */
const meanings = (text: string): readonly number[] => {
  const plain = plainDigits(text)
    .replace('−', '-')
    .replace(/[.,'’\u00a0\u202f]+$/, '');
  const whole = Number(plain.replace(/[.,'’\u00a0\u202f]/g, ''));
  const last = Math.max(plain.lastIndexOf('.'), plain.lastIndexOf(','));
  if (last < 0) return [whole];
  const digits = (part: string): string => part.replace(/[^0-9-]/g, '');
  return [whole, Number(`${digits(plain.slice(0, last))}.${digits(plain.slice(last + 1))}`)];
};

/** How many digits after the point the writer gave. */
const decimalsOf = (value: number): number => /\.(\d+)$/.exec(String(value))?.[1]?.length ?? 0;

/** Whether `said` is `known`, as written or rounded, with or without its sign. */
const isSame = (said: number, known: number): boolean => {
  const [one, other] = [Math.abs(said), Math.abs(known)];
  if (one === other) return true;
  const decimals = decimalsOf(one);
  return decimals <= 20 && Number(other.toFixed(decimals)) === one;
};

/** A text without what it quotes. */
export const withoutQuoted = (text: string, quoted: readonly string[]): string =>
  quoted.toSorted((one, other) => other.length - one.length).reduce((left, each) => left.replaceAll(each, ' '), text);

/** Every number in a text, with all that its writing can mean. */
const numbersIn = (text: string): readonly (readonly number[])[] =>
  [...text.matchAll(written)].map(([number]) => meanings(number)).filter((all) => all.some(Number.isFinite));

/**
 * Whether every number of the text is among the known ones, rounded at most. A share may be written as per cent. Small
 * whole numbers up to `counted` are counts of things in the text.
 */
export const hasOnlyKnownNumbers = (text: string, known: readonly number[], counted = 0): boolean =>
  numbersIn(text).every((all) =>
    all.some(
      (said) =>
        (Number.isInteger(said) && said >= 0 && said <= counted) ||
        known.some((one) => isSame(said, one) || isSame(said, one * 100)),
    ),
  );
