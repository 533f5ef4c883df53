/** The rows of all others in a real browser: drawn as the last and grey, and a click on them filters and drills nothing. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GuestDashboard } from '../../src/model/guest/view.js';
import { hasChromium } from '../suites/chromium.js';
import { mount, startBench, violationsOf } from '../web/browser.js';
import { dashboards } from '../web/fixtures.js';

const types = ['bar', 'row', 'stack', 'table'] as const;
const dimensionsOf = (type: (typeof types)[number]) => (type === 'stack' ? ['Month', 'Place'] : ['Place']);
const places = ['Other', 'Rome', null];
const plain = [...places.map((Place, at) => ({ Place, Flights: 900 - 100 * at })), { Place: null, Flights: 1200 }];
const months = ['Jan', 'Feb'];
const stacked = [
  ...months.flatMap((Month) => plain.slice(0, -1).map((row) => ({ Month, ...row }))),
  ...months.map((Month) => ({ Month, Place: null, Flights: 500 })),
];

const dashboard = (): GuestDashboard => {
  const made = dashboards('LAX')['delays--LAX'];
  if (made === undefined) throw new Error('no dashboard');
  return {
    ...made,
    layout: types.map((metricId, at) => ({ metricId, x: 6 * (at % 2), y: 5 * Math.floor(at / 2), w: 6, h: 5 })),
    metrics: types.map((type) => {
      const dimensions = dimensionsOf(type);
      const combine = { Flights: 'sum' } as const;
      const chart = { type, dimensions, measures: ['Flights'], combine, isDrillable: true, drillLevels: 1 };
      return { metricId: type, name: `As ${type}`, chart, filters: [] };
    }),
  };
};

const answerOf = (type: (typeof types)[number]) => {
  const data = type === 'stack' ? stacked : plain;
  const dimensions = dimensionsOf(type);
  return {
    data,
    totalRecords: data.length,
    others: { name: 'Place', rows: type === 'stack' ? 2 : 1 },
    metaData: {
      columns: [...dimensions, 'Flights'].map((name) => ({
        name,
        dataType: name === 'Flights' ? 'number' : 'string',
      })),
      groupbyColumnList: dimensions,
    },
    error: null,
  };
};

describe.skipIf(!hasChromium())('the rows of all others', { timeout: 60_000 }, () => {
  let bench: Awaited<ReturnType<typeof startBench>>;
  let drills = 0;
  beforeAll(async () => {
    bench = await startBench();
    bench.service.control.override = ({ path, body }) => {
      if (path.endsWith('/dashboards/delays--LAX')) return { body: { data: dashboard(), error: null } };
      const type = types.find((one) => path.endsWith(`/metrics/${one}/query`));
      if (type === undefined) return undefined;
      if (JSON.stringify(body ?? {}).includes('drill')) drills += 1;
      return { body: answerOf(type) };
    };
  }, 60_000);
  afterAll(() => bench.close());

  it.each(['light', 'dark'])('stand last, and take no click (%s)', async (theme) => {
    drills = 0;
    const { page, close, complaints } = await bench.open('/bare');
    await mount(page, 'guestlist-dashboard', { token: 'guest-LAX-1', 'dashboard-id': 'delays--LAX', theme });
    const cardOf = (type: string) => page.getByRole('region', { name: `As ${type}`, exact: true });
    for (const type of ['bar', 'row', 'stack']) await cardOf(type).getByRole('img').first().waitFor();
    const cells = cardOf('table').getByRole('rowheader').or(cardOf('table').getByRole('cell'));
    await expect.poll(async () => (await cells.allTextContents()).map((text) => text.trim())).toContain('1,200');
    const rows = await cardOf('table').getByRole('row').allTextContents();
    expect(rows.at(-1)).toContain('Other');
    const buttons = await cardOf('table').getByRole('row').getByRole('button', { name: 'Other', exact: true }).count();
    // The group that is called so has a button.
    expect(buttons).toBe(1);
    if (process.env.TEST_SCREENSHOTS !== undefined) {
      await page.screenshot({ path: `${process.env.TEST_SCREENSHOTS}/others-${theme}.png`, fullPage: true });
    }
    const chart = cardOf('bar').getByRole('application');
    await chart.focus();
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    expect(drills).toBe(0);
    await page.keyboard.press('Home');
    await page.keyboard.press('Enter');
    await expect.poll(() => drills).toBe(1);
    expect(await violationsOf(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await close();
  });
});
