/**
 * Translations of what an author wrote and of texts in rows, in `metadata.translations` of a dashboard: by language, then
 * by the written text; texts in rows in `values`, by the column's or filter's name. What is written or stored stays the
 * name for policies and queries; a translation is only shown.
 */
import { isRecord } from '../is-record.js';

export type Translate = (written: string) => string;

const asWritten: Translate = (written) => written;

/** Returns the label of a stored text; undefined if it has none. */
export type LabelOf = (stored: string) => string | undefined;

/** What one language shows. `valuesOf` is undefined for a column or filter whose values have no labels. */
export type Translation = {
  readonly name: Translate;
  readonly valuesOf: (name: string) => { readonly labelOf: LabelOf; readonly search: Search } | undefined;
};
/** Returns the stored texts whose label contains the text, ignoring case. Only a query knows which of them exist. */
type Search = (text: string) => readonly string[];

export const untranslated: Translation = { name: asWritten, valuesOf: () => undefined };

/** The most values with a label in all languages of a dashboard, and the most characters of a label. */
const mostValues = 2000;
const longestLabel = 200;

const languagePattern = /^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$/;

type Fault = { readonly path: readonly string[]; readonly message: string };

const isText = (text: unknown): text is string => typeof text === 'string' && text.trim() !== '';

const labelsFault = (columns: Readonly<Record<string, unknown>>): Fault | undefined => {
  for (const [column, labels] of Object.entries(columns)) {
    if (!isRecord(labels)) return { path: [column], message: 'an object: the stored text, and its label' };
    const labelled = new Map<string, string>();
    for (const [stored, label] of Object.entries(labels)) {
      if (!isText(label)) return { path: [column, stored], message: 'a label that is not empty' };
      if (label.length > longestLabel)
        return { path: [column, stored], message: `a label of at most ${longestLabel} characters` };
      const other = labelled.get(label);
      if (other !== undefined)
        return { path: [column, stored], message: `a label of its own, not that of ${JSON.stringify(other)}` };
      labelled.set(label, stored);
    }
  }
  return undefined;
};

const textsFault = (texts: Readonly<Record<string, unknown>>): Fault | undefined => {
  for (const [written, text] of Object.entries(texts)) {
    // A name may be `values` too: then it has a text, as in files that have no labels of values.
    const fault = written === 'values' && isRecord(text) ? labelsFault(text) : undefined;
    if (fault !== undefined) return { ...fault, path: [written, ...fault.path] };
    if (isText(text) || (written === 'values' && isRecord(text))) continue;
    return { path: [written], message: 'a translation that is not empty' };
  }
  return undefined;
};

const countOf = ({ values }: Readonly<Record<string, unknown>>): number =>
  isRecord(values)
    ? Object.values(values).reduce<number>(
        (sum, labels) => sum + (isRecord(labels) ? Object.keys(labels).length : 0),
        0,
      )
    : 0;

/** The first fault of translations, with its path. Undefined: there is none. */
export const translationsFault = (translations: unknown): Fault | undefined => {
  if (!isRecord(translations)) return { path: [], message: 'an object with a map of texts for each language' };
  for (const [language, texts] of Object.entries(translations)) {
    if (!languagePattern.test(language)) return { path: [language], message: 'a language such as de or pt-BR' };
    if (!isRecord(texts)) return { path: [language], message: 'an object: the written text, and its translation' };
    const fault = textsFault(texts);
    if (fault !== undefined) return { ...fault, path: [language, ...fault.path] };
  }
  const count = Object.values(translations).reduce<number>(
    (sum, texts) => sum + (isRecord(texts) ? countOf(texts) : 0),
    0,
  );
  return count > mostValues ? { path: [], message: `labels of at most ${mostValues} values, not ${count}` } : undefined;
};

/** The texts of a language: of the very tag, such as `pt-BR`, else of its first part. */
const textsOf = (translations: Readonly<Record<string, unknown>>, language: string): unknown => {
  const names = Object.keys(translations);
  const find = (wanted: string) => names.find((name) => name.toLowerCase() === wanted.toLowerCase());
  const name = find(language) ?? find(language.split('-')[0] ?? '');
  return name === undefined ? undefined : translations[name];
};

const textIn = (texts: unknown, written: string): string | undefined => {
  const text = isRecord(texts) && Object.hasOwn(texts, written) ? texts[written] : undefined;
  return isText(text) ? text : undefined;
};

/** Translates by the first of these dashboards' metadata that has translations. Without a language, nothing changes. */
export const translateBy = (
  metadata: readonly (Readonly<Record<string, unknown>> | null | undefined)[],
  language: string | undefined,
): Translation => {
  const translations = metadata.map((one) => one?.translations).find(isRecord);
  const texts = language === undefined || translations === undefined ? undefined : textsOf(translations, language);
  if (!isRecord(texts)) return untranslated;
  const values = isRecord(texts.values) ? texts.values : {};
  return {
    name: (written) => textIn(texts, written) ?? written,
    valuesOf: (name) => {
      const labels = Object.hasOwn(values, name) ? values[name] : undefined;
      if (!isRecord(labels)) return undefined;
      const contains = (stored: string, text: string) =>
        textIn(labels, stored)?.toLowerCase().includes(text.toLowerCase()) === true;
      return {
        labelOf: (stored) => textIn(labels, stored),
        search: (text) => Object.keys(labels).filter((stored) => contains(stored, text)),
      };
    },
  };
};
