import fc from 'fast-check';
import { expect, test } from 'vitest';
import { translateBy, translationsFault } from '../../src/model/dashboard/translations.js';

const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`v${at}`, `label ${at}`]));

test.each([
  [7, []],
  [{ de: 'Deutsch' }, ['de']],
  [{ 'not a language': {} }, ['not a language']],
  [{ de: { 'Rev. by month': '' } }, ['de', 'Rev. by month']],
  [{ de: { Sales: 7 } }, ['de', 'Sales']],
  [{ de: { Sales: { CA: 'Kalifornien' } } }, ['de', 'Sales']],
  [{ de: { values: ['CA'] } }, ['de', 'values']],
  [{ de: { values: { State: 'Kalifornien' } } }, ['de', 'values', 'State']],
  [{ de: { values: { State: { CA: ' ' } } } }, ['de', 'values', 'State', 'CA']],
  [{ de: { values: { State: { CA: 'x'.repeat(201) } } } }, ['de', 'values', 'State', 'CA']],
  [{ de: { values: { State: { CA: 'Same', NV: 'Same' } } } }, ['de', 'values', 'State', 'NV']],
  [{ de: { values: { State: many(2000) } }, fr: { values: { Other: many(1) } } }, []],
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
      for (const [written, shown] of Object.entries(texts)) expect(translate.name(written)).toBe(shown);
      if (!Object.hasOwn(texts, other)) expect(translate.name(other)).toBe(other);
      expect(translateBy([{ translations }], 'fr').name(other)).toBe(other);
    }),
  );
});

test('labels are of one column and one language; a metric may be called `values`', () => {
  const translations = {
    de: { values: { State: { CA: 'Kalifornien', NV: 'Nevada (Staat)' } } },
    fr: { values: 'valeurs' },
  };
  expect(translationsFault(translations)).toBeUndefined();
  const german = translateBy([{ translations }], 'de-AT');
  expect(german.valuesOf('State')?.labelOf('CA')).toBe('Kalifornien');
  expect(german.valuesOf('State')?.labelOf('constructor')).toBeUndefined();
  expect(german.valuesOf('State')?.search('NEVADA')).toEqual(['NV']);
  expect(german.valuesOf('Other')).toBeUndefined();
  expect(german.valuesOf('constructor')).toBeUndefined();
  expect(german.name('values')).toBe('values');
  expect(translateBy([{ translations }], 'fr').name('values')).toBe('valeurs');
  expect(translateBy([{ translations }], 'fr').valuesOf('State')).toBeUndefined();
  const full = { de: { values: { State: many(2000) } } };
  expect(translationsFault(full)).toBeUndefined();
});
