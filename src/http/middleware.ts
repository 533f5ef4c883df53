/** The middleware of app.ts, each a few lines; the gateway's router may take what it needs. */
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import express, { type ErrorRequestHandler, type RequestHandler } from 'express';
import helmet from 'helmet';
import { pinoHttp } from 'pino-http';
import { limits } from '../contract/fields.js';
import { Refusal } from '../domain/refusal.js';
import type { Log } from '../platform/log.js';
import type { Metrics } from '../platform/metrics.js';
import { type Dispatch, isPieces } from './bind.js';
import { type EnvelopeCode, envelope, failureMessage, notFound, tooLarge } from './envelope.js';

/** Takes the caller's `X-Request-Id` where it is a plain one, otherwise makes one; answers it either way. */
export const requestId: RequestHandler = (req, res, next) => {
  const given = req.get('x-request-id');
  const id = given !== undefined && /^[\w-]{8,64}$/.test(given) ? given : randomUUID();
  res.locals.requestId = id;
  res.setHeader('X-Request-Id', id);
  next();
};

/** No script, no frame, nothing from elsewhere: the API and its reference need none of it. */
export const securityHeaders = (): RequestHandler =>
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

/** One line for each request: no header, no query and no body is in it. */
export const requestLog = (log: Log): RequestHandler =>
  pinoHttp<express.Request, express.Response>({
    logger: log,
    // Its own view of request and response holds headers and the query; writeLine says what is kept.
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
  method: req.method,
  path: req.originalUrl.split('?', 1)[0]?.slice(0, 500),
  status: res.statusCode,
  durationInMs: responseTime,
  operation: res.locals.operation,
  ...(res.locals.refused === undefined ? {} : { refused: res.locals.refused }),
});

/** Measures every request, by the operation that answered it. */
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

/** Guest tokens come from host pages of any origin, as a header and never as a cookie. */
export const openToAnyOrigin: RequestHandler = (req, res, next) => {
  res.setHeader('Access-Control-Allow-Origin', '*');
  res.setHeader('Access-Control-Expose-Headers', 'X-Request-Id, Content-Disposition, Deprecation');
  if (req.method !== 'OPTIONS') {
    next();
    return;
  }
  res.setHeader('Access-Control-Allow-Methods', 'GET, POST, PUT, DELETE');
  res.setHeader('Access-Control-Allow-Headers', 'Authorization, Content-Type, X-Request-Id');
  res.setHeader('Access-Control-Max-Age', '7200');
  res.status(204).end();
};

const hasBody: (req: express.Request) => boolean = ({ headers }) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** spec-gap: a body of another type is an invalid request, not a 415, which the interface does not know. */
const refuseOtherTypes: RequestHandler = (req, res, next) => {
  if (!hasBody(req) || req.body !== undefined || req.is('application/json') !== false) {
    next();
    return;
  }
  const given = req.get('content-type')?.slice(0, 100) ?? 'none';
  sendError(res, 400, 'INVALID_REQUEST_BODY', `The body's Content-Type is ${given}; send application/json.`);
};

/** Reads JSON bodies of at most so many bytes; one that was read before is left as it is. */
export const jsonBody = (limit: number): readonly RequestHandler[] => [
  refuseOtherTypes,
  express.json({ limit, strict: false, type: 'application/json' }),
];

/** Aborts when the caller hangs up before it has its answer. */
const goneSignal = (res: express.Response): AbortSignal => {
  const gone = new AbortController();
  res.once('close', () => {
    if (!res.writableFinished) gone.abort();
  });
  return gone.signal;
};

/** As fast as the caller reads; what breaks off on its way ends the connection, so that it cannot be taken for whole. */
const sendPieces = async (res: express.Response, pieces: AsyncIterable<string>): Promise<void> => {
  await pipeline(Readable.from(pieces, { objectMode: false }), res).catch(() => {
    // The cause was logged where the pieces are made, or it is the caller who left.
    res.destroy();
  });
};

/** Answers what is an operation. */
export const serve =
  (dispatch: Dispatch): RequestHandler =>
  async (req, res, next) => {
    const answer = await dispatch({
      signal: goneSignal(res),
      method: req.method,
      path: req.baseUrl + req.path,
      query: req.query,
      authorization: req.headers.authorization,
      body: req.body,
      bodyFault: res.locals.bodyFault instanceof Refusal ? res.locals.bodyFault : undefined,
      requestId: String(res.locals.requestId),
    });
    if (answer === undefined) {
      next();
      return;
    }
    res.locals.operation = answer.operation;
    res.locals.refused = answer.refused;
    res.status(answer.status).set({ ...answer.headers, 'Content-Type': answer.contentType });
    if (isPieces(answer.body)) await sendPieces(res, answer.body);
    else res.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body));
  };

const sendError = (res: express.Response, status: number, code: EnvelopeCode, message: string): void => {
  res
    .status(status)
    .set('Cache-Control', 'no-store')
    .json(envelope(code, message, status));
};

export const answerNotFound: RequestHandler = (req, res) => {
  res.status(404).set('Cache-Control', 'no-store').json(notFound(req.method, req.path));
};

const typeOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'type' in error ? String(error.type) : '';

const limitOf = (error: unknown): number =>
  typeof error === 'object' && error !== null && 'limit' in error ? Number(error.limit) : limits.bodyBytes;

const jsonPosition = (error: unknown): string => {
  const position = error instanceof Error ? /position (\d+)/.exec(error.message)?.[1] : undefined;
  return position === undefined ? '' : ` (at position ${position})`;
};

/** What reading a body can find wrong; the parser's own text would repeat the body. */
const bodyFaults: Readonly<Record<string, (error: unknown) => string>> = {
  'entity.parse.failed': (error) => `The body is not valid JSON${jsonPosition(error)}.`,
  'encoding.unsupported': () => 'The Content-Encoding is not supported; send gzip, deflate, br or none.',
  'charset.unsupported': () => 'The charset is not supported; send UTF-8.',
  'request.size.invalid': () => 'The body is not as long as its Content-Length says.',
  'request.aborted': () => 'The request ended before its body did.',
};

/** The last word on anything thrown: the envelope outside, the cause in the log. */
export const answerError =
  (log: Log): ErrorRequestHandler =>
  (error: unknown, _req, res, next) => {
    if (res.headersSent) {
      next(error);
      return;
    }
    const type = typeOf(error);
    const fault = bodyFaults[type];
    if (type === 'entity.too.large') {
      res
        .status(413)
        .set('Cache-Control', 'no-store')
        .json(tooLarge(limitOf(error)));
    } else if (fault !== undefined) {
      sendError(res, 400, 'INVALID_REQUEST_BODY', fault(error));
    } else {
      const id = String(res.locals.requestId);
      log.error({ err: error, requestId: id }, 'a request failed');
      sendError(res, 500, 'INTERNAL_SERVER_ERROR', failureMessage(id));
    }
  };
