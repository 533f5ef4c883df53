import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { gate, mount, seenBy, setAttribute, startBench, textOf, until, violationsOf } from './browser.js';
import { hasChromium } from './chromium.js';
import { type Recorded, refusal } from './fake-service.js';
import { dashboards } from './fixtures.js';

const hostile = '<img src=x onerror=alert(1)>';

describe.skipIf(!hasChromium())('the elements in a browser', { timeout: 60_000 }, () => {
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
  });
  afterEach(async () => {
    const violations = await violationsOf(page);
    await opened.close();
    expect(violations).toEqual([]);
    expect(opened.complaints).toEqual([]);
  });

  const requests = (part: string): Recorded[] =>
    bench.service.control.requests.filter(({ path }) => path.includes(part));
  const showDashboard = async (token = 'guest-LAX-1', more: Record<string, string> = {}) => {
    await mount(page, 'guestlist-dashboard', { token, 'dashboard-id': 'delays--LAX', ...more });
    await settled();
  };
  const settled = () =>
    until(() => page.locator('guestlist-card section[aria-busy="false"]').count()).toBeGreaterThanOrEqual(4);
  const share = () => textOf(page.locator('guestlist-card .value'));
  const pick = async (state: string, where: Page | Locator = page) => {
    await where.getByRole('button', { name: /^State/ }).click();
    await where.locator('guestlist-multi-select').getByRole('option', { name: state, exact: true }).click();
    await page.keyboard.press('Escape');
  };

  const shoot = (name: string) =>
    process.env.TEST_SCREENSHOTS && page.screenshot({ path: `${process.env.TEST_SCREENSHOTS}/elements-${name}.png` });

  it('shows the numbers of the data', async () => {
    await showDashboard();
    await page.getByRole('heading', { name: 'Delays' }).waitFor();
    expect(await share()).toBe('22.2%');
    const line = await page.getByRole('img', { name: /^Flights a day/ }).getAttribute('aria-label');
    expect(line).toContain('181 values from Jan 1, 2001 to Jun 30, 2001. Lowest 534');
    expect(await page.locator('guestlist-chart canvas').count()).toBe(3);
  });

  it('gives each of two elements on a page its own token', async () => {
    await showDashboard('guest-LAX-1');
    await mount(page, 'guestlist-dashboard', { token: 'guest-ATL-2', 'dashboard-id': 'delays--ATL' });
    await until(() => page.locator('guestlist-card .value').count()).toBe(2);
    await pick('CA', page.locator('guestlist-dashboard').last());
    await until(() => requests('/query').length).toBe(12);
    for (const { path, authorization, body } of bench.service.control.requests) {
      const named = path + JSON.stringify(body);
      if (named.includes('--LAX')) expect(authorization).toBe('Bearer guest-LAX-1');
      if (named.includes('--ATL')) expect(authorization).toBe('Bearer guest-ATL-2');
    }
    expect(new Set(requests('/query').map(({ authorization }) => authorization)).size).toBe(2);
    expect(await page.evaluate('Object.values(window).some((value) => String(value).startsWith("guest-"))')).toBe(
      false,
    );
  });

  it('shows hostile data as text', async () => {
    bench.service.control.override = ({ path }) => {
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
    await page.getByRole('heading', { name: hostile, exact: true }).waitFor();
    await page.locator('guestlist-card [role=alert]', { hasText: hostile }).waitFor();
    const chart = page.getByRole('img', { name: /delayByDestination/ });
    await chart.hover();
    await page.locator('.tip', { hasText: hostile }).waitFor();
    await page.getByRole('button', { name: /Show as table.*delayByDestination/ }).click();
    await page.locator('td', { hasText: `${hostile}0` }).waitFor();
    await page.locator('td button').first().click();
    await page
      .getByRole('navigation', { name: /delayByDestination/ })
      .getByText(`${hostile}0`)
      .waitFor();
    await page.locator('guestlist-multi-select button').click();
    await page.getByRole('option', { name: hostile }).click();
    await page
      .getByRole('button', { name: /filter/ })
      .filter({ hasText: hostile })
      .first()
      .waitFor();
    expect(await page.locator('img').count()).toBe(0);
    expect(requests('/x')).toEqual([]);
  });

  it('keeps the filters that the user set when the token changes', async () => {
    await showDashboard('guest-LAX-1');
    await pick('CA');
    await until(() => requests('shareDelayed/query').length).toBe(2);
    bench.service.control.requests.length = 0;
    await setAttribute(page, 'guestlist-dashboard', 'token', 'guest-LAX-2');
    await until(() => requests('/query').length).toBe(4);
    for (const { authorization, body } of bench.service.control.requests.filter(({ method }) => method === 'POST')) {
      expect(authorization).toBe('Bearer guest-LAX-2');
      expect(body).toMatchObject({ dashboardFilter: { State: ['CA'] } });
    }
    expect(await textOf(page.locator('guestlist-multi-select #chosen'))).toBe('CA');
  });

  it('fires token-expired once for each token, and continues with the next one', async () => {
    await showDashboard('guest-LAX-1');
    await pick('NV');
    await settled();
    const before = await share();
    bench.service.control.override = ({ authorization }) =>
      authorization.endsWith('-1') || authorization.endsWith('-2')
        ? refusal('TOKEN_EXPIRED', 'The token has expired.', 401)
        : undefined;
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByText('Session expired').waitFor();
    await until(() => requests('/query').length).toBe(12);
    const expired = async () => (await seenBy(page)).filter(({ name }) => name === 'token-expired');
    expect(await expired()).toEqual([{ name: 'token-expired', detail: { dashboardId: 'delays--LAX' } }]);
    await setAttribute(page, 'guestlist-dashboard', 'token', 'guest-LAX-2');
    await until(async () => (await expired()).length).toBe(2);
    await setAttribute(page, 'guestlist-dashboard', 'token', 'guest-LAX-3');
    await settled();
    await until(share).toBe('22.2%');
    expect(before).not.toBe('22.2%');
    expect(await page.getByText('Session expired').count()).toBe(0);
    expect((await seenBy(page)).filter(({ name }) => name === 'guestlist-error')).toEqual([]);
  });

  it('never lets an older answer replace a newer one', async () => {
    await showDashboard();
    const older = gate();
    const arrived = gate();
    const answered = gate();
    bench.service.control.override = async ({ path, body }) => {
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

  it('fails card by card, reports it to the page, and retries on demand', async () => {
    bench.service.control.override = ({ path }) =>
      path.includes('delayByHour/query') ? refusal('METRIC_QUERY_ERROR', 'The query took too long.') : undefined;
    await showDashboard();
    const card = page.getByRole('region', { name: 'Average delay by hour of departure' });
    await card.getByText('The query took too long.').waitFor();
    expect(await share()).toBe('22.2%');
    const errors = (await seenBy(page)).filter(({ name }) => name === 'guestlist-error');
    expect(errors.map(({ detail }) => detail)).toMatchObject([
      { code: 'METRIC_QUERY_ERROR', status: 400, metricId: 'delayByHour', dashboardId: 'delays--LAX' },
    ]);
    bench.service.control.override = () => undefined;
    await card.getByRole('button', { name: 'Try again' }).click();
    await card.getByRole('img', { name: /bar chart, 24 values/ }).waitFor();
  });

  it('removes a dashboard that the token no longer opens', async () => {
    await showDashboard();
    bench.service.control.override = () => refusal('UNAUTHORIZED', 'This token does not open this dashboard.', 403);
    await setAttribute(page, 'guestlist-dashboard', 'token', 'guest-LAX-2');
    await page.getByText('This token does not open this dashboard.').waitFor();
    expect(await page.locator('guestlist-card').count()).toBe(0);
    bench.service.control.override = () => undefined;
    await page.getByRole('button', { name: 'Try again' }).click();
    await settled();
  });

  it('shows nothing after the token was removed', async () => {
    await showDashboard();
    await setAttribute(page, 'guestlist-dashboard', 'token', null);
    await until(() => page.locator('guestlist-card').count()).toBe(0);
  });

  it('keeps the position of its cards from loading to data, and says when there is no data', async () => {
    const hold = gate();
    bench.service.control.override = async ({ path }) => {
      if (path.includes('/query')) await hold.opened;
      if (!path.includes('delayByHour/query')) return undefined;
      return { body: { data: [], totalRecords: 0, metaData: { columns: [], groupbyColumnList: [] }, error: null } };
    };
    await mount(page, 'guestlist-dashboard', { token: 'guest-LAX-1', 'dashboard-id': 'delays--LAX' });
    await until(() => page.locator('guestlist-card .skeleton').count()).toBe(4);
    const places = () =>
      Promise.all([0, 1, 2, 3].map((index) => page.locator('guestlist-card').nth(index).boundingBox()));
    const before = await places();
    hold.open();
    await settled();
    await page.getByText('No data for these filters').waitFor();
    expect(await places()).toEqual(before);
  });

  it('sends a query again only if its question has changed', async () => {
    await showDashboard();
    bench.service.control.requests.length = 0;
    await setAttribute(page, 'guestlist-dashboard', 'theme', 'dark');
    await setAttribute(page, 'guestlist-dashboard', 'language', 'de');
    await until(share).toBe('22,2\u00a0%');
    expect(bench.service.control.requests).toEqual([]);
    await page.getByRole('button', { name: 'Als Tabelle anzeigen: Flights a day' }).click();
    await page.getByRole('button', { name: 'Flights', exact: true }).click();
    await until(() => requests('/query').map(({ path, body }) => [path.split('/').at(-2), body])).toEqual([
      ['flightsADay', { dashboardId: 'delays--LAX', sort: [{ name: 'flights', direction: 'DESC' }] }],
    ]);
  });

  it('lets a filter be set by keyboard only', async () => {
    await showDashboard();
    await page.getByRole('button', { name: /^State/ }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('combobox', { name: 'Search State' }).waitFor();
    await page.keyboard.type('n');
    await until(() => page.locator('guestlist-multi-select').getByRole('option').allInnerTexts()).toContain('NV');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    const chosen = page.locator('guestlist-multi-select').getByRole('option', { selected: true });
    const name = await textOf(chosen);
    await page.keyboard.press('Escape');
    await until(() => page.getByRole('listbox').count()).toBe(0);
    expect(
      await page.evaluate(
        'document.activeElement.shadowRoot.activeElement.shadowRoot.activeElement.shadowRoot.activeElement.tagName',
      ),
    ).toBe('BUTTON');
    await until(() => requests('shareDelayed/query').at(-1)?.body).toMatchObject({
      dashboardFilter: { State: [name] },
    });
  });

  it('sends dates with both ends', async () => {
    await showDashboard();
    await page.getByLabel('Date from').fill('2001-03-01');
    await page.getByLabel('Date from').blur();
    await until(() => requests('shareDelayed/query').at(-1)?.body).toMatchObject({
      dashboardFilter: { Date: { startDate: '2001-03-01', endDate: '2999-12-31' } },
    });
    await page.getByLabel('Date to').fill('2001-03-31');
    await page.getByLabel('Date to').blur();
    await page.getByRole('img', { name: /^Flights a day.*31 values from Mar 1, 2001 to Mar 31, 2001/ }).waitFor();
  });

  it('stops a reversed range in the control, and sends it when it is mended', async () => {
    await showDashboard();
    await page.getByLabel('Date from').fill('2001-03-31');
    await page.getByLabel('Date from').blur();
    await until(() => requests('shareDelayed/query').length).toBe(2);
    await page.getByLabel('Date to').fill('2001-03-01');
    await page.getByLabel('Date to').blur();
    await page.getByRole('alert').getByText('The start is after the end').waitFor();
    expect(await page.getByLabel('Date to').getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('Date from').fill('2001-02-01');
    await page.getByLabel('Date from').blur();
    await until(() => page.getByRole('alert').getByText('The start is after the end').count()).toBe(0);
    // A third request would have come before this one.
    await until(() =>
      requests('shareDelayed/query')
        .map(({ body }) => body)
        .at(-1),
    ).toMatchObject({
      dashboardFilter: { Date: { startDate: '2001-02-01', endDate: '2001-03-01' } },
    });
    expect(requests('shareDelayed/query').length).toBe(3);
  });

  it('sends the name of a date preset, so that the service computes its days in the zone of the token', async () => {
    await showDashboard();
    await page.getByLabel('Date from').fill('2001-03-31');
    await page.getByLabel('Date from').blur();
    const period = page.getByLabel('Date period');
    await until(() => period.evaluate((select) => (select as unknown as { value: string }).value)).toBe('');
    await until(() => period.locator('option:checked').innerText()).toBe('Custom');
    await period.selectOption('Last 30 Days');
    await until(() => requests('shareDelayed/query').at(-1)?.body).toMatchObject({
      dashboardFilter: { Date: 'Last 30 Days' },
    });
    await until(() => page.getByLabel('Date from').inputValue()).toBe('');
    await period.selectOption('Any time');
    await until(() => Object(requests('shareDelayed/query').at(-1)?.body).dashboardFilter).toBeUndefined();
    await until(() => period.locator('option:checked').innerText()).toBe('Any time');
  });

  it('keeps chosen values at the top of the list, counts and clears them', async () => {
    await showDashboard();
    await pick('TX');
    await page.getByRole('button', { name: /^State/ }).click();
    const list = page.locator('guestlist-multi-select');
    await until(() => list.getByRole('option').first().innerText()).toBe('TX');
    await list.getByText('1 chosen').waitFor();
    await list.getByRole('button', { name: 'Clear' }).click();
    await until(() => list.getByRole('option', { selected: true }).count()).toBe(0);
    await until(() => Object(requests('shareDelayed/query').at(-1)?.body).dashboardFilter).toBeUndefined();
  });

  /** Answers 100,000 options, of which a search finds those that contain its text. */
  const offerMany = () => {
    const all = Array.from({ length: 100_000 }, (_, index) => `Value ${String(index).padStart(5, '0')}`);
    bench.service.control.override = ({ path }) => {
      if (!path.includes('/options')) return undefined;
      const search = new URL(path, 'http://service').searchParams.get('search') ?? '';
      const found = all.filter((value) => value.includes(search));
      const data = found.slice(0, 1000).map((value) => ({ label: value, value }));
      return { body: { data, hasMore: found.length > 1000, error: null } };
    };
  };

  it('keeps few rows of a long list in the page, by pointer and keyboard, and never claims to list all', async () => {
    await showDashboard();
    offerMany();
    await page.getByRole('button', { name: /^State/ }).click();
    const list = page.locator('guestlist-multi-select');
    const options = list.getByRole('option');
    await list.getByText('More than 1,000 found. Search to find others.').waitFor();
    expect(await list.getByRole('button', { name: /Select all/ }).count()).toBe(0);
    expect(await options.count()).toBeLessThanOrEqual(50);
    const box = await list.getByRole('listbox').evaluate((element) => {
      const { scrollHeight } = element as unknown as { scrollHeight: number };
      Object.assign(element, { scrollTop: scrollHeight });
      return scrollHeight;
    });
    expect(box).toBe(34_000);
    const last = list.getByRole('option', { name: 'Value 00999' });
    await last.click();
    expect(await options.count()).toBeLessThanOrEqual(50);
    await until(() => Object(requests('shareDelayed/query').at(-1)?.body).dashboardFilter).toEqual({
      State: ['Value 00999'],
    });
    await page.getByRole('combobox', { name: 'Search State' }).focus();
    for (let press = 0; press < 5; press += 1) await page.keyboard.press('PageDown');
    const active = list.locator('.option.active');
    await until(() => active.innerText()).toBe('Value 00040');
    await until(() => page.getByRole('combobox', { name: 'Search State' }).getAttribute('aria-activedescendant')).toBe(
      'option-40',
    );
    expect(await active.isVisible()).toBe(true);
    expect(await options.count()).toBeLessThanOrEqual(50);
  });

  it('chooses all that a search found, beside what was chosen, and says how many', async () => {
    await showDashboard();
    offerMany();
    await page.getByRole('button', { name: /^State/ }).click();
    const list = page.locator('guestlist-multi-select');
    await list.getByRole('option', { name: 'Value 00003' }).click();
    await page.getByRole('combobox', { name: 'Search State' }).fill('7777');
    await list.getByRole('button', { name: 'Select all 19' }).click();
    await list.getByText('20 chosen').waitFor();
    await until(() => Object(requests('shareDelayed/query').at(-1)?.body).dashboardFilter?.State?.length).toBe(20);
    expect(await list.getByRole('button', { name: /Select all/ }).count()).toBe(0);
  });

  it('keeps one value where the filter takes one', async () => {
    bench.service.control.override = ({ path }) => {
      const delays = dashboards('LAX')['delays--LAX'];
      const filters = delays?.filters.map((filter) => ({ ...filter, isSingleChoice: true }));
      return path.endsWith('/delays--LAX') ? { body: { data: { ...delays, filters }, error: null } } : undefined;
    };
    await showDashboard();
    await pick('CA');
    await until(() => Object(requests('shareDelayed/query').at(-1)?.body).dashboardFilter).toEqual({ State: ['CA'] });
    await page.getByRole('button', { name: /^State/ }).click();
    const list = page.locator('guestlist-multi-select');
    await list.getByRole('option', { name: 'NV', exact: true }).click();
    await until(() => list.getByRole('listbox').count()).toBe(0);
    await until(() => Object(requests('shareDelayed/query').at(-1)?.body).dashboardFilter).toEqual({ State: ['NV'] });
    await page.getByRole('button', { name: /^State/ }).click();
    await list.getByRole('option', { selected: true }).waitFor();
    expect(await list.getByRole('button', { name: /Select all/ }).count()).toBe(0);
  });

  it('says that a list can’t be loaded, and loads it again', async () => {
    await showDashboard();
    bench.service.control.override = ({ path }) =>
      path.includes('/options') ? refusal('INTERNAL_SERVER_ERROR', 'failed', 500) : undefined;
    await page.getByRole('button', { name: /^State/ }).click();
    const list = page.locator('guestlist-multi-select');
    await list.getByText('The list can’t be loaded').waitFor({ timeout: 30_000 });
    bench.service.control.override = () => undefined;
    await list.getByRole('button', { name: 'Try again' }).click();
    await list.getByRole('option', { name: 'CA', exact: true }).waitFor();
  });

  it('sends one search for what is typed in one go', async () => {
    await showDashboard();
    await page.getByRole('button', { name: /^State/ }).click();
    const search = page.getByRole('combobox', { name: 'Search State' });
    await search.waitFor();
    await search.evaluate((input) => {
      const field = input as unknown as { value: string; dispatchEvent(event: unknown): void };
      for (const text of ['n', 'nv']) {
        field.value = text;
        field.dispatchEvent(
          new (globalThis as unknown as { InputEvent: new (type: string) => unknown }).InputEvent('input'),
        );
      }
    });
    const options = page.locator('guestlist-multi-select').getByRole('option');
    await until(() => options.allInnerTexts()).toEqual(['NV']);
    expect(requests('/options').filter(({ path }) => /search=n(&|$)/.test(path))).toEqual([]);
  });

  it('drills down on a click in a chart, and goes back', async () => {
    await showDashboard();
    const card = page.getByRole('region', { name: 'Average delay by destination', exact: true });
    await card.getByRole('img').click({ position: { x: 300, y: 12 } });
    await until(() => requests('delayByDestination/query').at(-1)?.body).toMatchObject({
      drill: [{ columnName: 'airport', value: 'Seattle-Tacoma Intl' }],
    });
    await card.getByRole('navigation').getByText('Seattle-Tacoma Intl', { exact: true }).waitFor();
    await card.getByRole('button', { name: 'All' }).click();
    await until(() => requests('delayByDestination/query').at(-1)?.body).toEqual({
      dashboardId: 'delays--LAX',
      digest: '',
    });
  });

  it('shows underlying rows page by page, and downloads, if the token allows it', async () => {
    await showDashboard();
    await page.getByRole('button', { name: 'Rows: Flights a day' }).click();
    const dialog = page.getByRole('dialog', { name: 'Rows behind Flights a day' });
    await dialog.getByText('1–50 of 115,245').waitFor();
    const cells = dialog.locator('tbody tr').first().locator('td');
    expect(await cells.first().textContent()).toMatch(/^\s*Monday, January 1, 2001 at 12:03/);
    expect(await cells.last().textContent()).toMatch(/^\s*[\d,]+\smi\s*$/);
    await dialog.getByRole('button', { name: 'Next' }).click();
    await dialog.getByText('51–100 of 115,245').waitFor();
    await page.keyboard.press('Escape');
    await until(() => page.getByRole('dialog').count()).toBe(0);
    for (const [kind, end] of [
      ['CSV', 'csv'],
      ['Excel (XLSX)', 'xlsx'],
      ['Picture (PNG)', 'png'],
      ['Picture (SVG)', 'svg'],
    ] as const) {
      await page.getByRole('button', { name: 'Download: Flights a day' }).click();
      const download = page.waitForEvent('download');
      await page.getByRole('menuitem', { name: kind }).click();
      expect((await download).suggestedFilename()).toBe(`Flights a day.${end}`);
      await until(() => page.getByRole('menu').count()).toBe(0);
    }
    await mount(page, 'guestlist-metric', {
      token: 'guest-ATL-1',
      'metric-id': 'delayByHour',
      'dashboard-id': 'delays--ATL',
    });
    await page.locator('guestlist-metric canvas').waitFor();
    expect(
      await page
        .locator('guestlist-metric')
        .getByRole('button', { name: /Rows|Download/ })
        .count(),
    ).toBe(0);
  });

  it('says that a download failed, and leaves the chart', async () => {
    await showDashboard();
    bench.service.control.override = ({ path }) =>
      path.endsWith('/csv') ? refusal('METRIC_QUERY_ERROR', 'The query takes too long.') : undefined;
    await page.getByRole('button', { name: 'Download: Flights a day' }).click();
    await page.getByRole('menuitem', { name: 'CSV' }).click();
    const note = page.getByRole('alert').filter({ hasText: 'The download failed: The query takes too long.' });
    await note.waitFor();
    expect(await page.locator('guestlist-chart canvas').count()).toBe(3);
    await note.getByRole('button', { name: 'Close' }).click();
    await until(() => note.count()).toBe(0);
  });

  it('shows a card on the full screen, and back', async () => {
    await showDashboard();
    const card = page.locator('guestlist-card').first();
    const canvas = card.locator('canvas');
    const before = (await canvas.boundingBox())?.height ?? 0;
    await page.getByRole('button', { name: 'Full screen: Flights a day' }).click();
    await until(async () => (await canvas.boundingBox())?.height ?? 0).toBeGreaterThan(before + 50);
    await shoot('full-screen');
    await page.getByRole('button', { name: 'Exit full screen: Flights a day' }).click();
    await until(async () => (await canvas.boundingBox())?.height ?? 0).toBe(before);
  });

  it('opens the downloads by keyboard, and closes them again', async () => {
    await showDashboard();
    const button = page.getByRole('button', { name: 'Download: Flights a day' });
    await button.focus();
    await page.keyboard.press('Enter');
    const focused = (name: string) => page.locator('[role=menuitem]:focus', { hasText: name }).waitFor();
    await focused('CSV');
    await page.keyboard.press('ArrowUp');
    await focused('SVG');
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowDown');
    await focused('Excel');
    await page.keyboard.press('Escape');
    await until(() => page.getByRole('menu').count()).toBe(0);
    await until(() => button.evaluate((element) => element.matches(':focus'))).toBe(true);
    await button.click();
    await page.getByRole('menu').waitFor();
    await page.getByRole('heading', { name: 'Delays' }).click();
    await until(() => page.getByRole('menu').count()).toBe(0);
  });

  it('shows a single metric, from a metric embed or through a dashboard', async () => {
    await mount(page, 'guestlist-metric', { token: 'guest-LAX-1', 'metric-id': 'shareDelayed' });
    await until(() => page.locator('.value').allInnerTexts()).toEqual(['22.2%']);
    expect(requests('/query').map(({ body }) => body)).toEqual([{}]);
    await mount(page, 'guestlist-metric', {
      token: 'guest-LAX-1',
      'metric-id': 'nothing',
      'dashboard-id': 'delays--LAX',
    });
    await page.getByText('The dashboard has no metric nothing for this guest.').waitFor();
  });

  it('takes the base URL from the attribute, the page, or the script', async () => {
    await page.evaluate(`window.dbn = { baseUrl: ${JSON.stringify(`${bench.service.url}/elsewhere`)} }`);
    await mount(page, 'guestlist-dashboard', { token: 'guest-LAX-1', 'dashboard-id': 'delays--LAX' });
    await until(() => requests('/elsewhere/api/v2/guest/dashboards/').length).toBe(1);
    await setAttribute(page, 'guestlist-dashboard', 'service-url', bench.service.url);
    await settled();
  });
});
