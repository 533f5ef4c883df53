/**
 * Texts of the elements in the reader's language. The English text in the code is the key of its translations. Each
 * element has a language of its own, so nothing here is kept for the whole page.
 */
import { createTextOf, type Text, type Texts } from '../../texts/text.js';

export type { Plural, Text, Texts } from '../../texts/text.js';

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
  '{n} points without a time are not drawn': {
    one: '{n} point without a time is not drawn',
    other: '{n} points without a time are not drawn',
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
export const createText = (locale: string, texts: Texts = english): Text =>
  createTextOf(locale, texts, texts === english ? 'en' : locale);
