/** A table of ten thousand rows, in a real browser: only the rows in view are part of the page. */
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { GuestDashboard } from '../../src/model/guest/view.js';
import { hasChromium } from '../suites/chromium.js';
import { mount, startBench, violationsOf } from '../web/browser.js';
import { dashboards } from '../web/fixtures.js';

const count = 10_000;
const nameOf = (at: number) => `Airport ${at}${at === 7_777 ? ' with a name that is longer than all others' : ''}`;
const rows = Array.from({ length: count }, (_, at) => ({
  Name: nameOf(at),
  Flights: at % 50 === 0 ? null : (at * 7_919) % count,
}));

const dashboard = (type: 'table' | 'pivotTable'): GuestDashboard => {
  const made = dashboards('LAX')['delays--LAX'];
  if (made === undefined) throw new Error('no dashboard');
  const chart = {
    type,
    combine: { Flights: 'sum' },
    dimensions: ['Name'],
    measures: ['Flights'],
    isDrillable: false,
    grains: {},
    crossFilters: { Name: ['Other'] },
  } as const;
  return {
    ...made,
    layout: ['Long', 'Other'].map((metricId, at) => ({ metricId, x: 0, y: 6 * at, w: 12, h: 6 })),
    metrics: ['Long', 'Other'].map((metricId) => ({
      metricId,
      name: metricId,
      chart,
      filters: [],
    })),
  };
};

const answer = (question: string) => {
  const isSorted = question.includes('"sort":[{');
  const sign = question.includes('ASC') ? 1 : -1;
  const data = isSorted ? [...rows].sort((a, b) => sign * ((a.Flights ?? -1) - (b.Flights ?? -1))) : rows;
  const columns = [
    { name: 'Name', dataType: 'text' },
    { name: 'Flights', dataType: 'number' },
  ];
  return { data, totalRecords: count, metaData: { columns, groupbyColumnList: ['Name'] }, error: null };
};

describe.skipIf(!hasChromium())('a long table', { timeout: 60_000 }, () => {
  let bench: Awaited<ReturnType<typeof startBench>>;
  let opened: Awaited<ReturnType<(typeof bench)['open']>>;
  let page: Page;

  beforeAll(async () => {
    bench = await startBench();
  }, 60_000);
  afterAll(() => bench.close());

  const show = async (type: 'table' | 'pivotTable') => {
    bench.service.control.override = ({ path, body }) => {
      if (path.endsWith('/dashboards/delays--LAX')) return { body: { data: dashboard(type), error: null } };
      return path.includes('/query') ? { body: answer(JSON.stringify(body)) } : undefined;
    };
    await mount(page, 'guestlist-dashboard', { token: 'guest-LAX-1', 'dashboard-id': 'delays--LAX' });
  };

  beforeEach(async () => {
    opened = await bench.open('/bare');
    page = opened.page;
    await show('table');
    await table()
      .getByRole('cell', { name: nameOf(0), exact: true })
      .waitFor();
  });
  afterEach(async () => {
    const violations = await violationsOf(page);
    await opened.close();
    expect(violations).toEqual([]);
    expect(opened.complaints).toEqual([]);
  });

  const table = () => page.getByRole('region', { name: 'Long, table' });
  const drawn = () => table().locator('tr[aria-rowindex]').count();
  const widths = () =>
    table()
      .locator('thead th')
      .evaluateAll((heads) => heads.map((head) => head.getBoundingClientRect().width));

  it('draws the rows in view, and says how many there are', async () => {
    expect(await table().getByRole('table').getAttribute('aria-rowcount')).toBe('10001');
    expect(await drawn()).toBeLessThan(100);
  });

  it('is read to its end by keyboard, and keeps the width of its columns', async () => {
    const before = await widths();
    await table().focus();
    await page.keyboard.press('End');
    await table()
      .getByRole('cell', { name: nameOf(9_999), exact: true })
      .waitFor();
    expect(await table().locator('tr[aria-rowindex="10001"]').count()).toBe(1);
    expect(await drawn()).toBeLessThan(100);
    expect(await widths()).toEqual(before);
    await page.keyboard.press('Home');
    await table().locator('tr[aria-rowindex="2"]').waitFor();
  });

  it('shows each row at its place while it is scrolled', async () => {
    for (const at of [7_777, 123, 5_000]) {
      await table().evaluate((scroll, to) => {
        scroll.scrollTop = ((scroll.scrollHeight - 34) * to) / 10_000;
      }, at);
      await table()
        .getByRole('cell', { name: nameOf(at), exact: true })
        .waitFor();
      const row = table().locator(`tr[aria-rowindex="${at + 2}"]`);
      expect(await row.locator('td').first().textContent()).toContain(nameOf(at));
    }
  });

  it('keeps the focus on a row that stays in view', async () => {
    const target = table().getByRole('button', { name: nameOf(12), exact: true });
    await target.focus();
    await table().evaluate((scroll) => {
      scroll.scrollTop = 150;
    });
    await table().locator('tr[aria-rowindex="30"]').waitFor();
    expect(await target.evaluate((each) => each.matches(':focus'))).toBe(true);
  });

  it('sorts, and shows the first rows of the new order', async () => {
    await table().getByRole('button', { name: 'Flights' }).click();
    await table().locator('th[aria-sort="descending"], th[aria-sort="ascending"]').waitFor();
    const isRising = (await table().locator('th[aria-sort="ascending"]').count()) === 1;
    await table()
      .locator('tr[aria-rowindex="2"] td:nth-child(2)')
      .filter({ hasText: isRising ? '—' : '9,999' })
      .waitFor();
  });

  it('has all rows on paper', async () => {
    await page.evaluate("window.dispatchEvent(new Event('beforeprint'))");
    await table().locator('tbody tr').nth(9_999).waitFor({ state: 'attached' });
    await page.evaluate("window.dispatchEvent(new Event('afterprint'))");
    await table().locator('tr[aria-rowindex="2"]').waitFor();
    expect(await drawn()).toBeLessThan(100);
  });

  it('a long pivot table draws the rows in view and the total, keeps its columns, and has all rows on paper', async () => {
    await page.reload();
    await show('pivotTable');
    const pivot = page.getByRole('region', { name: 'Long, pivot table' });
    const rowOf = (at: number) => pivot.locator(`tr[aria-rowindex="${at + 2}"] th`);
    const headWidths = () =>
      pivot.locator('thead th').evaluateAll((heads) => heads.map((head) => head.getBoundingClientRect().width));
    await rowOf(0).getByText(nameOf(0), { exact: true }).waitFor();
    expect(await pivot.getByRole('table').getAttribute('aria-rowcount')).toBe('10002');
    expect(await pivot.locator('tr').count()).toBeLessThan(100);
    const before = await headWidths();
    const total = await pivot.locator('tr.total td').textContent();
    await pivot.focus();
    await page.keyboard.press('End');
    await rowOf(9_999).getByText(nameOf(9_999), { exact: true }).waitFor();
    expect(await pivot.locator('tr.total td').textContent()).toBe(total);
    expect(await pivot.locator('tr').count()).toBeLessThan(100);
    expect(await headWidths()).toEqual(before);
    if (process.env.TEST_SCREENSHOTS) await page.screenshot({ path: `${process.env.TEST_SCREENSHOTS}/long-pivot.png` });
    await page.evaluate("window.dispatchEvent(new Event('beforeprint'))");
    await pivot.locator('tbody tr').nth(10_000).waitFor({ state: 'attached' });
  });
});
