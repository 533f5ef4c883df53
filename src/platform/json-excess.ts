/** What a text of JSON has too much of, found before it is parsed: parsing it and looking for its faults would take far longer than its size says. */

export type JsonLimits = {
  /** Levels of nesting beneath the outermost value. */
  readonly levels: number;
  /** Values of every kind: texts and numbers, lists and objects. */
  readonly values: number;
};

/** A body whose values are longer than this on average is never refused for their number. JSON of real use has ten to twenty bytes for each. */
export const bytesOfValue = 8;

/** How many values a body of at most so many bytes may have. */
export const valuesIn = (maxBytes: number): number => Math.floor(maxBytes / bytesOfValue);

const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const isOpening = (code: number): boolean => code === 0x7b || code === 0x5b;
const isClosing = (code: number): boolean => code === 0x7d || code === 0x5d;

/** The place of the quote that ends the string which starts at `start`; the length of the text where none does. */
const endOfString = (text: string, start: number): number => {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = end - 1;
    while (text.charCodeAt(escapes) === backslash) escapes -= 1;
    // Two backslashes are one character, and escape no quote.
    if ((end - escapes) % 2 === 1) return end;
  }
  return text.length;
};

/**
 * In words, or undefined. Looks at each character once. A comma or an opening bracket makes one value more, so that an empty list or object
 * counts twice. Of a text that is not JSON it may find either; the parser refuses what is left.
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
