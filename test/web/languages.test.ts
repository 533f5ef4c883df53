/** Texts of the elements in the reader's language. */
import { describe, expect, test } from 'vitest';
import { apart } from '../../src/web/base/apart.js';
import { createFormat } from '../../src/web/base/format.js';
import { directionOf, languageOf, loadTexts } from '../../src/web/languages/load.js';
import { createText } from '../../src/web/languages/text.js';
import { textsIn, textsOfElements } from './texts.js';

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

  test('a text from right to left has values that stand apart', () => {
    expect(['ar-EG', 'de'].map((language) => apart('-7.4 min', { language }))).toEqual([
      '\u2068-7.4 min\u2069',
      '-7.4 min',
    ]);
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

const german = new Set(Object.keys((await loadTexts('de')) ?? {}));
const { used, bare } = textsOfElements(german);
const placesIn = (text: string): readonly string[] => [...new Set(text.match(/\{\w+\}/g) ?? [])].toSorted();
const languages = ['ar', 'de', 'es', 'fr', 'it', 'ja', 'nl', 'pl', 'pt', 'tr', 'zh'];

test('no text of the elements is only English', () => {
  // Sentences of errors are for developers: the reader gets `failureText` of their code. Routes are no sentences.
  const errors = ['base/client.ts', 'token/keeper.ts', 'token/request.ts', 'base/load-part.ts'];
  const known = [...errors, 'base/guest-operations.ts'];
  expect(bare.filter(({ at }) => !known.some((file) => at.startsWith(file)))).toEqual([]);
});

test.each([
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is code
  ['html`<p>${a} Reset zoom</p>`', ['Reset zoom']],
  ['html`<button title="Remove filter"></button>`', ['Remove filter']],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is code
  ['const a = `${n} smaller parts`', ['{} smaller parts']],
  ["const a = isUp ? 'No value' : text('No value')", ['No value']],
  ["throw new TypeError('The dashboard has none.')", []],
  ["const a = 'rgb(0 0 0 / 35%)'", []],
])('the check of the texts finds those of %s', (code, texts) => {
  expect(textsIn('charts/a.ts', code, new Set(['No value'])).bare.map(({ text }) => text)).toEqual(texts);
});

describe('the languages', () => {
  test.each(languages)('%s has every text, with the same values', async (language) => {
    const texts = (await loadTexts(language)) ?? {};
    expect(used.filter((key) => !Object.hasOwn(texts, key))).toEqual([]);
    expect(Object.keys(texts).filter((key) => !used.includes(key))).toEqual([]);
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
