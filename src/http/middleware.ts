/** The middleware of app.ts. The gateway's router also uses some of it. */
import type express from 'express';
import type { ErrorRequestHandler, RequestHandler } from 'express';
import helmet from 'helmet';
import type { Logger } from 'pino';
import { pinoHttp } from 'pino-http';
import type { LogEvent } from '../domain/log-events.js';
import { unavailableRetrySeconds } from '../domain/unavailable.js';
import type { Log } from '../platform/log.js';
import type { Metrics } from '../platform/metrics.js';
import type { AddressOf } from './address.js';
import { senderOf } from './admission.js';
import { type Dispatch, type DispatchResponse, isPieces } from './bind.js';
import { answerOf } from './body-faults.js';
import { bodyOf } from './body-reader.js';
import type { FlatHeaders } from './constant-headers.js';
import { notFound } from './envelope.js';
import { jsonText } from './json-text.js';
import { requestIdOf } from './request-id.js';
import { goneSignal, sendPieces } from './sending.js';

/** Uses the caller's `X-Request-Id` if it is valid, otherwise a new id, and sends it with the answer. */
export const requestId: RequestHandler = (req, res, next) => {
  const id = requestIdOf(req);
  res.locals.requestId = id;
  res.setHeader('X-Request-Id', id);
  next();
};

/** Forbids scripts, frames and foreign content, since neither the API nor its reference needs them. */
export const securityHeaders = () =>
  helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        styleSrc: ["'self'"],
        imgSrc: ["'self'"],
        baseUri: ["'none'"],
        formAction: ["'none'"],
        frameAncestors: ["'none'"],
      },
    },
    xFrameOptions: { action: 'deny' },
  });

/** Logs one line for each request. The line has no header, query string or body. */
export const requestLog = (log: Logger): RequestHandler =>
  pinoHttp<express.Request, express.Response>({
    logger: log,
    // pino-http's own serializers would log headers and the query string. writeLine chooses the fields instead.
    serializers: { req: () => undefined, res: () => undefined },
    wrapSerializers: false,
    quietReqLogger: true,
    genReqId: (_, res) => String(res.locals.requestId),
    customAttributeKeys: { reqId: 'requestId' },
    customLogLevel: (_, res) => (res.statusCode >= 500 ? 'error' : 'info'),
    customSuccessMessage: () => 'request',
    customErrorMessage: () => 'request',
    customSuccessObject: (req, res, { responseTime }) => writeLine(req, res, responseTime),
    customErrorObject: (req, res, _, { responseTime }) => writeLine(req, res, responseTime),
  });

const writeLine = (req: express.Request, res: express.Response, responseTime: unknown) => ({
  event: (res.statusCode >= 500 ? 'request.failed' : 'request.answered') satisfies LogEvent,
  method: req.method,
  path: req.originalUrl.split('?', 1)[0]?.slice(0, 500),
  status: res.statusCode,
  durationInMs: responseTime,
  operation: res.locals.operation,
  ...(res.locals.refused === undefined ? {} : { refused: res.locals.refused }),
});

/** Measures each request by its operation. */
export const measure =
  ({ observe }: Metrics): RequestHandler =>
  (_, res, next) => {
    const start = process.hrtime.bigint();
    res.once('close', () =>
      observe({
        operation: String(res.locals.operation ?? 'unmatched'),
        status: res.statusCode,
        durationInSeconds: Number(process.hrtime.bigint() - start) / 1e9,
      }),
    );
    next();
  };

/** Allows pages of all origins to send guest tokens, which are sent as a header and never as a cookie. */
export const guestHeaders: FlatHeaders = [
  'Access-Control-Allow-Origin',
  '*',
  'Access-Control-Expose-Headers',
  'X-Request-Id, Content-Disposition, Deprecation, ETag, Retry-After, WWW-Authenticate',
];

export const guestPreflightHeaders: FlatHeaders = [
  'Access-Control-Allow-Methods',
  'GET, POST, PUT, DELETE',
  'Access-Control-Allow-Headers',
  'Authorization, Content-Type, If-None-Match, Mcp-Protocol-Version, X-Request-Id',
  'Access-Control-Max-Age',
  '7200',
];

/** Answers requests for operations. */
export const serve =
  (dispatch: Dispatch, addressOf: AddressOf): RequestHandler =>
  async (req, res, next) => {
    const answer = await dispatch({
      signal: goneSignal(res, String(res.locals.requestId)),
      method: req.method,
      path: req.baseUrl + req.path,
      query: req.query,
      authorization: req.headers.authorization,
      ifNoneMatch: req.headers['if-none-match'],
      acceptLanguage: req.headers['accept-language'],
      gateway: req.get('guestlist-gateway'),
      readBody: bodyOf(req),
      sender: senderOf(addressOf, req),
      requestId: String(res.locals.requestId),
    });
    if (answer === undefined) {
      next();
      return;
    }
    await sendAnswer(res, answer);
  };

/** Sends the answer of an operation. */
export const sendAnswer = async (res: express.Response, answer: DispatchResponse): Promise<void> => {
  res.locals.operation = answer.operation;
  res.locals.refused = answer.refused;
  res.status(answer.status).set(answer.headers);
  if (answer.status === 304) {
    res.end();
    return;
  }
  res.set('Content-Type', answer.contentType);
  if (isPieces(answer.body)) await sendPieces(res, answer.body);
  else res.end(typeof answer.body === 'string' ? answer.body : await jsonText(answer.body));
};

export const answerNotFound: RequestHandler = (req, res) => {
  res.status(404).set('Cache-Control', 'no-store').json(notFound(req.method, req.path));
};

/** Handles every error that nothing else handled: sends the envelope and logs the cause. */
export const answerError =
  (log: Log): ErrorRequestHandler =>
  (error: unknown, _req, res, next) => {
    if (res.headersSent) {
      next(error);
      return;
    }
    const { status, body } = answerOf(error, String(res.locals.requestId), log);
    if (status === 503) res.set('Retry-After', String(unavailableRetrySeconds));
    res.status(status).set('Cache-Control', 'no-store').json(body);
  };
