/** Texts of messages and files, which this process writes in the languages of the elements. */
import ar from '../../languages/ar.json' with { type: 'json' };
import de from '../../languages/de.json' with { type: 'json' };
import en from '../../languages/en.json' with { type: 'json' };
import es from '../../languages/es.json' with { type: 'json' };
import fr from '../../languages/fr.json' with { type: 'json' };
import it from '../../languages/it.json' with { type: 'json' };
import ja from '../../languages/ja.json' with { type: 'json' };
import nl from '../../languages/nl.json' with { type: 'json' };
import pl from '../../languages/pl.json' with { type: 'json' };
import pt from '../../languages/pt.json' with { type: 'json' };
import tr from '../../languages/tr.json' with { type: 'json' };
import zh from '../../languages/zh.json' with { type: 'json' };
import { directionOf, type Language, languageOf } from './language.js';
import { createText, type Text, type Translation } from './text.js';

const translations: Readonly<Record<Language | 'en', Translation<'messages'>>> = {
  ...{ ar, de, en, es, fr, it, ja, nl, pl, pt, tr, zh },
};

/** How a reader is spoken to. `locale` is for `Intl`, and of the same language as the texts. */
export type Speech = {
  readonly locale: string;
  readonly direction: 'ltr' | 'rtl';
  readonly text: Text<'messages'>;
};

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
  const tag = readLanguage(language) ?? 'en-GB';
  const spoken = languageOf(tag);
  const english = /^en\b/.test(tag) ? tag : 'en-GB';
  const locale = spoken === 'en' ? english : `${tag}-u-nu-latn`;
  return { locale, direction: directionOf(spoken), text: createText(locale, translations[spoken].messages, spoken) };
};
