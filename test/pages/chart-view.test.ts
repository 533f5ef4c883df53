/** What a reader does with a chart: by mouse and by keyboard, in a real browser. */
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { GuestChart, GuestDashboard } from '../../src/model/guest/view.js';
import { hasChromium } from '../suites/chromium.js';
import { mount, setAttribute, startBench, textOf, violationsOf } from '../web/browser.js';
import { dashboards } from '../web/fixtures.js';

const months = Array.from({ length: 6 }, (_, at) => `2001-0${at + 1}-01T00:00:00`);
const names = ['Month', 'Flights', 'Delay', 'Share late', 'All'];
const rows = months.map((Month, at) => ({
  Month,
  Flights: 100 + 10 * at,
  Delay: 20 - at,
  'Share late': 0.2,
  All: 9000,
}));
const grains = { Month: 'month' } as const;
const charts: Readonly<Record<string, Partial<GuestChart> & Pick<GuestChart, 'type'>>> = {
  Course: { type: 'line', dimensions: ['Month'], measures: ['Flights', 'Delay'], isDrillable: true },
  Number: { type: 'singleValue', dimensions: ['Month'], measures: ['Delay'], unit: 'min', better: 'lower' },
  Sizes: { type: 'line', dimensions: ['Month'], measures: ['All', 'Delay', 'Share late'] },
  Share: { type: 'pie', dimensions: ['Month'], measures: ['Flights'] },
  Rows: {
    type: 'table',
    dimensions: ['Month'],
    measures: ['Flights', 'Delay'],
    bars: ['Flights'],
    rules: [
      { measure: 'Delay', operator: '>', value: 18, tone: 'bad', word: 'late' },
      { measure: 'Delay', operator: '<', value: 17, tone: 'good' },
    ],
  },
};

const dashboard = (): GuestDashboard => {
  const made = dashboards('LAX')['delays--LAX'];
  if (made === undefined) throw new Error('no dashboard');
  return {
    ...made,
    layout: Object.keys(charts).map((metricId, at) => ({ metricId, x: (at % 2) * 6, y: 4 * (at >> 1), w: 6, h: 4 })),
    metrics: Object.entries(charts).map(([metricId, chart]) => ({
      metricId,
      name: metricId,
      chart: { dimensions: [], measures: [], isDrillable: false, grains, ...chart },
      filters: [],
    })),
  };
};

type Pixels = { readonly data: Uint8ClampedArray };
type Canvas = {
  readonly width: number;
  readonly height: number;
  readonly getContext: (kind: '2d') => { getImageData: (x: number, y: number, w: number, h: number) => Pixels };
};

/** How many coloured lines cross the middle of a canvas from left to right. */
const countLines = (element: unknown): number => {
  const canvas = element as Canvas;
  const { data } = canvas.getContext('2d').getImageData(canvas.width >> 1, 0, 1, canvas.height);
  const isStrong = (_: unknown, y: number): boolean => {
    const [red = 0, green = 0, blue = 0, alpha = 0] = data.slice(4 * y, 4 * y + 4);
    return alpha > 200 && Math.max(red, green, blue) - Math.min(red, green, blue) > 80;
  };
  const rows = Array.from({ length: canvas.height }, (_, y) => y).filter(isStrong);
  return rows.filter((y, at) => at === 0 || y > (rows[at - 1] ?? 0) + 8).length;
};

type Lit = {
  readonly requestUpdate: () => void;
  readonly updateComplete: Promise<unknown>;
  readonly picture?: unknown;
};
type Root = { readonly host: Lit; readonly querySelector: (selector: string) => Lit };

const answered = (columns: readonly string[], isTruncated: boolean) => ({
  data: rows,
  totalRecords: isTruncated ? 84_539 : rows.length,
  ...(isTruncated ? { truncated: true } : {}),
  metaData: {
    columns: columns.map((name) => ({ name, dataType: name === 'Month' ? 'date' : 'number' })),
    groupbyColumnList: ['Month'],
  },
  error: null,
});

describe.skipIf(!hasChromium())('a chart in a browser', { timeout: 60_000 }, () => {
  let bench: Awaited<ReturnType<typeof startBench>>;
  let opened: Awaited<ReturnType<(typeof bench)['open']>>;
  let page: Page;

  beforeAll(async () => {
    bench = await startBench();
  }, 60_000);
  afterAll(() => bench.close());

  beforeEach(async () => {
    bench.service.control.override = ({ path, authorization }) => {
      if (path.endsWith('/dashboards/delays--LAX')) return { body: { data: dashboard(), error: null } };
      return path.includes('/query') ? { body: answered(names, authorization.endsWith('-2')) } : undefined;
    };
    opened = await bench.open('/bare');
    page = opened.page;
    await mount(page, 'guestlist-dashboard', { token: 'guest-LAX-1', 'dashboard-id': 'delays--LAX' });
    await page.getByRole('img', { name: /^Course: line chart/ }).waitFor();
  });
  afterEach(async () => {
    const violations = await violationsOf(page);
    await opened.close();
    expect(violations).toEqual([]);
    expect(opened.complaints).toEqual([]);
  });

  const course = () => page.getByRole('region', { name: 'Course', exact: true });

  it('draws a line in each panel where measures have three sizes', async () => {
    const card = page.getByRole('region', { name: 'Sizes', exact: true });
    await card.getByText('3 panels, each with its own scale').waitFor();
    const lines = () => card.locator('canvas').first().evaluate(countLines);
    await expect.poll(lines).toBe(3);
  });

  it('switches a series off by keyboard, and keeps it off when the data is read again', async () => {
    const entry = course().getByRole('button', { name: /^Delay/ });
    await entry.focus();
    await page.keyboard.press('Enter');
    await course().locator('button[aria-pressed="false"]', { hasText: 'Delay' }).waitFor();
    await course()
      .getByRole('img', { name: /6 values.*Lowest 100/ })
      .waitFor();
    expect(await course().getByRole('img').getAttribute('aria-label')).not.toContain('Series:');
    await page.getByRole('button', { name: /^State/ }).click();
    const asked = page.waitForResponse((response) => (response.request().postData() ?? '').includes('"CA"'));
    await page.getByRole('option', { name: 'CA', exact: true }).click();
    await asked;
    await course().locator('button[aria-pressed="false"]', { hasText: 'Delay' }).waitFor();
  });

  it('walks from mark to mark with the arrow keys, says each, and drills with Enter', async () => {
    const chart = course().getByRole('application');
    await chart.focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await course().locator('.tip', { hasText: 'February 2001' }).waitFor();
    await course()
      .locator('[aria-live]', { hasText: 'February 2001: Flights 110, Delay 19' })
      .waitFor({ state: 'attached' });
    await page.keyboard.press('End');
    await course().locator('.tip', { hasText: 'June 2001' }).waitFor();
    const asked = page.waitForRequest((request) => request.url().includes('/Course/query'));
    await page.keyboard.press('Enter');
    expect((await asked).postDataJSON().drill).toEqual([{ columnName: 'Month', value: months[5] }]);
  });

  it('ends the walk with Escape, and walks through the parts of a pie', async () => {
    const pie = page.getByRole('region', { name: 'Share', exact: true });
    await pie.getByRole('application').focus();
    await page.keyboard.press('Home');
    await pie.locator('.tip', { hasText: 'June 2001' }).waitFor();
    await page.keyboard.press('Escape');
    await pie.locator('.tip').waitFor({ state: 'detached' });
  });

  it('is drawn once, though the card around it changes', async () => {
    const isSame = await course().evaluate(async (section) => {
      const root = Reflect.apply(Reflect.get(section, 'getRootNode'), section, []) as Root;
      const [card, chart] = [root.host, root.querySelector('guestlist-chart')];
      const { picture } = chart;
      card.requestUpdate();
      await card.updateComplete;
      await chart.updateComplete;
      return picture !== undefined && chart.picture === picture;
    });
    expect(isSame).toBe(true);
  });

  it('moves the pointer along a line without drawing the line again', async () => {
    const canvas = course().locator('canvas');
    await canvas.evaluate((drawn) => {
      const context = drawn.getContext('2d');
      const clear = context.clearRect.bind(context);
      drawn.dataset.cleared = '0';
      context.clearRect = (...area: readonly unknown[]) => {
        drawn.dataset.cleared = String(Number(drawn.dataset.cleared) + 1);
        clear(...area);
      };
    });
    const tip = course().locator('.tip');
    for (const [x, title] of [
      [140, 'February 2001'],
      [270, 'March 2001'],
    ] as const) {
      await course()
        .locator('.canvas')
        .hover({ position: { x, y: 60 } });
      await tip.getByText(title).waitFor();
    }
    await expect.poll(() => canvas.count()).toBe(2);
    expect(await canvas.first().getAttribute('data-cleared')).toBe('0');
  });

  it('shows the period that is dragged over, tells the page, and shows all again', async () => {
    await page.evaluate(
      "document.querySelector('guestlist-dashboard').shadowRoot.querySelectorAll('guestlist-card')[0].shadowRoot.querySelector('guestlist-chart').addEventListener('period', (event) => window.host.events.push({ name: 'period', detail: event.detail }))",
    );
    const box = await course().getByRole('img').boundingBox();
    if (box === null) throw new Error('no chart');
    const y = box.y + box.height / 2;
    await page.mouse.move(box.x + box.width * 0.42, y);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.6, y, { steps: 4 });
    await page.mouse.move(box.x + box.width * 0.8, y, { steps: 4 });
    await page.mouse.up();
    await course().getByRole('button', { name: 'Reset zoom' }).waitFor();
    await course()
      .getByRole('img', { name: /3 values from March 2001 to May 2001/ })
      .waitFor();
    expect(
      await page.evaluate('host.events.filter(({ name }) => name === "period").map(({ detail }) => detail)'),
    ).toEqual([{ column: 'Month', from: '2001-03-01', to: '2001-05-31', last: '2001-05-01' }]);
    await course().getByRole('button', { name: 'Reset zoom' }).click();
    await course()
      .getByRole('img', { name: /6 values from January 2001/ })
      .waitFor();
  });

  it('says the change of a single value in words and with a sign, and draws its course', async () => {
    const card = page.getByRole('region', { name: 'Number', exact: true });
    expect((await textOf(card.locator('.value'))).replace('\u00a0', ' ')).toBe('15 min');
    expect((await textOf(card.locator('.change'))).replaceAll('\u00a0', ' ')).toBe(
      '▼ Down −6.3% from 16 min, May 2001',
    );
    expect(await card.locator('.change.good').count()).toBe(1);
    await card.getByRole('img', { name: 'Number: 6 values from 15 min to 20 min' }).waitFor();
  });

  it('says below a single value that periods are missing', async () => {
    await setAttribute(page, 'guestlist-dashboard', 'token', 'guest-LAX-2');
    const card = page.getByRole('region', { name: 'Number', exact: true });
    await card.getByText('June 2001. 6 of 84,539 rows').waitFor();
  });

  it('marks cells of a table with a sign and a word, and draws bars', async () => {
    const table = page.getByRole('region', { name: 'Rows, table' });
    const cells = await table.locator('tbody td:nth-child(3)').allTextContents();
    expect(cells.map((text) => text.replaceAll(/\s+/g, ' ').trim())).toEqual([
      '20 late',
      '19 late',
      '18',
      '17',
      '16 good',
      '15 good',
    ]);
    expect(await table.locator('.tone svg').count()).toBe(4);
    expect(await table.locator('.barred rect').count()).toBe(6);
  });
});
