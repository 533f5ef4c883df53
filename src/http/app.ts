/**
 * The Express app: every middleware, in order, on one screen. It knows the dispatch and the document, no use case and
 * no store.
 */
import express, { type Express, type RequestHandler } from 'express';
import { limits } from '../contract/fields.js';
import type { OpenApiDocument } from '../contract/openapi.js';
import type { Log } from '../platform/log.js';
import type { Metrics } from '../platform/metrics.js';
import { type Assets, serveAssets } from './assets.js';
import type { Dispatch } from './bind.js';
import { renderDocs } from './docs.js';
import { docsStyle } from './docs-style.js';
import { type Forms, formBody } from './forms.js';
import { createGuestFront } from './guest-front.js';
import {
  answerError,
  answerNotFound,
  jsonBody,
  measure,
  requestId,
  requestLog,
  securityHeaders,
  serve,
} from './middleware.js';

type Ready = boolean | readonly string[];

export type AppDeps = {
  /** Null: this process runs the gateway alone. */
  readonly service: {
    readonly dispatch: Dispatch;
    readonly document: () => OpenApiDocument;
    readonly forms: Forms;
  } | null;
  readonly log: Log;
  readonly metrics?: Metrics;
  /** Whether requests can be served, or the names of the checks that say no; rejecting counts as no. */
  readonly ready: () => Ready | Promise<Ready>;
  readonly assets: Assets;
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
  (ready: AppDeps['ready'], log: Log): RequestHandler =>
  async (_, res) => {
    const answered = await Promise.resolve()
      .then(ready)
      .catch((err: unknown): Ready => {
        log.warn({ err }, 'the readiness check failed');
        return false;
      });
    const failed = typeof answered === 'boolean' ? [] : answered;
    const isReady = typeof answered === 'boolean' ? answered : answered.length === 0;
    const status = isReady ? 'ready' : 'not ready';
    res
      .status(isReady ? 200 : 503)
      .set('Cache-Control', 'no-store')
      .json({ status, ...(failed.length > 0 ? { failed } : {}) });
  };

const exposition =
  (metrics: Metrics): RequestHandler =>
  async (_, res) => {
    const { contentType, body } = await metrics.render();
    res.set('Content-Type', contentType).send(body);
  };

/** The interface and its reference. */
const mountService = (app: Express, { dispatch, document, forms }: NonNullable<AppDeps['service']>): void => {
  app.use('/api/v2', formBody(forms), ...jsonBody(limits.bodyBytes), serve(dispatch));
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

export const createApp = ({ service, log, metrics, ready, assets, routers = [] }: AppDeps): Express => {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');

  if (service !== null) app.use(createGuestFront({ dispatch: service.dispatch, log, metrics }));
  app.use(requestId);
  app.use(securityHeaders());
  app.use(requestLog(log));
  if (metrics !== undefined) app.use(measure(metrics));
  if (service !== null) mountService(app, service);
  app.get('/healthz', alive);
  app.get('/readyz', readiness(ready, log));
  if (metrics !== undefined) app.get('/metrics', exposition(metrics));
  app.use(serveAssets(assets));
  for (const router of routers) app.use(router);
  app.use(answerNotFound);
  app.use(answerError(log));
  return app;
};
