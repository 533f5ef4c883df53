/** Texts of messages and files, which this process writes in the languages of the elements. */
import { texts as ar } from './ar.js';
import { texts as de } from './de.js';
import { texts as es } from './es.js';
import { texts as fr } from './fr.js';
import { texts as it } from './it.js';
import { texts as ja } from './ja.js';
import type { MessageKey, MessageTexts } from './keys.js';
import { texts as nl } from './nl.js';
import { texts as pl } from './pl.js';
import { texts as pt } from './pt.js';
import { createTextOf, type Text } from './text.js';
import { texts as tr } from './tr.js';
import { texts as zh } from './zh.js';

const messageTexts: Readonly<Record<string, MessageTexts>> = { ar, de, es, fr, it, ja, nl, pl, pt, tr, zh };

/** How a reader is spoken to. `locale` is for `Intl`, and of the same language as the texts. */
export type Speech = {
  readonly locale: string;
  readonly direction: 'ltr' | 'rtl';
  readonly text: Text<MessageKey>;
};

const english: Speech = { locale: 'en-GB', direction: 'ltr', text: createTextOf('en-GB', {}, 'en') };

/** The tag as `Intl` writes it, also of `pt_BR` as some logins write it. Undefined if it is no language. */
const canonical = (tag: string): string | undefined => {
  const given = tag.replaceAll('_', '-');
  // Extensions could choose digits and calendars that the elements do not use.
  if (!/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$/.test(given)) return undefined;
  try {
    return Intl.getCanonicalLocales(given)[0];
  } catch {
    // It has the form of a tag, and names no language.
    return undefined;
  }
};

/** A language as the operations take it; undefined for a value that is none. */
export const readLanguage = (value: unknown): string | undefined =>
  typeof value === 'string' ? canonical(value) : undefined;

/** Speaks English, numbers and dates too, to a reader whose language has no texts, or is not known. */
export const speechOf = (language: string | undefined): Speech => {
  const locale = language === undefined ? undefined : canonical(language);
  const short = locale?.split('-')[0] ?? '';
  const texts = Object.hasOwn(messageTexts, short) ? messageTexts[short] : undefined;
  if (locale === undefined) return english;
  if (texts === undefined)
    return short === 'en' ? { ...english, locale, text: createTextOf(locale, {}, 'en') } : english;
  const digits = `${locale}-u-nu-latn`;
  return { locale: digits, direction: short === 'ar' ? 'rtl' : 'ltr', text: createTextOf(digits, texts, short) };
};
