/** Choosing among more series than a chart draws, by keyboard, in a real browser. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GuestDashboard } from '../../src/model/guest/view.js';
import { hasChromium } from '../suites/chromium.js';
import { mount, startBench, violationsOf } from '../web/browser.js';
import { dashboards } from '../web/fixtures.js';

const months = ['2001-01-01T00:00:00', '2001-02-01T00:00:00'];
const places = Array.from({ length: 120 }, (_, at) => `Place ${at + 1}`);
const rows = months.flatMap((Month) => places.map((Place, at) => ({ Month, Place, Flights: 1000 - at })));

const dashboard = (): GuestDashboard => {
  const made = dashboards('LAX')['delays--LAX'];
  if (made === undefined) throw new Error('no dashboard');
  const chart = {
    type: 'line',
    dimensions: ['Month', 'Place'],
    measures: ['Flights'],
    combine: { Flights: 'sum' },
    isDrillable: false,
  } as const;
  return {
    ...made,
    layout: [{ metricId: 'many', x: 0, y: 0, w: 12, h: 5 }],
    metrics: [{ metricId: 'many', name: 'Many', chart, filters: [] }],
  };
};

const answer = {
  data: rows,
  totalRecords: rows.length,
  metaData: {
    columns: [
      { name: 'Month', dataType: 'date' },
      { name: 'Place', dataType: 'string' },
      { name: 'Flights', dataType: 'number' },
    ],
    groupbyColumnList: ['Month', 'Place'],
  },
  error: null,
};

describe.skipIf(!hasChromium())('a chart of more series than colours', { timeout: 60_000 }, () => {
  let bench: Awaited<ReturnType<typeof startBench>>;
  beforeAll(async () => {
    bench = await startBench();
    bench.service.control.override = ({ path }) => {
      if (path.endsWith('/dashboards/delays--LAX')) return { body: { data: dashboard(), error: null } };
      return path.includes('/query') ? { body: answer } : undefined;
    };
  }, 60_000);
  afterAll(() => bench.close());

  it('finds a small series by keyboard, draws it, and draws the largest again', async () => {
    const { page, close, complaints } = await bench.open('/bare');
    await mount(page, 'guestlist-dashboard', { token: 'guest-LAX-1', 'dashboard-id': 'delays--LAX' });
    const card = page.getByRole('region', { name: 'Many', exact: true });
    const chart = (name: RegExp) => card.getByRole('img', { name }).waitFor();
    await chart(/Series: Place 1, .*Other/);
    await card.locator('summary').focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.type('place 120');
    await expect.poll(() => card.getByRole('checkbox').count()).toBe(1);
    if (process.env.TEST_SCREENSHOTS !== undefined) {
      await page.screenshot({ path: `${process.env.TEST_SCREENSHOTS}/series-picker.png` });
    }
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await chart(/Series: .*Place 7, Place 120\./);
    await card.getByText('8 of 120 series shown').waitFor();
    await card.getByText('At most 8 series at once').waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await card.getByRole('button', { name: 'Show the largest' }).press('Enter');
    await chart(/Series: Place 1, .*Other/);
    expect(complaints).toEqual([]);
    await close();
  });
});
