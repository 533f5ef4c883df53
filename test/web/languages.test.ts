/** Texts of the elements in the reader's language. */
import { describe, expect, test } from 'vitest';
import english from '../../src/languages/en.json' with { type: 'json' };
import { directionOf, languageOf } from '../../src/model/texts/language.js';
import { apart } from '../../src/web/base/direction.js';
import { createFormat } from '../../src/web/base/format.js';
import { elementText } from '../../src/web/base/texts.js';
import { textsIn, textsOfElements } from './texts.js';

describe('a text', () => {
  const polish = elementText('pl', {
    '{n} values': { one: '{n} wartość', few: '{n} wartości', many: '{n} wartości (wiele)', other: '{n} wartości' },
    'Rows behind {name}': 'Wiersze: {name}',
  });

  test('has the plural of its number', () => {
    expect([1, 2, 5].map((n) => polish('{n} values', { n }))).toEqual([
      '1 wartość',
      '2 wartości',
      '5 wartości (wiele)',
    ]);
    expect([1, 2].map((n) => elementText('en')('{n} values', { n }))).toEqual(['1 value', '2 values']);
  });

  test('writes numbers in its language, and inserts values as they are', () => {
    expect(elementText('de', {})('{n} of {total} rows', { n: 10_000, total: 84_539 })).toBe('10.000 of 84.539 rows');
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

const keys = Object.keys(english.elements);
const { used, bare } = textsOfElements(new Set(keys));

test('the elements use every text that they have', () => {
  expect(keys.filter((key) => !used.includes(key))).toEqual([]);
  expect(used.filter((key) => !keys.includes(key))).toEqual([]);
});

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
