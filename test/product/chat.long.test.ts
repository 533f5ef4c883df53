/** A user asks in words in the dashboard of the built product; a scripted model answers over a real connection. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hasChromium, launchChromium } from '../suites/chromium.js';
import { inOrder, type ModelServer, openModelServer, type Step } from '../suites/model-server.js';
import { until } from '../web/browser.js';
import { type Chatting, startChatting } from './chatting.js';
import { startHostPage } from './host-page.js';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const screenshots = process.env.TEST_SCREENSHOTS;

const flights = { schemaName: 'main', tableName: 'flights' };
const byState = {
  chart: { type: 'bar' },
  from: flights,
  dimensions: [{ name: 'State', column: { schemaName: 'main', tableName: 'airports', columnName: 'state' } }],
  measures: [{ name: 'Average delay', aggregate: 'AVG', column: { ...flights, columnName: 'delay' } }],
  where: {
    all: [
      { column: { ...flights, columnName: 'distance' }, predicate: { kind: 'compare', operator: '>', value: 500 } },
    ],
  },
  sort: [{ name: 'Average delay', direction: 'DESC' }],
  limit: 8,
};
const make: Step = { use: [{ name: 'make_metric', arguments: { name: 'Delay by state', definition: byState } }] };
const refine: Step = { use: [{ name: 'refine_metric', arguments: { changes: { chart: { type: 'row' } } } }] };

describe.skipIf(!hasChromium())('questions in words', { timeout: 120_000 }, () => {
  let model: ModelServer;
  let chatting: Chatting;
  let browser: Browser;
  beforeAll(async () => {
    model = await openModelServer();
    [chatting, browser] = await Promise.all([
      startChatting({ url: model.url, model: 'scripted', allowRows: true }),
      launchChromium(),
    ]);
  });
  beforeEach(() => model.play(inOrder(make, { say: 'The chart shows the average delay in each state.' })));
  afterAll(async () => {
    await browser?.close();
    await chatting?.close();
    await model?.close();
  });

  type Shown = BrowserContextOptions & { readonly language?: string };
  const show = async (
    user: string,
    look: (page: Page, dialog: Locator) => Promise<void>,
    { language = 'en', ...options }: Shown = {},
  ): Promise<void> => {
    const { token, embeds } = await chatting.logIn(user);
    const [embed] = embeds;
    const host = await startHostPage(
      chatting.url,
      () =>
        `<guestlist-dashboard token="${token}" service-url="${chatting.url}" dashboard-id="${embed?.id}" language="${language}"></guestlist-dashboard>`,
    );
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-US', ...options });
    try {
      const page = await context.newPage();
      page.setDefaultTimeout(20_000);
      await page.goto(host.url);
      await page.locator('guestlist-tools button').first().click();
      const dialog = page.locator('guestlist-chat dialog');
      await dialog.waitFor();
      await look(page, dialog);
      expect(await page.evaluate('violations')).toEqual([]);
    } finally {
      await context.close();
      host.close();
    }
  };
  const violationsIn = async (page: Page): Promise<unknown> => {
    await page.evaluate(axe);
    return page.evaluate(
      "axe.run({ include: [{ fromShadowDom: ['guestlist-dashboard', 'guestlist-tools'] }] }).then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))",
    );
  };
  const shoot = async (page: Page, name: string): Promise<void> => {
    if (screenshots !== undefined) await page.screenshot({ path: `${screenshots}/chat-${name}.png` });
  };
  const drawn = (dialog: Locator) => dialog.locator('guestlist-card section[aria-busy="false"]');
  const isTooWide = (dialog: Locator): Promise<boolean> =>
    dialog.evaluate((element) => element.scrollWidth > element.clientWidth);

  test('a question is answered by a chart, refined and saved, by the keyboard alone', async () => {
    await show('mia', async (page, dialog) => {
      expect(await page.getByRole('button', { name: 'Ask a question' }).count()).toBe(1);
      await dialog.getByText('Ask in your own words.').waitFor();
      await dialog.getByRole('button', { name: 'Count by Departure (Month)' }).waitFor();
      await shoot(page, 'empty');
      expect(await violationsIn(page)).toEqual([]);
      await page.keyboard.type('Where are long flights late?');
      await page.keyboard.press('Enter');
      await drawn(dialog).waitFor();
      await dialog.getByText('The chart shows the average delay in each state.').waitFor();
      const made = dialog.getByRole('list', { name: 'How this chart was made' });
      expect(await made.getByRole('listitem').allTextContents()).toEqual([
        'Average of Delay in minutes',
        'Split by State',
        'Distance in miles: > 500',
        'Sorted by Average delay, descending',
        'Rows, at most: 8',
      ]);
      expect(await dialog.getByRole('list', { name: 'Filters' }).textContent()).toContain('No filters set');
      await shoot(page, 'answer');
      expect(await violationsIn(page)).toEqual([]);
      model.play(inOrder(refine, { say: '<img src=x onerror=alert()>' }));
      await page.keyboard.type('As rows');
      await page.keyboard.press('Enter');
      await until(() => drawn(dialog).count()).toBe(2);
      await dialog.getByText('<img src=x onerror=alert()>').waitFor();
      expect(model.sent[0]?.body.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
      await dialog.getByRole('button', { name: 'Save Delay by state' }).last().press('Enter');
      await dialog.getByText('Saved', { exact: true }).waitFor();
      await shoot(page, 'saved');
      await page.keyboard.press('Escape');
      await page.getByRole('heading', { name: 'Delay by state' }).waitFor();
    });
  });

  test('a question is cancelled, and one that fails is asked again', async () => {
    await show(
      'nina',
      async (page, dialog) => {
        model.play(() => ({ hang: true }));
        await page.keyboard.type('A question');
        await page.keyboard.press('Enter');
        await dialog.getByText('Looking for an answer').waitFor();
        await shoot(page, 'waiting-dark');
        expect(await violationsIn(page)).toEqual([]);
        await dialog.getByRole('button', { name: 'Cancel' }).click();
        expect(await dialog.getByLabel('Your question').inputValue()).toBe('A question');
        model.play(() => ({ raw: 'nonsense' }));
        await page.keyboard.press('Enter');
        await dialog.getByRole('alert').getByText('The assistant found no answer.').waitFor();
        model.play(() => ({ raw: '', status: 500 }));
        await dialog.getByRole('button', { name: 'Try again' }).click();
        await dialog.getByRole('alert').getByText('The assistant can’t be reached now.').waitFor();
        await shoot(page, 'failing-dark');
        expect(await violationsIn(page)).toEqual([]);
        model.play(() => ({ say: null }));
        await dialog.getByRole('button', { name: 'Try again' }).click();
        await dialog.getByText('The assistant found no answer.').waitFor();
      },
      { colorScheme: 'dark', viewport: { width: 1024, height: 768 } },
    );
  });

  test('a suggestion is a chart at once, and a summary tells what stands out', async () => {
    await show('otto', async (page, dialog) => {
      model.play(() => ({ say: 'Late flights are 22.2% of all.' }));
      await dialog.getByRole('button', { name: 'Average of Delay in minutes by City' }).click();
      await drawn(dialog).waitFor();
      await shoot(page, 'suggested');
      expect(model.sent).toEqual([]);
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Summary' }).click();
      const summary = page.locator('guestlist-summary dialog');
      await summary.getByText('Late flights are 22.2% of all.').waitFor();
      await summary.getByText('Share delayed: 22.2%').waitFor();
      await until(() => summary.getByRole('listitem').count()).toBeGreaterThan(3);
      await shoot(page, 'summary');
      expect(await violationsIn(page)).toEqual([]);
    });
  });

  test('on a phone, from right to left', async () => {
    await show(
      'rana',
      async (page, dialog) => {
        await page.keyboard.type('أين تتأخر الرحلات؟');
        await dialog.getByRole('button', { name: 'اسأل' }).click();
        await drawn(dialog).waitFor();
        await shoot(page, 'phone-arabic');
        expect(await violationsIn(page)).toEqual([]);
        expect(await isTooWide(dialog)).toBe(false);
      },
      { language: 'ar', viewport: { width: 390, height: 844 } },
    );
  });
});
