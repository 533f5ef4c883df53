import fc from 'fast-check';
import { expect, test } from 'vitest';
import { translateBy, translationsFault } from '../../src/domain/dashboard/translations.js';

test.each([
  [7, []],
  [{ de: 'Deutsch' }, ['de']],
  [{ 'not a language': {} }, ['not a language']],
  [{ de: { 'Rev. by month': '' } }, ['de', 'Rev. by month']],
  [{ de: { Sales: 7 } }, ['de', 'Sales']],
])('translations that are no map of texts are refused at their place: %j', (translations, path) => {
  expect(translationsFault(translations)?.path).toEqual(path);
});

test('translations without fault translate what they name, and nothing else', () => {
  const text = fc.string({ minLength: 1 }).filter((one) => one.trim() !== '');
  fc.assert(
    fc.property(fc.dictionary(text, text), text, (texts, other) => {
      const translations = { de: texts };
      expect(translationsFault(translations)).toBeUndefined();
      const translate = translateBy([null, { translations }], 'de-CH');
      for (const [written, shown] of Object.entries(texts)) expect(translate(written)).toBe(shown);
      if (!Object.hasOwn(texts, other)) expect(translate(other)).toBe(other);
      expect(translateBy([{ translations }], 'fr')(other)).toBe(other);
    }),
  );
});
