/** What guests change in the page of the built product, and what they may not. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changeOf, type StoredModel, withColumn } from '../../src/web/studio/base/model-edit.js';
import { hasChromium, launchChromium } from '../suites/chromium.js';
import { until } from '../web/browser.js';
import { makeBoards, mintFor } from './card-board.js';
import { get, request } from './guest.js';
import { startHostPage } from './host-page.js';
import { type Product, startProduct } from './product.js';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const screenshots = process.env.TEST_SCREENSHOTS;

type Sent = { readonly method: string; readonly path: string; readonly body: Record<string, unknown> };
type Seen = { readonly page: Page; readonly sent: readonly Sent[]; readonly token: string };
type Permissions = Readonly<Record<string, boolean>>;

describe.skipIf(!hasChromium())('guests who edit', { timeout: 120_000 }, () => {
  let product: Product;
  let browser: Browser;

  beforeAll(async () => {
    [product, browser] = await Promise.all([startProduct(), launchChromium()]);
    await makeBoards(product);
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await product?.stop();
    await product?.remove();
  });

  const show = async (
    tags: string,
    permissions: Permissions,
    look: (seen: Seen) => Promise<void>,
    options: BrowserContextOptions = {},
  ): Promise<void> => {
    const token = await mintFor(product, permissions, { userIdentifier: 'mia' });
    const element = (tag: string) =>
      `<${tag} token="${token}" service-url="${product.url}" dashboard-id="cards--LAX"></${tag}>`;
    const host = await startHostPage(product.url, () => tags.split(' ').map(element).join(''));
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-US', ...options });
    try {
      const page = await context.newPage();
      page.setDefaultTimeout(15_000);
      const sent: Sent[] = [];
      page.on('request', (request) => {
        const { pathname } = new URL(request.url());
        const body = (request.method() === 'GET' ? {} : request.postDataJSON()) as Record<string, unknown>;
        if (pathname.startsWith('/api/')) sent.push({ method: request.method(), path: pathname, body });
      });
      await page.goto(host.url);
      await look({ page, sent, token });
      expect(await page.evaluate('violations')).toEqual([]);
    } finally {
      await context.close();
      host.close();
    }
  };
  const faults = async (page: Page, tag: string): Promise<unknown> => {
    await page.evaluate(axe);
    return page.evaluate(
      `axe.run('${tag}').then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))`,
    );
  };
  const shoot = async (page: Page, name: string): Promise<void> => {
    if (screenshots !== undefined) await page.screenshot({ path: `${screenshots}/guest-${name}.png`, fullPage: true });
  };

  const build = async (page: Page): Promise<void> => {
    await page.getByLabel('Search fields').fill('delay');
    await page
      .getByRole('button', { name: /^Measure Delay/ })
      .first()
      .click();
    await page.getByLabel('Search fields').fill('state');
    await page
      .getByRole('button', { name: /^Split by .*state/i })
      .first()
      .click();
    await page.locator('guestlist-card canvas').waitFor();
  };
  const lastPreview = (sent: readonly Sent[]): Record<string, unknown> =>
    (sent.filter(({ path }) => path.endsWith('/preview')).at(-1)?.body.definition ?? {}) as Record<string, unknown>;

  test('a guest names, sorts, compares, drills and writes numbers, and sees each change', () =>
    show('guestlist-editor', {}, async ({ page, sent }) => {
      await build(page);
      const name = page.getByRole('textbox', { name: /^Rename Delay/ });
      await name.fill('Lateness');
      await name.press('Tab');
      await page.getByRole('textbox', { name: 'Rename Lateness' }).waitFor();
      const group = page.getByRole('textbox', { name: /^Rename .*state/i });
      await group.fill('lateness');
      await group.press('Tab');
      await page.getByRole('status').getByText('This name is taken').waitFor();
      await page.getByText('More settings').click();
      await page.getByLabel('Sort by').selectOption({ label: 'Lateness' });
      await page.getByLabel('Direction').selectOption('ASC');
      await page.getByLabel('Rows, at most').fill('5');
      await page.keyboard.press('Tab');
      await page.getByLabel('Compare by date').selectOption({ index: 1 });
      await page.getByLabel('Period', { exact: true }).selectOption('quarter');
      await page.getByText('Shown only without fields to split by').waitFor();
      await page.getByLabel('Unit').fill('min');
      await page.keyboard.press('Tab');
      await page.getByText('Example: 1,235 min').waitFor();
      await page.getByLabel('Decimals').selectOption({ label: '1,234.57 min' });
      await page.getByText('Example: 1,234.57 min').waitFor();
      const euros = page.getByLabel('Currency', { exact: true });
      await euros.selectOption('EUR');
      await page.getByText('Example: €1,234.57 min').waitFor();
      await euros.selectOption({ label: 'No currency' });
      await page.getByRole('region', { name: 'Drill down' }).getByLabel('Add a field').selectOption({ index: 2 });
      await page
        .getByRole('region', { name: 'Drill down' })
        .getByRole('button', { name: /^Remove/ })
        .waitFor();
      await until(async () => lastPreview(sent)).toMatchObject({
        chart: { unit: 'min', decimals: 2 },
        measures: [{ name: 'Lateness' }],
        sort: [{ name: 'Lateness', direction: 'ASC' }],
        limit: 5,
        comparison: { grain: 'quarter', periods: 1 },
        drillPath: [{}],
      });
      await page.locator('guestlist-card section[aria-busy="false"]').waitFor();
      await shoot(page, 'editor');
      expect(await faults(page, 'guestlist-editor')).toEqual([]);
    }));

  test.each([
    ['light', { width: 1280, height: 900 }],
    ['dark', { width: 390, height: 844 }],
  ] as const)('a guest chooses by examples how dates are written, in a %s page', (colorScheme, viewport) =>
    show(
      'guestlist-editor',
      {},
      async ({ page, sent }) => {
        await build(page);
        await page.getByLabel('Search fields').fill('departure');
        await page.getByRole('button', { name: /^Split by Departure/ }).click();
        await page.getByRole('button', { name: /^Measure Departure/ }).click();
        await page.getByLabel('Measure Departure 2').selectOption('MAX');
        const dates = page.getByRole('region', { name: 'Dates' });
        await dates.getByLabel('How dates of Departure are written').selectOption({ label: '02/2026' });
        // A month is written as such, however precise dates of the column are.
        expect(await dates.getByLabel('How precise dates of Departure are').count()).toBe(0);
        await until(async () => lastPreview(sent)).toMatchObject({
          chart: { dates: [{ name: 'Departure', style: 'short' }] },
        });
        await dates.getByLabel('How precise dates of Departure 2 are').selectOption({ label: 'Feb 13, 2026' });
        await until(async () => lastPreview(sent)).toMatchObject({
          chart: {
            dates: [
              { name: 'Departure', style: 'short' },
              { name: 'Departure 2', precision: 'day' },
            ],
          },
        });
        await page.locator('guestlist-card section[aria-busy="false"]').waitFor();
        await shoot(page, `editor-dates-${colorScheme}-${viewport.width}`);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(viewport.width);
        expect(await faults(page, 'guestlist-editor')).toEqual([]);
      },
      { viewport, colorScheme },
    ),
  );

  test('the fields are one stop of the key Tab, and keys lead from there to each, also to one that can’t be used', () =>
    show('guestlist-editor', {}, async ({ page, sent }) => {
      // A second table that cannot be joined to the first.
      await page.route('**/fields', async (route) => {
        const answer = await route.fetch();
        const { data } = (await answer.json()) as { data: { tables: object[]; relationships: object[] } };
        const [first] = data.tables as { joinGroup: number; fields: object[] }[];
        const apart = {
          ...first,
          tableName: 'apart',
          label: 'Weather',
          joinGroup: 7,
          fields: first?.fields.slice(0, 2),
        };
        await route.fulfill({ json: { data: { ...data, tables: [first, apart] } } });
      });
      await page.reload();
      const focus = (name: string) =>
        page.evaluate<string>(`(() => {
        const focused = document.querySelector('guestlist-editor').shadowRoot.activeElement.shadowRoot?.activeElement;
        return focused?.getAttribute('${name}') ?? focused?.textContent.trim().split('\\n')[0] ?? '';
      })()`);
      const press = async (...keys: readonly string[]) => {
        for (const key of keys) await page.keyboard.press(key);
        return focus('aria-label');
      };
      await page.getByRole('grid', { name: 'Fields' }).waitFor();
      const names = (await page.getByRole('grid').getByRole('rowheader').allInnerTexts()).map((name) => name.trim());
      const [table = '', first = '', second = ''] = names;
      expect(await page.getByRole('grid').locator('[tabindex="0"]').count()).toBe(1);
      await page.getByLabel('Search fields').focus();
      expect(await press('Tab')).toBe(table);
      expect(await press('Tab')).toBe('Data');
      expect(await press('Shift+Tab')).toBe(table);
      expect(await press('ArrowUp')).toBe(table);
      expect(await press('ArrowDown')).toBe(first);
      expect(await press('ArrowRight')).toBe(`Measure ${first}`);
      // A row keeps the column.
      expect(await press('ArrowDown')).toBe(`Measure ${second}`);
      expect(await press('End', 'ArrowRight')).toBe(`Filter by ${second}`);
      expect(await press('ArrowLeft')).toBe(`Split by ${second}`);
      expect(await press('Tab', 'Shift+Tab')).toBe(`Split by ${second}`);
      expect(await press('Home')).toBe(second);
      // The focus stays where a button added something.
      expect(await press('ArrowRight', 'Enter')).toBe(`Measure ${second}`);
      await page.locator('guestlist-card canvas, guestlist-card .value').first().waitFor();
      expect(await focus('aria-label')).toBe(`Measure ${second}`);
      // Rows can be counted now, and have no other control.
      expect(await press('Control+Home', 'ArrowDown')).toBe('Measure Rows');
      expect(await press('ArrowLeft')).toBe('Measure Rows');
      const letter = names.findLast((name) => name !== '') ?? '';
      expect((await press('PageDown')).toLowerCase()).toBe('weather');
      // Fields that can't be combined with the others are reached, say why, and do nothing.
      const previews = sent.length;
      expect(await press('ArrowDown', 'Enter')).toBe(first);
      expect(await focus('aria-disabled')).toBe('true');
      expect(await focus('title')).toMatch(new RegExp(`^${first}\\nNo relationship leads from .+ to .+`));
      expect(await press('ArrowRight')).toBe(first);
      expect(sent.length).toBe(previews);
      expect(await press('Control+End')).toBe(letter);
      expect((await press(letter.slice(0, 1).toLowerCase())).slice(0, 1)).toBe(letter.slice(0, 1));
      await page.getByRole('grid').getByRole('button', { name: first }).last().focus();
      await shoot(page, 'fields');
      expect(await faults(page, 'guestlist-editor')).toEqual([]);
      // The row that the key Tab reached is gone: the first of those that are found takes its place.
      await page.getByLabel('Search fields').fill(second);
      expect(await press('Tab')).toBe(table);
      await page.getByLabel('Search fields').fill('no such field');
      await page.getByText('Nothing found').waitFor();
      expect(await faults(page, 'guestlist-editor')).toEqual([]);
    }));

  test('the controls fit a phone, in the dark', () =>
    show(
      'guestlist-editor',
      {},
      async ({ page }) => {
        await build(page);
        await page.getByText('More settings').click();
        await page.getByLabel('Compare by date').selectOption({ index: 1 });
        await shoot(page, 'editor-dark-390');
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
        expect(await faults(page, 'guestlist-editor')).toEqual([]);
      },
      { viewport: { width: 390, height: 844 }, colorScheme: 'dark' },
    ));

  type Cards = readonly { readonly metricId: string; readonly x: number; readonly y: number; readonly w: number }[];
  const layoutOf = async (token: string): Promise<Cards> => {
    const answer = await fetch(`${product.url}/api/v2/guest/dashboards/cards--LAX`, {
      headers: { authorization: `Bearer ${token}` },
    });
    return ((await answer.json()) as { readonly data: { readonly layout: Cards } }).data.layout;
  };
  const arrange = async (page: Page): Promise<void> => {
    await page.locator('guestlist-card section[aria-busy="false"]').nth(3).waitFor();
    await page.getByRole('button', { name: 'Arrange cards' }).click();
    await page.getByRole('group', { name: 'Arrange cards' }).waitFor();
  };

  test('a guest arranges cards by keyboard and pointer, saves, cancels, and restores the original', () =>
    show('guestlist-dashboard', { isEnableCustomizeLayout: true }, async ({ page, sent, token }) => {
      const original = await layoutOf(token);
      await arrange(page);
      expect(await page.getByRole('button', { name: 'Restore the original' }).count()).toBe(0);
      expect(await page.getByRole('button', { name: 'Save', exact: true }).isDisabled()).toBe(true);
      const first = page.getByRole('button', { name: /column 1, row 1,/ });
      await first.focus();
      await page.keyboard.press('Shift+ArrowLeft');
      await page
        .getByRole('status')
        .getByText(/width 5/)
        .waitFor();
      await shoot(page, 'arrange');
      expect(await faults(page, 'guestlist-dashboard')).toEqual([]);
      const box = await page.getByRole('button', { name: /column 7, row 1,/ }).boundingBox();
      if (box === null) throw new Error('no second card');
      await page.mouse.move(box.x + 40, box.y + 20);
      await page.mouse.down();
      await page.mouse.move(box.x - 60, box.y + 20, { steps: 4 });
      await page.mouse.up();
      await page.getByRole('button', { name: /column 6, row 1,/ }).waitFor();
      await page.getByRole('button', { name: 'Cancel' }).click();
      await until(() =>
        page.evaluate("document.querySelector('guestlist-dashboard').shadowRoot.activeElement.title"),
      ).toBe('Arrange cards');
      expect(sent.filter(({ path }) => path.endsWith('/layout'))).toEqual([]);
      await arrange(page);
      await page.getByRole('button', { name: /column 1, row 1,/ }).focus();
      await page.keyboard.press('Shift+ArrowLeft');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await until(async () => (await layoutOf(token)).find(({ x, y }) => x === 0 && y === 0)?.w).toBe(5);
      await arrange(page);
      await page.getByRole('button', { name: 'Restore the original' }).click();
      await until(() => layoutOf(token)).toEqual(original);
      await page.locator('guestlist-card').first().waitFor();
    }));

  test('charts stay drawn while they are moved and sized, by keys, buttons and undo, and none is asked anew', () =>
    show('guestlist-dashboard', { isEnableCustomizeLayout: true }, async ({ page, sent }) => {
      await arrange(page);
      const group = page.getByRole('group', { name: 'Arrange cards' });
      await group.locator('guestlist-card section[aria-busy="false"]').nth(5).waitFor();
      const asked = () => sent.filter(({ path }) => path.endsWith('/query') || path.endsWith('/queries')).length;
      const before = asked();
      expect(before).toBeGreaterThan(0);
      const focused = () =>
        page.evaluate(
          `(() => { let at = document.activeElement; while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement; return at?.ariaLabel ?? at?.title; })()`,
        );
      await page.getByRole('button', { name: /column 1, row 1,/ }).focus();
      await page.keyboard.press('Shift+ArrowLeft');
      await page.getByRole('button', { name: /column 1, row 1, width 5,/ }).waitFor();
      for (const label of ['Wider', 'Taller', 'Move right'])
        await page.getByRole('button', { name: label, exact: true }).click();
      expect(await focused()).toBe('Move right');
      await page.getByRole('button', { name: /column 2, row 1, width 6/ }).focus();
      await page.keyboard.press('Control+z');
      await page.keyboard.press('Control+z');
      for (let press = 0; press < 3; press += 1)
        await page.getByRole('button', { name: 'Undo', exact: true }).press('Enter');
      expect(await focused()).toBe('Undo');
      expect(await page.getByRole('button', { name: 'Undo', exact: true }).isDisabled()).toBe(true);
      await shoot(page, 'arrange-drawn');
      expect(asked()).toBe(before);
      expect(await faults(page, 'guestlist-dashboard')).toEqual([]);
    }));

  test('cards are arranged on a phone, in the dark and from right to left, too', () =>
    show(
      'guestlist-dashboard',
      { isEnableCustomizeLayout: true },
      async ({ page }) => {
        await page.evaluate("document.body.style.background = '#0b0f16'");
        await page.evaluate("document.querySelector('guestlist-dashboard').language = 'ar'");
        await page.getByRole('button', { name: 'ترتيب البطاقات' }).click();
        await page.getByRole('group', { name: 'ترتيب البطاقات' }).waitFor();
        const first = page.getByRole('button', { name: /العمود 1، الصف 1،/ });
        await first.focus();
        await page.keyboard.press('Shift+ArrowLeft');
        await page.getByRole('button', { name: /العمود 1، الصف 1، العرض 7/ }).waitFor();
        await shoot(page, 'arrange-dark-390');
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
        expect(await faults(page, 'guestlist-dashboard')).toEqual([]);
      },
      { viewport: { width: 390, height: 844 }, colorScheme: 'dark' },
    ));

  test('a service that refuses a layout is told, and the moves stay', () =>
    show('guestlist-dashboard', { isEnableCustomizeLayout: true }, async ({ page }) => {
      await arrange(page);
      await page.route('**/layout', (route) => route.abort());
      await page.keyboard.press('Shift+ArrowLeft');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByRole('alert').getByText('The analytics service can’t be reached.').waitFor();
      await page.getByRole('button', { name: /column 1, row 1, width 5/ }).waitFor();
    }));

  const send = (token: string, method: string, path: string, body?: object) =>
    fetch(`${product.url}/api/v2/guest/${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const everything = {
    isDisableMetricCreation: false,
    isEnableMetricUpdation: true,
    isEnableArchiveMetrics: true,
    isEnableManageMetrics: true,
    isEnableCustomizeLayout: true,
    isEnableCreateDashboard: true,
  };
  const counted = {
    chart: { type: 'singleValue' },
    from: { schemaName: 'main', tableName: 'flights' },
    measures: [{ name: 'Flights', aggregate: 'COUNT' }],
  };
  const make = async (name: string): Promise<string> => {
    const token = await mintFor(product, everything, { userIdentifier: 'mia' });
    const answer = await send(token, 'POST', 'dashboards/cards--LAX/metrics', { name, definition: counted });
    return ((await answer.json()) as { readonly data: { readonly metricId: string } }).data.metricId;
  };

  test('a guest edits, archives, restores and deletes an own metric, and overwrites no other change', async () => {
    const metricId = await make('Mine');
    await show('guestlist-editor', everything, async ({ page, token }) => {
      const button = (name: string) => page.getByRole('button', { name, exact: true });
      await button('Edit Mine').click();
      await until(() => page.getByRole('textbox', { name: 'Name', exact: true }).inputValue()).toBe('Mine');
      await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Mine too');
      await page.keyboard.press('Tab');
      await button('Save').click();
      await button('Edit Mine too').click();
      await until(() => page.getByRole('textbox', { name: 'Name', exact: true }).inputValue()).toBe('Mine too');
      await page.locator('guestlist-card section[aria-busy="false"]').waitFor();
      await shoot(page, 'own-metrics');
      expect(await faults(page, 'guestlist-editor')).toEqual([]);
      expect((await send(token, 'PUT', `metrics/${metricId}`, { name: 'Changed elsewhere' })).status).toBe(200);
      await button('Save').click();
      await page.getByRole('alert').getByText('Somebody else changed this chart meanwhile').waitFor();
      await button('Archive Mine too').click();
      await button('Restore Changed elsewhere').click();
      await button('Delete Changed elsewhere').click();
      await button('Cancel').click();
      await button('Delete Changed elsewhere').click();
      await button('Delete for good').click();
      await until(() => page.getByText('Changed elsewhere').count()).toBe(0);
      expect((await send(token, 'GET', `metrics/${metricId}/definition`)).status).toBe(403);
    });
  });

  test('columns that the model hides appear neither in the page nor in an answer, and no definition may use them', async () => {
    const { serviceToken } = product.credentials;
    const path = `${product.url}/api/v2/data-app/datamarts`;
    const read = async (): Promise<StoredModel> => {
      const { body } = await get<{ data: readonly StoredModel[] }>(path, serviceToken);
      const found = body.data.find(({ name }) => name === 'flights');
      if (found === undefined) throw new Error('the demo has no model');
      return found;
    };
    const model = await read();
    const write = async (given: StoredModel) => {
      const changed = { ...given, updatedAt: (await read()).updatedAt };
      const headers = { authorization: `Bearer ${serviceToken}`, 'content-type': 'application/json' };
      const answer = await request(path, { method: 'PUT', headers, body: JSON.stringify(changeOf(changed)) });
      expect(answer.status, answer.text).toBe(200);
    };
    const answers: string[] = [];
    const fields = () => answers.filter((text) => text.includes('"aggregates"') || text.includes('"columns"'));
    const look = (check: (seen: Seen) => Promise<void>) =>
      show('guestlist-editor', {}, async ({ page: shown, ...seen }) => {
        // A page of its own, whose answers are all heard.
        const page = await shown.context().newPage();
        page.on('response', (response) => {
          if (new URL(response.url()).pathname.startsWith('/api/'))
            void response.text().then((text) => answers.push(text));
        });
        await page.goto(shown.url());
        await page.getByLabel('Search fields').fill('distance');
        await check({ ...seen, page });
        await page.waitForLoadState('networkidle');
      });
    await look(async ({ page }) => {
      await page
        .getByRole('button', { name: /^Measure Distance/ })
        .first()
        .waitFor();
      expect(fields().join()).toMatch(/distance/i);
    });
    await write(withColumn(model, 'main.flights', 'distance', { isHide: true }));
    try {
      answers.length = 0;
      await look(async ({ page, token }) => {
        await page.getByText('Nothing found').first().waitFor();
        expect(await page.getByRole('button', { name: /Distance/ }).count()).toBe(0);
        await until(() => fields().length).toBeGreaterThan(0);
        expect(answers.join()).not.toMatch(/distance/i);
        const column = { schemaName: 'main', tableName: 'flights', columnName: 'distance' };
        const from = { schemaName: 'main', tableName: 'flights' };
        const definition = { chart: { type: 'table' }, from, measures: [{ name: 'Sum', aggregate: 'SUM', column }] };
        const tried = await send(token, 'POST', 'metrics/preview', { dashboardId: 'cards--LAX', definition });
        expect(tried.status).toBe(400);
      });
    } finally {
      await write(model);
    }
  });

  const flags = Object.keys(everything);
  /** All of them in long runs; otherwise two, in which each permission is given once and withheld once. */
  const combinations = Array.from({ length: 2 ** flags.length }, (_, bits) =>
    Object.fromEntries(flags.map((flag, at) => [flag, ((bits >> at) & 1) === 1])),
  );

  test('for each combination of permissions, the page has exactly the allowed controls, and the service agrees', {
    timeout: 600_000,
  }, async () => {
    const metricId = await make('Kept');
    for (const permissions of combinations) {
      const { isDisableMetricCreation, isEnableMetricUpdation, isEnableArchiveMetrics, isEnableManageMetrics } =
        permissions;
      const isListed = isEnableMetricUpdation || isEnableArchiveMetrics || isEnableManageMetrics;
      // A definition is edited with the fields, which only a guest who may create metrics is told.
      const hasList =
        isEnableArchiveMetrics || isEnableManageMetrics || (isEnableMetricUpdation && !isDisableMetricCreation);
      const allowed = {
        'Search fields': !isDisableMetricCreation,
        'Edit Kept': isEnableMetricUpdation && !isDisableMetricCreation,
        'Archive Kept': isEnableArchiveMetrics,
        'Delete Kept': isEnableArchiveMetrics,
        'Arrange cards': permissions.isEnableCustomizeLayout,
        'New dashboard': permissions.isEnableCreateDashboard,
      };
      await show('guestlist-editor guestlist-dashboard', permissions, async ({ page, token, sent }) => {
        await page.locator('guestlist-dashboard guestlist-card').first().waitFor();
        await page
          .locator(hasList || !isDisableMetricCreation ? 'guestlist-editor:not([absent])' : 'guestlist-editor[absent]')
          .waitFor({ state: 'attached' });
        if (hasList) await page.getByText('Own charts').waitFor();
        if (!isDisableMetricCreation) await page.getByLabel('Search fields').waitFor();
        const shown = await Promise.all(
          Object.keys(allowed).map(async (name) => [name, (await page.getByLabel(name, { exact: true }).count()) > 0]),
        );
        expect(Object.fromEntries(shown), JSON.stringify(permissions)).toEqual(allowed);
        expect(sent.some(({ path }) => path.endsWith('/fields'))).toBe(!isDisableMetricCreation);
        const status = async (method: string, path: string, body?: object) =>
          (await send(token, method, path, body)).status;
        const board = await send(token, 'POST', 'dashboards/cards--LAX/boards', { name: 'Direct', layout: [] });
        const { data } = (await board.json()) as { readonly data?: { readonly id: string } };
        const isOpen = {
          board: board.status === 200,
          unmade: (await status('DELETE', `dashboards/cards--LAX/boards/${data?.id ?? 'none'}`)) === 200,
          fields: (await status('GET', 'dashboards/cards--LAX/fields')) === 200,
          list: (await status('GET', 'dashboards/cards--LAX/metrics')) === 200,
          read: (await status('GET', `metrics/${metricId}/definition`)) === 200,
          update: (await status('PUT', `metrics/${metricId}`, { name: 'Kept' })) === 200,
          archive: (await status('POST', `metrics/${metricId}/archive`, { isArchived: true })) === 200,
          restore: (await status('POST', `metrics/${metricId}/archive`, { isArchived: false })) === 200,
          arrange: (await status('DELETE', 'dashboards/cards--LAX/layout')) === 200,
        };
        expect(isOpen, JSON.stringify(permissions)).toEqual({
          fields: !isDisableMetricCreation,
          list: isListed,
          read: isEnableMetricUpdation,
          update: isEnableMetricUpdation,
          archive: isEnableArchiveMetrics,
          restore: isEnableManageMetrics,
          arrange: permissions.isEnableCustomizeLayout,
          board: permissions.isEnableCreateDashboard,
          unmade: permissions.isEnableCreateDashboard,
        });
      });
      const all = await mintFor(product, everything, { userIdentifier: 'mia' });
      await send(all, 'POST', `metrics/${metricId}/archive`, { isArchived: false });
    }
  });
});
