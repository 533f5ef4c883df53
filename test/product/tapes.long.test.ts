/**
 * What people do most in Studio, from the overview to the end, by pointer and by keyboard alone, with the count of clicks and
 * screens. `TEST_SCREENSHOTS=FOLDER` keeps a picture of each step.
 */
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { hasChromium, launchChromium } from '../suites/chromium.js';
import { analyst, login, manager } from './guest.js';
import { startHostPage } from './host-page.js';
import { type Mailing, startMailing } from './mailing.js';
import { type Product, startProduct } from './product.js';
import { openStudioPage, studioOf } from './studio-page.js';
import { type Hand, startTape, type Tape } from './tape.js';

const hands: readonly Hand[] = ['pointer', 'keyboard'];
/** What each flow may take. A keyboard has no bound on its keys: Tab passes what lies between. */
const most = {
  drag: { clicks: 4, screens: 4 },
  people: { clicks: 5, screens: 6 },
  sql: { clicks: 8, screens: 5 },
  publish: { clicks: 7, screens: 6 },
  report: { clicks: 5, screens: 3 },
  alert: { clicks: 6, screens: 3 },
} as const;
type Flow = keyof typeof most;

const found: string[] = [];
afterAll(() => console.info(`| flow | hand | clicks | keys | screens |\n|---|---|---|---|---|\n${found.join('\n')}`));

/** Does the flow on the page and keeps its count. */
const recordOn = async (page: Page, flow: Flow, hand: Hand, work: (tape: Tape) => Promise<void>): Promise<void> => {
  const tape = startTape(page, flow, hand);
  await tape.look('start');
  await work(tape);
  const { clicks, keys, screens } = tape.counts();
  found.push(`| ${flow} | ${hand} | ${clicks} | ${keys} | ${screens} |`);
  expect(screens).toBeLessThanOrEqual(most[flow].screens);
  expect(clicks).toBeLessThanOrEqual(hand === 'pointer' ? most[flow].clicks : 0);
};

describe.skipIf(!hasChromium())('a flow in Studio', { timeout: 300_000 }, () => {
  let product: Product;
  let browser: Browser;

  beforeAll(async () => {
    [product, browser] = await Promise.all([startProduct(), launchChromium()]);
    await login(product, manager('LAX'));
    await login(product, analyst('ATL'));
  }, 300_000);
  afterAll(async () => {
    await browser?.close();
    await product?.stop();
    await product?.remove();
  });

  /** Opens Studio at its overview. */
  const record = async (flow: Flow, hand: Hand, work: (page: Page, tape: Tape) => Promise<void>): Promise<void> => {
    const { page, context } = await openStudioPage(browser, product, await studioOf(() => product).newLink());
    page.setDefaultTimeout(60_000);
    await recordOn(page, flow, hand, (tape) => work(page, tape));
    await context.close();
  };
  const openDelays = async (page: Page, tape: Tape): Promise<void> => {
    await tape.press(
      page.getByRole('navigation', { name: 'Studio' }).getByRole('link', { name: 'Dashboards' }),
      'dashboards',
    );
    await tape.press(page.getByRole('link', { name: 'Delays', exact: true }).first(), 'delays');
    await page.locator('guestlist-card section[aria-busy="false"]').nth(2).waitFor();
  };

  /** Makes a card of the first row narrower. */
  const narrow = async (tape: Tape, card: Locator): Promise<void> => {
    if (tape.hand === 'keyboard') {
      await tape.reach(card);
      await tape.type('Shift+ArrowLeft');
      await tape.look('narrower');
      return;
    }
    const box = await card.boundingBox();
    if (box === null) throw new Error('the card is not drawn');
    const corner = { x: box.x + box.width - 6, y: box.y + box.height - 6 };
    await tape.drag(corner, { x: corner.x - 220, y: corner.y }, 'narrower');
  };

  test.each(hands)('a card becomes narrower, and is taken back: by %s', (hand) =>
    record('drag', hand, async (page, tape) => {
      await openDelays(page, tape);
      const card = page.getByRole('button', { name: /^Flights a day: column/ });
      const bar = page.getByRole('group', { name: 'Dashboard' });
      const before = await card.getAttribute('aria-label');
      await narrow(tape, card);
      await bar.getByText('Saved a moment ago').waitFor();
      expect(await card.getAttribute('aria-label')).not.toBe(before);
      await tape.press(bar.getByRole('button', { name: 'Undo' }), 'undone');
      await expect.poll(() => card.getAttribute('aria-label')).toBe(before);
    }),
  );

  test.each(hands)('two people are seen beside each other: by %s', (hand) =>
    record('people', hand, async (page, tape) => {
      await openDelays(page, tape);
      await tape.press(page.getByRole('link', { name: 'As the user' }), 'user');
      await page.locator('guestlist-dashboard guestlist-card section[aria-busy="false"]').nth(2).waitFor();
      await tape.press(page.getByRole('button', { name: /another user beside/ }), 'beside');
      await tape.press(page.getByRole('dialog').getByRole('button', { name: /LAX-manager/ }), 'second');
      await expect.poll(() => page.locator('guestlist-dashboard').count(), { timeout: 60_000 }).toBe(2);
      await tape.look('both');
    }),
  );

  test.each(hands)('a chart is written in SQL, run, and saved: by %s', (hand) =>
    record('sql', hand, async (page, tape) => {
      await openDelays(page, tape);
      await tape.press(page.locator('summary', { hasText: /^Add$/ }), 'add');
      await tape.press(page.getByRole('list', { name: 'Add' }).getByText('SQL chart', { exact: true }), 'sql');
      const panel = page.getByRole('complementary', { name: 'SQL chart' });
      await tape.write(panel.getByRole('textbox', { name: 'Name' }), `By carrier, ${hand}`, 'name');
      const text = 'SELECT origin AS airport, COUNT(*) AS flights FROM flights GROUP BY origin';
      await tape.write(panel.locator('studio-code [contenteditable="true"]'), text, 'text');
      await tape.type('Control+Enter');
      await panel.getByText('airport', { exact: true }).first().waitFor();
      await tape.look('ran');
      await tape.press(panel.getByRole('button', { name: 'Save' }), 'saved', 'Shift+Tab');
      await page.getByRole('button', { name: new RegExp(`^By carrier, ${hand}: `) }).waitFor();
    }),
  );

  test.each(hands)('a change is rolled out, to a few tenants first: by %s', (hand) =>
    record('publish', hand, async (page, tape) => {
      await openDelays(page, tape);
      const bar = page.getByRole('group', { name: 'Dashboard' });
      await narrow(tape, page.getByRole('button', { name: /^Flights a day: column/ }));
      await bar.getByText('Saved a moment ago').waitFor();
      await tape.press(bar.getByRole('link', { name: 'Roll out' }), 'plan');
      await tape.press(page.getByRole('button', { name: /^Roll out/ }), 'begun');
      const state = page.locator('.head .badge');
      await state.filter({ hasText: /paused|finished/ }).waitFor();
      if ((await state.textContent())?.includes('finished')) return;
      await tape.press(page.getByRole('button', { name: 'Continue' }), 'finished');
      await state.filter({ hasText: 'finished' }).waitFor();
    }),
  );
});

describe.skipIf(!hasChromium())('a flow of a customer', { timeout: 300_000 }, () => {
  let mailing: Mailing;
  let browser: Browser;
  beforeAll(async () => {
    [mailing, browser] = await Promise.all([startMailing({ isOwnOrigin: true }), launchChromium()]);
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await mailing?.close();
  });

  const record = async (flow: Flow, hand: Hand, work: (page: Page, tape: Tape) => Promise<void>): Promise<void> => {
    const { token, embeds } = await mailing.logIn(`${flow}-${hand}`);
    const { url } = mailing.product;
    const host = await startHostPage(
      url,
      () =>
        `<guestlist-dashboard token="${token}" service-url="${url}" dashboard-id="${embeds[0]?.id}"></guestlist-dashboard>`,
    );
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-US' });
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    await page.goto(host.url);
    await page.locator('guestlist-card section[aria-busy="false"]').nth(2).waitFor();
    await recordOn(page, flow, hand, (tape) => work(page, tape));
    await context.close();
    host.close();
  };
  const mailed = async (count: number): Promise<void> =>
    vi.waitFor(() => expect(mailing.mailbox.received.length).toBe(count), { timeout: 60_000, interval: 200 });

  test.each(hands)('a report of each morning is made, and sent at once: by %s', (hand) =>
    record('report', hand, async (page, tape) => {
      const before = mailing.mailbox.received.length;
      const dialog = page.locator('guestlist-schedules dialog');
      const button = (name: string) => dialog.getByRole('button', { name, exact: true });
      await tape.press(page.getByRole('button', { name: 'Reports and alerts' }), 'list');
      await tape.press(button('New report'), 'form');
      await tape.write(dialog.getByLabel('Name', { exact: true }), 'Each morning', 'name');
      await tape.press(button('Save'), 'saved');
      await tape.press(button('Send now Each morning'), 'sent');
      await mailed(before + 1);
    }),
  );

  test.each(hands)('an alert on a number is made, and checked at once: by %s', (hand) =>
    record('alert', hand, async (page, tape) => {
      const before = mailing.mailbox.received.length;
      const dialog = page.locator('guestlist-schedules dialog');
      const button = (name: string) => dialog.getByRole('button', { name, exact: true });
      await tape.press(page.getByRole('button', { name: 'Reports and alerts' }), 'list');
      await tape.press(button('New alert'), 'form');
      await tape.write(dialog.getByLabel('Name', { exact: true }), 'Few flights', 'name');
      await tape.write(dialog.getByLabel('Value', { exact: true }), '100000000', 'value');
      await tape.press(button('Save'), 'saved');
      await tape.press(button('Check now Few flights'), 'checked');
      await mailed(before + 1);
    }),
  );
});
