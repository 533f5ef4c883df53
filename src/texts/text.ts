/**
 * Texts in the reader's language. The English text in the code is the key of its translations. For the elements, for
 * messages and for files.
 */

/** Forms of a text by the plural category of its `{n}`, as `Intl.PluralRules` names them. */
export type Plural = { readonly [Rule in Exclude<Intl.LDMLPluralRule, 'other'>]?: string } & { readonly other: string };
/** Translations by their English text. */
export type Texts = Readonly<Record<string, string | Plural>>;

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
export type Text<Key extends string = string> = <English extends Key>(
  english: English,
  ...values: Values<English>
) => string;

/** Texts in one language; `textLocale` is that of the texts, which can be English for a reader of another one. Never throws. */
export const createTextOf = (locale: string, texts: Texts, textLocale: string): Text => {
  const plurals = new Intl.PluralRules(textLocale);
  const integer = new Intl.NumberFormat(locale);
  return (key, ...[values = {}]: [Readonly<Record<string, string | number>>?]) => {
    const { n } = values;
    const found = Object.hasOwn(texts, key) ? texts[key] : undefined;
    const form = typeof found === 'object' ? (found[plurals.select(Number(n))] ?? found.other) : (found ?? key);
    return form.replaceAll(/\{(\w+)\}/g, (place, name: string) => {
      const value = Object.hasOwn(values, name) ? values[name] : undefined;
      return typeof value === 'number' ? integer.format(value) : (value ?? place);
    });
  };
};
