/**
 * Translations of the names that an author wrote, in `metadata.translations` of a dashboard: by language, then by the
 * written text. What is written stays the name for policies and queries; a translation is only shown.
 */
import { isRecord } from '../is-record.js';

export type Translate = (written: string) => string;

export const asWritten: Translate = (written) => written;

const languagePattern = /^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$/;

/** The first fault of translations, with its path. Undefined: there is none. */
export const translationsFault = (
  translations: unknown,
): { readonly path: readonly string[]; readonly message: string } | undefined => {
  if (!isRecord(translations)) return { path: [], message: 'an object with a map of texts for each language' };
  for (const [language, texts] of Object.entries(translations)) {
    if (!languagePattern.test(language)) return { path: [language], message: 'a language such as de or pt-BR' };
    if (!isRecord(texts)) return { path: [language], message: 'an object: the written text, and its translation' };
    const empty = Object.entries(texts).find(([, text]) => typeof text !== 'string' || text.trim() === '');
    if (empty !== undefined) return { path: [language, empty[0]], message: 'a translation that is not empty' };
  }
  return undefined;
};

/** The texts of a language: of the very tag, such as `pt-BR`, else of its first part. */
const textsOf = (translations: Readonly<Record<string, unknown>>, language: string): unknown => {
  const names = Object.keys(translations);
  const find = (wanted: string) => names.find((name) => name.toLowerCase() === wanted.toLowerCase());
  const name = find(language) ?? find(language.split('-')[0] ?? '');
  return name === undefined ? undefined : translations[name];
};

/** Translates by the first of these dashboards' metadata that has translations. Without a language, nothing changes. */
export const translateBy = (
  metadata: readonly (Readonly<Record<string, unknown>> | null | undefined)[],
  language: string | undefined,
): Translate => {
  const translations = metadata.map((one) => one?.translations).find(isRecord);
  const texts = language === undefined || translations === undefined ? undefined : textsOf(translations, language);
  if (!isRecord(texts)) return asWritten;
  return (written) => {
    const text = Object.hasOwn(texts, written) ? texts[written] : undefined;
    return typeof text === 'string' && text.trim() !== '' ? text : written;
  };
};
