import fc from 'fast-check';
import { expect, it } from 'vitest';
import { shownTenantName } from '../../src/model/datamart/tenant-name.js';

const anyText = fc.string({
  unit: fc.oneof(fc.constantFrom('\u202e', '\n', '\0', '\ud800', '\u2066', ' ', 'ß'), fc.string()),
});

it('makes one short line of any text, which changes nothing around it, and keeps it when it is made again', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const shown = shownTenantName(text);
      if (shown === undefined) return;
      expect(shown).not.toMatch(/[\p{Cc}\p{Cs}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u);
      expect([...shown].length).toBeLessThanOrEqual(120);
      expect(shown.trim()).toBe(shown);
      expect(shownTenantName(shown)).toBe(shown);
    }),
  );
});

it('keeps an ordinary name as it is, of any script', () => {
  for (const name of ['Acme & Sons', 'شركة الأمل', '株式会社 例', 'O’Neill <b>'])
    expect(shownTenantName(name)).toBe(name);
  expect(shownTenantName(' \u202e ')).toBeUndefined();
});
