/**
 * Texts of the elements in the reader's language. The English text in the code is the key of its translations. Each
 * element has a language of its own, so nothing here is kept for the whole page.
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
export type Text = <English extends string>(english: English, ...values: Values<English>) => string;

/** English texts that depend on a number. Every other English text is its own key. */
const english: Texts = {
  '{n} rows': { one: '{n} row', other: '{n} rows' },
  'First {n} rows': { one: 'First row', other: 'First {n} rows' },
  '{n} values': { one: '{n} value', other: '{n} values' },
  '{n} values from {first} to {last}': {
    one: '{n} value from {first} to {last}',
    other: '{n} values from {first} to {last}',
  },
  '{n} points': { one: '{n} point', other: '{n} points' },
  '{n} parts': { one: '{n} part', other: '{n} parts' },
  '{n} stages': { one: '{n} stage', other: '{n} stages' },
  '{n} distributions': { one: '{n} distribution', other: '{n} distributions' },
  '{n} rows without a value not drawn': {
    one: '{n} row without a value not drawn',
    other: '{n} rows without a value not drawn',
  },
  '{n} values of zero or less not drawn': {
    one: '{n} value of zero or less not drawn',
    other: '{n} values of zero or less not drawn',
  },
  '{n} groups without values are not drawn': {
    one: '{n} group without values is not drawn',
    other: '{n} groups without values are not drawn',
  },
  '{n} smaller series are not drawn': {
    one: '{n} smaller series is not drawn',
    other: '{n} smaller series are not drawn',
  },
  '{n} smaller parts are not drawn': {
    one: '{n} smaller part is not drawn',
    other: '{n} smaller parts are not drawn',
  },
  '{n} minutes earlier': { one: 'one minute earlier', other: '{n} minutes earlier' },
  '{n} hours earlier': { one: 'one hour earlier', other: '{n} hours earlier' },
  '{n} days earlier': { one: 'one day earlier', other: '{n} days earlier' },
  '{n} weeks earlier': { one: 'one week earlier', other: '{n} weeks earlier' },
  '{n} months earlier': { one: 'one month earlier', other: '{n} months earlier' },
  '{n} quarters earlier': { one: 'one quarter earlier', other: '{n} quarters earlier' },
  '{n} years earlier': { one: 'one year earlier', other: '{n} years earlier' },
  '{n} more columns are not shown': {
    one: '{n} more column is not shown',
    other: '{n} more columns are not shown',
  },
};

/** Texts in one language. `texts` are its translations; without them, texts are English. Never throws. */
export const createText = (locale: string, texts: Texts = english): Text => {
  const plurals = new Intl.PluralRules(texts === english ? 'en' : locale);
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
