/**
 * The page that the browser opens. Nothing on it comes from a network: each request is answered by this process, or
 * refused. The page can read what its caller can read, and can write nothing.
 */
import type { BrowserContext, Page, Route } from 'playwright-core';
import type { GuestCaller } from '../../model/guest/caller.js';
import type { RenderRequest } from '../../model/guest/render.js';

/** A name that no resolver knows (RFC 2606). */
const origin = 'http://render.invalid';

/** Answers one read of the page as the service answers it to this caller. Undefined: there is no such operation. */
export type Read = (
  request: {
    readonly method: string;
    readonly path: string;
    readonly body: unknown;
    readonly language: string | undefined;
    readonly caller: GuestCaller;
  },
  signal: AbortSignal,
) => Promise<{ readonly status: number; readonly contentType: string; readonly body: string } | undefined>;

/** The files of the elements, by path. */
export type ReadFile = (path: string) => { readonly contentType: string; readonly body: Buffer } | undefined;

/** No script or style of the page's data can run, and no address but this one is known. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "connect-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "webrtc 'block'",
  "require-trusted-types-for 'script'",
].join('; ');

const shell =
  '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Guestlist</title><script type="module" src="/elements.js"></script></head><body></body></html>';

/** The reads that a drawing needs, and no write. */
const reads: readonly (readonly [method: string, path: RegExp])[] = [
  ['GET', /^\/api\/v2\/guest\/(?:dashboards|metrics)\/[^/]+$/],
  ['GET', /^\/api\/v2\/guest\/dashboards\/[^/]+\/filters\/[^/]+\/options$/],
  ['POST', /^\/api\/v2\/guest\/(?:dashboards|metrics)\/[^/]+\/query$/],
];

type Serving = {
  readonly request: RenderRequest;
  readonly read: Read;
  readonly file: ReadFile;
  /** The bearer of this drawing alone. It opens nothing elsewhere. */
  readonly nonce: string;
  readonly signal: AbortSignal;
};

const parse = (text: string | null): unknown => {
  if (text === null) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // The operation refuses a body that is no object.
    return text;
  }
};

const answer = async (route: Route, { request, read, file, nonce, signal }: Serving): Promise<void> => {
  const asked = route.request();
  const url = new URL(asked.url());
  const method = asked.method();
  if (url.origin !== origin) return route.abort('blockedbyclient');
  if (method === 'GET' && url.pathname === '/') {
    const headers = { 'content-security-policy': policy };
    return route.fulfill({ status: 200, contentType: 'text/html; charset=utf-8', headers, body: shell });
  }
  const found = method === 'GET' ? file(url.pathname) : undefined;
  if (found !== undefined) return route.fulfill({ status: 200, ...found });
  const isRead =
    reads.some(([of, path]) => of === method && path.test(url.pathname)) && /^(\?search=)?$/.test(url.search);
  if (!isRead || asked.headers().authorization !== `Bearer ${nonce}`) return route.abort('blockedbyclient');
  await request.assertStillGood();
  const body = parse(asked.postData());
  const { language } = request;
  const answered = await read({ method, path: url.pathname, body, language, caller: request.caller }, signal);
  return answered === undefined ? route.abort('blockedbyclient') : route.fulfill(answered);
};

/** Opens the page in the context. A read that throws ends the drawing: `failed` gets the error. */
export const openPage = async (
  context: BrowserContext,
  serving: Serving,
  failed: (error: unknown) => void,
): Promise<Page> => {
  await context.route('**', (route) =>
    answer(route, serving).catch((error: unknown) => {
      failed(error);
      return route.abort('failed').catch(() => undefined);
    }),
  );
  await context.routeWebSocket(/.*/, (socket) => void socket.close());
  const page = await context.newPage();
  await page.goto(`${origin}/`);
  return page;
};

type Placed = { readonly tag: string; readonly attributes: Readonly<Record<string, string>>; readonly options: object };

const placeOf = ({ target, language }: Pick<RenderRequest, 'target' | 'language'>): Placed => {
  const { metricId, dashboardId } = target;
  const spoken: Readonly<Record<string, string>> = language === undefined ? {} : { language };
  if (dashboardId === undefined) {
    return { tag: 'guestlist-metric', attributes: { 'metric-id': metricId, ...spoken }, options: {} };
  }
  const attributes = { 'dashboard-id': dashboardId, 'url-filters': 'off', ...spoken };
  const { dashboardFilter: filters = {}, crossFilter = [] } = target;
  const only = metricId === undefined ? {} : { metricId };
  return { tag: 'guestlist-dashboard', attributes, options: { filters, crossFilter, ...only } };
};

/** What the element in the page tells. The browser's types are not those of this process. */
type Told = { readonly fault: string | null; readonly height: number };

/**
 * Draws the element as on paper, and waits for its charts. Runs in the page: it may use nothing of this file. Values go
 * in as properties and attributes, never as text of a script.
 */
const draw = async (given: Placed & { readonly token: string; readonly origin: string }): Promise<Told> => {
  // biome-ignore lint/suspicious/noExplicitAny: the page's globals
  const { document, customElements, requestAnimationFrame } = globalThis as any;
  await customElements.whenDefined(given.tag);
  const element = document.createElement(given.tag);
  element.options = given.options;
  for (const [name, value] of Object.entries(given.attributes)) element.setAttribute(name, value);
  element.theme = 'light';
  element.serviceUrl = given.origin;
  element.printing = true;
  element.token = given.token;
  document.body.append(element);
  for (let idle = 0; idle < 3; ) {
    await new Promise((resolve) => requestAnimationFrame(resolve));
    if (element.error !== undefined) return { fault: String(element.error.code), height: 0 };
    if (element.isExpired || element.isAway) return { fault: 'ENDED', height: 0 };
    idle = element.isLoading || element.isBusy ? 0 : idle + 1;
  }
  // The title of the file, as readers of PDF files show it.
  document.title = element.dashboard?.name ?? element.metric?.name ?? '';
  return { fault: null, height: element.getBoundingClientRect().height };
};

/** Draws the target on the page. Throws if its element shows a failure instead. Returns the height in CSS pixels. */
export const drawOn = async (page: Page, request: RenderRequest, nonce: string): Promise<number> => {
  const { fault, height } = await page.evaluate(draw, { ...placeOf(request), token: nonce, origin });
  if (fault !== null) throw new Error(`the page could not be drawn: ${fault}`);
  return height;
};
