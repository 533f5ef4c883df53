/** Which languages the elements speak, and their texts, each loaded when an element first needs it. */
import type { Texts } from './text.js';

const loaders: Readonly<Record<string, () => Promise<{ readonly texts: Texts }>>> = {
  ar: () => import('./ar.js'),
  de: () => import('./de.js'),
  es: () => import('./es.js'),
  fr: () => import('./fr.js'),
  it: () => import('./it.js'),
  ja: () => import('./ja.js'),
  nl: () => import('./nl.js'),
  pl: () => import('./pl.js'),
  pt: () => import('./pt.js'),
  tr: () => import('./tr.js'),
  zh: () => import('./zh.js'),
};

/** The language of a tag whose texts exist: `pt` for `pt-BR`, English for one that has none. */
export const languageOf = (tag: string): string => {
  const language = tag.toLowerCase().split(/[-_]/)[0] ?? '';
  return Object.hasOwn(loaders, language) ? language : 'en';
};

/** Undefined for English, whose texts are in the code. Rejects if the texts do not arrive. */
export const loadTexts = async (language: string): Promise<Texts | undefined> =>
  Object.hasOwn(loaders, language) ? (await loaders[language]?.())?.texts : undefined;

export const directionOf = (language: string): 'ltr' | 'rtl' => (language === 'ar' ? 'rtl' : 'ltr');
