/**
 * Finds JSON text with too many values or levels before it is parsed. Parsing and validating such text takes far longer
 * than its size suggests.
 */

export type JsonLimits = {
  /** Maximum levels of nesting below the outermost value. */
  readonly levels: number;
  /** Maximum number of values of any kind: strings, numbers, lists and objects. */
  readonly values: number;
};

/**
 * Minimum average bytes of one value. A body above this average is never refused for its number of values. Real JSON
 * has ten to twenty bytes per value.
 */
export const bytesOfValue = 8;

/** Returns how many values a body of at most `maxBytes` bytes may have. */
export const valuesIn = (maxBytes: number): number => Math.floor(maxBytes / bytesOfValue);

const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const isOpening = (code: number): boolean => code === 0x7b || code === 0x5b;
const isClosing = (code: number): boolean => code === 0x7d || code === 0x5d;

/**
 * Returns the index of the quote that ends the string which starts at `start`. Returns the length of the text if there
 * is none.
 */
const endOfString = (text: string, start: number): number => {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = end - 1;
    while (text.charCodeAt(escapes) === backslash) escapes -= 1;
    // Two backslashes are one escaped backslash and do not escape the quote.
    if ((end - escapes) % 2 === 1) return end;
  }
  return text.length;
};

/**
 * Returns a description of the excess, or undefined. Reads each character once. Each comma and each opening bracket
 * counts as one value, so an empty list or object counts twice. The result for text that is not JSON has no meaning.
 * The parser refuses such text.
 */
export const findJsonExcess = (text: string, { levels, values }: JsonLimits): string | undefined => {
  let level = -1;
  let count = 1;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at);
    else if (isClosing(code)) level -= 1;
    else if (code === comma) count += 1;
    else if (isOpening(code)) {
      level += 1;
      count += 1;
      if (level > levels) return `nested deeper than ${levels} levels`;
    }
    if (count > values) return `more than ${values} values`;
  }
  return undefined;
};
