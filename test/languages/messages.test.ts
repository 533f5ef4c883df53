/** The language in which a reader gets messages and files. */
import { expect, test } from 'vitest';
import { readLanguage, speechOf } from '../../src/model/texts/messages.js';

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
