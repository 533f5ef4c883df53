/**
 * Serves operations: authenticate -> decode -> call -> encode. Knows no business and no Express; the same dispatch
 * answers HTTP and in-process calls.
 */
import { randomUUID } from 'node:crypto';
import { limits } from '../contract/fields.js';
import { errorBody, type HandlersOf, type Operation } from '../contract/operation.js';
import { type Code, errors } from '../domain/errors.js';
import type { Caller } from '../domain/guest/caller.js';
import type { Log } from '../domain/log-events.js';
import { Refusal } from '../domain/refusal.js';
import { findUnavailable, unavailableRetrySeconds } from '../domain/unavailable.js';
import { type AdmissionLimits, type Authenticate, createAdmission, type Sender } from './admission.js';
import { BodyTooLarge } from './body-faults.js';
import type { ReadBody } from './body-reader.js';
import { envelope, failureMessage, unavailable } from './envelope.js';
import { findFaults, findShapeFault, writeFaults } from './faults.js';
import { choose, createRoutes, decodeParams, type Match, withoutCondition } from './routes.js';

export type DispatchRequest = {
  readonly method: string;
  /** Percent-encoded, without the query. */
  readonly path: string;
  readonly query: Readonly<Record<string, unknown>>;
  readonly authorization: string | undefined;
  /** What an in-process caller gives. */
  readonly body?: unknown;
  /** Reads the body instead, once it is known who asks. */
  readonly readBody?: ReadBody;
  /** Of a request over HTTP. */
  readonly sender?: Sender;
  /** Under which failures are logged; made here if left out. */
  readonly requestId?: string;
  /** Aborts when the caller is gone. */
  readonly signal: AbortSignal;
};

export type DispatchResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly contentType: string;
  /** An `AsyncIterable` is text in pieces, which whoever takes it reads to its end or ends; one that throws has been logged, and must not look whole. */
  readonly body: unknown;
  /** For the log and the metrics, never for the caller. */
  readonly operation: string;
  readonly refused?: {
    readonly code: string;
    readonly reason: string;
    /** The developer's text, where the caller got a neutral one. */
    readonly message?: string;
  };
};

/** Answers undefined where no operation has that path. */
export type Dispatch = (request: DispatchRequest) => Promise<DispatchResponse | undefined>;

/** Where failures of our own are written in full. */
export type ErrorLog = Pick<Log, 'error'>;

export type DispatchDeps<Operations> = {
  readonly operations: Operations;
  readonly handlers: HandlersOf<Operations>;
  readonly authenticate: Authenticate;
  /** Left out: none. */
  readonly limits?: AdmissionLimits;
  readonly log: ErrorLog;
  readonly newRequestId?: () => string;
};

type AnyHandler = (caller: Caller, input: unknown, signal: AbortSignal) => Promise<unknown>;
type Answer = Pick<DispatchResponse, 'status' | 'headers' | 'body' | 'contentType'> & {
  readonly refused?: { readonly code: Code; readonly reason: string; readonly message?: string };
};

/** When the camel-case paths were deprecated: RFC 9745 wants a date, as seconds. */
const deprecation = `@${Date.UTC(2026, 10, 1) / 1000}`;

const json = 'application/json; charset=utf-8';

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const refuse = (faults: readonly string[]): never => {
  throw new Refusal('INVALID_REQUEST_BODY', writeFaults(faults));
};

/** Read only now that it is known who asks. */
const bodyOf = ({ operation, binding }: Match, { body, readBody }: DispatchRequest): unknown =>
  readBody?.({ maxBytes: operation.bodyBytes ?? limits.usualBodyBytes, multipart: binding.multipart }) ?? body;

/** Whether the operation takes a request without any field. */
const takesNothing = (() => {
  const known = new WeakMap<Operation, boolean>();
  return (operation: Operation): boolean => {
    const there = known.get(operation) ?? operation.input.safeParse({}).success;
    known.set(operation, there);
    return there;
  };
})();

const decode = ({ operation, binding, params }: Match, request: DispatchRequest, body: unknown): unknown => {
  const root = binding.from;
  const names = Object.keys(params);
  const given = { body, query: { ...request.query }, path: {} }[root];
  // A path that says it all may come without a body, and so may a request that needs no field.
  const mayBeBare = names.length > 0 || takesNothing(operation);
  const fields = given === undefined && mayBeBare ? {} : given;
  const shape = findShapeFault(fields, root);
  if (shape.fault !== undefined) refuse([shape.fault]);
  const twice = names.filter((name) => isObject(fields) && Object.hasOwn(fields, name));
  if (twice.length > 0) refuse(twice.map((name) => `${name}: comes from the path, and not a field of the ${root}`));
  const input = isObject(fields) ? { ...fields, ...decodeParams(params) } : fields;
  const decoded = findFaults(binding.input ?? operation.input, input, { root, values: shape.values });
  return 'faults' in decoded ? refuse(decoded.faults) : decoded.data;
};

const encode = ({ operation, binding }: Match, result: unknown): Answer => ({
  status: 200,
  headers: operation.contentType === 'text/csv' ? { 'Content-Disposition': 'attachment; filename="metric.csv"' } : {},
  contentType: operation.contentType === 'text/csv' ? 'text/csv; charset=utf-8' : json,
  body: (binding.encode ?? operation.encode)(result),
});

/** Whether the body is text in pieces. */
export const isPieces = (body: unknown): body is AsyncIterable<string> =>
  typeof body === 'object' && body !== null && Symbol.asyncIterator in body;

/** Its status is out already: what fails from here on is for the log alone. */
async function* logged(
  pieces: AsyncIterable<string>,
  signal: AbortSignal,
  fields: object,
  log: ErrorLog,
): AsyncGenerator<string> {
  try {
    yield* pieces;
  } catch (err) {
    if (!signal.aborted) log.error({ event: 'response.aborted', err, ...fields }, 'a streamed answer failed');
    throw err;
  }
}

const headersOf = (status: number): Answer['headers'] => {
  if (status === 503) return { 'Retry-After': String(unavailableRetrySeconds) };
  return status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {};
};

const answerError = (code: Code, message: string, status: number, reason: string): Answer => ({
  status,
  headers: headersOf(status),
  contentType: json,
  body: envelope(code, message, status),
  refused: { code, reason },
});

/**
 * Undefined where no dependency is at fault. A refusal keeps its code and message. That a server which the request itself
 * names does not answer is a fault of the request.
 */
const answerUnavailable = (error: unknown, requestId: string): Answer | undefined => {
  const fault = findUnavailable(error);
  if (fault === undefined) return undefined;
  if (!(error instanceof Refusal)) {
    const { code, message, status } = unavailable(requestId).error;
    return answerError(code, message, status, fault.reason);
  }
  if (error.code === 'DATASOURCE_CONNECTION_ERROR') return undefined;
  return answerError(error.code, error.message, 503, error.reason);
};

/** A declared refusal is answered; the cause of a failure of ours goes to the log and nowhere else. */
const fail = (error: unknown, operation: Operation, requestId: string, log: ErrorLog): Answer => {
  const away = answerUnavailable(error, requestId);
  if (away !== undefined) {
    log.error(
      { event: 'operation.interrupted', err: error, requestId, operation: operation.name },
      'an operation needs a server that cannot be reached',
    );
    return away;
  }
  if (error instanceof BodyTooLarge) return answerError('INVALID_REQUEST_BODY', error.message, 413, 'body-too-large');
  const status = error instanceof Refusal ? operation.errors[error.code] : undefined;
  const isDeclared = error instanceof Refusal && status !== undefined && error.code !== 'INTERNAL_SERVER_ERROR';
  if (isDeclared && status < 500) {
    const answer = answerError(error.code, error.message, status, error.reason);
    const { retryAfterSeconds: retry } = error;
    return retry === null ? answer : { ...answer, headers: { ...answer.headers, 'Retry-After': String(retry) } };
  }
  log.error({ event: 'operation.failed', err: error, requestId, operation: operation.name }, 'an operation failed');
  const message = failureMessage(requestId);
  if (isDeclared) return answerError(error.code, `${error.message} ${message}`, status, error.reason);
  return answerError('INTERNAL_SERVER_ERROR', message, 500, 'failure');
};

/**
 * Whether guests read the developer's text: the faults of what the page sent, what the user can mend, and which action the token does not
 * permit. All other causes lie in the metric, its restrictions or its datasource, which are not the end user's to know.
 */
const isForGuests = (code: Code): boolean =>
  code === 'INVALID_REQUEST_BODY' || code === 'UNAUTHORIZED' || errors[code].mender === 'end user';

/**
 * An error as an end user reads it: the same status and code, a neutral message, and the request id as a reference. The developer's text
 * goes to the log.
 */
const neutral = (answer: Answer, requestId: string): Answer => {
  const { refused, body, status } = answer;
  const failure = errorBody.safeParse(body);
  if (refused === undefined || !failure.success || isForGuests(refused.code)) return answer;
  return {
    ...answer,
    body: envelope(refused.code, `This chart can't be shown. Ask your administrator. Reference: ${requestId}.`, status),
    refused: { ...refused, message: failure.data.error.message },
  };
};

/** A body that was read for nothing. One that is too large by its length alone was not read. */
const isRefusedBody = (error: unknown): boolean =>
  error instanceof BodyTooLarge ? error.wasRead : error instanceof Refusal && error.code === 'INVALID_REQUEST_BODY';

const notAllowed = (method: string, allowed: readonly string[]): DispatchResponse => ({
  status: 405,
  headers: { Allow: allowed.join(', '), 'Cache-Control': 'no-store' },
  contentType: json,
  body: envelope('METHOD_NOT_ALLOWED', `This path takes ${allowed.join(', ')}, not ${method.slice(0, 20)}.`, 405),
  operation: 'unmatched',
});

/** Makes the dispatch of a set of operations. */
export const createDispatch = <const Operations extends Readonly<Record<string, Operation>>>({
  operations,
  handlers,
  authenticate,
  limits: limited,
  log,
  newRequestId = randomUUID,
}: DispatchDeps<Operations>): Dispatch => {
  const { admit, refusedBody } = createAdmission(authenticate, limited ?? null);
  const find = createRoutes(Object.values(operations));
  // HandlersOf pairs each operation with its use case; from here on, decode and authenticate keep what it promised.
  const untyped = handlers as unknown as Readonly<Record<string, AnyHandler>>;
  const calls = new Map<Operation, AnyHandler | undefined>(
    Object.entries(operations).map(([key, operation]) => [operation, untyped[key]]),
  );

  return async (request) => {
    const found = find(request.method, request.path);
    if (found === undefined) return undefined;
    if ('allowed' in found) return notAllowed(request.method, found.allowed);
    const requestId = request.requestId ?? newRequestId();
    let match = withoutCondition(found);
    let isGuest = false;
    const serve = async (): Promise<Answer> => {
      const caller = await admit(match.operation, request);
      isGuest = caller.kind === 'guest';
      const body = await bodyOf(match, request);
      match = choose(found, { query: request.query, body });
      const call = calls.get(match.operation);
      if (call === undefined) throw new Error(`${match.operation.name} has no handler`);
      return encode(match, await call(caller, decode(match, request, body), request.signal));
    };
    const served = await serve().catch((error) => {
      if (isRefusedBody(error)) refusedBody(request);
      const answer = fail(error, match.operation, requestId, log);
      return isGuest ? neutral(answer, requestId) : answer;
    });
    const answer = isPieces(served.body)
      ? { ...served, body: logged(served.body, request.signal, { requestId, operation: match.operation.name }, log) }
      : served;
    const legacy = match.binding.isLegacy === true ? { Deprecation: deprecation } : {};
    return {
      ...answer,
      headers: { 'Cache-Control': 'no-store', ...answer.headers, ...legacy },
      operation: match.operation.name,
    };
  };
};
