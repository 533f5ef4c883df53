/** What a page can set, call and hear: the public interface of the elements. */
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hasChromium } from '../suites/chromium.js';
import { typeDates } from '../suites/date-filter.js';
import { mount, setAttribute, startBench, until, violationsOf } from '../web/browser.js';
import { refusal } from '../web/fake-service.js';

describe.skipIf(!hasChromium())('the interface of the elements', { timeout: 60_000 }, () => {
  let bench: Awaited<ReturnType<typeof startBench>>;
  let opened: Awaited<ReturnType<(typeof bench)['open']>>;
  let page: Page;

  beforeAll(async () => {
    bench = await startBench();
  }, 60_000);
  afterAll(() => bench.close());
  beforeEach(async () => {
    bench.service.control.override = () => undefined;
    opened = await bench.open('/bare');
    page = opened.page;
    bench.service.control.requests.length = 0;
    await page.evaluate(`
      window.heard = [];
      for (const name of ['loaded', 'filter-change', 'filters-ignored', 'drill', 'point-click'])
        document.addEventListener('guestlist-' + name, ({ detail, target }) => heard.push([name, target.localName, detail]));
    `);
  });
  afterEach(async () => {
    const violations = await violationsOf(page);
    await opened.close();
    expect(violations).toEqual([]);
    expect(opened.complaints).toEqual([]);
  });

  const settled = (count = 4) =>
    until(() => page.locator('guestlist-card section[aria-busy="false"]').count()).toBeGreaterThanOrEqual(count);
  const show = async (more: Record<string, string> = {}) => {
    await mount(page, 'guestlist-dashboard', { token: 'guest-LAX-1', 'dashboard-id': 'delays--LAX', ...more });
    await settled();
  };
  const heard = (name: string): Promise<unknown[]> =>
    page.evaluate(`heard.filter(([of]) => of === ${JSON.stringify(name)}).map(([, tag, detail]) => [tag, detail])`);
  const call = (code: string): Promise<unknown> =>
    page.evaluate(`(() => { const element = document.querySelector('guestlist-dashboard'); ${code} })()`);
  const asked = (metric: string) =>
    bench.service.control.requests.filter(({ path }) => path.includes(`${metric}/query`)).map(({ body }) => body);

  it('asks in the language of the page, and shows the labels that it gets; in another language, with the next read', async () => {
    bench.service.control.override = ({ path, language }) => {
      if (!path.endsWith('/guest/dashboards/delays--LAX')) return undefined;
      const filters = [{ name: 'Late', label: `Late (${language})`, dataType: 'boolean', defaultValue: null }];
      const board = { dashboardId: 'delays--LAX', name: 'Delays', layout: [], metrics: [], filters, permissions: {} };
      return { body: { data: { ...board, accessPermissions: {}, theme: null, defaultView: null }, error: null } };
    };
    await mount(page, 'guestlist-dashboard', { token: 'guest-LAX-1', 'dashboard-id': 'delays--LAX', language: 'de' });
    const named = (language: string) => page.getByLabel(`Late (${language})`).waitFor();
    await named('de');
    await setAttribute(page, 'guestlist-dashboard', 'language', 'fr');
    await call('return element.refresh()');
    await named('fr');
  });

  it('shows the logo of the page above the dashboard, on the page and on paper', async () => {
    await call(`host.mount('guestlist-dashboard', {});
      const logo = document.createElement('b');
      logo.slot = 'logo';
      logo.textContent = 'Acme';
      const board = document.querySelector('guestlist-dashboard');
      const other = document.createElement('i');
      other.textContent = 'In no slot';
      board.append(logo, other);
      Object.assign(board, { token: 'guest-LAX-1', dashboardId: 'delays--LAX' });`);
    await settled();
    const isAbove = async () => {
      const [logo, head] = [page.getByText('Acme'), page.getByRole('heading', { name: 'Delays', exact: true })];
      const [over, under] = await Promise.all([logo.boundingBox(), head.boundingBox()]);
      return over !== null && under !== null && over.y + over.height <= under.y;
    };
    expect(await isAbove()).toBe(true);
    expect(await page.getByText('In no slot').isVisible()).toBe(false);
    await call('element.printing = true');
    await until(isAbove).toBe(true);
  });

  it('says on paper as of when, in which time zone, and what the filters are', async () => {
    await call(`host.mount('guestlist-dashboard', {});
      Object.assign(document.querySelector('guestlist-dashboard'), { token: 'guest-LAX-1', dashboardId: 'delays--LAX', printing: true });`);
    await settled();
    await page.getByText(/^As of .+ \(.+\)$/).waitFor();
    const cover = page.locator('guestlist-dashboard guestlist-cover li');
    expect(await cover.count()).toBeGreaterThan(0);
    expect((await cover.allTextContents()).every((text) => text === 'No filters set' || text.includes(': '))).toBe(
      true,
    );
  });

  it('reflects what the page sets, but never a token', async () => {
    await call(`host.mount('guestlist-dashboard', {});
      const made = document.querySelector('guestlist-dashboard');
      Object.assign(made, { token: 'guest-LAX-1', dashboardId: 'delays--LAX', urlPrefix: 'a.', urlFilters: false, language: 'de', chartColors: 'red' });`);
    await settled();
    expect(
      await call('return Object.fromEntries([...element.attributes].map(({ name, value }) => [name, value]))'),
    ).toEqual({
      theme: 'auto',
      'dashboard-id': 'delays--LAX',
      'url-prefix': 'a.',
      'url-filters': 'off',
      language: 'de',
      'chart-colors': 'red',
    });
    await setAttribute(page, 'guestlist-dashboard', 'url-filters', null);
    expect(await call('return element.urlFilters')).toBe(true);
  });

  it('tells the page of a filter that the guest sets, and sets those of the page without telling', async () => {
    await show();
    await typeDates(page, { from: '2001-06-01' });
    await until(() => heard('filter-change')).toEqual([
      [
        'guestlist-dashboard',
        { dashboardId: 'delays--LAX', filters: { Date: expect.objectContaining({ startDate: '2001-06-01' }) } },
      ],
    ]);
    await call("element.setFilters({ State: ['CA'] })");
    await until(() => asked('shareDelayed').at(-1)).toEqual({
      dashboardId: 'delays--LAX',
      dashboardFilter: { State: ['CA'] },
    });
    expect(await call('return element.getFilters()')).toEqual({ State: ['CA'] });
    expect(await heard('filter-change')).toHaveLength(1);
  });

  it('takes filters before the dashboard is there, and refuses those that it does not have', async () => {
    await page.evaluate(`{
      const element = document.createElement('guestlist-dashboard');
      element.setFilters({ State: ['CA'] });
      Object.assign(element, { token: 'guest-LAX-1', dashboardId: 'delays--LAX' });
      document.querySelector('main').append(element);
    }`);
    await settled();
    expect(asked('shareDelayed')).toEqual([{ dashboardId: 'delays--LAX', dashboardFilter: { State: ['CA'] } }]);
    const errorOf = (value: string) =>
      call(`try { element.setFilters(${value}) } catch (error) { return String(error) }`);
    expect(await errorOf('{ Nothing: 1 }')).toMatch(/^TypeError: The dashboard has no filter Nothing. Its filters: /);
    expect(await errorOf("[['State', 1]]")).toMatch(/^TypeError: setFilters takes an object/);
    expect(await errorOf('{ State: null }')).toMatch(/^TypeError: setFilters takes an object/);
  });

  it('tells the page, once, which of the values that it set early have no effect', async () => {
    const warned: string[] = [];
    page.on('console', (message) => message.type() === 'warning' && warned.push(message.text()));
    await page.evaluate(`{
      const element = document.createElement('guestlist-dashboard');
      element.setFilters({ State: ['CA'], Nothing: 1 });
      Object.assign(element, { token: 'guest-LAX-1', dashboardId: 'delays--LAX' });
      document.querySelector('main').append(element);
    }`);
    await settled();
    const told = [
      ['guestlist-dashboard', { dashboardId: 'delays--LAX', ignored: [{ name: 'Nothing', reason: 'unknown' }] }],
    ];
    expect(await heard('filters-ignored')).toEqual(told);
    expect(asked('shareDelayed')).toEqual([{ dashboardId: 'delays--LAX', dashboardFilter: { State: ['CA'] } }]);
    await call('element.refresh()');
    await until(() => heard('loaded')).toHaveLength(2);
    expect(await heard('filters-ignored')).toEqual(told);
    const warning = /filter values of the page without effect on dashboard delays--LAX: Nothing \(unknown\)/;
    expect(warned).toEqual([expect.stringMatching(warning)]);
  });

  it('tells the page of a point that the guest clicks, and of a drill and its end', async () => {
    await show();
    const chart = page.getByRole('img', { name: /^Average delay by destination/ });
    await chart.click({ position: { x: 400, y: 30 } });
    const column = expect.objectContaining({ dashboardId: 'delays--LAX', metricId: 'delayByDestination' });
    await until(() => heard('point-click')).toEqual([['guestlist-dashboard', column]]);
    const [[, point]] = (await heard('point-click')) as [[string, { columnName: string; value: string }]];
    const { columnName, value } = point;
    expect(await heard('drill')).toEqual([
      [
        'guestlist-dashboard',
        { dashboardId: 'delays--LAX', metricId: 'delayByDestination', drill: [{ columnName, value }] },
      ],
    ]);
    await page
      .getByRole('navigation', { name: /by destination/ })
      .getByRole('button', { name: 'All' })
      .click();
    await until(async () => (await heard('drill')).at(-1)).toEqual([
      'guestlist-dashboard',
      expect.objectContaining({ drill: [] }),
    ]);
  });

  it('tells the page that a dashboard or a metric was read', async () => {
    await show();
    await mount(page, 'guestlist-metric', { token: 'guest-LAX-1', 'metric-id': 'shareDelayed' });
    await settled(5);
    expect(await heard('loaded')).toEqual([
      ['guestlist-dashboard', expect.objectContaining({ dashboardId: 'delays--LAX', name: 'Delays' })],
      ['guestlist-metric', expect.objectContaining({ dashboardId: null, metricId: 'shareDelayed' })],
    ]);
  });

  it('reads all again on refresh()', async () => {
    await show();
    await call('element.refresh()');
    await until(() => asked('shareDelayed').length).toBe(2);
  });

  it('works under the tags of other clients, with their attributes, handler and base URL', async () => {
    await page.evaluate(`
      window.dbn = { baseUrl: ${JSON.stringify(bench.service.url)} };
      window.serverEvents = [];
      window.onServerEvent = (event) => serverEvents.push(event);
      import('/elements.js').then(({ registerAs }) => {
        registerAs('dbn-dashboard', 'dbn-metric');
        registerAs('dbn-dashboard', 'dbn-metric');
      });
    `);
    await mount(page, 'dbn-dashboard', {
      token: 'guest-LAX-1',
      'dashboard-id': 'delays--LAX',
      options: JSON.stringify({ disableMetricCreation: true, chartColors: ['rgb(1, 2, 3)', 'teal'] }),
      theme: JSON.stringify({ general: { fontFamily: 'Inter' } }),
      'handle-server-event': 'onServerEvent',
    });
    await mount(page, 'dbn-metric', {
      token: 'guest-LAX-1',
      'metric-id': 'shareDelayed',
      width: '500',
      height: '200px',
    });
    await settled(5);
    expect(await page.evaluate("document.querySelector('dbn-dashboard').chartColors")).toBe('rgb(1, 2, 3),teal');
    const box = await page.locator('dbn-metric').boundingBox();
    expect([box?.width, box?.height]).toEqual([500, 200]);
    bench.service.control.override = () => refusal('TOKEN_EXPIRED', 'expired', 401);
    await typeDates(page, { from: '2001-06-01' });
    await until(() => page.evaluate('serverEvents')).toEqual([{ type: 'TOKEN_EXPIRED' }]);
  });
});
