/** Elements that ask for their own tokens, for an hour of a page's time, and with hosts that do it wrong. */
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hasChromium } from '../suites/chromium.js';
import { typeDates } from '../suites/date-filter.js';
import { mount, seenBy, setAttribute, startBench, textOf, until, violationsOf } from '../web/browser.js';
import { type Recorded, refusal } from '../web/fake-service.js';

/** Airports of the data, one for each element: the token says whose rows it opens. */
const airports = 'ATL BOS BWI CLE CLT CVG DEN DFW DTW EWR IAH LAS LAX LGA MCO MSP ORD PHL PHX SFO'.split(' ');

describe.skipIf(!hasChromium())('the life of a token', { timeout: 120_000 }, () => {
  let bench: Awaited<ReturnType<typeof startBench>>;
  let opened: Awaited<ReturnType<(typeof bench)['open']>>;
  let page: Page;
  let minted: Record<string, number>;

  beforeAll(async () => {
    bench = await startBench();
  }, 60_000);
  afterAll(() => bench.close());

  beforeEach(async () => {
    minted = {};
    bench.service.control.override = answerMint;
    opened = await bench.open('/bare');
    page = opened.page;
    bench.service.control.requests.length = 0;
  });
  afterEach(async () => {
    const violations = await violationsOf(page);
    await opened.close();
    expect(violations).toEqual([]);
    expect(opened.complaints).toEqual([]);
  });

  const answerOf = (airport: string) => ({
    token: `guest-${airport}-${minted[airport]}`,
    expiresAt: new Date(Date.now() + 900_000).toISOString(),
    refreshAfter: new Date(Date.now() + 600_000).toISOString(),
    embeds: [{ id: `delays--${airport}`, name: 'delays', type: 'dashboard' }],
    serviceUrl: '',
  });
  /** `/embed-token?airport=LAX`: each URL is a session of its own. */
  const answerMint = ({ path }: Recorded) => {
    const airport = /^\/embed-token\?airport=(\w+)$/.exec(path)?.[1];
    if (airport === undefined) return undefined;
    minted[airport] = (minted[airport] ?? 0) + 1;
    return { body: answerOf(airport) };
  };
  const airportMetric = (airport: string) =>
    mount(page, 'guestlist-metric', {
      'token-url': `/embed-token?airport=${airport}`,
      'dashboard-id': 'delays',
      'metric-id': 'shareDelayed',
    });
  const values = () => page.locator('.value').count();
  const reads = () => bench.service.control.requests.filter(({ authorization }) => authorization !== '');
  const told = async () => (await seenBy(page)).map(({ name }) => name);

  it('renews twenty tokens of twenty elements for an hour: once for each URL and renewal, and mixes none', async () => {
    await page.clock.install();
    for (const airport of airports) await airportMetric(airport);
    await until(() => page.locator('guestlist-card section[aria-busy="false"]').count()).toBe(20);
    for (let renewal = 1; renewal <= 6; renewal += 1) {
      bench.service.control.requests.length = 0;
      await page.clock.runFor('10:00');
      const all = Object.fromEntries(airports.map((airport) => [airport, renewal + 1]));
      await until(() => minted).toEqual(all);
      await until(() => reads().filter(({ path }) => path.endsWith('/query')).length).toBe(20);
      for (const { path, body, authorization } of reads()) {
        const airport = /delays--(\w{3})/.exec(path + JSON.stringify(body))?.[1];
        expect(authorization).toBe(`Bearer guest-${airport}-${renewal + 1}`);
      }
    }
    await page.evaluate("document.querySelector('main').replaceChildren()");
    bench.service.control.requests.length = 0;
    await page.clock.runFor('01:00:00');
    expect(bench.service.control.requests).toEqual([]);
  });

  it('asks once for all elements of a URL, also when the service refuses the token of all of them', async () => {
    for (let element = 0; element < 5; element += 1) await airportMetric('LAX');
    await until(values).toBe(5);
    expect(minted).toEqual({ LAX: 1 });
    bench.service.control.override = (request) =>
      request.authorization === 'Bearer guest-LAX-1'
        ? refusal('TOKEN_EXPIRED', 'The token has expired.', 401)
        : answerMint(request);
    await page.evaluate("for (const element of document.querySelectorAll('guestlist-metric')) element.refresh()");
    const renewed = () =>
      reads().filter(({ authorization, path }) => authorization.endsWith('-2') && path.endsWith('/query'));
    await until(() => renewed().length).toBe(5);
    expect(minted).toEqual({ LAX: 2 });
    expect(await told()).not.toContain('token-expired');
  });

  it('keeps filters, drill and scroll position over a renewal', async () => {
    await page.clock.install();
    await mount(page, 'guestlist-dashboard', { 'token-url': '/embed-token?airport=LAX' });
    await page.getByRole('img', { name: /^Average delay by destination/ }).waitFor();
    await page.getByRole('button', { name: /Show as table: Average delay by destination/ }).click();
    await page.locator('td button').first().click();
    const trail = page.getByRole('navigation', { name: /Average delay by destination/ });
    await trail.waitFor();
    await typeDates(page, { from: '2001-06-01' });
    await page.setViewportSize({ width: 1280, height: 300 });
    await page.evaluate('scrollTo(0, 200)');
    const before = [await textOf(trail), await page.evaluate('scrollY')];
    bench.service.control.requests.length = 0;
    await page.clock.runFor('10:00');
    await until(() => reads().filter(({ path }) => path.endsWith('/query')).length).toBe(4);
    await until(() => page.locator('guestlist-card section[aria-busy="false"]').count()).toBe(4);
    for (const { body, path } of reads().filter(({ path: each }) => each.endsWith('/query'))) {
      expect(body).toMatchObject({ dashboardFilter: { Date: { startDate: '2001-06-01' } } });
      expect(JSON.stringify(body).includes('"drill"')).toBe(path.includes('delayByDestination'));
    }
    expect([await textOf(trail), await page.evaluate('scrollY')]).toEqual(before);
  });

  it('repeats with the next token what the guest asked for while the token ended', async () => {
    await mount(page, 'guestlist-dashboard', { 'token-url': '/embed-token?airport=LAX' });
    await until(() => page.locator('guestlist-card section[aria-busy="false"]').count()).toBe(4);
    bench.service.control.override = (request) =>
      request.authorization === 'Bearer guest-LAX-1'
        ? refusal('AUTHENTICATION_ERROR', 'invalid service token', 401)
        : answerMint(request);
    await page.getByRole('button', { name: 'Rows: Flights a day' }).click();
    await page
      .getByRole('dialog')
      .getByText(/^1–50 of /)
      .waitFor();
    expect(minted).toEqual({ LAX: 2 });
  });

  it('takes a getToken that frameworks make anew at each render, and asks it once', async () => {
    await mount(page, 'guestlist-metric', { 'dashboard-id': 'delays--LAX', 'metric-id': 'shareDelayed' });
    await page.evaluate(`{
      window.calls = 0;
      const element = document.querySelector('guestlist-metric');
      const render = () => {
        element.getToken = async () => {
          window.calls += 1;
          return 'guest-LAX-1';
        };
      };
      for (let renders = 0; renders < 5; renders += 1) render();
      window.render = render;
    }`);
    await until(values).toBe(1);
    await page.evaluate('render()');
    await page.evaluate("document.querySelector('guestlist-metric').updateComplete");
    expect(await page.evaluate('calls')).toBe(1);
    expect(reads().filter(({ path }) => path.endsWith('/query'))).toHaveLength(1);
  });

  it('survives a getToken that gives the same expired token, without a storm', async () => {
    await page.clock.install();
    bench.service.control.override = (request) =>
      request.authorization === 'Bearer guest-LAX-1' && request.path.endsWith('/query')
        ? refusal('TOKEN_EXPIRED', 'The token has expired.', 401)
        : undefined;
    await mount(page, 'guestlist-metric', { 'dashboard-id': 'delays--LAX', 'metric-id': 'shareDelayed' });
    await page.evaluate(`{
      window.calls = 0;
      document.querySelector('guestlist-metric').getToken = () => {
        window.calls += 1;
        return window.calls > 6 ? 'guest-LAX-2' : 'guest-LAX-1';
      };
    }`);
    await until(() => page.evaluate('calls')).toBe(2);
    await page.clock.runFor('00:05');
    expect(await page.evaluate('calls')).toBeLessThan(6);
    await page.clock.runFor('02:00');
    await until(values).toBe(1);
  });

  it('starts with the token of the page, and asks only when that has ended', async () => {
    await mount(page, 'guestlist-metric', {
      token: 'guest-LAX-9',
      'token-url': '/embed-token?airport=LAX',
      'dashboard-id': 'delays--LAX',
      'metric-id': 'shareDelayed',
    });
    await until(values).toBe(1);
    expect(minted).toEqual({});
    bench.service.control.override = (request) =>
      request.authorization === 'Bearer guest-LAX-9'
        ? refusal('TOKEN_EXPIRED', 'The token has expired.', 401)
        : answerMint(request);
    await page.evaluate("document.querySelector('guestlist-metric').refresh()");
    await until(() => reads().at(-1)?.authorization).toBe('Bearer guest-LAX-1');
    expect(minted).toEqual({ LAX: 1 });
  });

  it('shows the message of the gateway to a user without access, and clears what was shown', async () => {
    await mount(page, 'guestlist-dashboard', { 'token-url': '/embed-token?airport=LAX' });
    await until(() => page.locator('guestlist-card').count()).toBe(4);
    bench.service.control.override = ({ path, authorization }) =>
      path.startsWith('/embed-token')
        ? refusal('NO_POLICY', "You can't see these analytics. Reference: 1", 403)
        : authorization === ''
          ? undefined
          : refusal('AUTHENTICATION_ERROR', 'invalid', 401);
    await page.evaluate("document.querySelector('guestlist-dashboard').refresh()");
    await page.getByText("You can't see these analytics. Reference: 1").waitFor();
    expect(await page.locator('guestlist-card').count()).toBe(0);
    const last = (await seenBy(page)).at(-1);
    expect(last).toMatchObject({ name: 'guestlist-error', detail: { code: 'NO_POLICY', status: 403 } });
  });

  it('tells the page of a revoked or unknown token as of an expired one, in neutral words', async () => {
    await mount(page, 'guestlist-dashboard', { token: 'guest-LAX-1', 'dashboard-id': 'delays--LAX' });
    await until(() => page.locator('guestlist-card section[aria-busy="false"]').count()).toBe(4);
    bench.service.control.override = () => refusal('AUTHENTICATION_ERROR', 'invalid service token', 401);
    await page.getByRole('button', { name: 'Rows: Flights a day' }).click();
    await page.getByText('Session expired').waitFor();
    expect(await told()).toEqual(['guestlist-loaded', 'token-expired']);
    expect(await page.getByText('invalid service token').count()).toBe(0);
    bench.service.control.override = () => undefined;
    await setAttribute(page, 'guestlist-dashboard', 'token', 'guest-LAX-2');
    await page
      .getByRole('dialog')
      .getByText(/^1–50 of /)
      .waitFor();
    expect(await page.getByText('Session expired').count()).toBe(0);
  });

  it('drops the filters of the user before when nobody is logged in', async () => {
    await mount(page, 'guestlist-dashboard', { token: 'guest-LAX-1', 'dashboard-id': 'delays--LAX' });
    await until(() => page.locator('guestlist-card section[aria-busy="false"]').count()).toBe(4);
    await typeDates(page, { from: '2001-06-01' });
    await until(() => page.url()).toContain('2001-06-01');
    await setAttribute(page, 'guestlist-dashboard', 'token', null);
    await until(() => page.url()).not.toContain('2001');
    await setAttribute(page, 'guestlist-dashboard', 'token', 'guest-ATL-1');
    await setAttribute(page, 'guestlist-dashboard', 'dashboard-id', 'delays--ATL');
    await until(() => page.locator('guestlist-card section[aria-busy="false"]').count()).toBe(4);
    expect(JSON.stringify(reads().filter(({ authorization }) => authorization.includes('ATL')))).not.toContain(
      '2001-06-01',
    );
  });
});
