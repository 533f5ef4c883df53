import { describe, expect, it } from 'vitest';
import { hasChromium } from '../suites/chromium.js';
import { gate, mount, seenBy, setAttribute, textOf, until } from '../web/browser.js';
import { refusal } from '../web/fake-service.js';
import { dashboards } from '../web/fixtures.js';

const hostile = '<img src=x onerror=alert(1)>';

import { useElements } from './elements-page.js';

describe.skipIf(!hasChromium())('the elements in a browser', { timeout: 60_000 }, () => {
  const on = useElements();
  const { requests, showDashboard, settled, share, pick } = on;

  it('shows the numbers of the data', async () => {
    await showDashboard();
    await on.page.getByRole('heading', { name: 'Delays' }).waitFor();
    expect(await share()).toBe('22.2%');
    const line = await on.page.getByRole('img', { name: /^Flights a day/ }).getAttribute('aria-label');
    expect(line).toContain('181 values from Jan 1, 2001 to Jun 30, 2001. Lowest 534');
    expect(await on.page.locator('guestlist-chart canvas').count()).toBe(3);
  });

  it('gives each of two elements on a page its own token', async () => {
    await showDashboard('guest-LAX-1');
    await mount(on.page, 'guestlist-dashboard', { token: 'guest-ATL-2', 'dashboard-id': 'delays--ATL' });
    await until(() => on.page.locator('guestlist-card .value').count()).toBe(2);
    await pick('CA', on.page.locator('guestlist-dashboard').last());
    await until(() => requests('/query').length).toBe(12);
    for (const { path, authorization, body } of on.bench.service.control.requests) {
      const named = path + JSON.stringify(body);
      if (named.includes('--LAX')) expect(authorization).toBe('Bearer guest-LAX-1');
      if (named.includes('--ATL')) expect(authorization).toBe('Bearer guest-ATL-2');
    }
    expect(new Set(requests('/query').map(({ authorization }) => authorization)).size).toBe(2);
    expect(await on.page.evaluate('Object.values(window).some((value) => String(value).startsWith("guest-"))')).toBe(
      false,
    );
  });

  it('shows hostile data as text', async () => {
    on.bench.service.control.override = ({ path }) => {
      const [delays] = Object.values(dashboards('LAX'));
      if (path.endsWith('/dashboards/delays--LAX') && delays !== undefined) {
        const metrics = delays.metrics.map((metric) => ({ ...metric, name: `${hostile} ${metric.metricId}` }));
        const filters = [{ name: `${hostile} filter`, dataType: 'string', defaultValue: null }];
        return { body: { data: { ...delays, name: hostile, metrics, filters }, error: null } };
      }
      if (path.includes('/options')) return { body: { data: [{ label: hostile, value: hostile }], error: null } };
      if (path.includes('/shareDelayed/')) return refusal('METRIC_QUERY_ERROR', hostile);
      if (!path.includes('/delayByDestination/')) return undefined;
      const columns = [
        { name: 'airport', dataType: 'string' },
        { name: 'averageDelay', dataType: 'number' },
      ];
      const data = Array.from({ length: 5 }, (_, index) => ({
        airport: `${hostile}${index}`,
        averageDelay: index + 1,
      }));
      return {
        body: {
          data,
          totalRecords: 5,
          timeTaken: 1,
          metaData: { columns, groupbyColumnList: ['airport'] },
          error: null,
        },
      };
    };
    await showDashboard();
    await on.page.getByRole('heading', { name: hostile, exact: true }).waitFor();
    await on.page.locator('guestlist-card [role=alert]', { hasText: hostile }).waitFor();
    const chart = on.page.getByRole('img', { name: /delayByDestination/ });
    await chart.hover();
    await on.page.locator('.tip', { hasText: hostile }).waitFor();
    await on.page.getByRole('button', { name: /Show as table.*delayByDestination/ }).click();
    await on.page.locator('td', { hasText: `${hostile}0` }).waitFor();
    await on.page.locator('td button').first().click();
    await on.page
      .getByRole('navigation', { name: /delayByDestination/ })
      .getByText(`${hostile}0`)
      .waitFor();
    await on.page.locator('guestlist-multi-select button').click();
    await on.page.getByRole('option', { name: hostile }).click();
    await on.page
      .getByRole('button', { name: /filter/ })
      .filter({ hasText: hostile })
      .first()
      .waitFor();
    expect(await on.page.locator('img').count()).toBe(0);
    expect(requests('/x')).toEqual([]);
  });

  it('lists the options under the other filters, and marks a choice that has no rows there', async () => {
    await showDashboard();
    await pick('NV');
    on.bench.service.control.override = ({ path, method }) =>
      path.includes('/options') && method === 'POST'
        ? { body: { data: [{ label: 'CA', value: 'CA' }], hasMore: false, error: null } }
        : undefined;
    const dates = { startDate: '2001-01-01', endDate: '2001-01-01' };
    await on.page.evaluate(
      `document.querySelector('guestlist-dashboard').setFilters({ State: ['NV'], Date: ${JSON.stringify(dates)} })`,
    );
    on.bench.service.control.requests.length = 0;
    await on.page.getByRole('button', { name: /^State/ }).click();
    const options = on.page.locator('guestlist-multi-select').getByRole('option');
    await until(() => options.allInnerTexts()).toEqual(['NV\nno rows', 'CA']);
    expect(requests('/options').map(({ method, body }) => [method, body])).toEqual([
      ['POST', { search: '', dashboardFilter: { Date: dates } }],
    ]);
    expect(await options.first().getAttribute('aria-selected')).toBe('true');
    await on.shoot('stale-choice');
    await options.first().click();
    await until(() => options.allInnerTexts()).toEqual(['NV\nno rows', 'CA']);
    await on.page.keyboard.press('Escape');
    await on.page.getByRole('button', { name: /^State/ }).click();
    await until(() => options.allInnerTexts()).toEqual(['CA']);
  });

  it('keeps the filters that the user set when the token changes', async () => {
    await showDashboard('guest-LAX-1');
    await pick('CA');
    await until(() => requests('shareDelayed/query').length).toBe(2);
    on.bench.service.control.requests.length = 0;
    await setAttribute(on.page, 'guestlist-dashboard', 'token', 'guest-LAX-2');
    await until(() => requests('/query').length).toBe(4);
    for (const { authorization, body } of on.bench.service.control.requests.filter(({ method }) => method === 'POST')) {
      expect(authorization).toBe('Bearer guest-LAX-2');
      expect(body).toMatchObject({ dashboardFilter: { State: ['CA'] } });
    }
    expect(await textOf(on.page.locator('guestlist-multi-select #chosen'))).toBe('CA');
  });

  it('fires token-expired once for each token, and continues with the next one', async () => {
    await showDashboard('guest-LAX-1');
    await pick('NV');
    await settled();
    const before = await share();
    on.bench.service.control.override = ({ authorization }) =>
      authorization.endsWith('-1') || authorization.endsWith('-2')
        ? refusal('TOKEN_EXPIRED', 'The token has expired.', 401)
        : undefined;
    await on.page.getByRole('button', { name: 'Clear filters' }).click();
    await on.page.getByText('Session expired').waitFor();
    await until(() => requests('/query').length).toBe(12);
    const expired = async () => (await seenBy(on.page)).filter(({ name }) => name === 'token-expired');
    expect(await expired()).toEqual([{ name: 'token-expired', detail: { dashboardId: 'delays--LAX' } }]);
    await setAttribute(on.page, 'guestlist-dashboard', 'token', 'guest-LAX-2');
    await until(async () => (await expired()).length).toBe(2);
    await setAttribute(on.page, 'guestlist-dashboard', 'token', 'guest-LAX-3');
    await settled();
    await until(share).toBe('22.2%');
    expect(before).not.toBe('22.2%');
    expect(await on.page.getByText('Session expired').count()).toBe(0);
    expect((await seenBy(on.page)).filter(({ name }) => name === 'guestlist-error')).toEqual([]);
  });

  it('tells the page that getToken failed, once, and goes on asking with growing waits', async () => {
    await on.page.clock.install();
    await mount(on.page, 'guestlist-metric', { 'dashboard-id': 'delays--LAX', 'metric-id': 'shareDelayed' });
    await on.page.evaluate(`{
      window.calls = 0;
      document.querySelector('guestlist-metric').getToken = async () => {
        window.calls += 1;
        if (window.calls < 4) throw new Error('the backend is down');
        return 'guest-LAX-1';
      };
    }`);
    const errors = async () => (await seenBy(on.page)).filter(({ name }) => name === 'guestlist-error');
    await until(async () => (await errors()).length).toBe(1);
    expect((await errors())[0]?.detail).toMatchObject({
      code: 'TOKEN_SOURCE_ERROR',
      message: 'the backend is down',
      status: 0,
    });
    expect(await on.page.evaluate('calls')).toBe(1);
    await on.page.clock.runFor('00:10');
    await until(() => on.page.locator('guestlist-card .value').count()).toBe(1);
    expect([await on.page.evaluate('calls'), (await errors()).length]).toEqual([4, 1]);
  });

  it('never lets an older answer replace a newer one', async () => {
    await showDashboard();
    const older = gate();
    const arrived = gate();
    const answered = gate();
    on.bench.service.control.override = async ({ path, body }) => {
      const states = JSON.stringify(body ?? '');
      if (!path.includes('shareDelayed/query') || !states.includes('["CA"]')) return undefined;
      arrived.open();
      await older.opened;
      answered.open();
      return {
        body: {
          data: [{ shareDelayed: 0.99 }],
          totalRecords: 1,
          metaData: { columns: [{ name: 'shareDelayed', dataType: 'number' }], groupbyColumnList: [] },
          error: null,
        },
      };
    };
    await pick('CA');
    await arrived.opened;
    await pick('NV');
    await settled();
    const newer = await share();
    older.open();
    await answered.opened;
    await pick('AZ');
    await settled();
    expect(newer).not.toBe('99%');
    expect(await share()).not.toBe('99%');
  });

  it('says in each card that the service is away at the first load, and asks again at once on demand', async () => {
    const { status, body } = refusal('UPSTREAM_UNAVAILABLE', 'The service is away.', 503);
    await on.page.route('**/dashboards/*/query', (route) => route.fulfill({ status: status ?? 503, json: body }));
    await mount(on.page, 'guestlist-dashboard', { token: 'guest-LAX-1', 'dashboard-id': 'delays--LAX' });
    const failed = on.page.locator('guestlist-card').getByRole('alert').getByText('The service is away.');
    await until(() => failed.count()).toBe(4);
    await on.shoot('away');
    await on.page.unroute('**/dashboards/*/query');
    await on.page.getByRole('button', { name: 'Try again' }).first().click();
    await until(() => on.page.locator('guestlist-card').getByRole('alert').count()).toBe(0);
    await until(share).toBe('22.2%');
  });

  it('fails card by card, reports it to the page, and retries on demand', async () => {
    on.bench.service.control.override = ({ path }) =>
      path.includes('delayByHour/query') ? refusal('METRIC_QUERY_ERROR', 'The query took too long.') : undefined;
    await showDashboard();
    const card = on.page.getByRole('region', { name: 'Average delay by hour of departure' });
    await card.getByText('The query took too long.').waitFor();
    expect(await share()).toBe('22.2%');
    const errors = (await seenBy(on.page)).filter(({ name }) => name === 'guestlist-error');
    expect(errors.map(({ detail }) => detail)).toMatchObject([
      { code: 'METRIC_QUERY_ERROR', status: 400, metricId: 'delayByHour', dashboardId: 'delays--LAX' },
    ]);
    on.bench.service.control.override = () => undefined;
    await card.getByRole('button', { name: 'Try again' }).click();
    await card.getByRole('img', { name: /bar chart, 24 values/ }).waitFor();
  });

  it('removes a dashboard that the token no longer opens', async () => {
    await showDashboard();
    on.bench.service.control.override = () => refusal('UNAUTHORIZED', 'This token does not open this dashboard.', 403);
    await setAttribute(on.page, 'guestlist-dashboard', 'token', 'guest-LAX-2');
    await on.page.getByText('This token does not open this dashboard.').waitFor();
    expect(await on.page.locator('guestlist-card').count()).toBe(0);
    on.bench.service.control.override = () => undefined;
    await on.page.getByRole('button', { name: 'Try again' }).click();
    await settled();
  });

  it('shows nothing after the token was removed', async () => {
    await showDashboard();
    await setAttribute(on.page, 'guestlist-dashboard', 'token', null);
    await until(() => on.page.locator('guestlist-card').count()).toBe(0);
  });

  it('lets a filter be set by keyboard only', async () => {
    await showDashboard();
    await on.page.getByRole('button', { name: /^State/ }).focus();
    await on.page.keyboard.press('Enter');
    await on.page.getByRole('combobox', { name: 'Search State' }).waitFor();
    await on.page.keyboard.type('n');
    await until(() => on.page.locator('guestlist-multi-select').getByRole('option').allInnerTexts()).toContain('NV');
    await on.page.keyboard.press('ArrowDown');
    await on.page.keyboard.press('Enter');
    const chosen = on.page.locator('guestlist-multi-select').getByRole('option', { selected: true });
    const name = await textOf(chosen);
    await on.page.keyboard.press('Escape');
    await until(() => on.page.getByRole('listbox').count()).toBe(0);
    expect(
      await on.page.evaluate(
        'document.activeElement.shadowRoot.activeElement.shadowRoot.activeElement.shadowRoot.activeElement.tagName',
      ),
    ).toBe('BUTTON');
    await until(() => requests('shareDelayed/query').at(-1)?.body).toMatchObject({
      dashboardFilter: { State: [name] },
    });
  });

  it('shows value, change, direction and period of a comparison without a filter of dates, and says if there is no value', async () => {
    const [delays] = Object.values(dashboards('LAX'));
    const metrics = delays?.metrics.map((metric) => ({
      ...metric,
      chart: { ...metric.chart, comparison: { grain: 'month', periods: 1 } },
    }));
    let value: number | null = 0.2;
    on.bench.service.control.override = ({ path }) => {
      if (path.endsWith('/dashboards/delays--LAX')) return { body: { data: { ...delays, metrics }, error: null } };
      if (!path.includes('/shareDelayed/')) return undefined;
      const columns = [{ name: 'shareDelayed', dataType: 'number' }];
      const metaData = { columns, groupbyColumnList: [] };
      const compared = { comparisonValue: value === null ? null : 0.25, comparedFrom: '2001-05-01' };
      return { body: { data: [{ shareDelayed: value }], totalRecords: 1, metaData, ...compared, error: null } };
    };
    await showDashboard();
    const texts = () => on.page.locator('guestlist-value .single > p:not(:empty)').allInnerTexts();
    expect(await texts()).toEqual(['20%', 'May 2001', '▼ Down −5.0 points from 25%, one month earlier']);
    await on.shoot('compared');
    value = null;
    await on.page.evaluate("document.querySelector('guestlist-dashboard').refresh()");
    await until(texts).toEqual(['No data for these filters', 'May 2001']);
    await on.shoot('compared-empty');
  });

  it('shows one amount for each currency on a single value, each with its own decimals in the reader’s language', async () => {
    const rows = [
      { Money: 'EUR', shareDelayed: '1234.50' },
      { Money: 'JPY', shareDelayed: 98_765 },
    ];
    on.bench.service.control.override = ({ path }) => {
      if (!path.includes('/shareDelayed/')) return undefined;
      const columns = [
        { name: 'Money', dataType: 'string' },
        { name: 'shareDelayed', dataType: 'number', currencyColumn: 'Money', numbers: {} },
      ];
      const metaData = { columns, groupbyColumnList: ['Money'] };
      return { body: { data: rows, totalRecords: 7, metaData, error: null } };
    };
    await showDashboard('guest-LAX-1', { language: 'de' });
    const texts = async () =>
      (await on.page.locator('guestlist-value .single > p:not(:empty)').allInnerTexts()).map((text) =>
        text.replaceAll('\u00a0', ' '),
      );
    await until(texts).toEqual(['1.234,50 €', '98.765 ¥', '2 von 7 Zeilen']);
  });

  it('saves a CSV file with a byte order mark, which spreadsheets need (metabase#3271)', async () => {
    await showDashboard();
    await on.page.getByRole('button', { name: 'Download: Flights a day' }).click();
    const download = on.page.waitForEvent('download');
    await on.page.getByRole('menuitem', { name: 'CSV' }).click();
    const file = Buffer.concat(await (await (await download).createReadStream()).toArray());
    expect(file.toString('utf8')).toBe('\uFEFFday,flights\r\n2001-01-01,1\r\n');
  });

  it('shows a single metric, from a metric embed or through a dashboard', async () => {
    await mount(on.page, 'guestlist-metric', { token: 'guest-LAX-1', 'metric-id': 'shareDelayed' });
    await until(() => on.page.locator('.value').allInnerTexts()).toEqual(['22.2%']);
    expect(requests('/query').map(({ body }) => body)).toEqual([{}]);
    await mount(on.page, 'guestlist-metric', {
      token: 'guest-LAX-1',
      'metric-id': 'nothing',
      'dashboard-id': 'delays--LAX',
    });
    await on.page.getByText('The dashboard has no metric nothing for this guest.').waitFor();
  });

  it('takes the base URL from the attribute, the page, or the script', async () => {
    await on.page.evaluate(`window.dbn = { baseUrl: ${JSON.stringify(`${on.bench.service.url}/elsewhere`)} }`);
    await mount(on.page, 'guestlist-dashboard', { token: 'guest-LAX-1', 'dashboard-id': 'delays--LAX' });
    await until(() => requests('/elsewhere/api/v2/guest/dashboards/').length).toBe(1);
    await setAttribute(on.page, 'guestlist-dashboard', 'service-url', on.bench.service.url);
    await settled();
  });
});
