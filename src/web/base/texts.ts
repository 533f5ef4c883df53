/**
 * Texts of the elements. A browser loads a language when an element first needs it; its file has these texts alone. Each
 * element has a language of its own, so nothing here is kept for the whole page.
 */
import english from '../../languages/en.json' with { type: 'json' };
import type { Language } from '../../model/texts/language.js';
import { createText, type Text, type Texts, type Translation } from '../../model/texts/text.js';

const loaders: Readonly<Record<Language, () => Promise<{ readonly default: Translation<'elements'> }>>> = {
  ar: () => import('../../languages/ar.json'),
  de: () => import('../../languages/de.json'),
  es: () => import('../../languages/es.json'),
  fr: () => import('../../languages/fr.json'),
  it: () => import('../../languages/it.json'),
  ja: () => import('../../languages/ja.json'),
  nl: () => import('../../languages/nl.json'),
  pl: () => import('../../languages/pl.json'),
  pt: () => import('../../languages/pt.json'),
  tr: () => import('../../languages/tr.json'),
  zh: () => import('../../languages/zh.json'),
};

/** Rejects if the texts do not arrive. */
export const loadTexts = async (language: Language): Promise<Texts> => (await loaders[language]()).default.elements;

/** Texts in one language. `texts` are its translations; without them, texts are English. Never throws. */
export const elementText = (locale: string, texts?: Texts): Text =>
  createText(locale, texts ?? english.elements, texts === undefined ? 'en' : locale);
