/**
 * Builds the Express app: all middleware, in order, in one function. It uses the dispatch and the OpenAPI document, and
 * must not use use cases or the store.
 */
import express, { type Express, type RequestHandler } from 'express';
import type { Logger } from 'pino';
import type { OpenApiDocument } from '../contract/openapi.js';
import type { Metrics } from '../platform/metrics.js';
import type { AddressOf } from './address.js';
import { type Assets, serveAssets, studioPage } from './assets.js';
import type { Dispatch } from './bind.js';
import { renderDocs } from './docs.js';
import { docsStyle } from './docs-style.js';
import { serveDocuments } from './documents.js';
import { type Doors, guardDoor, openDoors, seesDetails } from './doors.js';
import { createGuestFront } from './guest-front.js';
import { type HomeLink, serveHome } from './home.js';
import { answerError, answerNotFound, measure, requestId, requestLog, securityHeaders, serve } from './middleware.js';

type Ready = boolean | readonly string[];

export type AppDeps = {
  /** Null: this process runs only the gateway. */
  readonly service: {
    readonly dispatch: Dispatch;
    readonly addressOf: AddressOf;
    readonly document: () => OpenApiDocument;
  } | null;
  /** The logger of pino, because pino-http needs it complete. */
  readonly log: Logger;
  readonly metrics?: Metrics;
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
  /** Further routers. They come after the app's own paths. */
  readonly routers?: readonly RequestHandler[];
};

/** Serves a text that is written at its first request, to keep the start fast. */
const text = (contentType: string, write: () => string): RequestHandler => {
  let body: string | undefined;
  return (_, res) => {
    body ??= write();
    res.set({ 'Content-Type': contentType, 'Cache-Control': 'no-cache' }).send(body);
  };
};

const alive: RequestHandler = (_, res) => {
  res.json({ status: 'ok' });
};

const fixes = (failed: readonly string[], fixOf: AppDeps['fixOf']): { readonly fix?: object } => {
  const known = failed.flatMap((name) => {
    const fix = fixOf?.(name);
    return fix === undefined ? [] : [[name, fix] as const];
  });
  return known.length === 0 ? {} : { fix: Object.fromEntries(known) };
};

type ReadinessDeps = Pick<AppDeps, 'ready' | 'fixOf' | 'warnings' | 'log' | 'doors'>;

const readiness =
  ({ ready, fixOf, warnings = () => ({}), log, doors = openDoors }: ReadinessDeps): RequestHandler =>
  async (req, res) => {
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
    const details = seesDetails(doors, req) ? { ...causes, ...warnings() } : {};
    res
      .status(isReady ? 200 : 503)
      .set('Cache-Control', 'no-store')
      .json({ status, ...details });
  };

const exposition =
  (metrics: Metrics): RequestHandler =>
  async (_, res) => {
    const { contentType, body } = await metrics.render();
    res.set('Content-Type', contentType).send(body);
  };

/** Serves the documentation, and in it the reference of the interface. */
const mountReference = (
  app: Express,
  document: () => OpenApiDocument,
  { doors = openDoors, documents }: Pick<AppDeps, 'doors' | 'documents'>,
): void => {
  app.get(['/openapi.json', '/docs', '/docs/{*page}'], guardDoor(doors, 'interface'));
  app.get(
    '/openapi.json',
    text('application/json; charset=utf-8', () => JSON.stringify(document())),
  );
  app.get(
    '/docs/api',
    text('text/html; charset=utf-8', () => renderDocs(document())),
  );
  app.get(
    '/docs/style.css',
    text('text/css; charset=utf-8', () => docsStyle),
  );
  if (documents !== undefined) app.get(['/docs', '/docs/{*page}'], serveDocuments(documents));
};

/** Serves probes and metrics for operators. */
const mountOperations = (app: Express, deps: AppDeps): void => {
  const { service, metrics, doors = openDoors } = deps;
  if (service !== null) mountReference(app, service.document, deps);
  app.get('/healthz', alive);
  app.get('/readyz', readiness(deps));
  if (metrics !== undefined) app.get('/metrics', guardDoor(doors, 'operations'), exposition(metrics));
};

/** The pages of this process, for the page at `/`. */
const linksOf = ({ service, assets, doors = openDoors }: AppDeps): readonly HomeLink[] => [
  ...(assets.has('/demo')
    ? [{ path: '/demo', title: 'Demo', text: 'a page of a host application, with users to log in as' }]
    : []),
  ...(assets.has(studioPage)
    ? [{ path: studioPage, title: 'Studio', text: 'build dashboards, roll them out, and operate tenants' }]
    : []),
  ...(service !== null && doors.strangers !== 'not-found'
    ? [{ path: '/docs', title: 'Documentation', text: 'and the reference of the interface' }]
    : []),
  { path: '/readyz', title: 'Health', text: 'whether this process can serve' },
  ...(assets.has('/elements.js')
    ? [{ path: '/elements.js', title: 'Elements', text: 'the script that a host page loads' }]
    : []),
];

const createBareApp = (): Express => {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  return app;
};

const watch = (app: Express, { log, metrics }: Pick<AppDeps, 'log' | 'metrics'>): void => {
  app.use(requestId);
  app.use(securityHeaders());
  app.use(requestLog(log));
  if (metrics !== undefined) app.use(measure(metrics));
};

export const createApp = (deps: AppDeps): Express => {
  const { service, log, metrics, assets, routers = [] } = deps;
  const app = createBareApp();
  if (service !== null) app.use(createGuestFront({ ...service, log, metrics }));
  watch(app, deps);
  if (service !== null) app.use('/api/v2', serve(service.dispatch, service.addressOf));
  mountOperations(app, deps);
  app.get('/', serveHome(linksOf(deps)));
  app.use(serveAssets(assets));
  for (const router of routers) app.use(router);
  app.use(answerNotFound);
  app.use(answerError(log));
  return app;
};

/** The app of the management port: operators' paths without a credential, and `admin`, which checks its own token. */
export const createManagementApp = (deps: Omit<AppDeps, 'assets' | 'doors'>): Express => {
  const app = createBareApp();
  watch(app, deps);
  mountOperations(app, { ...deps, assets: new Map(), doors: openDoors });
  for (const router of deps.routers ?? []) app.use(router);
  app.use(answerNotFound);
  app.use(answerError(deps.log));
  return app;
};
