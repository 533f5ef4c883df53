/** The files of `src/languages/`: each language has every text of English, with its values and its plurals. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import english from '../../src/languages/en.json' with { type: 'json' };
import { languageOf } from '../../src/model/texts/language.js';
import { speechOf } from '../../src/model/texts/messages.js';
import type { Texts } from '../../src/model/texts/text.js';
import { elementText, loadTexts } from '../../src/web/base/texts.js';

const folder = new URL('../../src/languages/', import.meta.url);
const all = readdirSync(folder).map((file) => file.replace(/\.json$/, ''));
const read = (language: string): Readonly<Record<string, Texts>> =>
  JSON.parse(readFileSync(new URL(`${language}.json`, folder), 'utf8'));

const formsOf = (text: string | object): readonly string[] => (typeof text === 'string' ? [text] : Object.values(text));
const placesIn = (text: string): readonly string[] => (text.match(/\{\w+\}/g) ?? []).toSorted();

test('messages and elements speak the languages that have a file', async () => {
  expect(all.map((language) => new Intl.Locale(speechOf(language).locale).language)).toEqual(all);
  expect(all.map(languageOf)).toEqual(all);
  for (const language of all.map(languageOf).filter((one) => one !== 'en')) {
    const [texts, { elements }] = [await loadTexts(language), read(language)];
    expect(texts).toEqual(elements);
    expect(elementText(language, texts)('Yes')).toBe(elements?.Yes);
    expect(speechOf(language).text('Report')).toBe(read(language).messages?.Report);
  }
});

test('a text that is not in the file of English does not compile, and stays as the code says it', () => {
  // @ts-expect-error: no such key.
  expect(elementText('de')('Unknown')).toBe('Unknown');
  // @ts-expect-error: a text of elements.
  expect(speechOf('de').text('Try again')).toBe('Try again');
});

test('an English text is its own key, which is the form for most numbers if the text depends on one', () => {
  const texts = Object.values<Texts>(english).flatMap((one) => Object.entries(one));
  expect(texts.filter(([key, text]) => key !== (typeof text === 'string' ? text : text.other))).toEqual([]);
});

describe.each(all)('the texts in %s', (language) => {
  const parts = Object.entries(read(language));
  const entries = parts.flatMap(([, texts]) => Object.entries(texts));

  test('have the keys of English, in its order', () => {
    expect(parts.map(([use, texts]) => [use, Object.keys(texts)])).toEqual(
      Object.entries(english).map(([use, texts]) => [use, Object.keys(texts)]),
    );
  });

  test('have the values of their key once each, but for the number of a plural', () => {
    const wrong = entries.flatMap(([key, text]) =>
      formsOf(text).filter((form) => {
        // Readers of other languages get a neutral sentence instead of the message, which is English.
        const isFree = (place: string) => place === '{message}' || (place === '{n}' && typeof text !== 'string');
        const [expected, places] = [key, form].map((one) => placesIn(one).filter((place) => !isFree(place)));
        return form.trim() !== form || form === '' || places?.join() !== expected?.join();
      }),
    );
    expect(wrong).toEqual([]);
  });

  test('have every plural that the language uses', () => {
    // Elements show no million of anything that they count; files can have as many rows.
    const lacking = parts.flatMap(([use, texts]) => {
      const numbers = [0, 1, 1.5, 2, 3, 5, 11, 21, 100, ...(use === 'messages' ? [1_000_000] : [])];
      const rules = numbers.map((n) => new Intl.PluralRules(language).select(n));
      return Object.entries(texts).filter(
        ([, text]) => typeof text !== 'string' && rules.some((rule) => !Object.hasOwn(text, rule)),
      );
    });
    expect(lacking.map(([key]) => key)).toEqual([]);
  });

  test('have no character of markup', () => {
    expect(entries.filter(([, text]) => /[<>&]/.test(JSON.stringify(text)))).toEqual([]);
  });
});

test.each(all.filter((language) => language !== 'en'))('messages in %s have plurals for each number', (language) => {
  const { messages = {} } = read(language);
  expect(Object.entries(messages).filter(([key, text]) => key.includes('{n}') !== (typeof text !== 'string'))).toEqual(
    [],
  );
});
