/**
 * The front of the process, on one screen: all middleware, in order. It uses the dispatch and the OpenAPI document, and must
 * not use use cases or the store.
 */
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import helmet from 'helmet';
import type { Log } from '../logs/log.js';
import type { Meters } from '../logs/meters.js';
import type { OpenApiDocument } from './interface/openapi.js';
import { type Assets, serveAssets, studioPage } from './pages/assets.js';
import { renderReference } from './pages/docs.js';
import { docsStyle } from './pages/docs-style.js';
import { serveDocuments } from './pages/documents.js';
import { type HomeLink, serveHome } from './pages/home.js';
import type { AddressOf } from './wire/address.js';
import type { Dispatch } from './wire/bind.js';
import { constantHeaders, type FlatHeaders } from './wire/constant-headers.js';
import { type Doors, guardDoor, openDoors, seesDetails } from './wire/doors.js';
import { notFound } from './wire/envelope.js';
import { sendError } from './wire/error-page.js';
import { endFailed } from './wire/failure.js';
import { type Handle, inTurn, type Step } from './wire/in-turn.js';
import { serveOperations } from './wire/operations.js';
import { type Begin, beginning, noteOf, pathOf, requestIdOf } from './wire/request.js';
import { json, send } from './wire/sending.js';

type Ready = boolean | readonly string[];

export type AppDeps = {
  /** Null: this process runs only the gateway. */
  readonly service: {
    readonly dispatch: Dispatch;
    readonly addressOf: AddressOf;
    readonly document: () => OpenApiDocument;
  } | null;
  readonly log: Log;
  readonly meters?: Meters;
  /** Returns whether requests can be served, or the names of the failed checks. A rejection counts as not ready. */
  readonly ready: () => Ready | Promise<Ready>;
  /** How to fix a failed check. Left out: nothing is said. */
  readonly fixOf?: (check: string) => string | undefined;
  /** What is wrong and keeps nothing from being served, by name. Left out: nothing. */
  readonly warnings?: () => Readonly<Record<string, unknown>>;
  readonly assets: Assets;
  /** The folder of the documentation that the build wrote. Left out: none is served. */
  readonly documents?: string;
  /** Left out: all paths are open. */
  readonly doors?: Doors;
  /** Answers assistants of guests at the paths `roots`. Null: none may call. */
  readonly mcp?: { readonly dispatch: Dispatch; readonly roots: readonly string[] } | null;
  /** The gateway, which begins, answers and logs its own requests. Null: it runs in another process. */
  readonly gateway?: Step | null;
  /** Studio, the links of messages, and the demo's host. They come after the app's own paths. */
  readonly routers?: readonly RequestHandler[];
};

/** Forbids scripts, frames and foreign content, since neither the API nor its reference needs them. */
const securityHeaders: FlatHeaders = constantHeaders(
  helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        styleSrc: ["'self'"],
        fontSrc: ["'self'"],
        imgSrc: ["'self'"],
        baseUri: ["'none'"],
        formAction: ["'none'"],
        frameAncestors: ["'none'"],
      },
    },
    xFrameOptions: { action: 'deny' },
  }),
);

/** Allows pages of all origins to send guest tokens, which are sent as a header and never as a cookie. */
const guestHeaders: FlatHeaders = [
  ...securityHeaders,
  'Access-Control-Allow-Origin',
  '*',
  'Access-Control-Expose-Headers',
  'X-Request-Id, Content-Disposition, Deprecation, ETag, Retry-After, WWW-Authenticate',
];

const guestPreflight: FlatHeaders = [
  'Access-Control-Allow-Methods',
  'GET, POST, PUT, DELETE',
  'Access-Control-Allow-Headers',
  'Authorization, Content-Type, If-None-Match, Mcp-Protocol-Version, Traceparent, Tracestate, X-Request-Id',
  'Access-Control-Max-Age',
  '7200',
];

/** Begins a request, and sets the headers of its answer. */
const began =
  (begin: Begin): Step =>
  (request, response, next) => {
    response.setHeader('X-Request-Id', begin(request, response));
    for (let at = 0; at < securityHeaders.length; at += 2)
      response.setHeader(securityHeaders[at] ?? '', securityHeaders[at + 1] ?? '');
    next();
  };

/** Serves a text that is written at its first request, to keep the start fast. */
const text = (contentType: string, write: () => string): Step => {
  let body: string | undefined;
  return (_, response) => {
    body ??= write();
    return send(response, { status: 200, headers: ['Content-Type', contentType, 'Cache-Control', 'no-cache'], body });
  };
};

/** Serves the pages of the reference, which are written at the first request of one. */
const referencePages = (document: () => OpenApiDocument): Step => {
  let pages: ReadonlyMap<string, string> | undefined;
  const headers = ['Content-Type', 'text/html; charset=utf-8', 'Cache-Control', 'no-cache'];
  return (request, response, next) => {
    pages ??= renderReference(document());
    const body = pages.get(pathOf(request));
    return body === undefined ? next() : send(response, { status: 200, headers, body });
  };
};

const alive: Step = (_, response) => send(response, { status: 200, headers: json.slice(0, 2), body: { status: 'ok' } });

const fixes = (failed: readonly string[], fixOf: AppDeps['fixOf']): { readonly fix?: object } => {
  const known = failed.flatMap((name) => {
    const fix = fixOf?.(name);
    return fix === undefined ? [] : [[name, fix] as const];
  });
  return known.length === 0 ? {} : { fix: Object.fromEntries(known) };
};

const readiness =
  ({
    ready,
    fixOf,
    warnings = () => ({}),
    log,
    doors = openDoors,
  }: Pick<AppDeps, 'ready' | 'fixOf' | 'warnings' | 'log' | 'doors'>): Step =>
  async (request, response) => {
    const answered = await Promise.resolve()
      .then(ready)
      .catch((err: unknown): Ready => {
        log.warn({ event: 'readiness.check_failed', err }, 'a readiness check failed');
        return false;
      });
    const failed = typeof answered === 'boolean' ? [] : answered;
    const isReady = typeof answered === 'boolean' ? answered : answered.length === 0;
    const status = isReady ? 'ready' : 'not ready';
    const causes = failed.length === 0 ? {} : { failed, ...fixes(failed, fixOf) };
    const details = seesDetails(doors, request) ? { ...causes, ...warnings() } : {};
    return send(response, { status: isReady ? 200 : 503, headers: json, body: { status, ...details } });
  };

const exposition =
  ({ render }: Meters): Step =>
  async (request, response) => {
    const { contentType, body } = await render(request.headers.accept);
    return send(response, { status: 200, headers: ['Content-Type', contentType, 'Vary', 'Accept'], body });
  };

const docsLink = {
  path: '/docs',
  title: 'Documentation',
  text: 'Learn, look up, and read the reference of the interface.',
};
const healthLink = { path: '/readyz', title: 'Health', text: 'Whether this process can serve, as JSON.' };

/** The pages of this process, for the page at `/`: those that a browser can open, which sends no bearer token. */
const linksOf = ({ service, assets, doors = openDoors }: AppDeps): readonly HomeLink[] => [
  ...(assets.has('/demo')
    ? [{ path: '/demo', title: 'Demo', text: 'See a page of a host application, with users to log in as.' }]
    : []),
  ...(assets.has(studioPage)
    ? [{ path: studioPage, title: 'Studio', text: 'Build dashboards, roll them out, and operate tenants.' }]
    : []),
  ...(service !== null && doors.strangers === 'answered' ? [docsLink] : []),
  healthLink,
  ...(assets.has('/elements.js')
    ? [{ path: '/elements.js', title: 'Elements', text: 'The script that a host page loads.' }]
    : []),
];

/** The pages of the management port, for its own page at `/`. */
const managementLinksOf = ({ service, meters }: Omit<Pages, 'doors'>): readonly HomeLink[] => [
  ...(service === null ? [] : [docsLink]),
  ...(meters === undefined ? [] : [{ path: '/metrics', title: 'Meters', text: 'Counters and times for Prometheus.' }]),
  healthLink,
];

const answerNotFound: Step = (request, response) =>
  sendError(response, notFound(request.method ?? 'GET', pathOf(request)));

/**
 * Answers every error that nothing else handled, and logs its cause. Express decodes the parts of a path: one that is no
 * percent-encoded text names nothing.
 */
const answerError =
  (log: Log): ErrorRequestHandler =>
  (error: unknown, request, response, next) =>
    error instanceof URIError && 'status' in error
      ? answerNotFound(request, response, next)
      : endFailed(response, error, noteOf(response).requestId, [], log, sendError);

/** Answers what the gateway's step throws or rejects with. In a host's app, the host does. */
const guarded =
  (step: Step, log: Log): Step =>
  (request, response, next) => {
    const fail = (error: unknown): void => {
      const requestId = requestIdOf(request);
      endFailed(response, error, requestId, [...securityHeaders, 'X-Request-Id', requestId], log);
    };
    try {
      // A path that is no text names nothing, so the pages answer 404. Any other error is a failure.
      const passOn = (error?: unknown) =>
        error === undefined || error instanceof URIError ? next(error) : fail(error);
      const answered = step(request, response, passOn);
      return answered instanceof Promise ? answered.catch(fail) : answered;
    } catch (error) {
      return fail(error);
    }
  };

type Pages = Omit<AppDeps, 'assets' | 'mcp' | 'gateway'>;

/** Serves the documentation, and in it the reference of the interface. */
const mountReference = (
  app: Express,
  document: () => OpenApiDocument,
  { doors = openDoors, documents }: Pages,
): void => {
  const whole = ['/docs', '/docs/{*page}'];
  const texts = [
    ['/openapi.json', 'application/json', () => JSON.stringify(document())],
    ['/docs/style.css', 'text/css', () => docsStyle],
  ] as const;
  app.get(['/openapi.json', ...whole], guardDoor(doors, 'interface'));
  for (const [path, type, write] of texts) app.get(path, text(`${type}; charset=utf-8`, write));
  app.get(['/docs/api', '/docs/api/{*page}'], referencePages(document));
  if (documents !== undefined) app.get(whole, serveDocuments(documents));
};

/** Pages, and the routers of others, by Express. `own`: what this port alone serves. */
const createPages = (begin: Begin, deps: Pages, own: readonly Step[] = []): Express => {
  const { service, meters, doors = openDoors, routers = [], log } = deps;
  const app = express();
  for (const setting of ['x-powered-by', 'etag']) app.disable(setting);
  for (const setting of ['case sensitive routing', 'strict routing']) app.enable(setting);
  app.use(began(begin));
  if (service !== null) mountReference(app, service.document, deps);
  app.get('/healthz', alive);
  app.get('/readyz', readiness(deps));
  if (meters !== undefined) app.get('/metrics', guardDoor(doors, 'operations'), exposition(meters));
  for (const step of [...own, ...routers, answerNotFound]) app.use(step as RequestHandler);
  app.use(answerError(log));
  return app;
};

/**
 * The order in which a request is offered: guests and their assistants, whose answers any page may read; the gateway; the
 * other operations; then pages. Each begins the requests that it answers.
 */
export const createApp = (deps: AppDeps): Handle => {
  const { service, mcp = null, gateway = null, log } = deps;
  const begin = beginning(deps);
  const guests = { headers: guestHeaders, preflight: guestPreflight };
  const served = service && { ...service, begin, log };
  const offer = inTurn([
    served && serveOperations({ ...served, ...guests, roots: ['/api/v2/guest'] }),
    served && mcp && serveOperations({ ...served, ...guests, ...mcp }),
    gateway && guarded(gateway, log),
    served && serveOperations({ ...served, headers: securityHeaders, roots: ['/api/v2'] }),
  ]);
  const pages = createPages(begin, deps, [serveHome(linksOf(deps)), serveAssets(deps.assets)]);
  return (request, response) => offer(request, response, () => pages(request, response));
};

/** The app of the management port: operators' paths without a credential, and `admin`, which checks its own token. */
export const createManagementApp = (deps: Omit<Pages, 'doors'>): Express =>
  createPages(beginning(deps), { ...deps, doors: openDoors }, [serveHome(managementLinksOf(deps))]);
