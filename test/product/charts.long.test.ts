/** Every chart type drawn by the built product from real rows, on a host's page with a strict policy. */
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ChartType, chartTypes } from '../../src/model/dashboard/chart.js';
import { dark } from '../../src/model/theme/palette.js';
import { operations } from '../../src/service/operations.js';
import { hasChromium, launchChromium } from '../suites/chromium.js';
import { chartsDashboard } from './chart-metrics.js';
import { post } from './guest.js';
import { type Product, startProduct } from './product.js';

/** `TEST_SCREENSHOTS=folder` keeps pictures of every chart, theme and width there, to be looked at. */
const screenshots = process.env.TEST_SCREENSHOTS;

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** What axe-core finds in the dashboard. Forced colours are the reader's own, and axe-core does not know the ground under them. */
const faultsOf = ({ forcedColors }: BrowserContextOptions): string =>
  `axe.run('guestlist-dashboard', { rules: { 'color-contrast': { enabled: ${forcedColors !== 'active'} } } }).then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))`;

const withoutCanvas: readonly ChartType[] = ['singleValue', 'table', 'pivotTable'];

/** A host's page on another origin: it allows the service's scripts and requests, and no HTML from text. */
const startHost = async (service: string, token: string) => {
  const policy = [
    "default-src 'none'",
    `script-src ${service} 'self'`,
    `connect-src ${service}`,
    "style-src 'self'",
    "base-uri 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types lit-html',
  ].join('; ');
  const page = (theme = 'light', language = 'en') =>
    `<!doctype html><html lang="${language}"><head><meta name="viewport" content="width=device-width"><link rel="stylesheet" href="/${theme}.css"><title>host</title><script src="/host.js"></script><script type="module" src="${service}/elements.js"></script></head><body><guestlist-dashboard theme="${theme}" language="${language}" token="${token}" service-url="${service}" dashboard-id="charts--LAX"></guestlist-dashboard></body></html>`;
  const script =
    "window.violations = []; document.addEventListener('securitypolicyviolation', (event) => violations.push(event.violatedDirective + ' ' + event.blockedURI));";
  const server = createServer(({ url = '' }, response) => {
    const isScript = url === '/host.js';
    const theme = /^\/(\w+)\.css$/.exec(url)?.[1];
    const style = theme === 'dark' ? 'body { background: #0d121b; }' : '';
    const type = isScript ? 'javascript' : theme === undefined ? 'html; charset=utf-8' : 'css';
    response.setHeader('content-type', `text/${type}`);
    response.setHeader('content-security-policy', policy);
    if (theme !== undefined) response.end(style);
    else response.end(isScript ? script : page(...url.slice(1).split('/')));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
};

const openToken = async (product: Product): Promise<string> => {
  const { demoApiKey } = product.credentials;
  const made = await post(
    `${product.url}/api/v2/data-app/dashboard-embeds`,
    {
      dashboardId: 'charts--LAX',
      workspaceName: 'flights',
      clientId: 'LAX',
      accessSettings: { ...operations.createDashboardEmbed.example?.input.accessSettings, datamartName: 'flights' },
      importDashboardData: chartsDashboard,
    },
    demoApiKey,
  );
  expect(made.body).toMatchObject({ error: null });
  const answer = await post<{ token: string }>(
    `${product.url}/api/v2/guest-token/create`,
    {
      clientId: 'LAX',
      dataAppName: 'flights',
      params: { allowedEmbeds: [made.body.id], timezone: 'UTC' },
      permissions: { isEnableDownloadMetrics: true },
    },
    demoApiKey,
  );
  expect(answer.body.token).toBeTypeOf('string');
  return answer.body.token;
};

const cardOf = (page: Page, type: ChartType): Locator =>
  page.locator('guestlist-card', { has: page.getByRole('heading', { name: `The ${type}`, exact: true }) });

/** How many colours a chart's canvas shows, and the share of its pixels that are not transparent. */
const inkOf = (card: Locator): Promise<{ colours: number; ink: number }> =>
  card.locator('canvas').evaluate((element) => {
    const canvas = element as unknown as {
      width: number;
      height: number;
      getContext: (kind: string) => { getImageData: (...at: number[]) => { data: Uint8ClampedArray } };
    };
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const seen = new Set<number>();
    let ink = 0;
    for (let at = 0; at < data.length; at += 4) {
      if ((data[at + 3] ?? 0) < 128) continue;
      ink += 1;
      seen.add(((data[at] ?? 0) >> 4) * 256 + ((data[at + 1] ?? 0) >> 4) * 16 + ((data[at + 2] ?? 0) >> 4));
    }
    return { colours: seen.size, ink: ink / (data.length / 4) };
  });

const until = <T>(read: () => Promise<T>, about: string) => expect.poll(read, { message: about, timeout: 30_000 });

const run = promisify(execFile);
const hasPoppler = spawnSync('pdftotext', ['-v']).error === undefined;

/** The text of a PDF, as poppler reads it. */
const textOfPdf = async (file: string): Promise<string> => (await run('pdftotext', ['-layout', file, '-'])).stdout;

/** The card's own picture files, and what the PNG shows. */
const pictureOf = (card: Locator) =>
  card.evaluate(async (element) => {
    const { exportImage, clientWidth: width } = element as unknown as {
      exportImage: (type: string) => Promise<Blob>;
      clientWidth: number;
    };
    const blob = await exportImage.call(element, 'png');
    const { createImageBitmap, OffscreenCanvas } = globalThis as unknown as {
      createImageBitmap: (blob: Blob) => Promise<{ width: number; height: number }>;
      OffscreenCanvas: new (
        ...size: number[]
      ) => {
        getContext: (kind: string) => {
          drawImage: (...args: unknown[]) => void;
          getImageData: (...at: number[]) => { data: Uint8ClampedArray };
        };
      };
    };
    const bitmap = await createImageBitmap(blob);
    const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
    context.drawImage(bitmap, 0, 0);
    const { data } = context.getImageData(0, 0, bitmap.width, bitmap.height);
    const seen = new Set<number>();
    for (let at = 0; at < data.length; at += 4)
      seen.add(((data[at] ?? 0) >> 4) * 256 + ((data[at + 1] ?? 0) >> 4) * 16 + ((data[at + 2] ?? 0) >> 4));
    let png = '';
    for (const byte of new Uint8Array(await blob.arrayBuffer())) png += String.fromCharCode(byte);
    const svg = await (await exportImage.call(element, 'svg')).text();
    return {
      png: btoa(png),
      svg,
      width,
      pixels: { width: bitmap.width, colours: seen.size, corner: [...data.slice(0, 3)] },
    };
  });

describe.skipIf(!hasChromium())('the charts of the product', { timeout: 120_000 }, () => {
  let product: Product;
  let browser: Browser;
  let host: Awaited<ReturnType<typeof startHost>> | undefined;
  let token: string;

  beforeAll(async () => {
    [product, browser] = await Promise.all([startProduct(), launchChromium()]);
    token = await openToken(product);
    host = await startHost(product.url, token);
  }, 120_000);
  afterAll(async () => {
    await browser.close();
    host?.close();
    await product.stop();
    await product.remove();
  });

  const visit = async (theme: string, options: BrowserContextOptions, look: (page: Page) => Promise<void>) => {
    const context = await browser.newContext({ locale: 'en-US', reducedMotion: 'reduce', ...options });
    try {
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('console', (message) => {
        if (message.type() === 'error') complaints.push(message.text());
      });
      await page.goto(`${host?.url}/${theme}`);
      const waiting = page.locator('guestlist-card section[aria-busy="true"], guestlist-chart [role=status]');
      await expect.poll(() => page.locator('guestlist-card').count(), { timeout: 30_000 }).toBe(chartTypes.length);
      await expect.poll(() => waiting.count(), { timeout: 60_000 }).toBe(0);
      await look(page);
      expect(await page.evaluate('violations')).toEqual([]);
      expect(complaints).toEqual([]);
    } finally {
      await context.close();
    }
  };

  test('the first script is at most 41 KiB, compressed', async () => {
    const script = await fetch(`${product.url}/elements.js`).then((answer) => answer.arrayBuffer());
    expect(gzipSync(script).byteLength).toBeLessThanOrEqual(41 * 1024);
  });

  /** Chooses the first mark of the card, as a reader does: a value of a table by pointer, a mark of a chart by keyboard. */
  const choose = async (page: Page, card: Locator, type: ChartType): Promise<void> => {
    if (type === 'table' || type === 'pivotTable') return card.locator('tbody button').first().click();
    await card.getByRole('application').focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('Enter');
  };

  test('a click on each type filters the others, shows its choice, says so in words, and is undone by a second or by Escape', () =>
    visit('light', { viewport: { width: 1280, height: 900 } }, async (page) => {
      const chips = page.getByRole('group', { name: 'Filters from charts' }).getByRole('button');
      const markedOf = (card: Locator) => card.locator('.marked').allTextContents();
      for (const type of chartTypes) {
        const card = cardOf(page, type);
        // One number has no mark, and a bucket of distances stands in no other card.
        if (type === 'singleValue' || type === 'gauge' || type === 'histogram') continue;
        for (const undo of ['click', 'Escape'] as const) {
          await choose(page, card, type);
          await until(() => chips.count(), type).toBe(1);
          const label = (await chips.textContent())?.trim() ?? '';
          await until(() => markedOf(card), type).toEqual([`Filters the other charts: ${label}`]);
          // Every other card says whether it is filtered.
          const words = await page.locator('.marked').allTextContents();
          expect(words, type).toHaveLength(chartTypes.length);
          expect(words.filter((each) => each === `Filtered by ${label}`).length, type).toBeGreaterThan(0);
          if (type === 'table' || type === 'pivotTable') {
            expect(await card.locator('button[aria-pressed="true"]').count(), type).toBeGreaterThan(0);
            expect(await card.locator('tr.faded').count(), type).toBeGreaterThan(0);
          }
          if (undo === 'click') await choose(page, card, type);
          else {
            // The first ends the walk of the keyboard, where there is one.
            if (type !== 'table' && type !== 'pivotTable') await page.keyboard.press('Escape');
            await page.keyboard.press('Escape');
          }
          await until(() => chips.count(), type).toBe(0);
          await until(() => page.locator('.marked').count(), type).toBe(0);
        }
      }
    }));

  test('each type is drawn, on a page that refuses HTML from text', () =>
    visit('light', { viewport: { width: 1280, height: 900 } }, async (page) => {
      for (const type of chartTypes) {
        const card = cardOf(page, type);
        expect(await card.getByRole('alert').count(), type).toBe(0);
        if (withoutCanvas.includes(type)) continue;
        expect(await card.locator('table').count(), type).toBe(0);
        const { colours, ink } = await inkOf(card);
        expect(colours, type).toBeGreaterThan(2);
        expect(ink, type).toBeGreaterThan(0.005);
        const name = await card.getByRole('img').getAttribute('aria-label');
        expect(name, type).toMatch(/^The \w+: [a-z ]+, .*\d/);
      }
      expect(await cardOf(page, 'singleValue').locator('.value').textContent()).toMatch(/^[\d,]+$/);
      expect(await cardOf(page, 'pivotTable').locator('tr.total').count()).toBe(1);
      expect(await cardOf(page, 'table').locator('tbody tr').count()).toBeGreaterThan(20);
    }));

  test('a pointer shows what is under it, and a button the table', () =>
    visit('light', { viewport: { width: 1280, height: 900 } }, async (page) => {
      for (const type of ['line', 'pie', 'waterfall'] as const) {
        const card = cardOf(page, type);
        await card.scrollIntoViewIfNeeded();
        await card.getByRole('img').hover({ position: type === 'pie' ? { x: 270, y: 130 } : { x: 300, y: 120 } });
        await card.locator('.tip .number').first().waitFor();
        expect(await card.locator('.tip').textContent(), type).toMatch(/\d/);
        await card.getByRole('button', { name: `Show as table: The ${type}` }).click();
        await card.locator('td').first().waitFor();
      }
    }));

  test('each card is a picture file: title, moment and the chart in colours of the theme, twice as dense', () =>
    visit('dark', { viewport: { width: 1280, height: 900 } }, async (page) => {
      const files: { readonly type: ChartType; readonly svg: string }[] = [];
      for (const type of chartTypes) {
        const card = cardOf(page, type);
        const { png, pixels, svg, width } = await pictureOf(card);
        expect(pixels.width, type).toBe(2 * width);
        expect(pixels.colours, type).toBeGreaterThan(4);
        expect(`#${Buffer.from(pixels.corner).toString('hex')}`, type).toBe(dark.surface);
        expect(svg, type).toContain(`>The ${type}</text>`);
        expect(svg, type).toMatch(/>[A-Z][a-z]{2} \d{1,2}, 20\d\d, \d{1,2}:\d\d\s[AP]M<\/text>/u);
        expect(svg, type).not.toContain('<script');
        files.push({ type, svg });
        if (screenshots !== undefined) await writeFile(`${screenshots}/file-${type}.png`, Buffer.from(png, 'base64'));
      }
      const viewer = await page.context().newPage();
      for (const { type, svg } of files) {
        await viewer.goto(`data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`);
        expect(await viewer.locator('parsererror').count(), type).toBe(0);
        if (!withoutCanvas.includes(type)) expect(await viewer.locator('path').count(), type).toBeGreaterThan(3);
        if (screenshots !== undefined) await viewer.screenshot({ path: `${screenshots}/svg-${type}.png` });
      }
    }));

  // Poppler reads the PDF (`apt-get install poppler-utils`); CI has it.
  test.runIf(hasPoppler || process.env.CI)(
    'on paper: every card whole and light, with the moment, also from a dark page',
    () =>
      visit('dark', { viewport: { width: 1280, height: 900 } }, async (page) => {
        const folder = screenshots ?? (await mkdtemp(join(tmpdir(), 'guestlist-print-')));
        const file = join(folder, 'charts.pdf');
        await page.pdf({ path: file, format: 'A4', printBackground: true });
        const text = await textOfPdf(file);
        for (const type of chartTypes) expect(text, type).toContain(`The ${type}`);
        expect(text).toMatch(/[A-Z][a-z]+ \d{1,2}, 20\d\d at \d{1,2}:\d\d/);
        const value = await cardOf(page, 'singleValue').locator('.value').textContent();
        expect(text).toContain(value);
        const words = new Set(text.split(/\s+/));
        for (const cell of await cardOf(page, 'table').locator('td').allTextContents()) {
          for (const word of cell.trim().split(/[\s/-]+/)) expect(`${[...words].join(' ')} `).toContain(word);
        }
        await run('pdftoppm', ['-r', '50', '-png', file, join(folder, 'page')]);
        const pages = (await readdir(folder)).filter((name) => /^page-\d+\.png$/.test(name));
        expect(pages.length).toBeGreaterThan(3);
        // Afterwards the page is as before.
        await expect.poll(() => page.locator('guestlist-dashboard[printing]').count()).toBe(0);
        const { colours } = await inkOf(cardOf(page, 'line'));
        expect(colours).toBeGreaterThan(2);
        if (screenshots === undefined) await rm(folder, { recursive: true });
        // `print()` leaves the rest of the page out, until the dialog is closed.
        const seen = await page.evaluate(`(async () => {
        const menu = document.body.appendChild(document.createElement('nav'));
        const isOut = () => menu.hasAttribute('data-guestlist-unprinted');
        let during;
        window.print = () => { during = isOut() && document.querySelector('guestlist-dashboard').hasAttribute('printing'); };
        await document.querySelector('guestlist-dashboard').print();
        return [during, isOut()];
      })()`);
        expect(seen).toEqual([true, false]);
      }),
  );

  test('the server draws the same: PDF and PNG have what the token reads', async () => {
    const answer = (path: string, body: object) =>
      fetch(`${product.url}/api/v2/guest/${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const pdf = await answer('dashboards/charts--LAX/pdf', {});
    expect([pdf.status, pdf.headers.get('content-type')]).toEqual([200, 'application/pdf']);
    const folder = screenshots ?? (await mkdtemp(join(tmpdir(), 'guestlist-render-')));
    const file = join(folder, 'server.pdf');
    await writeFile(file, Buffer.from(await pdf.arrayBuffer()));
    if (hasPoppler) {
      const text = await textOfPdf(file);
      for (const type of chartTypes) expect(text, type).toContain(`The ${type}`);
      expect(text).toContain('115,245');
      expect(text).toMatch(/As of \w+ \d+, 20\d\d at \d{1,2}:\d\d\s[AP]M \(UTC\)/u);
    }
    const board = await fetch(`${product.url}/api/v2/guest/dashboards/charts--LAX`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const { data } = (await board.json()) as { data: { metrics: { metricId: string; name: string }[] } };
    const metricId = data.metrics.find(({ name }) => name === 'The line')?.metricId ?? '';
    const png = await answer(`metrics/${metricId}/png`, { dashboardId: 'charts--LAX' });
    const bytes = Buffer.from(await png.arrayBuffer());
    expect([png.status, bytes.subarray(1, 4).toString()]).toEqual([200, 'PNG']);
    if (screenshots !== undefined) await writeFile(join(folder, 'server.png'), bytes);
    expect((await answer('dashboards/delays--SFO/pdf', {})).status).toBe(403);
    if (screenshots === undefined) await rm(folder, { recursive: true });
  });

  const modes: readonly [string, string, BrowserContextOptions][] = [
    ['forced-colours', 'light', { viewport: { width: 1280, height: 900 }, forcedColors: 'active' }],
    [
      'forced-colours-dark',
      'auto',
      { viewport: { width: 900, height: 900 }, forcedColors: 'active', colorScheme: 'dark' },
    ],
    ['arabic', 'dark/ar', { viewport: { width: 1280, height: 900 } }],
    ['arabic-phone', 'light/ar', { viewport: { width: 360, height: 780 } }],
    ['japanese', 'dark/ja', { viewport: { width: 900, height: 900 } }],
    // What a browser's zoom of 200 % makes of a window of 1280 pixels.
    ['zoomed', 'light/de', { viewport: { width: 640, height: 450 }, deviceScaleFactor: 2 }],
    ['narrowest', 'light', { viewport: { width: 320, height: 600 } }],
    ['widest', 'dark', { viewport: { width: 2560, height: 1400 } }],
  ];
  test.each(modes)('every type is drawn and nothing is wider than the page: %s', (mode, path, options) =>
    visit(path, options, async (page) => {
      await page.evaluate(axe);
      expect(await page.evaluate(faultsOf(options))).toEqual([]);
      const beyond = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
      expect(await page.evaluate(beyond)).toBe(0);
      for (const type of chartTypes.filter((each) => !withoutCanvas.includes(each)))
        expect([type, (await inkOf(cardOf(page, type))).ink > 0.005]).toEqual([type, true]);
      if (screenshots !== undefined) await page.screenshot({ path: `${screenshots}/${mode}.png`, fullPage: true });
    }),
  );

  test.runIf(screenshots !== undefined).each([
    ['light', 360],
    ['dark', 360],
    ['light', 1280],
    ['dark', 1280],
  ])('pictures, %s, %i px', (theme, width) =>
    visit(theme, { viewport: { width, height: 900 } }, async (page) => {
      for (const type of chartTypes) {
        await cardOf(page, type).screenshot({ path: `${screenshots}/${type}-${theme}-${width}.png` });
      }
    }),
  );
});
