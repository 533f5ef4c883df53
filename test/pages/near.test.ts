/** Cards far below what the reader sees do not keep those above waiting, and are there on paper. */
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hasChromium } from '../suites/chromium.js';
import { gate, mount, startBench, until } from '../web/browser.js';
import type { Recorded } from '../web/fake-service.js';

const count = 24;
const metrics = Array.from({ length: count }, (_, index) => ({
  metricId: `m${index}`,
  name: `Metric ${index}`,
  chart: { type: 'table', dimensions: ['Day'], measures: ['Flights'], isDrillable: false },
  filters: [],
}));
const dashboard = {
  dashboardId: 'tall',
  name: 'Tall',
  // The service's order is not the one of the cards.
  layout: metrics.map(({ metricId }, index) => ({ metricId, x: 0, y: (count - 1 - index) * 4, w: 12, h: 4 })),
  metrics,
  filters: [{ name: 'State', dataType: 'string', defaultValue: null }],
  permissions: { isEnableDownloadMetrics: true, isShowDashboardName: true },
  accessPermissions: {},
  theme: null,
};
const answer = {
  data: [{ Day: '2001-01-01', Flights: 7 }],
  totalRecords: 1,
  metaData: {
    columns: [
      { name: 'Day', dataType: 'string' },
      { name: 'Flights', dataType: 'number' },
    ],
    groupbyColumnList: ['Day'],
  },
  error: null,
};
const idOf = ({ path }: Recorded): string | undefined => /metrics\/(m\d+)\/query/.exec(path)?.[1];

describe.skipIf(!hasChromium())('a tall dashboard', { timeout: 120_000 }, () => {
  let bench: Awaited<ReturnType<typeof startBench>>;
  let opened: Awaited<ReturnType<(typeof bench)['open']>>;
  let page: Page;
  let sent = 0;
  let hold: ReturnType<typeof gate>;

  beforeAll(async () => {
    bench = await startBench();
  }, 60_000);
  afterAll(() => bench.close());
  beforeEach(async () => {
    hold = gate();
    const { opened: held } = hold;
    bench.service.control.override = async (request) => {
      if (request.path === '/api/v2/guest/dashboards/tall') return { body: { data: dashboard, error: null } };
      if (idOf(request) === undefined) return undefined;
      // The last card on the screen is slow.
      if (idOf(request) === `m${count - 2}`) await held;
      return { body: answer };
    };
    bench.service.control.requests.length = 0;
    opened = await bench.open('/bare');
    page = opened.page;
    sent = 0;
    page.on('request', (request) => {
      if (request.url().includes('/api/')) sent += 1;
    });
    await page.setViewportSize({ width: 1280, height: 800 });
    await mount(page, 'guestlist-dashboard', { token: 'guest-LAX-1', 'dashboard-id': 'tall' });
    await cell(0).waitFor();
  });
  afterEach(async () => {
    await opened.close();
    expect(opened.complaints).toEqual([]);
  });

  /** The card at this place from above. */
  const cell = (place: number) =>
    page
      .locator('guestlist-card', {
        has: page.getByRole('heading', { name: `Metric ${count - 1 - place}`, exact: true }),
      })
      .getByRole('cell', { name: '7' });
  const asked = () => bench.service.control.requests.flatMap((request) => idOf(request) ?? []);
  const scrollTo = (place: number) =>
    page
      .locator('guestlist-card')
      .nth(place)
      .evaluate((card) => (card as { scrollIntoView: () => void } & object).scrollIntoView());

  it('asks from above for the cards that the reader may soon see, and for the others when those are there', async () => {
    const first = asked();
    expect(first.length).toBeGreaterThanOrEqual(3);
    // The viewport and one screen below it.
    expect(first.length).toBeLessThanOrEqual(5);
    expect(first).toEqual(first.map((_, index) => `m${count - 1 - index}`));
    expect(sent).toBe(2);
    hold.open();
    await until(() => asked().length).toBe(count);
    expect(new Set(asked()).size).toBe(count);
    await until(() => sent).toBe(3);
    await cell(count - 1).waitFor();
  });

  it('asks at once for a card that comes near', async () => {
    const first = asked();
    await scrollTo(count - 1);
    await until(() => asked().length).toBeGreaterThan(first.length);
    expect(asked()).toContain('m0');
    expect(asked()).not.toContain(`m${count - 8}`);
    hold.open();
    await until(() => asked().length).toBe(count);
  });

  it('asks first for what is on the screen when a filter changes', async () => {
    hold.open();
    await until(() => asked().length).toBe(count);
    await scrollTo(12);
    await cell(12).waitFor();
    bench.service.control.requests.length = 0;
    sent = 0;
    await page.evaluate("document.querySelector('guestlist-dashboard').setFilters({ State: ['CA'] })");
    await until(() => asked().length).toBe(count);
    expect(asked()[0]).toBe(`m${count - 1 - 12}`);
    await until(() => sent).toBe(1);
  });

  it('a tall dashboard prints all its cards', async () => {
    hold.open();
    await page.evaluate(
      "window.print = () => { window.printed = document.querySelector('guestlist-dashboard').renderRoot.querySelectorAll('guestlist-card').length + ' ' + [...document.querySelector('guestlist-dashboard').renderRoot.querySelectorAll('guestlist-card')].filter((card) => card.renderRoot.querySelector('guestlist-table')?.renderRoot.querySelector('tbody')?.textContent.includes('7')).length; }",
    );
    await page.evaluate("document.querySelector('guestlist-dashboard').print()");
    expect(await page.evaluate('window.printed')).toBe(`${count} ${count}`);
    expect(asked()).toHaveLength(count);
  });

  it('gives a picture of a card that was not near', async () => {
    hold.open();
    const size = await page.evaluate(
      "document.querySelector('guestlist-dashboard').exportImage({ metricId: 'm0', type: 'svg' }).then((blob) => blob.size)",
    );
    expect(size).toBeGreaterThan(500);
  });
});
