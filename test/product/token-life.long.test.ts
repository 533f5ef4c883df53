/** An element that asks for its own tokens, through all that happens to a session and a server: on the built product. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hasChromium, launchChromium } from '../suites/chromium.js';
import { dateFilter, typeDates } from '../suites/date-filter.js';
import { post } from './guest.js';
import { type Product, startProduct } from './product.js';

describe.skipIf(!hasChromium())('the life of a token in the browser', { timeout: 120_000 }, () => {
  let product: Product;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let complaints: string[];

  beforeAll(async () => {
    [product, browser] = await Promise.all([startProduct(), launchChromium()]);
  });
  afterAll(async () => {
    await browser.close();
    await product.stop();
    await product.remove();
  });
  beforeEach(async () => {
    context = await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: 'en-US' });
    page = await context.newPage();
    complaints = [];
    page.on('pageerror', (error) => complaints.push(error.message));
  });
  afterEach(async () => {
    await context.close();
    expect(complaints).toEqual([]);
  });

  const embed = '<guestlist-dashboard token-url="/embed-token" dashboard-id="delays"></guestlist-dashboard>';

  /** The host's page after a login: nothing but elements, which know no token. */
  const show = async (user: string, markup = embed): Promise<void> => {
    await page.goto(`${product.url}/demo`);
    await page.getByRole('heading', { name: 'Every airport sees its own flights' }).waitFor();
    await send('login', { user });
    await page.evaluate(`
      window.told = [];
      for (const name of ['token-expired', 'guestlist-error'])
        document.addEventListener(name, ({ detail }) => told.push([name, detail.code ?? null]));
      document.body.replaceChildren(document.createRange().createContextualFragment(${JSON.stringify(markup)}));
    `);
  };
  const send = (path: 'login' | 'logout', body: object) =>
    page.evaluate(`fetch('/demo/${path}', {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: ${JSON.stringify(JSON.stringify(body))},
    })`);
  const told = () => page.evaluate('told');
  const drawn = () => page.locator('guestlist-card section[aria-busy="false"]').nth(3).waitFor();
  const value = () => page.locator('guestlist-card .value');
  const begin = (day: string) => typeDates(page, { from: day });
  const outdated = () => page.getByText(/^Showing data of \d/);

  test('finds its dashboard and its token by itself', async () => {
    await show('lax-analyst');
    await drawn();
    expect(await page.evaluate("document.querySelector('guestlist-dashboard').token ?? null")).toBe(null);
    expect(await told()).toEqual([]);
  });

  test('an outage leaves what is shown and says of when it is; the return of the server ends it', async () => {
    await show('lax-analyst');
    await drawn();
    await page.getByRole('button', { name: 'Show as table: Average delay by hour of departure' }).click();
    const before = await value().textContent();
    await product.stop('SIGKILL');
    await begin('2001-06-01');
    await outdated().waitFor();
    expect(await value().textContent()).toBe(before);
    expect(await page.locator('guestlist-card').count()).toBe(4);
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(await told()).toEqual([['guestlist-error', 'NETWORK_ERROR']]);
    product = await startProduct({ dataDir: product.dataDir, env: { PORT: new URL(product.url).port } });
    await outdated().waitFor({ state: 'detached' });
    await drawn();
    expect(await value().textContent()).not.toBe(before);
    expect(await dateFilter(page).innerText()).toBe('from Jun 1, 2001');
    expect(await page.locator('guestlist-card table').count()).toBe(1);
    expect(await told()).toEqual([['guestlist-error', 'NETWORK_ERROR']]);
  });

  test('offline and online again', async () => {
    await show('lax-analyst');
    await drawn();
    const before = await value().textContent();
    await context.setOffline(true);
    await begin('2001-06-01');
    await outdated().waitFor();
    await context.setOffline(false);
    await outdated().waitFor({ state: 'detached' });
    await drawn();
    expect(await value().textContent()).not.toBe(before);
  });

  test('a first view during an outage comes as soon as the server answers', async () => {
    await page.route('**/embed-token', (route) => route.abort());
    await show('lax-analyst');
    await page.getByText('This view can’t be reached right now').waitFor();
    await page.unroute('**/embed-token');
    await drawn();
    expect(await page.getByText('This view can’t be reached right now').count()).toBe(0);
  });

  test('a revoked session ends, and nothing of it stays', async () => {
    await show('atl-analyst');
    await drawn();
    await begin('2001-06-01');
    await drawn();
    expect(page.url()).toContain('2001-06-01');
    const user = { by: 'user', subject: 'atl-analyst', issuer: 'guestlist-demo', reason: 'test' };
    const revoked = await post(`${product.url}/gateway/admin/revoke`, user, product.credentials.gatewayToken);
    expect(revoked.status).toBe(200);
    await page.evaluate("document.querySelector('guestlist-dashboard').refresh()");
    await page.getByText('Your session has ended').waitFor();
    expect(await page.locator('guestlist-card, guestlist-filter-bar').count()).toBe(0);
    expect(page.url()).not.toContain('2001');
    expect(await told()).toEqual([['token-expired', null]]);
  });

  test('a token that the service no longer knows is renewed as an expired one', async () => {
    await show('lax-analyst', '<guestlist-dashboard dashboard-id="delays"></guestlist-dashboard>');
    await page.evaluate(`{
      window.calls = 0;
      document.querySelector('guestlist-dashboard').getToken = async () => {
        window.calls += 1;
        const answer = await (await fetch('/embed-token', { method: 'POST' })).json();
        return window.calls === 1 ? { ...answer, token: crypto.randomUUID() } : answer;
      };
    }`);
    await drawn();
    expect(await page.evaluate('calls')).toBe(2);
    expect(await told()).toEqual([]);
  });

  test('a log-out shows at the next renewal, and clears everything', async () => {
    await page.clock.install();
    await show('lax-analyst');
    await drawn();
    await send('logout', {});
    await page.clock.fastForward('01:00:00');
    await page.getByText('Your session has ended').waitFor();
    expect(await page.locator('guestlist-card').count()).toBe(0);
    await send('login', { user: 'lax-manager' });
    await page.getByRole('button', { name: 'Try again' }).click();
    await drawn();
  });
});
