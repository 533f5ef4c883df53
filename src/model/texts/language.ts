/** Which languages have texts, and how they are read. */
const languages = ['ar', 'de', 'es', 'fr', 'it', 'ja', 'nl', 'pl', 'pt', 'tr', 'zh'] as const;
/** A language of the texts, beside English. */
export type Language = (typeof languages)[number];

/** The language of a tag whose texts exist: `pt` for `pt-BR`, English for one that has none. */
export const languageOf = (tag: string): Language | 'en' =>
  languages.find((language) => language === tag.toLowerCase().split(/[-_]/)[0]) ?? 'en';

/** How the texts of a tag are read. */
export const directionOf = (tag: string): 'ltr' | 'rtl' => (languageOf(tag) === 'ar' ? 'rtl' : 'ltr');
