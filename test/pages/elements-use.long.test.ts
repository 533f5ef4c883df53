import { describe, expect, it } from 'vitest';
import { hasChromium } from '../suites/chromium.js';
import { choosePeriod, dateFilter, typeDates } from '../suites/date-filter.js';
import { gate, mount, setAttribute, until } from '../web/browser.js';
import { refusal } from '../web/fake-service.js';
import { dashboards } from '../web/fixtures.js';
import { useElements } from './elements-page.js';

describe.skipIf(!hasChromium())('the elements in a browser', { timeout: 60_000 }, () => {
  const on = useElements();
  const { requests, showDashboard, settled, share, pick, shoot } = on;

  it('keeps the position of its cards from loading to data, and says when there is no data', async () => {
    const hold = gate();
    on.bench.service.control.override = async ({ path }) => {
      if (path.includes('/query')) await hold.opened;
      if (!path.includes('delayByHour/query')) return undefined;
      return { body: { data: [], totalRecords: 0, metaData: { columns: [], groupbyColumnList: [] }, error: null } };
    };
    await mount(on.page, 'guestlist-dashboard', { token: 'guest-LAX-1', 'dashboard-id': 'delays--LAX' });
    await until(() => on.page.locator('guestlist-card .skeleton').count()).toBe(4);
    const places = () =>
      Promise.all([0, 1, 2, 3].map((index) => on.page.locator('guestlist-card').nth(index).boundingBox()));
    const before = await places();
    hold.open();
    await settled();
    await on.page.getByText('No data for these filters').waitFor();
    expect(await places()).toEqual(before);
  });

  it('sends a query again only if its question has changed', async () => {
    await showDashboard();
    on.bench.service.control.requests.length = 0;
    await setAttribute(on.page, 'guestlist-dashboard', 'theme', 'dark');
    await setAttribute(on.page, 'guestlist-dashboard', 'language', 'de');
    await until(share).toBe('22,2\u00a0%');
    expect(on.bench.service.control.requests).toEqual([]);
    await on.page.getByRole('button', { name: 'Als Tabelle anzeigen: Flights a day' }).click();
    await on.page.getByRole('button', { name: 'Flights', exact: true }).click();
    await until(() => requests('/query').map(({ path, body }) => [path.split('/').at(-2), body])).toEqual([
      ['flightsADay', { dashboardId: 'delays--LAX', sort: [{ name: 'flights', direction: 'DESC' }] }],
    ]);
  });

  it('sends dates with both ends', async () => {
    await showDashboard();
    await typeDates(on.page, { from: '2001-03-01' });
    await until(() => requests('shareDelayed/query').at(-1)?.body).toMatchObject({
      dashboardFilter: { Date: { startDate: '2001-03-01', endDate: '2999-12-31' } },
    });
    await typeDates(on.page, { to: '2001-03-31' });
    await on.page.getByRole('img', { name: /^Flights a day.*31 values from Mar 1, 2001 to Mar 31, 2001/ }).waitFor();
  });

  it('stops a reversed range in the control, and sends it when it is mended', async () => {
    await showDashboard();
    await typeDates(on.page, { from: '2001-03-31' });
    await until(() => requests('shareDelayed/query').length).toBe(2);
    await dateFilter(on.page).click();
    await on.page.getByLabel('Date to').fill('2001-03-01');
    await on.page.getByLabel('Date to').press('Enter');
    await on.page.getByRole('alert').getByText('The start is after the end').waitFor();
    expect(await on.page.getByLabel('Date to').getAttribute('aria-invalid')).toBe('true');
    await on.page.getByLabel('Date from').fill('2001-02-01');
    await on.page.getByLabel('Date from').press('Enter');
    await until(() => on.page.getByRole('alert').getByText('The start is after the end').count()).toBe(0);
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
    await typeDates(on.page, { from: '2001-03-31' });
    await until(() => dateFilter(on.page).innerText()).toBe('from Mar 31, 2001');
    await choosePeriod(on.page, 'Last 30 Days');
    await until(() => requests('shareDelayed/query').at(-1)?.body).toMatchObject({
      dashboardFilter: { Date: 'Last 30 Days' },
    });
    await until(() => dateFilter(on.page).innerText()).toBe('Last 30 Days');
    await choosePeriod(on.page, 'Any time');
    await until(() => Object(requests('shareDelayed/query').at(-1)?.body).dashboardFilter).toBeUndefined();
    await until(() => dateFilter(on.page).innerText()).toBe('Any time');
  });

  it('chooses a range of days in the calendar, by pointer and by keyboard', async () => {
    await showDashboard();
    await typeDates(on.page, { from: '2001-03-01', to: '2001-03-31' });
    await dateFilter(on.page).click();
    const march = on.page.getByRole('grid', { name: 'Date, March 2001' });
    await march.getByRole('button', { name: 'Monday, March 12, 2001' }).click();
    await on.page.getByText('Choose the last day').waitFor();
    await march.getByRole('button', { name: 'Friday, March 9, 2001' }).click();
    await until(() => requests('shareDelayed/query').at(-1)?.body).toMatchObject({
      dashboardFilter: { Date: { startDate: '2001-03-09', endDate: '2001-03-12' } },
    });
    expect(await on.page.getByRole('dialog', { name: 'Date' }).count()).toBe(0);
    await on.page.keyboard.press('Enter');
    await on.page.getByRole('button', { name: 'Monday, March 12, 2001' }).focus();
    for (const key of ['PageUp', 'End', 'ArrowLeft', 'Enter', 'Home', 'ArrowDown', 'Enter'])
      await on.page.keyboard.press(key);
    await until(() => requests('shareDelayed/query').at(-1)?.body).toMatchObject({
      dashboardFilter: { Date: { startDate: '2001-02-16', endDate: '2001-02-18' } },
    });
    expect(await dateFilter(on.page).evaluate((button) => button.matches(':focus'))).toBe(true);
  });

  it('says which day it does not understand, in the form of the language', async () => {
    await showDashboard();
    await dateFilter(on.page).click();
    await on.page.getByLabel('Date from').fill('soon');
    await on.page.getByLabel('Date from').press('Enter');
    await on.page
      .getByRole('alert')
      .getByText(/^Enter a date such as \d\d\/\d\d\/\d{4}$/)
      .waitFor();
    await on.page.keyboard.press('Escape');
    expect(await on.page.getByRole('dialog', { name: 'Date' }).count()).toBe(0);
  });

  it('keeps chosen values at the top of the list, counts and clears them', async () => {
    await showDashboard();
    await pick('TX');
    await on.page.getByRole('button', { name: /^State/ }).click();
    const list = on.page.locator('guestlist-multi-select');
    await until(() => list.getByRole('option').first().innerText()).toBe('TX');
    await list.getByText('1 chosen').waitFor();
    await list.getByRole('button', { name: 'Clear' }).click();
    await until(() => list.getByRole('option', { selected: true }).count()).toBe(0);
    await until(() => Object(requests('shareDelayed/query').at(-1)?.body).dashboardFilter).toBeUndefined();
  });

  /** Answers 100,000 options, of which a search finds those that contain its text. */
  const offerMany = () => {
    const all = Array.from({ length: 100_000 }, (_, index) => `Value ${String(index).padStart(5, '0')}`);
    on.bench.service.control.override = ({ path }) => {
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
    await on.page.getByRole('button', { name: /^State/ }).click();
    const list = on.page.locator('guestlist-multi-select');
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
    await on.page.getByRole('combobox', { name: 'Search State' }).focus();
    for (let press = 0; press < 5; press += 1) await on.page.keyboard.press('PageDown');
    const active = list.locator('.option.active');
    await until(() => active.innerText()).toBe('Value 00040');
    await until(() =>
      on.page.getByRole('combobox', { name: 'Search State' }).getAttribute('aria-activedescendant'),
    ).toBe('option-40');
    expect(await active.isVisible()).toBe(true);
    expect(await options.count()).toBeLessThanOrEqual(50);
  });

  it('chooses all that a search found, beside what was chosen, and says how many', async () => {
    await showDashboard();
    offerMany();
    await on.page.getByRole('button', { name: /^State/ }).click();
    const list = on.page.locator('guestlist-multi-select');
    await list.getByRole('option', { name: 'Value 00003' }).click();
    await on.page.getByRole('combobox', { name: 'Search State' }).fill('7777');
    await list.getByRole('button', { name: 'Select all 19' }).click();
    await list.getByText('20 chosen').waitFor();
    await until(() => Object(requests('shareDelayed/query').at(-1)?.body).dashboardFilter?.State?.length).toBe(20);
    expect(await list.getByRole('button', { name: /Select all/ }).count()).toBe(0);
  });

  it('keeps one value where the filter takes one', async () => {
    on.bench.service.control.override = ({ path }) => {
      const delays = dashboards('LAX')['delays--LAX'];
      const filters = delays?.filters.map((filter) => ({ ...filter, isSingleChoice: true }));
      return path.endsWith('/delays--LAX') ? { body: { data: { ...delays, filters }, error: null } } : undefined;
    };
    await showDashboard();
    await pick('CA');
    await until(() => Object(requests('shareDelayed/query').at(-1)?.body).dashboardFilter).toEqual({ State: ['CA'] });
    await on.page.getByRole('button', { name: /^State/ }).click();
    const list = on.page.locator('guestlist-multi-select');
    await list.getByRole('option', { name: 'NV', exact: true }).click();
    await until(() => list.getByRole('listbox').count()).toBe(0);
    await until(() => Object(requests('shareDelayed/query').at(-1)?.body).dashboardFilter).toEqual({ State: ['NV'] });
    await on.page.getByRole('button', { name: /^State/ }).click();
    await list.getByRole('option', { selected: true }).waitFor();
    expect(await list.getByRole('button', { name: /Select all/ }).count()).toBe(0);
  });

  it('says that a list can’t be loaded, and loads it again', async () => {
    await showDashboard();
    on.bench.service.control.override = ({ path }) =>
      path.includes('/options') ? refusal('INTERNAL_SERVER_ERROR', 'failed', 500) : undefined;
    await on.page.getByRole('button', { name: /^State/ }).click();
    const list = on.page.locator('guestlist-multi-select');
    await list.getByText('The list can’t be loaded').waitFor({ timeout: 30_000 });
    on.bench.service.control.override = () => undefined;
    await list.getByRole('button', { name: 'Try again' }).click();
    await list.getByRole('option', { name: 'CA', exact: true }).waitFor();
  });

  it('sends one search for what is typed in one go', async () => {
    await showDashboard();
    await on.page.getByRole('button', { name: /^State/ }).click();
    const search = on.page.getByRole('combobox', { name: 'Search State' });
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
    const options = on.page.locator('guestlist-multi-select').getByRole('option');
    await until(() => options.allInnerTexts()).toEqual(['NV']);
    expect(requests('/options').filter(({ path }) => /search=n(&|$)/.test(path))).toEqual([]);
  });

  it('drills down on a click in a chart, and goes back', async () => {
    await showDashboard();
    const card = on.page.getByRole('region', { name: 'Average delay by destination', exact: true });
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

  it('shows underlying rows page by on.page, and downloads, if the token allows it', async () => {
    await showDashboard();
    await on.page.getByRole('button', { name: 'Rows: Flights a day' }).click();
    const dialog = on.page.getByRole('dialog', { name: 'Rows behind Flights a day' });
    await dialog.getByText('1–50 of 115,245').waitFor();
    const cells = dialog.locator('tbody tr').first().locator('td');
    expect(await cells.first().textContent()).toMatch(/^\s*Monday, January 1, 2001 at 12:03/);
    expect(await cells.last().textContent()).toMatch(/^\s*[\d,]+\smi\s*$/);
    await dialog.getByRole('button', { name: 'Next' }).click();
    await dialog.getByText('51–100 of 115,245').waitFor();
    await on.page.keyboard.press('Escape');
    await until(() => on.page.getByRole('dialog').count()).toBe(0);
    for (const [kind, end] of [
      ['CSV', 'csv'],
      ['Excel (XLSX)', 'xlsx'],
      ['Picture (PNG)', 'png'],
      ['Picture (SVG)', 'svg'],
    ] as const) {
      await on.page.getByRole('button', { name: 'Download: Flights a day' }).click();
      const download = on.page.waitForEvent('download');
      await on.page.getByRole('menuitem', { name: kind }).click();
      expect((await download).suggestedFilename()).toBe(`Flights a day.${end}`);
      await until(() => on.page.getByRole('menu').count()).toBe(0);
    }
    await mount(on.page, 'guestlist-metric', {
      token: 'guest-ATL-1',
      'metric-id': 'delayByHour',
      'dashboard-id': 'delays--ATL',
    });
    await on.page.locator('guestlist-metric canvas').waitFor();
    expect(
      await on.page
        .locator('guestlist-metric')
        .getByRole('button', { name: /Rows|Download/ })
        .count(),
    ).toBe(0);
  });

  it('says that a download failed, and leaves the chart', async () => {
    await showDashboard();
    on.bench.service.control.override = ({ path }) =>
      path.endsWith('/csv') ? refusal('METRIC_QUERY_ERROR', 'The query takes too long.') : undefined;
    await on.page.getByRole('button', { name: 'Download: Flights a day' }).click();
    await on.page.getByRole('menuitem', { name: 'CSV' }).click();
    const note = on.page.getByRole('alert').filter({ hasText: 'The download failed: The query takes too long.' });
    await note.waitFor();
    expect(await on.page.locator('guestlist-chart canvas').count()).toBe(3);
    await note.getByRole('button', { name: 'Close' }).click();
    await until(() => note.count()).toBe(0);
  });

  it('shows a card on the full screen, and back', async () => {
    await showDashboard();
    const card = on.page.locator('guestlist-card').first();
    const canvas = card.locator('canvas');
    const before = (await canvas.boundingBox())?.height ?? 0;
    await on.page.getByRole('button', { name: 'Full screen: Flights a day' }).click();
    await until(async () => (await canvas.boundingBox())?.height ?? 0).toBeGreaterThan(before + 50);
    await shoot('full-screen');
    await on.page.getByRole('button', { name: 'Exit full screen: Flights a day' }).click();
    await until(async () => (await canvas.boundingBox())?.height ?? 0).toBe(before);
  });

  it('opens the downloads by keyboard, and closes them again', async () => {
    await showDashboard();
    const button = on.page.getByRole('button', { name: 'Download: Flights a day' });
    await button.focus();
    await on.page.keyboard.press('Enter');
    const focused = (name: string) => on.page.locator('[role=menuitem]:focus', { hasText: name }).waitFor();
    await focused('CSV');
    await on.page.keyboard.press('ArrowUp');
    await focused('SVG');
    await on.page.keyboard.press('Home');
    await on.page.keyboard.press('ArrowDown');
    await focused('Excel');
    await on.page.keyboard.press('Escape');
    await until(() => on.page.getByRole('menu').count()).toBe(0);
    await until(() => button.evaluate((element) => element.matches(':focus'))).toBe(true);
    await button.click();
    await on.page.getByRole('menu').waitFor();
    await on.page.getByRole('heading', { name: 'Delays' }).click();
    await until(() => on.page.getByRole('menu').count()).toBe(0);
  });
});
