/**
 * Every chart type and state, in both themes and widths, with one font, compared with the stored pictures.
 * `npm run goldens` runs it; with `UPDATE_GOLDENS=1` it writes the pictures anew, to be looked at one by one.
 */
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pixelmatch from 'pixelmatch';
import type { Browser, Locator, Page, Route } from 'playwright-core';
import { PNG } from 'pngjs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chartTypes } from '../../src/model/dashboard/chart.js';
import { operations } from '../../src/service/operations.js';
import { hasChromium, launchWhole } from '../suites/chromium.js';
import { picturesDashboard, variants } from './chart-metrics.js';
import { post } from './guest.js';
import { type Product, startProduct } from './product.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Each chart type, and charts that are no type of their own. */
const drawn = [...chartTypes, ...Object.keys(variants)];
const isUpdate = process.env.UPDATE_GOLDENS === '1';
const versionFile = join(root, 'test/goldens/chromium.txt');
const weights = [400, 500, 600, 700] as const;
const fontFile = (weight: number): string =>
  createRequire(import.meta.url).resolve(`@fontsource/inter/files/inter-latin-${weight}-normal.woff2`);

/** The part of a picture's pixels that may differ: other versions of Chromium smooth lines and letters in another way. */
const tolerance = 0.005;

/** Light and wide pictures of the chart types are those of the documents. */
const pathOf = (name: string, theme: string, width: number): string =>
  (chartTypes as readonly string[]).includes(name) && theme === 'light' && width === 1280
    ? join(root, 'docs/images/charts', `${name}.png`)
    : join(root, 'test/goldens', `${name}-${theme}-${width}.png`);

/** The page loads the font before the element exists: a canvas does not draw again when a font comes. */
const script = (service: string, token: string) => `
const show = async () => {
  for (const weight of ${JSON.stringify(weights)}) {
    const face = new FontFace('Golden', 'url(/font-' + weight + '.woff2)', { weight: String(weight) });
    document.fonts.add(await face.load());
  }
  const element = document.createElement('guestlist-dashboard');
  element.setAttribute('theme', location.pathname.slice(1));
  element.setAttribute('service-url', ${JSON.stringify(service)});
  element.setAttribute('dashboard-id', 'charts--LAX');
  element.style.setProperty('--gl-font', 'Golden');
  element.setAttribute('token', ${JSON.stringify(token)});
  document.body.append(element);
};
show();`;

const startHost = async (service: string, token: string) => {
  const server = createServer(({ url = '' }, response) => {
    const weight = /^\/font-(\d+)\.woff2$/.exec(url)?.[1];
    if (weight !== undefined) {
      response.setHeader('content-type', 'font/woff2');
      response.end(readFileSync(fontFile(Number(weight))));
    } else {
      const isDark = url.startsWith('/dark');
      response.setHeader('content-type', 'text/html; charset=utf-8');
      response.end(
        `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><body style="background: ${isDark ? '#0d121b' : '#fff'}"><script type="module" src="${service}/elements.js"></script><script type="module">${script(service, token)}</script>`,
      );
    }
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
};

const makeBoard = async ({ url, credentials: { demoApiKey } }: Product): Promise<string> => {
  const made = await post<{ id: string }>(
    `${url}/api/v2/data-app/dashboard-embeds`,
    {
      dashboardId: 'charts--LAX',
      workspaceName: 'flights',
      clientId: 'LAX',
      accessSettings: { ...operations.createDashboardEmbed.example?.input.accessSettings, datamartName: 'flights' },
      importDashboardData: picturesDashboard,
    },
    demoApiKey,
  );
  const params = { allowedEmbeds: [made.body.id], timezone: 'UTC' };
  const input = { clientId: 'LAX', dataAppName: 'flights', params, permissions: { isEnableDownloadMetrics: true } };
  return (await post<{ token: string }>(`${url}/api/v2/guest-token/create`, input, demoApiKey)).body.token;
};

type Compared = { readonly name: string; readonly share: number };

const compare = (drawn: Buffer, file: string): number => {
  if (!existsSync(file)) return 1;
  const [one, other] = [PNG.sync.read(drawn), PNG.sync.read(readFileSync(file))];
  if (one.width !== other.width || one.height !== other.height) return 1;
  const differing = pixelmatch(one.data, other.data, undefined, one.width, one.height, { threshold: 0.2 });
  return differing / (one.width * one.height);
};

/** What the service answers to a card's question in each state; undefined: nothing. */
const states: Readonly<Record<string, ((route: Route) => Promise<void>) | undefined>> = {
  loading: undefined,
  failed: (route) =>
    route.fulfill({
      status: 400,
      json: { error: { code: 'METRIC_QUERY_ERROR', message: 'The query takes too long.', status: 400 } },
    }),
  empty: async (route) => {
    const lines = (await (await route.fetch()).text()).trim().split('\n');
    const emptied = lines.map((line) => {
      const part = JSON.parse(line);
      return JSON.stringify({ ...part, answer: { ...part.answer, data: [], totalRecords: 0 } });
    });
    await route.fulfill({ contentType: 'application/x-ndjson', body: `${emptied.join('\n')}\n` });
  },
  truncated: async (route) => {
    const lines = (await (await route.fetch()).text()).trim().split('\n');
    const cut = lines.map((line) => {
      const part = JSON.parse(line);
      return JSON.stringify({ ...part, answer: { ...part.answer, totalRecords: 84_539, truncated: true } });
    });
    await route.fulfill({ contentType: 'application/x-ndjson', body: `${cut.join('\n')}\n` });
  },
};

describe.skipIf(!hasChromium())('the pictures of the charts', { timeout: 300_000 }, () => {
  let product: Product;
  let browser: Browser;
  let host: Awaited<ReturnType<typeof startHost>>;

  beforeAll(async () => {
    [product, browser] = await Promise.all([startProduct(), launchWhole()]);
    host = await startHost(product.url, await makeBoard(product));
    await Promise.all(
      ['docs/images/charts', 'test/goldens'].map((folder) => mkdir(join(root, folder), { recursive: true })),
    );
    if (isUpdate) await writeFile(versionFile, `${browser.version()}\n`);
  }, 120_000);
  afterAll(async () => {
    await browser.close();
    host.close();
    await product.stop();
    await product.remove();
  });

  /** Compares, or stores, the picture of a card. */
  const take = async (card: Locator, name: string, theme: string, width: number): Promise<Compared> => {
    await card.scrollIntoViewIfNeeded();
    const drawn = await card.screenshot({ animations: 'disabled', caret: 'hide' });
    const file = pathOf(name, theme, width);
    if (isUpdate) await writeFile(file, PNG.sync.write(PNG.sync.read(drawn), { deflateLevel: 9 }));
    const share = compare(drawn, file);
    if (share > tolerance && process.env.TEST_SCREENSHOTS) {
      await writeFile(join(process.env.TEST_SCREENSHOTS, `golden-${name}-${theme}-${width}.png`), drawn);
    }
    return { name: `${name}-${theme}-${width}`, share };
  };
  const visit = async (
    path: string,
    width: number,
    look: (page: Page) => Promise<void>,
    prepare = async (_: Page) => {},
  ) => {
    const context = await browser.newContext({
      locale: 'en-US',
      timezoneId: 'UTC',
      reducedMotion: 'reduce',
      viewport: { width, height: 900 },
    });
    try {
      const page = await context.newPage();
      page.setDefaultTimeout(30_000);
      await prepare(page);
      await page.goto(`${host.url}/${path}`);
      await look(page);
      // A question that waits for ever would hold the page.
      await page.unrouteAll({ behavior: 'ignoreErrors' });
    } finally {
      await context.close();
    }
  };
  const expectSame = (compared: readonly Compared[]) => {
    const drawnBy = `drawn by Chromium ${browser.version()}, stored by ${readFileSync(versionFile, 'utf8').trim()}`;
    expect(
      compared.filter(({ share }) => share > tolerance),
      drawnBy,
    ).toEqual([]);
  };
  const cardOf = (page: Page, name: string): Locator =>
    page.locator('guestlist-card', { has: page.getByRole('heading', { name: `The ${name}`, exact: true }) });

  test.each([
    ['light', 360],
    ['dark', 360],
    ['light', 1280],
    ['dark', 1280],
  ])('each chart type, %s, %i px', (theme, width) =>
    visit(theme, width, async (page) => {
      const waiting = page.locator('guestlist-card section[aria-busy="true"], guestlist-chart [role=status]');
      await expect.poll(() => page.locator('guestlist-card').count(), { timeout: 30_000 }).toBe(drawn.length);
      await page.evaluate(
        "(async () => { for (const card of document.querySelector('guestlist-dashboard').shadowRoot.querySelectorAll('guestlist-card')) { card.scrollIntoView(); await new Promise(requestAnimationFrame); } })()",
      );
      await expect.poll(() => waiting.count(), { timeout: 60_000 }).toBe(0);
      const compared: Compared[] = [];
      for (const name of drawn) compared.push(await take(cardOf(page, name), name, theme, width));
      expectSame(compared);
    }),
  );

  const shown: Readonly<Record<string, string>> = {
    loading: '.skeleton',
    failed: '[role=alert]',
    empty: '.state',
    truncated: 'canvas',
  };

  test.each(
    Object.keys(states).flatMap((state) =>
      ['light', 'dark'].flatMap((theme) => [360, 1280].map((width) => [state, theme, width] as const)),
    ),
  )('%s, %s, %i px', (state, theme, width) =>
    visit(
      theme,
      width,
      async (page) => {
        const card = cardOf(page, 'line');
        await card
          .locator(shown[state] ?? '')
          .first()
          .waitFor();
        if (state !== 'loading') await card.locator('section[aria-busy="false"]').waitFor();
        expectSame([await take(card, state, theme, width)]);
      },
      async (page) => {
        await page.route('**/query', (route) => states[state]?.(route));
      },
    ),
  );
});
