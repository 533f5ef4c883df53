/** Texts of messages and files in the languages of the elements. */
import { describe, expect, test } from 'vitest';
import type { MessageTexts } from '../../src/texts/keys.js';
import { messageTexts, readLanguage, speechOf } from '../../src/texts/messages.js';
import { languageOf } from '../../src/web/languages/load.js';

const languages = ['ar', 'de', 'es', 'fr', 'it', 'ja', 'nl', 'pl', 'pt', 'tr', 'zh'];
const textsOf = (language: string): MessageTexts => {
  const texts = messageTexts[language];
  if (texts === undefined) throw new Error(`no texts in ${language}`);
  return texts;
};
const placesIn = (text: string): readonly string[] => (text.match(/\{\w+\}/g) ?? []).toSorted();

test('messages speak the languages of the elements', () => {
  expect(Object.keys(messageTexts)).toEqual(languages);
  expect(languages.map(languageOf)).toEqual(languages);
});

describe.each(languages)('%s', (language) => {
  const entries = Object.entries(textsOf(language));

  test('has the values of each text once, but for the number of a plural', () => {
    const wrong = entries.flatMap(([key, text]) =>
      (typeof text === 'string' ? [text] : Object.values(text)).filter((form) => {
        const expected = placesIn(key).filter((place) => place !== '{n}');
        const places = placesIn(form).filter((place) => place !== '{n}' || typeof text === 'string');
        return form.trim() !== form || form === '' || places.join() !== expected.join();
      }),
    );
    expect(wrong).toEqual([]);
  });

  test('has every plural that its language uses', () => {
    const rules = new Set([0, 1, 2, 3, 5, 11, 21, 100, 1_000_000].map((n) => new Intl.PluralRules(language).select(n)));
    const lacking = entries.filter(
      ([key, text]) =>
        key.includes('{n}') !== (typeof text !== 'string') ||
        (typeof text !== 'string' && [...rules].some((rule) => text[rule] === undefined)),
    );
    expect(lacking.map(([key]) => key)).toEqual([]);
  });

  test('has no character of markup', () => {
    expect(entries.filter(([, text]) => /[<>&]/.test(JSON.stringify(text)))).toEqual([]);
  });
});

test.each([
  ['de', 'de'],
  ['pt_BR', 'pt-BR'],
  ['zh-hans-cn', 'zh-Hans-CN'],
  ['ar-u-nu-arab', undefined],
  ['de\r\nBcc: x@evil.example', undefined],
  ['', undefined],
  ['e', undefined],
  ['de-'.repeat(40), undefined],
  [['de'], undefined],
  [null, undefined],
])('the claim %j names the language %j', (claim, language) => {
  expect(readLanguage(claim)).toBe(language);
});

test.each([
  [undefined, 'en-GB', 'ltr', 'Report'],
  ['en-US', 'en-US', 'ltr', 'Report'],
  ['sv', 'en-GB', 'ltr', 'Report'],
  ['constructor', 'en-GB', 'ltr', 'Report'],
  ['de-AT', 'de-AT-u-nu-latn', 'ltr', 'Bericht'],
  ['ar', 'ar-u-nu-latn', 'rtl', 'تقرير'],
])('a reader of %s is spoken to in %s', (language, locale, direction, word) => {
  const speech = speechOf(language);
  expect([speech.locale, speech.direction, speech.text('Report')]).toEqual([locale, direction, word]);
});
