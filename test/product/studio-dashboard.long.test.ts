/** The dashboard screen of Studio in the built product: two authors at once, undo and redo, cards copied between dashboards. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, launchChromium } from '../suites/chromium.js';
import { analyst, get, login, regional } from './guest.js';
import { type Product, runToEnd, startProduct } from './product.js';
import { addByMenu } from './studio-page.js';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const screenshots = process.env.TEST_SCREENSHOTS;

type Author = { readonly context: BrowserContext; readonly page: Page; readonly faults: string[] };
type Content = {
  readonly data: {
    readonly metrics: readonly { readonly metricId: string; readonly name: string }[];
    readonly layout: readonly { readonly metricId: string; readonly x: number; readonly y: number }[];
    readonly filters: readonly {
      readonly name: string;
      readonly applyOnTables: readonly { readonly tableName: string; readonly columnName: string }[];
    }[];
    readonly tiles?: readonly { readonly kind: string; readonly text?: string }[];
  };
};

describe.skipIf(!hasChromium())('the dashboard screen', { timeout: 300_000 }, () => {
  let product: Product;
  let browser: Browser;
  let ann: Author;
  let ben: Author;

  const newAuthor = async (): Promise<Author> => {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-US' });
    const page = await context.newPage();
    // Other tests and this one's product share two cores.
    page.setDefaultTimeout(60_000);
    const faults: string[] = [];
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
    page.on('request', (asked) => new URL(asked.url()).origin === product.url || faults.push(asked.url()));
    const { output } = await runToEnd(['studio-link', '--url', product.url], { GUESTLIST_DATA_DIR: product.dataDir });
    await page.goto(output.trim());
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    return { context, page, faults };
  };

  beforeAll(async () => {
    [product, browser] = await Promise.all([startProduct(), launchChromium()]);
    [ann, ben] = [await newAuthor(), await newAuthor()];
  }, 300_000);
  afterAll(async () => {
    await browser?.close();
    await product?.stop();
    await product?.remove();
  });

  const open = async ({ page }: Author, path: string): Promise<void> => {
    await page.goto(`${product.url}/studio/dashboards/${path}`);
    await page.locator('main h1').waitFor();
  };
  const contentOf = async (dashboardId: string): Promise<Content['data']> => {
    const query = new URLSearchParams({ dashboardId, workspaceName: 'flights' });
    const { serviceToken } = product.credentials;
    return (await get<Content>(`${product.url}/api/v2/data-app/dashboards/content?${query}`, serviceToken)).body.data;
  };
  const names = async (dashboardId: string) => (await contentOf(dashboardId)).metrics.map(({ name }) => name);
  const rename = async ({ page }: Author, from: string, to: string): Promise<void> => {
    const box = page.getByRole('textbox', { name: `Name of ${from}`, exact: true });
    await box.fill(to);
    await box.blur();
  };
  const violations = async ({ page }: Author): Promise<readonly unknown[]> => {
    await page.evaluate(axe);
    return page.evaluate(
      'axe.run(document).then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))',
    );
  };
  const shoot = async ({ page }: Author, name: string): Promise<void> => {
    if (screenshots === undefined) return;
    for (const scheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      for (const width of [1440, 1024, 390]) {
        await page.setViewportSize({ width, height: 900 });
        await page.screenshot({ path: `${screenshots}/studio-${name}-${scheme}-${width}.png` });
      }
    }
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize({ width: 1440, height: 900 });
  };

  describe('two authors', () => {
    test('both changes are kept where they do not collide, and each is offered both', async () => {
      await open(ann, 'delays?tab=metrics');
      await open(ben, 'delays?tab=metrics');
      await rename(ben, 'Flights a day', 'Flights each day');
      await ben.page.getByText('“Flights a day” is now “Flights each day”.').waitFor();
      await rename(ann, 'Delayed over 15 minutes', 'Late flights');
      const dialog = ann.page.getByRole('dialog', { name: 'Somebody else changed this dashboard meanwhile' });
      await dialog.getByText('Metric "Flights a day" is now called "Flights each day".').waitFor();
      await dialog.getByText('Metric "Delayed over 15 minutes" is now called "Late flights".').waitFor();
      expect(await violations(ann)).toEqual([]);
      await dialog.getByRole('button', { name: 'Save both' }).click();
      await ann.page.getByText('“Delayed over 15 minutes” is now “Late flights”.').waitFor();
      expect(await names('delays')).toEqual(expect.arrayContaining(['Flights each day', 'Late flights']));
    });

    test('where both changed the same thing, the second author chooses, and nothing is saved before', async () => {
      await open(ben, 'delays?tab=metrics');
      await rename(ben, 'Flights each day', 'Departures');
      await ben.page.getByText('“Flights each day” is now “Departures”.').waitFor();
      await rename(ann, 'Flights each day', 'Starts');
      const dialog = ann.page.getByRole('dialog', { name: 'Somebody else changed this dashboard meanwhile' });
      await dialog.getByRole('button', { name: '1 to choose' }).waitFor();
      expect(await dialog.getByRole('button', { name: '1 to choose' }).isDisabled()).toBe(true);
      await shoot(ann, 'merge');
      expect(await violations(ann)).toEqual([]);
      expect(await names('delays')).not.toContain('Starts');
      await dialog.getByRole('combobox').selectOption('yours');
      await dialog.getByRole('button', { name: 'Save both' }).click();
      await ann.page.getByText('“Flights each day” is now “Starts”.').waitFor();
      expect(await names('delays')).toContain('Starts');
      await open(ben, 'delays?tab=metrics');
      await rename(ben, 'Starts', 'Flights a day');
      await ben.page.getByText('“Starts” is now “Flights a day”.').waitFor();
      await rename(ann, 'Starts', 'Take-offs');
      await dialog.getByRole('button', { name: 'Drop my changes' }).click();
      await ann.page.getByText('Your change is not saved.').waitFor();
      await ann.page.getByRole('textbox', { name: 'Name of Flights a day', exact: true }).waitFor();
      expect(await names('delays')).not.toContain('Take-offs');
    });

    test('taking a change back keeps what the other author did since', async () => {
      await open(ann, 'delays?tab=metrics');
      await rename(ann, 'Late flights', 'Delay');
      await ann.page.getByText('“Late flights” is now “Delay”.').waitFor();
      await open(ben, 'delays?tab=metrics');
      await rename(ben, 'Flights a day', 'Departures');
      await ben.page.getByText('“Flights a day” is now “Departures”.').waitFor();
      await ann.page.getByRole('button', { name: 'Undo' }).click();
      const dialog = ann.page.getByRole('dialog', { name: 'Somebody else changed this dashboard meanwhile' });
      await dialog.getByRole('button', { name: 'Save both' }).click();
      await ann.page.getByText('Undone: “Late flights” is now “Delay”.').waitFor();
      expect(await names('delays')).toEqual(expect.arrayContaining(['Departures', 'Late flights']));
    });
  });

  test('every change of the screen is taken back and made again, by buttons and by keys', async () => {
    await open(ann, 'delays?tab=metrics');
    const before = await contentOf('delays');
    await rename(ann, 'Late flights', 'Delay');
    await ann.page.getByText('“Late flights” is now “Delay”.').waitFor();
    const row = ann.page.getByRole('row', { name: /Departures/ });
    await row.getByRole('button', { name: 'Remove' }).click();
    await ann.page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await ann.page.getByText('“Departures” is removed.').waitFor();
    await ann.page.getByRole('link', { name: 'Filters', exact: true }).click();
    const [filter] = before.filters;
    await ann.page.getByRole('button', { name: `Remove ${filter?.name}` }).click();
    await ann.page.getByText(`The filter “${filter?.name}” is removed.`).waitFor();
    const changed = await contentOf('delays');
    await ann.page.getByRole('button', { name: 'Undo' }).click();
    await ann.page.getByText('Undone: The filter').waitFor();
    await ann.page.locator('h1').click();
    await ann.page.keyboard.press('Control+z');
    await ann.page.getByText('Undone: “Departures” is removed.').waitFor();
    await ann.page.keyboard.press('Control+z');
    await ann.page.getByText('Undone: “Late flights” is now “Delay”.').waitFor();
    expect(await contentOf('delays')).toEqual(before);
    for (const text of ['“Late flights” is now “Delay”.', '“Departures” is removed.', 'The filter']) {
      await ann.page.keyboard.press('Control+Shift+Z');
      await ann.page.getByText(`Done again: ${text}`).waitFor();
    }
    expect(await contentOf('delays')).toEqual(changed);
    for (const text of ['The filter', '“Departures” is removed.', '“Late flights” is now “Delay”.']) {
      await ann.page.keyboard.press('Control+z');
      await ann.page.getByText(`Undone: ${text}`).waitFor();
    }
    expect(await contentOf('delays')).toEqual(before);
  });

  describe('cards and tiles', () => {
    const box = (name: RegExp) => ann.page.getByRole('button', { name });
    const paste = async (text: string): Promise<void> => {
      await ann.page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
      await ann.page.keyboard.press('Control+v');
    };
    const copied = async () => String(await ann.page.evaluate('navigator.clipboard.readText()'));

    test('are copied into another dashboard by keys alone, with the filters that it lacks, and taken back', async () => {
      await ann.context.grantPermissions(['clipboard-read', 'clipboard-write']);
      await open(ann, 'routes?tab=filters');
      await ann.page.getByRole('button', { name: 'Remove Date' }).click();
      await ann.page.getByText('The filter “Date” is removed.').waitFor();
      const before = await contentOf('routes');
      await open(ann, 'delays?tab=arrange');
      for (const name of [/^Departures/, /^Late flights/]) {
        await box(name).focus();
        await ann.page.keyboard.press(' ');
      }
      await shoot(ann, 'chosen');
      expect(await violations(ann)).toEqual([]);
      await ann.page.keyboard.press('Control+c');
      await open(ann, 'routes?tab=arrange');
      await box(/^Busiest routes/).focus();
      await ann.page.keyboard.press('Control+v');
      const dialog = ann.page.getByRole('dialog');
      await dialog.getByText(/filters that this one lacks: “Date”/).waitFor();
      await shoot(ann, 'paste');
      await dialog.getByRole('button', { name: 'Paste with filters' }).click();
      await ann.page.getByText('2 cards are pasted.').waitFor();
      const after = await contentOf('routes');
      expect(after.metrics.slice(before.metrics.length).map(({ name }) => name)).toEqual([
        'Departures',
        'Late flights',
      ]);
      expect(after.filters.map(({ name }) => name)).toEqual(['Destination state', 'Date']);
      const ids = new Set((await contentOf('delays')).metrics.map(({ metricId }) => metricId));
      expect(after.metrics.filter(({ metricId }) => ids.has(metricId))).toEqual([]);
      expect(after.layout.slice(0, before.layout.length)).toEqual(before.layout);
      await ann.page.getByRole('button', { name: 'Undo' }).click();
      await ann.page.getByText('Undone: 2 cards are pasted.').waitFor();
      expect(await contentOf('routes')).toEqual(before);
    });

    test('are cut and pasted by buttons, with what is not saved yet', async () => {
      await open(ann, 'routes?tab=arrange');
      await addByMenu(ann.page, 'Heading');
      await ann.page.getByRole('dialog').getByLabel('Heading').fill('Far');
      await ann.page.keyboard.press('Enter');
      await box(/^Heading: Far/).waitFor();
      await box(/^Flights by distance/).focus();
      const more = ann.page.locator('summary', { hasText: /^More$/ });
      await more.click();
      await ann.page.getByRole('button', { name: 'Cut', exact: true }).click();
      await ann.page.getByText('What was cut is on the clipboard.').waitFor();
      expect(await names('routes')).not.toContain('Flights by distance');
      expect((await contentOf('routes')).tiles?.map(({ text }) => text)).toEqual(['Far']);
      await more.click();
      await ann.page.getByRole('button', { name: 'Paste', exact: true }).click();
      await ann.page.getByText('1 card is pasted.').waitFor();
      expect(await names('routes')).toContain('Flights by distance');
    });

    test('cards and tiles of another model, and texts that somebody changed, are refused with the reason, and nothing is written', async () => {
      await box(/^Busiest routes/).focus();
      await ann.page.keyboard.press('Control+c');
      const good = JSON.parse(await copied());
      const [metric] = good.metrics;
      const before = await contentOf('routes');
      const other = { ...metric.definition, from: { schemaName: 'main', tableName: 'orders' } };
      await paste(JSON.stringify({ ...good, filters: [], metrics: [{ ...metric, definition: other }] }));
      await ann.page.getByText(/Nothing is pasted\. .*“Busiest routes 2”: .*main\.orders/).waitFor();
      const hostile = { ...metric.definition, onload: 'alert(1)' };
      await paste(JSON.stringify({ ...good, filters: [], metrics: [{ ...metric, definition: hostile }] }));
      await ann.page.getByText(/Nothing is pasted\. .*onload/).waitFor();
      const picture = { kind: 'image', source: 'https://example.com/a.png', alt: 'x', x: 0, y: 0, w: 1, h: 1 };
      await paste(JSON.stringify({ ...good, filters: [], metrics: [], tiles: [picture] }));
      await ann.page.getByText(/Nothing is pasted\. .*addresses of other servers/).waitFor();
      await paste('Dear all,');
      await ann.page.getByText('The clipboard holds no cards or tiles.').waitFor();
      expect(await contentOf('routes')).toEqual(before);
    });
  });

  test('columns are mapped to a filter by drag and by keys, and one of another kind is refused', async () => {
    const { page } = ann;
    await open(ann, 'delays?tab=filters');
    const before = await contentOf('delays');
    const mapped = async () =>
      (await contentOf('delays')).filters
        .find(({ name }) => name === 'Destination state')
        ?.applyOnTables.map(({ tableName, columnName }) => `${tableName}.${columnName}`);
    const first = (await mapped()) ?? [];
    await page.getByText('Columns to drag onto a filter').click();
    const row = page.getByRole('row', { name: /^Destination state/ });
    const column = (name: string) => page.locator('[draggable="true"]', { hasText: name });
    await column('date').first().dragTo(row);
    await page.getByText(/“Destination state” takes columns of the kind string/).waitFor();
    await column('destination').first().dragTo(row);
    await page.getByText('The filter “Destination state” has other columns.').waitFor();
    expect(await mapped()).toEqual([...first, 'flights.destination']);
    await shoot(ann, 'filters');
    expect(await violations(ann)).toEqual([]);
    await row.getByRole('button', { name: /^Take main\.flights\.destination off/ }).press('Enter');
    await expect.poll(mapped, { timeout: 60_000 }).toEqual(first);
    await row.getByRole('combobox').selectOption({ index: 1 });
    await expect.poll(async () => (await mapped())?.length, { timeout: 60_000 }).toBe(first.length + 1);
    for (const _ of [1, 2, 3]) await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => contentOf('delays'), { timeout: 60_000 }).toEqual(before);
  });

  test('cards are proposed from tables, tried as the tenant would read them, shown, and added', async () => {
    const { page } = ann;
    await page.getByRole('button', { name: /^View as/ }).click();
    const dialog = page.getByRole('dialog', { name: 'View as a tenant’s user' });
    await dialog.getByText('Advanced').click();
    await dialog.getByRole('combobox', { name: 'Tenant' }).fill('LAX');
    await dialog.getByRole('textbox', { name: /^roles/ }).fill('manager');
    await dialog.getByRole('button', { name: 'View as this user' }).click();
    const before = await contentOf('routes');
    await open(ann, 'routes?tab=propose');
    await page.getByRole('checkbox', { name: 'main.flights' }).waitFor();
    await page.getByRole('button', { name: 'Propose cards' }).click();
    const cards = page.getByRole('list', { name: 'Proposed cards' }).getByRole('listitem');
    const rows = cards.filter({ has: page.getByText('answered', { exact: true }) });
    await rows.nth(2).waitFor();
    await expect
      .poll(() => page.locator('studio-card-preview guestlist-card section[aria-busy="false"]').count(), {
        timeout: 60_000,
      })
      .toBeGreaterThan(2);
    await shoot(ann, 'propose');
    expect(await violations(ann)).toEqual([]);
    expect(await contentOf('routes')).toEqual(before);
    const proposed = await rows.count();
    await rows.first().getByRole('checkbox').uncheck();
    await page.getByRole('button', { name: /^Add \d+ cards$/ }).click();
    await page.getByText(/ cards are added\./).waitFor();
    const after = await contentOf('routes');
    expect(after.metrics.length).toBe(before.metrics.length + proposed - 1);
    expect(after.layout.slice(0, before.layout.length)).toEqual(before.layout);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText(/Undone: /).waitFor();
    expect(await contentOf('routes')).toEqual(before);
  });

  test('the screen says why a card is shown, empty or hidden, down to the line of the policy, and shows phones', async () => {
    await login(product, regional);
    const { page } = ann;
    const viewAs = async (region: string): Promise<void> => {
      await page.getByRole('button', { name: /^View as/ }).click();
      const dialog = page.getByRole('dialog', { name: 'View as a tenant’s user' });
      await dialog.getByText('Advanced').click();
      await dialog.getByRole('combobox', { name: 'Tenant' }).fill('SFO');
      await dialog.getByRole('textbox', { name: /^roles/ }).fill('analyst, regional');
      await dialog.getByRole('textbox', { name: /^region/ }).fill(region);
      await dialog.getByRole('button', { name: 'View as this user' }).click();
    };
    await open(ann, 'delays?tab=view');
    await viewAs('CA');
    await page.getByText('delays--SFO').first().waitFor();
    const why = page.locator('studio-why');
    const ask = async (state: string, card?: string): Promise<string> => {
      if (card !== undefined) await why.getByLabel('Card').selectOption({ label: card });
      await why.getByRole('button', { name: 'Say why' }).click();
      await why.locator('.badge', { hasText: state }).waitFor();
      return (await why.textContent()) ?? '';
    };
    await why.getByText('Why is a card shown, hidden or empty?').click();
    expect(await ask('shown')).toMatch(/“regional users[^”]*” at flights\.yaml:\d+:\d+/);
    await page.getByLabel('Width').selectOption('phone');
    await expect
      .poll(async () => (await page.locator('guestlist-dashboard').boundingBox())?.width, { timeout: 60_000 })
      .toBe(390);
    await shoot(ann, 'why');
    expect(await violations(ann)).toEqual([]);
    // No flight goes to a state of this name.
    await viewAs('ZZ');
    await page.getByText(/\(analyst, regional\) · .+ sees the copy/).waitFor();
    await why.getByText('Why is a card shown, hidden or empty?').click();
    expect(await ask('empty', 'Average delay by destination')).toContain(
      'main.flights has no rows that this user may read',
    );
    // A card that no roll-out has brought to the copy.
    await open(ann, 'delays?tab=arrange');
    await page.getByRole('button', { name: /^Departures/ }).focus();
    await page.keyboard.press('Control+c');
    await page.keyboard.press('Control+v');
    await page.getByText('1 card is pasted.').waitFor();
    await open(ann, 'delays?tab=view');
    await why.getByText('Why is a card shown, hidden or empty?').click();
    expect(await ask('hidden', 'Departures 2')).toContain('comes with the next roll-out');
  });

  test('a card opens beside the canvas by Enter and by a click, and what is added and saved is said in one bar', async () => {
    const { page } = ann;
    await open(ann, 'delays');
    await page.getByRole('link', { name: 'Canvas' }).and(page.locator('[aria-current="page"]')).waitFor();
    const bar = page.getByRole('group', { name: 'Dashboard' });
    const card = page.getByRole('button', { name: /^Average delay by destination: column/ });
    await page.locator('studio-arrange guestlist-card section[aria-busy="false"]').nth(2).waitFor();
    await card.press('Enter');
    const panel = page.getByRole('complementary', { name: 'Chart' });
    await panel.locator('guestlist-editor guestlist-card section[aria-busy="false"]').waitFor();
    await page.locator('#panel-title:focus').waitFor();
    await shoot(ann, 'panel');
    expect(await violations(ann)).toEqual([]);
    await panel.getByRole('button', { name: 'Close' }).press('Enter');
    await page.locator('studio-arrange .hold:focus').waitFor();
    await card.click();
    await panel.getByRole('textbox', { name: 'Name', exact: true }).waitFor();
    await panel.getByRole('button', { name: 'Close' }).click();
    await card.focus();
    await page.keyboard.press('Control+d');
    await bar.getByText('1 card is pasted. Saved a moment ago').waitFor();
    await page.getByRole('button', { name: /^Average delay by destination 2: column/ }).focus();
    await page.keyboard.press('Delete');
    await page.locator('studio-arrange .hold:focus').waitFor();
    await bar.getByText('“Average delay by destination 2” removed. Saved a moment ago').waitFor();
    await bar.getByRole('button', { name: 'Undo' }).press('Enter');
    await page.getByRole('button', { name: /^Average delay by destination 2: column/ }).waitFor();
    await bar.getByText(/^Undone: .* Saved a moment ago$/).waitFor();
    await bar.getByRole('button', { name: 'Undo' }).press('Enter');
    await bar.getByText('Undone: 1 card is pasted.').waitFor();
    expect(await names('delays')).not.toContain('Average delay by destination 2');
  });

  test('a dashboard opens drawn as the last user who opened it, and others are chosen by name, role or tenant', async () => {
    await login(product, regional);
    await login(product, analyst('ATL'));
    const cleo = await newAuthor();
    const { page } = cleo;
    await open(cleo, 'delays?tab=view');
    const seenAs = page.getByRole('button', { name: /^View as/ });
    await page.getByRole('button', { name: /^View as ATL-analyst, analyst at .*ATL/ }).waitFor();
    await page.locator('guestlist-dashboard guestlist-card section[aria-busy="false"]').nth(2).waitFor();
    await page.getByText('because of').first().waitFor();
    await shoot(cleo, 'opened');
    await seenAs.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'View as a tenant’s user' });
    await dialog.getByLabel('Search users, roles and tenants').fill('regional');
    const users = dialog.getByRole('list', { name: 'Users who logged in lately' }).getByRole('listitem');
    await expect.poll(() => users.count(), { timeout: 60_000 }).toBe(1);
    await shoot(cleo, 'viewers');
    expect(await violations(cleo)).toEqual([]);
    await users.getByRole('button').press('Enter');
    await page.getByRole('button', { name: /^View as sfo-regional, analyst, regional at/ }).waitFor();
    await page.getByText('delays--SFO').first().waitFor();
    await page.getByText('Who can’t see which cards?').click();
    await page.locator('studio-cards li', { hasText: /As .*sfo-regional/ }).waitFor();
    expect(cleo.faults).toEqual([]);
    await cleo.context.close();
  });

  test('a second user is put beside the first by one key, from the canvas and from the view, and nowhere else', async () => {
    await login(product, regional);
    await login(product, analyst('ATL'));
    const hugo = await newAuthor();
    const { page } = hugo;
    await open(hugo, 'delays');
    await page.locator('studio-arrange guestlist-card section[aria-busy="false"]').nth(2).waitFor();
    const dialog = page.getByRole('dialog', { name: /^Put another user beside ATL-analyst, analyst at / });
    const users = dialog.getByRole('list', { name: 'Users who logged in lately' });
    await page.keyboard.press('Control+b');
    await users.waitFor();
    expect(await violations(hugo)).toEqual([]);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(await page.evaluate("sessionStorage.getItem('guestlist-studio-viewer-beside')")).toBe(null);
    await page.locator('summary', { hasText: /^More$/ }).press('Enter');
    await page.getByText('Puts another user beside.').waitFor({ state: 'attached' });
    await page.getByRole('button', { name: 'Put another user beside' }).press('Enter');
    // The user who is there already is not offered again.
    await users.getByRole('button', { name: /sfo-regional/ }).waitFor();
    expect(await users.getByRole('button', { name: /ATL-analyst/ }).count()).toBe(0);
    await users.getByRole('button', { name: /sfo-regional/ }).press('Enter');
    await page.locator('.beside > section', { hasText: 'delays--ATL' }).waitFor();
    await page.locator('.beside > section', { hasText: 'delays--SFO' }).waitFor();
    await shoot(hugo, 'two');
    await page.keyboard.press('Control+b');
    await dialog.getByLabel('Search users, roles and tenants').pressSequentially('b');
    expect(await page.getByRole('dialog').count()).toBe(1);
    await dialog.getByLabel('Search users, roles and tenants').fill('');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Show one user' }).press('Enter');
    await expect.poll(() => page.locator('guestlist-dashboard').count(), { timeout: 60_000 }).toBe(1);
    await open(hugo, 'delays?tab=metrics');
    const name = page.getByRole('textbox', { name: 'Name of Average delay by destination', exact: true });
    await name.press('Control+b');
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(hugo.faults).toEqual([]);
    await hugo.context.close();
  });

  test('on a phone the cards stand below each other under two bars, whose menus have all that a wide page shows', async () => {
    const ida = await newAuthor();
    const { page } = ida;
    await page.setViewportSize({ width: 390, height: 900 });
    await open(ida, 'delays');
    await page.locator('studio-arrange guestlist-card section[aria-busy="false"]').nth(2).waitFor();
    const boxes = await page.locator('studio-arrange .hold').all();
    const places = await Promise.all(boxes.map(async (box) => await box.boundingBox()));
    expect(new Set(places.map((place) => `${place?.x} ${place?.width}`)).size).toBe(1);
    const [bar, canvas] = [page.getByRole('group', { name: 'Dashboard' }), page.locator('studio-arrange')];
    const [above, below] = [await bar.boundingBox(), await canvas.boundingBox()];
    expect(above?.height ?? 0).toBeLessThan(100);
    expect((below?.y ?? 0) - (above?.y ?? 0)).toBeLessThan(120);
    const more = page.locator('summary', { hasText: /^More$/ });
    await more.press('Enter');
    await bar.locator('.popped').getByText('Embed', { exact: true }).waitFor();
    await bar.locator('.popped studio-draft-state').getByText(/\w+/).first().waitFor();
    const tools = bar.getByRole('list', { name: 'More' }).getByRole('button');
    expect(await tools.allTextContents()).toEqual([
      'Change',
      'Remove',
      'Duplicate',
      'Copy',
      'Cut',
      'Paste',
      'Put another user beside',
    ]);
    expect(await violations(ida)).toEqual([]);
    await page.keyboard.press('Escape');
    await bar.locator('summary', { hasText: /^Canvas$/ }).press('Enter');
    expect(await bar.getByRole('navigation').getByRole('link').allTextContents()).toEqual([
      'Canvas',
      'As the user',
      'Charts',
      'Filters',
      'History',
      'Definition',
    ]);
    await bar.getByRole('link', { name: 'History' }).press('Enter');
    await page
      .getByRole('heading', { name: /^Edition / })
      .first()
      .waitFor();
    await ida.context.close();
  });

  test('the claims of a user are forgotten when somebody logs out, or another person goes on in the tab', async () => {
    await login(product, analyst('ATL'));
    const erna = await newAuthor();
    const { page } = erna;
    const kept = () => page.evaluate('JSON.stringify({ ...sessionStorage })');
    const look = async () => {
      await open(erna, 'delays?tab=view');
      await page.getByRole('button', { name: /^View as ATL-analyst/ }).waitFor();
    };
    await look();
    await page.reload();
    await page.getByRole('button', { name: /^View as ATL-analyst/ }).waitFor();
    expect(await kept()).toContain('ATL-analyst');
    await page.route('**/studio/session', async (route) => {
      if (route.request().method() !== 'GET') return route.continue();
      const answer = await route.fetch();
      const { data } = (await answer.json()) as { data: { person: object } };
      const person = { ...data.person, name: 'Another', seesData: false };
      await route.fulfill({ response: answer, json: { data: { ...data, person } } });
    });
    await page.reload();
    await page.getByRole('button', { name: 'View as nobody yet' }).waitFor();
    expect(await kept()).not.toContain('ATL-analyst');
    await page.unroute('**/studio/session');
    await look();
    await page.getByText('Log out', { exact: true }).dispatchEvent('click');
    await page.getByRole('heading', { name: 'Guestlist Studio' }).waitFor();
    expect(await kept()).not.toContain('ATL-analyst');
    await erna.context.close();
  });

  test('a person without access to data sees the charts drawn with made-up numbers, and no user', async () => {
    const dora = await newAuthor();
    const { page } = dora;
    const asked: string[] = [];
    await page.route('**/studio/session', async (route) => {
      const answer = await route.fetch();
      const { data } = (await answer.json()) as { data: { person: object } };
      await route.fulfill({
        response: answer,
        json: { data: { ...data, person: { ...data.person, seesData: false } } },
      });
    });
    page.on('request', (request) => asked.push(request.url()));
    await open(dora, 'delays?tab=view');
    await page.getByText('The charts are drawn with made-up numbers. You may see no data of tenants.').waitFor();
    await page.locator('studio-drawn-board guestlist-card section[aria-busy="false"]').nth(2).waitFor();
    await shoot(dora, 'made-up');
    expect(await violations(dora)).toEqual([]);
    await page.getByRole('button', { name: 'View as nobody yet' }).click();
    await page.getByText('You may see no data of tenants, so no user is listed.').waitFor();
    expect(asked.filter((url) => /viewers-list|view-open|metric-preview|tenants-names/.test(url))).toEqual([]);
    expect(dora.faults).toEqual([]);
    await dora.context.close();
  });

  test('no script failed, no style was refused, and no other origin was asked', () => {
    const codes = [...ann.faults, ...ben.faults].map((fault) => /(\d{3}) \(/.exec(fault)?.[1] ?? fault);
    // Writes over what somebody else had changed, and what was pasted and refused.
    expect([...new Set(codes)].toSorted()).toEqual(['400', '409']);
  });
});
