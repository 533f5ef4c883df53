/** The files that the theme studio writes: right for the service, and readable for any colour of a brand. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { themeWarnings } from '../../src/model/theme/contrast.js';
import { decodeTheme } from '../../src/model/theme/design-tokens.js';
import { type Choices, textOf, themeOf } from '../../src/web/docs/theme-tokens.js';

const colour = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`);
const choices: fc.Arbitrary<Choices> = fc.record({
  brand: colour,
  radiusInPx: fc.integer({ min: 0, max: 24 }),
  font: fc.constantFrom('', 'system-ui, sans-serif', 'Georgia, serif', 'ui-monospace, monospace'),
  density: fc.constantFrom('compact' as const, 'usual' as const, 'airy' as const),
});

test('each choice gives a file without faults, whose texts readers can read on light and on dark', () => {
  fc.assert(
    fc.property(choices, (given) => {
      const { theme, faults } = decodeTheme(JSON.parse(textOf(themeOf(given))));
      expect(faults).toEqual([]);
      expect(themeWarnings(theme).filter((warning) => warning.includes('contrast'))).toEqual([]);
    }),
  );
});

test('the colour of the brand is written once, and named where it is readable as it is', () => {
  const text = textOf(themeOf({ brand: '#0a58ca', radiusInPx: 4, font: 'Georgia, serif', density: 'compact' }));
  expect(text.match(/#0a58ca/g)).toHaveLength(1);
  expect(text).toContain('"accent": { "$type": "color", "$value": "{brand.colour}" }');
  const { theme } = decodeTheme(JSON.parse(text));
  expect(theme.light).toMatchObject({ '--gl-accent': '#0a58ca', '--gl-radius': '4px', '--gl-gap': '8px' });
  expect(theme.light['--gl-font']).toBe("'Georgia', serif");
  expect(theme.dark['--gl-accent']).not.toBe('#0a58ca');
});

test('what is left as usual is no token, so that later releases may change it', () => {
  const text = textOf(themeOf({ brand: '#0a58ca', radiusInPx: 12, font: '', density: 'usual' }));
  expect(text).not.toMatch(/font|gap|row-height/);
});
