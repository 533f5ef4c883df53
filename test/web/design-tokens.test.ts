/** Themes in the Design Tokens format. */
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { loadThemes } from '../../src/compose/themes.js';
import { themeWarnings } from '../../src/model/theme/contrast.js';
import { decodeTheme } from '../../src/model/theme/design-tokens.js';
import { customProperties, dark, light } from '../../src/model/theme/palette.js';
import { defaultSettings } from '../../src/platform/config/settings.js';
import { exported } from '../../src/web/base/parts.js';

const web = fileURLToPath(new URL('../../src/web/', import.meta.url));
const sourcesOfElements = (): readonly string[] =>
  ['charts', 'elements', 'filters', 'base'].flatMap((folder) =>
    readdirSync(join(web, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(join(web, folder, file), 'utf8')),
  );

const lightOf = (given: unknown) => decodeTheme(given).theme.light;

describe('a theme', () => {
  test('has colours as text or as components, sizes, fonts, groups and aliases', () => {
    const given = {
      brand: { $type: 'color', blue: { $value: '#0a58ca' }, alias: { $value: '{brand.blue}' } },
      color: {
        $description: 'what the elements use',
        accent: { $value: '{brand.alias}' },
        text: { $value: { colorSpace: 'srgb', components: [0, 0.5, 1] } },
        muted: { $value: { colorSpace: 'oklch', components: [0.5, 0.1, 20], hex: '#777777' } },
        series: { 1: { $value: '#111111' }, 8: { $value: '#88888880' } },
      },
      font: { family: { $type: 'fontFamily', $value: ['Inter Tight', 'sans-serif'] } },
      radius: { $type: 'dimension', $value: { value: 4, unit: 'px' } },
      gap: { $value: '1.5rem' },
      dark: { color: { accent: { $value: '#9ec5fe' } } },
      $extensions: { guestlist: { scheme: 'dark' } },
    };
    expect(decodeTheme(given)).toEqual({
      faults: [],
      theme: {
        scheme: 'dark',
        light: {
          '--gl-accent': '#0a58ca',
          '--gl-text': '#0080ff',
          '--gl-muted': '#777777',
          '--gl-series-1': '#111111',
          '--gl-series-8': '#88888880',
          '--gl-font': "'Inter Tight', sans-serif",
          '--gl-radius': '4px',
          '--gl-gap': '1.5rem',
        },
        dark: { '--gl-accent': '#9ec5fe' },
      },
    });
  });

  test('a family that names Inter has the font with its sizes next, which stands for it until it comes', () => {
    const given = { font: { family: { $value: ['Inter', 'Inter Tight', 'sans-serif'] } } };
    expect(lightOf(given)['--gl-font']).toBe("'Inter', 'Inter Fallback', 'Inter Tight', sans-serif");
  });

  test.each<[string, unknown, string]>([
    ['a list', [], 'a theme is an object of tokens'],
    ['a misspelt token', { color: { acent: { $value: '#fff' } } }, 'color.acent: there is no such token'],
    [
      'a token of no group for dark colours',
      { dark: { accent: { $value: '#fff' } } },
      'dark.accent: there is no such token',
    ],
    ['a named colour', { color: { text: { $value: 'red' } } }, 'color.text: takes a colour'],
    ['an alias to nothing', { color: { text: { $value: '{a.b}' } } }, 'color.text: takes a colour'],
    [
      'a circle',
      { color: { text: { $value: '{color.muted}' }, muted: { $value: '{color.text}' } } },
      'color.muted: takes',
    ],
    ['a rule in a font', { font: { family: { $value: "x'; } * { color: red" } } }, 'font.family: takes names of fonts'],
    ['a size without a unit', { radius: { $value: 4 } }, 'radius: takes a size'],
    ['a scheme', { $extensions: { guestlist: { scheme: 'blue' } } }, 'scheme: takes "light" or "dark"'],
  ])('%s is a fault, and has no effect', (_, given, fault) => {
    const { theme, faults } = decodeTheme(given);
    expect(faults.join('\n')).toContain(fault);
    expect(theme).toEqual({ light: {}, dark: {} });
  });

  test('never ends the rule that it is written into', () => {
    const text = fc.oneof(fc.string(), fc.constantFrom('#fff', '4px', "Inter'", '"x"', 'a;b', '}'));
    const token = fc.record({ $value: fc.oneof(text, fc.array(text), fc.jsonValue()) });
    const theme = fc.record({
      color: fc.record({ accent: token }),
      font: fc.record({ family: token }),
      radius: token,
      gap: token,
    });
    fc.assert(
      fc.property(theme, (given) => {
        for (const value of Object.values(lightOf(given))) expect(value).toMatch(/^[#\p{L}\p{N}' ,._-]+$/u);
      }),
    );
  });

  test('a theme whose colours cannot be told apart is named', () => {
    expect(themeWarnings({ light: {}, dark: {} })).toEqual([]);
    const pale = { '--gl-text': '#cccccc', '--gl-series-2': customProperties(light)['--gl-series-1'] ?? '' };
    expect(themeWarnings({ light: pale, dark: {} })).toEqual([
      'light: text on surface has a contrast of 1.6, and needs 4.5',
      'light: series-1 and series-2 look alike',
    ]);
    expect(themeWarnings({ scheme: 'light', light: {}, dark: { '--gl-text': dark.surface } })).toEqual([]);
  });
});

test('every part that a page may style is in the list of parts, and in the reference', () => {
  const page = readFileSync(new URL('../../docs/reference/elements.md', import.meta.url), 'utf8');
  const parts = exported.split(', ');
  for (const name of parts) expect(page).toContain(`\`${name}\``);
  const used = sourcesOfElements().flatMap((code) =>
    [...code.matchAll(/\bpart="([^"]+)"/g)].flatMap(([, names = '']) => names.split(' ')),
  );
  expect([...new Set([...used, 'tooltip'])].toSorted()).toEqual(parts.toSorted());
});

test('a client has the theme of its own, and another that of the workspace', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'guestlist-themes-'));
  for (const name of ['brand', 'acme']) await writeFile(join(folder, `${name}.json`), '{"color": {}}');
  const settings = { ...defaultSettings(), themes: { folder, clients: { ACME: 'acme' } } };
  const findTheme = loadThemes({ settings, folder }, pino({ level: 'silent' }));
  await rm(folder, { recursive: true });
  const named = (name: string) => ({ name, light: {}, dark: {} });
  expect(findTheme('brand', 'ACME')).toEqual(named('acme'));
  expect(findTheme('brand', 'GLOBEX')).toEqual(named('brand'));
  expect(findTheme(undefined, 'GLOBEX')).toBeNull();
  expect(findTheme('light', 'GLOBEX')).toEqual({ name: 'light' });
});
