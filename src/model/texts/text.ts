/**
 * Texts in the reader's language, for the elements, for messages and for files. `src/languages/` has one file for each
 * language: its texts by their use, then by the English text that the code says.
 */
import type english from '../../languages/en.json';

/** Forms of a text by the plural category of its `{n}`, as `Intl.PluralRules` names them. */
type Plural = { readonly [Rule in Intl.LDMLPluralRule]?: string };
/** Texts of one use and one language, by their English text. */
export type Texts = Readonly<Record<string, string | Plural>>;

type Use = keyof typeof english;
type Key<Of extends Use> = keyof (typeof english)[Of] & string;
/** The file of a language: it has every text that English has. */
export type Translation<Of extends Use> = {
  readonly [Each in Of]: Readonly<Record<Key<Each>, string | Plural>>;
};

type Place<English extends string> = English extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Place<Rest>
  : never;
type Values<English extends string> = [Place<English>] extends [never]
  ? []
  : [values: Readonly<Record<Place<English>, string | number>>];

/**
 * The text in the reader's language, with `{name}` replaced by the value of that name. Numbers are written in the language;
 * the number `n` chooses the plural. A text without a translation stays English.
 */
export type Text<Of extends Use = 'elements'> = <English extends Key<Of>>(
  english: English,
  ...values: Values<English>
) => string;

/** Texts in one language; `textLocale` is that of the texts, which can be English for a reader of another one. Never throws. */
export const createText = <Of extends Use>(locale: string, texts: Texts, textLocale: string): Text<Of> => {
  const plurals = new Intl.PluralRules(textLocale);
  const integer = new Intl.NumberFormat(locale);
  return (key, ...[values = {}]: [Readonly<Record<string, string | number>>?]) => {
    const { n } = values;
    const found = Object.hasOwn(texts, key) ? texts[key] : undefined;
    const form = typeof found === 'object' ? (found[plurals.select(Number(n))] ?? found.other) : found;
    return (form ?? key).replaceAll(/\{(\w+)\}/g, (place, name: string) => {
      const value = Object.hasOwn(values, name) ? values[name] : undefined;
      return typeof value === 'number' ? integer.format(value) : (value ?? place);
    });
  };
};
