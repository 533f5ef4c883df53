import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { FilterValue } from '../../src/model/filter/filter.js';
import type { GuestFilter } from '../../src/model/guest/view.js';
import { hasChromium } from '../suites/chromium.js';
import { dateFilter, typeDates } from '../suites/date-filter.js';
import { mount, setAttribute, startBench, textOf, until, violationsOf } from '../web/browser.js';
import { type Override, refusal } from '../web/fake-service.js';
import { dashboards } from '../web/fixtures.js';

/** The service, with a token that enforces a value for State, and with filters of the other types. */
const enforcing =
  (appliedValue?: FilterValue): Override =>
  ({ path, authorization }) => {
    const id = /\/dashboards\/([^/]+)$/.exec(path)?.[1] ?? '';
    const dashboard = dashboards(authorization.slice('Bearer guest-'.length).slice(0, 3))[id];
    if (dashboard === undefined) return undefined;
    const more: readonly GuestFilter[] = [
      { name: 'Distance', dataType: 'number', defaultValue: null },
      { name: 'Late', dataType: 'boolean', defaultValue: null },
    ];
    const filters = [...dashboard.filters, ...more].map((filter) =>
      filter.name === 'State' ? { ...filter, appliedValue } : filter,
    );
    return { body: { data: { ...dashboard, filters }, error: null } };
  };

/** Calls setFilters of the dashboard, and returns the message of its error. */
const setFilters = (page: Page, values: object): Promise<string | undefined> =>
  page.evaluate(`(() => {
    try { document.querySelector('guestlist-dashboard').setFilters(${JSON.stringify(values)}); } catch (error) { return error.message; }
  })()`);

describe.skipIf(!hasChromium())('the filters in the address of a page', { timeout: 60_000 }, () => {
  let bench: Awaited<ReturnType<typeof startBench>>;
  let opened: Awaited<ReturnType<(typeof bench)['open']>>;
  let page: Page;

  beforeAll(async () => {
    bench = await startBench();
  }, 60_000);
  afterAll(() => bench.close());
  beforeEach(() => {
    bench.service.control.override = enforcing();
    bench.service.control.requests.length = 0;
  });
  afterEach(async () => {
    const violations = await violationsOf(page);
    await opened.close();
    expect(violations).toEqual([]);
    expect(opened.complaints).toEqual([]);
  });

  const open = async (path: string) => {
    opened = await bench.open(path);
    page = opened.page;
  };
  const show = async (more: Record<string, string> = {}) => {
    await mount(page, 'guestlist-dashboard', { token: 'guest-LAX-1', 'dashboard-id': 'delays--LAX', ...more });
    await settled();
  };
  const settled = () =>
    until(() => page.locator('guestlist-card section[aria-busy="false"]').count()).toBeGreaterThanOrEqual(4);
  /** The URL after the path. */
  const address = () => page.evaluate<string>('location.search + location.hash');
  const asked = () =>
    bench.service.control.requests.filter(({ path }) => path.includes('shareDelayed/query')).map(({ body }) => body);
  const last = () => asked().at(-1);
  const pick = async (state: string, within = page.locator('guestlist-dashboard').first()) => {
    await within.getByRole('button', { name: /^State/ }).click();
    await within.locator('guestlist-multi-select').getByRole('option', { name: state, exact: true }).click();
    await page.keyboard.press('Escape');
  };

  it('writes the guest’s values beside the page’s own parameters, without a new history entry', async () => {
    await open('/bare?tab=a%20b&plain#part?x');
    await page.evaluate('history.replaceState({ router: 7 }, "")');
    const entries = await page.evaluate('history.length');
    await show();
    expect(await address()).toBe('?tab=a%20b&plain#part?x');
    await pick('CA');
    await until(address).toBe('?tab=a%20b&plain&State=CA#part?x');
    await typeDates(page, { from: '2001-03-01' });
    await page.getByLabel('Distance at most').fill('500');
    await page.getByLabel('Distance at most').blur();
    await page.getByLabel('Late').selectOption('false');
    await until(address).toBe('?tab=a%20b&plain&State=CA&Date=2001-03-01..&Distance=..500&Late=false#part?x');
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await until(address).toBe('?tab=a%20b&plain#part?x');
    expect(await page.evaluate('[history.length, history.state]')).toEqual([entries, { router: 7 }]);
  });

  it('starts with the values of a link or a reload, and queries once', async () => {
    await open('/bare?State=CA&State=NV&Date=2001-03-01..2001-03-31&Distance=..900&Late=true&tab=2');
    await show({ options: '{"filters":{"State":["TX"],"Late":false}}' });
    const choice = {
      State: ['CA', 'NV'],
      Date: { startDate: '2001-03-01', endDate: '2001-03-31' },
      Distance: { max: 900 },
      Late: true,
    };
    expect(asked()).toEqual([{ dashboardId: 'delays--LAX', dashboardFilter: choice }]);
    expect(await textOf(page.locator('guestlist-multi-select #chosen'))).toBe('CA, NV');
    expect(await dateFilter(page).innerText()).toBe('Mar 1, 2001 – Mar 31, 2001');
    expect(await page.getByLabel('Late').inputValue()).toBe('true');
    await page.reload();
    await show();
    expect(last()).toEqual({ dashboardId: 'delays--LAX', dashboardFilter: choice });
    expect(await address()).toBe('?State=CA&State=NV&Date=2001-03-01..2001-03-31&Distance=..900&Late=true&tab=2');
  });

  it('follows going back and forward', async () => {
    await open('/bare');
    await show();
    await pick('CA');
    await until(address).toBe('?State=CA');
    await page.evaluate('history.pushState(null, "", "?State=NV&tab=2")');
    await page.evaluate('history.back()');
    await until(address).toBe('?State=CA');
    await page.evaluate('history.forward()');
    await until(last).toMatchObject({ dashboardFilter: { State: ['NV'] } });
    expect(await textOf(page.locator('guestlist-multi-select #chosen'))).toBe('NV');
    expect(await address()).toBe('?State=NV&tab=2');
    await page.evaluate('history.back()');
    await until(last).toMatchObject({ dashboardFilter: { State: ['CA'] } });
  });

  it('ignores invalid values and unknown filter names, and says which values it left out', async () => {
    await open('/bare?Distance=9..1&Date=soon&Late=1&__proto__=x&constructor=y&state=CA&q=%E0%A4%A&State=a%00b');
    await show();
    expect(asked()).toEqual([{ dashboardId: 'delays--LAX' }]);
    expect(await address()).toBe('?__proto__=x&constructor=y&state=CA&q=%E0%A4%A');
    const note = page.locator('guestlist-filter-bar .note');
    const said = 'The page’s address has values that do not fit, and they were left out: ';
    await until(() => textOf(note)).toBe(`${said}State, Date, Distance, and Late`);
    await page.getByLabel('Late').selectOption('true');
    await until(() => textOf(note)).toBe('');
    await page.evaluate('history.pushState(null, "", "?Late=2"); history.pushState(null, "", "?tab=3")');
    await page.evaluate('history.back()');
    await until(() => textOf(note)).toBe(`${said}Late`);
  });

  it('shows the token’s values as locked, and lets neither the guest, the page nor the URL change them', async () => {
    bench.service.control.override = enforcing(['CA', 'NV']);
    await open('/bare?tab=1&State=NV');
    const note = () => textOf(page.locator('guestlist-filter-bar .note'));
    await show({ options: '{"filters":{"State":["CA"]}}' });
    await until(address).toBe('?tab=1&State=CA&State=NV&guestlist-fixed=State');
    expect(asked()).toEqual([{ dashboardId: 'delays--LAX' }]);
    const fixed = page.locator('guestlist-filter-bar .fixed');
    expect((await textOf(fixed)).replaceAll(/\s+/g, ' ')).toBe('CA, NV Set by your access');
    expect(await textOf(page.locator('guestlist-card .note'))).toBe('State: CA, NV');
    expect(await page.getByRole('button', { name: 'Clear filters' }).getAttribute('aria-disabled')).toBe('true');
    expect(await page.locator('guestlist-multi-select').count()).toBe(0);
    await until(note).toMatch(/left out: State$/);
    const set = (values: object) => setFilters(page, values);
    expect(await set({ State: ['CA'] })).toBe('The filter State is locked: the token sets its value.');
    expect(await set({ Late: true })).toBeUndefined();
    await until(last).toMatchObject({ dashboardFilter: { Late: true } });
    expect(await page.evaluate("document.querySelector('guestlist-dashboard').getFilters()")).toEqual({ Late: true });
    await page.evaluate('history.pushState(null, "", "?State=CA&tab=2")');
    await page.evaluate('history.back()');
    await until(address).toBe('?tab=1&State=CA&State=NV&guestlist-fixed=State&Late=true');
    expect(asked().every((body) => !JSON.stringify(body).includes('State'))).toBe(true);
  });

  it('forgets a choice when the next token locks its filter', async () => {
    await open('/bare?State=NV&Late=true');
    await show();
    await until(last).toMatchObject({ dashboardFilter: { State: ['NV'], Late: true } });
    bench.service.control.override = enforcing(['CA']);
    await setAttribute(page, 'guestlist-dashboard', 'token', 'guest-LAX-2');
    await until(address).toBe('?State=CA&Late=true&guestlist-fixed=State');
    await until(() => Object(last()).dashboardFilter).toEqual({ Late: true });
  });

  it('takes no part of a forged URL for a locked filter, a token or a tenant', async () => {
    bench.service.control.override = enforcing(['CA']);
    await open('/bare?State=TX&token=guest-ATL-1&clientId=ATL&dashboardAppFilters=x');
    await show();
    const [dashboard, ...others] = bench.service.control.requests;
    expect(dashboard).toMatchObject({ path: '/api/v2/guest/dashboards/delays--LAX', body: null });
    for (const { path, authorization, body } of others) {
      expect(path).toMatch(/^\/api\/v2\/guest\/metrics\/\w+\/query$/);
      expect(authorization).toBe('Bearer guest-LAX-1');
      expect(body).toEqual({ dashboardId: 'delays--LAX' });
    }
    expect(await textOf(page.locator('guestlist-filter-bar .fixed'))).toMatch(/^\s*CA\s+Set by your access\s*$/);
    bench.service.control.requests.length = 0;
    await page.goto(`${bench.service.url}/bare?State=TX&guestlist-fixed=State`);
    await show();
    expect(asked()).toEqual([{ dashboardId: 'delays--LAX' }]);
    expect(await address()).toBe('?State=CA&guestlist-fixed=State');
  });

  it('shows a locked yes or no without a control, whatever the URL says', async () => {
    const [delays] = Object.values(dashboards('LAX'));
    const filters = [{ name: 'Late', dataType: 'boolean', defaultValue: null, appliedValue: true }];
    bench.service.control.override = ({ path }) =>
      path.endsWith('/delays--LAX') ? { body: { data: { ...delays, filters }, error: null } } : undefined;
    await open('/bare');
    await show();
    expect(await textOf(page.locator('.fixed'))).toMatch(/^\s*Yes\s+Set by your access\s*$/);
    expect(await page.locator('guestlist-filter-bar select').count()).toBe(0);
    await page.goto(`${bench.service.url}/bare?Late=false`);
    await show();
    expect(await page.getByRole('button', { name: 'Clear filters' }).getAttribute('aria-disabled')).toBe('true');
    await until(address).toBe('?Late=true&guestlist-fixed=Late');
  });

  it('keeps the URL when the token changes, and never holds the token', async () => {
    bench.service.control.override = enforcing('CA');
    await open('/bare');
    await show();
    await page.getByLabel('Late').selectOption('true');
    await until(address).toBe('?State=CA&guestlist-fixed=State&Late=true');
    bench.service.control.override = enforcing('NV');
    await page.evaluate('history.replaceState(null, "", "?State=CA&guestlist-fixed=State&Late=false")');
    await setAttribute(page, 'guestlist-dashboard', 'token', 'guest-LAX-2');
    await until(address).toBe('?State=NV&guestlist-fixed=State&Late=true');
    // A question whose answer is still known has its digest.
    expect({ ...Object(last()), digest: '' }).toEqual({
      dashboardId: 'delays--LAX',
      dashboardFilter: { Late: true },
      digest: '',
    });
    bench.service.control.override = () => refusal('UNAUTHORIZED', 'This token does not open this dashboard.', 403);
    await setAttribute(page, 'guestlist-dashboard', 'token', 'guest-LAX-3');
    await until(address).toBe('?Late=true');
    expect(await page.evaluate('location.href')).not.toMatch(/guest-LAX|delays--LAX/);
  });

  it('removes its parameters with the element or the dashboard, and nothing of another page', async () => {
    bench.service.control.override = enforcing('CA');
    await open('/bare?tab=1');
    await show();
    await page.getByLabel('Late').selectOption('true');
    await until(address).toBe('?tab=1&State=CA&guestlist-fixed=State&Late=true');
    await setAttribute(page, 'guestlist-dashboard', 'dashboard-id', 'routes--LAX');
    await page.getByRole('heading', { name: 'Routes', exact: true }).waitFor();
    await until(address).toBe('?tab=1&State=CA&guestlist-fixed=State');
    await page.evaluate('history.pushState(null, "", "/other?State=CA&Late=true")');
    await setAttribute(page, 'guestlist-dashboard', 'token', 'guest-LAX-2');
    const second = () =>
      bench.service.control.requests.filter(({ authorization }) => authorization === 'Bearer guest-LAX-2').at(-1)?.body;
    // A question whose answer is still known has its digest.
    await until(() => ({ ...Object(second()), digest: '' })).toEqual({ dashboardId: 'routes--LAX', digest: '' });
    await page.evaluate('document.querySelector("guestlist-dashboard").remove()');
    expect(await address()).toBe('?State=CA&Late=true');
    await page.evaluate('history.back()');
    await until(address).toBe('?tab=1&State=CA&guestlist-fixed=State');
    await show();
    await page.getByLabel('Late').selectOption('true');
    await until(address).toBe('?tab=1&State=CA&guestlist-fixed=State&Late=true');
    await page.evaluate('document.querySelector("guestlist-dashboard").remove()');
    expect(await address()).toBe('?tab=1');
  });

  it('leaves the URL alone if the page says so', async () => {
    bench.service.control.override = enforcing('CA');
    await open('/bare?State=NV');
    await show({ 'url-filters': 'off' });
    await page.getByLabel('Late').selectOption('true');
    await until(last).toEqual({ dashboardId: 'delays--LAX', dashboardFilter: { Late: true } });
    await page.evaluate('document.querySelector("guestlist-dashboard").remove()');
    expect(await address()).toBe('?State=NV');
  });

  it('separates two dashboards of a page by their prefixes', async () => {
    await open('/bare?b.State=NV');
    await show({ 'url-prefix': 'a.' });
    await show({ 'url-prefix': 'b.', token: 'guest-ATL-2', 'dashboard-id': 'delays--ATL' });
    await until(() => page.locator('guestlist-card section[aria-busy="false"]').count()).toBe(8);
    await pick('CA');
    await until(address).toBe('?b.State=NV&a.State=CA');
    const bodies = bench.service.control.requests.flatMap(({ body }) => (body === null ? [] : [JSON.stringify(body)]));
    for (const body of bodies) expect(body).not.toMatch(/LAX.*NV|ATL.*CA/);
    expect(bodies.filter((body) => /ATL.*NV/.test(body))).toHaveLength(4);
    await setAttribute(page, '[url-prefix="a."]', 'url-prefix', null);
    await until(address).toBe('?b.State=NV&State=CA');
  });
});
