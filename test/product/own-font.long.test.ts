/** Inter on a page of another origin: it comes from the service where the theme names it, and only there. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasChromium, launchWhole } from '../suites/chromium.js';
import { type Product, startProduct } from './product.js';

const named = JSON.stringify({ font: { family: { $value: ['Inter', 'sans-serif'] } } });
const ownFace = "<style>@font-face { font-family: 'Inter'; src: local('Liberation Sans'); }</style>";

describe.skipIf(!hasChromium)('a page that has no fonts', () => {
  let product: Product;
  let browser: Browser;
  beforeAll(async () => {
    product = await startProduct();
    browser = await launchWhole();
  });
  afterAll(async () => {
    await browser.close();
    await product.stop();
  });

  /** The page with the demo's dashboard, drawn; `asked` has the files of fonts that it asked for. */
  const open = async ({ theme, head = '' }: { theme: string; head?: string }) => {
    const page: Page = await browser.newPage();
    const asked: string[] = [];
    page.on('request', (request) => request.resourceType() === 'font' && asked.push(request.url()));
    await page.request.post(`${product.url}/demo/login`, { data: { user: 'lax-analyst' } });
    const minted = await page.request.post(`${product.url}/embed-token`, { headers: { origin: product.url } });
    const { token } = (await minted.json()) as { token: string };
    const element = `<guestlist-dashboard dashboard-id="delays--LAX" service-url="${product.url}" theme='${theme}' token="${token}"></guestlist-dashboard>`;
    const body = `<!doctype html><html lang="en"><title>Host</title>${head}<script type="module" src="${product.url}/elements.js"></script>${element}`;
    const server = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html');
      response.end(body);
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    server.close();
    await page.locator('guestlist-chart canvas').first().waitFor();
    return { page, asked };
  };
  const statusOf = (page: Page) =>
    page.evaluate('[...document.fonts].filter(({ family }) => /^.?Inter.?$/.test(family)).map(({ status }) => status)');

  it('loads Inter for a theme that names it, and draws its charts again', async () => {
    const { page, asked } = await open({ theme: named });
    await expect.poll(() => statusOf(page)).toContain('loaded');
    expect(asked).toEqual([expect.stringMatching(`^${product.url}/fonts/inter-latin-[\\d.]+woff2$`)]);
    type Drawn = { readonly picture: { readonly option: { readonly textStyle: { readonly fontFamily: string } } } };
    const chart = page.locator('guestlist-chart').first();
    const drawn = () => chart.evaluate((node) => (node as unknown as Drawn).picture.option.textStyle.fontFamily);
    await expect.poll(drawn).toMatch(/^'Inter'/);
    await page.close();
  });

  it.each([
    ['a theme without it', { theme: 'light' }],
    ['a page that has its own', { theme: named, head: ownFace }],
  ])('asks for no font for %s', async (_name, given) => {
    const { page, asked } = await open(given);
    await page.waitForLoadState('networkidle');
    expect(asked).toEqual([]);
    await page.close();
  });
});
