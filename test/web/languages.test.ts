/** Texts of the elements in the reader's language. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { createFormat } from '../../src/web/base/format.js';
import { directionOf, languageOf, loadTexts } from '../../src/web/languages/load.js';
import { createText } from '../../src/web/languages/text.js';

describe('a text', () => {
  const polish = createText('pl', {
    '{n} values': { one: '{n} wartość', few: '{n} wartości', many: '{n} wartości (wiele)', other: '{n} wartości' },
    'Rows behind {name}': 'Wiersze: {name}',
  });

  test('has the plural of its number', () => {
    expect([1, 2, 5].map((n) => polish('{n} values', { n }))).toEqual([
      '1 wartość',
      '2 wartości',
      '5 wartości (wiele)',
    ]);
    expect([1, 2].map((n) => createText('en')('{n} values', { n }))).toEqual(['1 value', '2 values']);
  });

  test('writes numbers in its language, and inserts values as they are', () => {
    expect(createText('de', {})('{n} of {total} rows', { n: 10_000, total: 84_539 })).toBe('10.000 of 84.539 rows');
    expect(polish('Rows behind {name}', { name: '{name} $& <b>' })).toBe('Wiersze: {name} $& <b>');
  });

  test('is English where the language has none', () => {
    expect(polish('Search')).toBe('Search');
    expect(createFormat('constructor').text('Search')).toBe('Search');
  });

  test('takes the language of a regional tag', () => {
    expect(['pt-BR', 'PT', 'zh-Hans-CN', 'sv', 'constructor', ''].map(languageOf)).toEqual([
      'pt',
      'pt',
      'zh',
      'en',
      'en',
      'en',
    ]);
    expect(['ar', 'de'].map(directionOf)).toEqual(['rtl', 'ltr']);
  });
});

const web = fileURLToPath(new URL('../../src/web/', import.meta.url));
const sources = ['base', 'charts', 'elements', 'filters', 'token'].flatMap((folder) =>
  readdirSync(join(web, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => ({ file: `${folder}/${file}`, code: readFileSync(join(web, folder, file), 'utf8') })),
);
const used = [
  ...new Set(sources.flatMap(({ code }) => [...code.matchAll(/\btext\(\s*'([^']+)'/g)].map(([, key]) => key ?? ''))),
];
const placesIn = (text: string): readonly string[] => [...new Set(text.match(/\{\w+\}/g) ?? [])].toSorted();
const languages = ['ar', 'de', 'es', 'fr', 'it', 'ja', 'nl', 'pl', 'pt', 'tr', 'zh'];

describe('the languages', () => {
  test.each(languages)('%s has every text, with the same values', async (language) => {
    const texts = (await loadTexts(language)) ?? {};
    expect(used.filter((key) => !Object.hasOwn(texts, key))).toEqual([]);
    const wrong = Object.entries(texts).flatMap(([key, text]) =>
      (typeof text === 'string' ? [text] : Object.values(text)).filter(
        (form) =>
          form === '' ||
          placesIn(form).some((place) => !placesIn(key).includes(place)) ||
          placesIn(key).some((place) => !['{n}', '{message}'].includes(place) && !placesIn(form).includes(place)),
      ),
    );
    expect(wrong).toEqual([]);
  });

  test.each(languages)('%s has every plural that its language uses, for texts that vary', async (language) => {
    const texts = (await loadTexts(language)) ?? {};
    const rules = new Set([0, 1, 2, 3, 5, 11, 21, 100].map((n) => new Intl.PluralRules(language).select(n)));
    const lacking = Object.entries(texts).filter(
      ([, text]) => typeof text !== 'string' && [...rules].some((rule) => text[rule] === undefined),
    );
    expect(lacking.map(([key]) => key)).toEqual([]);
  });
});
