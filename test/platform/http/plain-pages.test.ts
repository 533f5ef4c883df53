/** The pages of the server itself: the front door, and errors, which browsers get as pages and programs as JSON. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RequestHandler } from 'express';
import fc from 'fast-check';
import type { Browser } from 'playwright-core';
import supertest from 'supertest';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createApp, createManagementApp } from '../../../src/platform/http/app.js';
import { answerStarting } from '../../../src/platform/http/pages/starting.js';
import type { Doors } from '../../../src/platform/http/wire/doors.js';
import type { Handle } from '../../../src/platform/http/wire/in-turn.js';
import { createMeters } from '../../../src/platform/logs/meters.js';
import { violationsOf } from '../../product/studio-page.js';
import { hasChromium, launchChromium } from '../../suites/chromium.js';
import { createMemoryLog, document } from './sample.js';

const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const secret = 'password of the database';
const failing: RequestHandler = ({ path }, _response, next) =>
  next(path === '/failing' ? new Error(secret) : undefined);

const parts = () => ({
  ...{ log: createMemoryLog().log, meters: createMeters(), ready: () => true },
  service: { dispatch: async () => undefined, addressOf: () => '', document: () => document },
  routers: [failing],
});
const appOf = ({ doors, assets = [] }: { readonly doors?: Doors; readonly assets?: readonly string[] } = {}) =>
  createApp({
    ...parts(),
    assets: new Map(assets.map((path) => [path, {} as never])),
    ...(doors === undefined ? {} : { doors }),
  });
const closed = (strangers: Doors['strangers']): Doors => ({
  strangers,
  isOperator: () => false,
  isIntegrator: async () => false,
});
const visit = (app: Handle, path: string) => supertest(app).get(path).set('Accept', accept);
const linksOf = (text: string) => [...text.matchAll(/href="([^"]*)"/g)].map(([, link]) => link);

describe('the front door', () => {
  test('leads to what this process serves to a browser, and to nothing else', async () => {
    const assets = ['/demo', '/studio', '/elements.js'];
    expect(linksOf((await visit(appOf({ assets }), '/')).text)).toEqual([
      ...['/demo', '/studio', '/docs', '/readyz', '/elements.js'],
    ]);
    expect(linksOf((await visit(appOf(), '/')).text)).toEqual(['/docs', '/readyz']);
    // A browser sends no bearer token, so these links would lead to a refusal.
    for (const strangers of ['refused', 'not-found'] as const)
      expect(linksOf((await visit(appOf({ doors: closed(strangers) }), '/')).text)).toEqual(['/readyz']);
  });

  test('the management port has its own front door, whose links are all served there', async () => {
    const app = createManagementApp(parts());
    const links = linksOf((await visit(app, '/')).text);
    expect(links).toEqual(['/docs', '/metrics', '/readyz']);
    for (const path of ['/metrics', '/readyz']) expect((await supertest(app).get(path)).status).toBe(200);
  });
});

describe('a page that is not there', () => {
  test('a browser gets a page with the status 404, and a program the envelope', async () => {
    const page = await visit(appOf(), '/nowhere');
    expect([page.status, page.type, page.headers.vary]).toEqual([404, 'text/html', 'Accept']);
    expect(page.text).toContain('<h1>Page not found</h1>');
    for (const type of ['*/*', 'application/json', 'application/json, text/plain, */*']) {
      const { status, body, headers } = await supertest(appOf()).get('/nowhere').set('Accept', type);
      expect([status, body.error.code, headers.vary]).toEqual([404, 'NOT_FOUND', 'Accept']);
    }
  });

  test('a form, a script or a hook that changes something gets JSON, whatever it accepts', async () => {
    const { status, body } = await supertest(appOf()).post('/nowhere').set('Accept', accept);
    expect([status, body.error.code]).toEqual([404, 'NOT_FOUND']);
  });

  test('a path that is closed to strangers answers a browser exactly as a path that is not there', async () => {
    const app = appOf({ doors: closed('not-found') });
    const [inner, nowhere] = [await visit(app, '/docs'), await visit(app, '/nowhere')];
    const same = ({ status, text, headers }: typeof inner) => {
      const { date: _, 'x-request-id': __, ...rest } = headers;
      return { status, text, rest };
    };
    expect(same(inner)).toEqual(same(nowhere));
  });

  test('no address is repeated on the page, whatever it holds', async () => {
    const app = appOf();
    const { text: usual } = await visit(app, '/nowhere');
    const character = fc.constantFrom('<', '>', '"', "'", '&', '%', '`', '/', 'a', '.', ';', '=', '(', '\\');
    const rest = fc.array(character, { minLength: 1, maxLength: 40 }).map((all) => all.join(''));
    await fc.assert(
      fc.asyncProperty(rest, async (added) => {
        const { status, text } = await visit(app, `/nowhere${encodeURI(added)}?q=${encodeURIComponent(added)}`);
        expect([status, text]).toEqual([404, usual]);
      }),
      { numRuns: 60 },
    );
  });
});

describe('a page that fails', () => {
  test('a browser reads the request id and no cause, and a program the same as JSON', async () => {
    const page = await visit(appOf(), '/failing').set('X-Request-Id', 'request-12345678');
    expect([page.status, page.type]).toEqual([500, 'text/html']);
    expect(page.text).toContain('Quote request id request-12345678');
    const { body } = await supertest(appOf()).get('/failing');
    expect(body.error.code).toBe('INTERNAL_SERVER_ERROR');
    for (const told of [page.text, JSON.stringify(body)]) expect(told).not.toMatch(/password|Error:|\bat \//);
  });

  test('a page that needs a credential says which one, with the status 401', async () => {
    const page = await visit(appOf({ doors: closed('refused') }), '/docs');
    expect([page.status, page.headers['www-authenticate']]).toEqual([401, 'Bearer']);
    expect(page.text).toContain('GUESTLIST_METRICS_TOKEN');
  });

  test.each(['/', '/nowhere', '/failing'])('the page at %s runs nothing and loads nothing', async (path) => {
    const { headers, text } = await visit(appOf(), path);
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'/,
    );
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(text).not.toMatch(/<script|<link|<img|\ssrc=|\sstyle=|\son\w+=/i);
  });
});

describe.runIf(hasChromium())('in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  const pages = {
    ...{ '/': 'front', '/nowhere': 'not-found', '/failing': 'failing', '/starting': 'starting' },
    ...{ '/docs/api': 'reference', '/docs/api/guest-tokens': 'resource', '/docs/api/objects/guest-metric': 'object' },
  };
  test.each(['light', 'dark'] as const)('axe finds nothing on the pages, %s, and they fit a phone', async (scheme) => {
    const app = appOf({ assets: ['/demo', '/studio', '/elements.js'] });
    const handle: Handle = (request, response) =>
      request.url === '/starting' ? answerStarting(request, response) : app(request, response);
    const server = createServer((request, response) => void handle(request, response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const context = await browser.newContext({ colorScheme: scheme });
    onTestFinished(() => context.close());
    const blocked: string[] = [];
    // The page that says that Guestlist starts asks again by itself after a second, and would break off the check.
    await context.route('**/starting', async (route) => {
      const answered = await route.fetch();
      const { refresh: _, ...headers } = answered.headers();
      await route.fulfill({ response: answered, headers });
    });
    // These apps serve no files of the browser.
    await context.route('**/fonts/inter.css', (route) => route.fulfill({ contentType: 'text/css', body: '' }));
    for (const [path, name] of Object.entries(pages))
      for (const width of [1440, 390]) {
        const page = await context.newPage();
        page.on('console', (said) => void (/security policy/i.test(said.text()) && blocked.push(said.text())));
        await page.setViewportSize({ width, height: 900 });
        await page.goto(`${origin}${path}`);
        expect.soft([path, await violationsOf(page)]).toEqual([path, []]);
        const wide = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
        expect.soft([path, width, wide]).toEqual([path, width, 0]);
        if (process.env.TEST_SCREENSHOTS !== undefined)
          await page.screenshot({ path: `${process.env.TEST_SCREENSHOTS}/plain-${name}-${scheme}-${width}.png` });
        await page.close();
      }
    expect(blocked).toEqual([]);
  });
});
