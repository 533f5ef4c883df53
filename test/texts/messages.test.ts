/** Texts of messages and files in the languages of the elements. */
import { describe, expect, test } from 'vitest';
import { texts as ar } from '../../src/texts/ar.js';
import { texts as de } from '../../src/texts/de.js';
import { texts as es } from '../../src/texts/es.js';
import { texts as fr } from '../../src/texts/fr.js';
import { texts as it } from '../../src/texts/it.js';
import { texts as ja } from '../../src/texts/ja.js';
import type { MessageTexts } from '../../src/texts/keys.js';
import { readLanguage, speechOf } from '../../src/texts/messages.js';
import { texts as nl } from '../../src/texts/nl.js';
import { texts as pl } from '../../src/texts/pl.js';
import { texts as pt } from '../../src/texts/pt.js';
import { texts as tr } from '../../src/texts/tr.js';
import { texts as zh } from '../../src/texts/zh.js';
import { languageOf } from '../../src/web/languages/load.js';

const messageTexts: Readonly<Record<string, MessageTexts>> = { ar, de, es, fr, it, ja, nl, pl, pt, tr, zh };
const languages = Object.keys(messageTexts);
const placesIn = (text: string): readonly string[] => (text.match(/\{\w+\}/g) ?? []).toSorted();

test('messages speak the languages of the elements', () => {
  expect(languages.map((language) => new Intl.Locale(speechOf(language).locale).language)).toEqual(languages);
  expect(languages.map(languageOf)).toEqual(languages);
});

describe.each(languages)('%s', (language) => {
  const entries = Object.entries(messageTexts[language] ?? {});

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
