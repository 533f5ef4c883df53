/** The generated files are up to date. `npm run docs` writes them. */
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  renderCommandsPage,
  renderConfigurationPage,
  renderLoggingPage,
  renderSettingsFile,
  renderVariables,
} from '../src/cli/reference.js';
import { chartTypes } from '../src/model/dashboard/chart.js';
import { logChapters } from '../src/model/log-events.js';
import { renderChartGallery } from './chart-gallery.js';
import { type Manifest, renderElementsPage } from './elements-page.js';
import { withFoot } from './generated-foot.js';
import { providerPages, renderProviderTable } from './provider-pages.js';
import { renderTypesPage } from './types-page.js';

const elements = JSON.parse(
  readFileSync(new URL('../packages/elements/custom-elements.json', import.meta.url), 'utf8'),
) as Manifest;

test('config/guestlist.yaml is what `npm run docs` writes', async () => {
  await expect(renderSettingsFile()).toMatchFileSnapshot('../config/guestlist.yaml');
});

/** Each page with the function that renders it and its source. */
const generated: readonly (readonly [string, () => string | Promise<string>, string])[] = [
  ['docs/reference/configuration.md', renderConfigurationPage, 'the schema in `src/platform/config/settings.ts`'],
  ['docs/reference/logging.md', renderLoggingPage, '`src/model/log-events.ts`'],
  ['docs/reference/cli.md', renderCommandsPage, 'the declarations in `src/cli/`'],
  ['docs/reference/chart-gallery.md', renderChartGallery, '`test/chart-gallery.ts`'],
  ['docs/reference/types.md', renderTypesPage, '`src/model/datamart/datatypes.ts`'],
  ['docs/reference/elements.md', () => renderElementsPage(elements), '`packages/elements/custom-elements.json`'],
  ['docs/how-to/logins/README.md', renderProviderTable, '`config/presets/`'],
  ...providerPages,
];

test.each(generated)('%s is what `npm run docs` writes, with its source at the foot', async (file, render, source) => {
  await expect(withFoot(await render(), source)).toMatchFileSnapshot(`../${file}`);
});

test('every chart type has an example and a picture in the gallery', () => {
  const gallery = renderChartGallery();
  const chapters = gallery.split(/^## /m).slice(1);
  expect(chapters.map((chapter) => /^`(\w+)`/.exec(chapter)?.[1])).toEqual([...chartTypes]);
  for (const [at, type] of chartTypes.entries()) {
    expect(chapters[at]).toContain(`"type": "${type}"`);
    expect(existsSync(new URL(`../docs/images/charts/${type}.png`, import.meta.url)), type).toBe(true);
  }
});

test('every setting of docs/reference/configuration.md has a meaning', () => {
  expect(
    renderConfigurationPage()
      .split('\n')
      .filter((line) => /\| +\|$/.test(line)),
  ).toEqual([]);
});

test('--help lists the variables of settings and of secrets', () => {
  for (const name of ['PORT', 'DATABASE_URL', 'GUESTLIST_API_KEY'])
    expect(renderVariables()).toMatch(new RegExp(`^  ${name} `, 'm'));
});

test('names of log events are `subject.verb` and unique', () => {
  const names = Object.values(logChapters).flatMap((events) => Object.keys(events));
  expect(names.filter((name) => !/^[a-z]+(_[a-z]+)*\.[a-z]+(_[a-z]+)*$/.test(name))).toEqual([]);
  expect(new Set(names).size).toBe(names.length);
});
