/**
 * The Express app: every middleware, in order, on one screen. It knows the dispatch and the document, no use case and
 * no store.
 */
import express, { type Express, type RequestHandler } from 'express';
import type { Logger } from 'pino';
import type { OpenApiDocument } from '../contract/openapi.js';
import type { Metrics } from '../platform/metrics.js';
import type { AddressOf } from './address.js';
import { type Assets, serveAssets } from './assets.js';
import type { Dispatch } from './bind.js';
import { renderDocs } from './docs.js';
import { docsStyle } from './docs-style.js';
import { type Doors, guardDoor, openDoors, seesDetails } from './doors.js';
import { createGuestFront } from './guest-front.js';
import { answerError, answerNotFound, measure, requestId, requestLog, securityHeaders, serve } from './middleware.js';

type Ready = boolean | readonly string[];

export type AppDeps = {
  /** Null: this process runs the gateway alone. */
  readonly service: {
    readonly dispatch: Dispatch;
    readonly addressOf: AddressOf;
    readonly document: () => OpenApiDocument;
  } | null;
  /** pino-http needs a whole pino logger. */
  readonly log: Logger;
  readonly metrics?: Metrics;
  /** Whether requests can be served, or the names of the checks that say no; rejecting counts as no. */
  readonly ready: () => Ready | Promise<Ready>;
  readonly assets: Assets;
  /** Open where left out. */
  readonly doors?: Doors;
  /** Routers of others, after everything of ours. */
  readonly routers?: readonly RequestHandler[];
};

/** Written when it is first asked for, so that it costs the start nothing. */
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

const readiness =
  ({ ready, log, doors = openDoors }: Pick<AppDeps, 'ready' | 'log' | 'doors'>): RequestHandler =>
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
    res
      .status(isReady ? 200 : 503)
      .set('Cache-Control', 'no-store')
      .json({ status, ...(failed.length > 0 && seesDetails(doors, req) ? { failed } : {}) });
  };

const exposition =
  (metrics: Metrics): RequestHandler =>
  async (_, res) => {
    const { contentType, body } = await metrics.render();
    res.set('Content-Type', contentType).send(body);
  };

/** The reference of the interface. */
const mountReference = (app: Express, document: () => OpenApiDocument, doors: Doors): void => {
  app.get(['/openapi.json', '/docs', '/docs/style.css'], guardDoor(doors, 'interface'));
  app.get(
    '/openapi.json',
    text('application/json; charset=utf-8', () => JSON.stringify(document())),
  );
  app.get(
    '/docs',
    text('text/html; charset=utf-8', () => renderDocs(document())),
  );
  app.get(
    '/docs/style.css',
    text('text/css; charset=utf-8', () => docsStyle),
  );
};

/** What operators ask of the process. */
const mountOperations = (app: Express, { service, log, metrics, ready, doors = openDoors }: AppDeps): void => {
  if (service !== null) mountReference(app, service.document, doors);
  app.get('/healthz', alive);
  app.get('/readyz', readiness({ ready, log, doors }));
  if (metrics !== undefined) app.get('/metrics', guardDoor(doors, 'operations'), exposition(metrics));
};

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
  app.use(serveAssets(assets));
  for (const router of routers) app.use(router);
  app.use(answerNotFound);
  app.use(answerError(log));
  return app;
};

/** The management port: what operators ask, open to whoever reaches it, and `admin`, which asks for its token itself. */
export const createManagementApp = (deps: Omit<AppDeps, 'assets' | 'doors'>): Express => {
  const app = createBareApp();
  watch(app, deps);
  mountOperations(app, { ...deps, assets: new Map(), doors: openDoors });
  for (const router of deps.routers ?? []) app.use(router);
  app.use(answerNotFound);
  app.use(answerError(deps.log));
  return app;
};
