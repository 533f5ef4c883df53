/**
 * Serves operations: authenticate, decode, call, encode. The same dispatch answers HTTP requests and in-process calls.
 * It must not import Express or use cases.
 */

import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type Code, errors } from '../../../model/errors.js';
import { gatewayIdMend, isGatewayId } from '../../../model/gateway-id.js';
import type { Caller } from '../../../model/guest/caller.js';
import { RestrictionMisfit } from '../../../model/guest/restriction-misfit.js';
import { isRecord } from '../../../model/is-record.js';
import type { Log } from '../../../model/log-events.js';
import { noQuota, type Quota } from '../../../model/quota.js';
import type { Reason } from '../../../model/reasons.js';
import { Refusal } from '../../../model/refusal.js';
import { anyOf } from '../../../model/signals.js';
import {
  type CountUse,
  type HeldName,
  noUse,
  type RequestUse,
  type UsedBy,
  type UsedOn,
} from '../../../model/usage.js';
import { inSpan, type OpenSpan, type RemoteTrace, sampledTraceId } from '../../traces/trace.js';
import { breathe } from '../../work/breathe.js';
import { needsData } from '../interface/callable.js';
import { limits } from '../interface/fields.js';
import {
  type ContentType,
  errorBody,
  type HandlersOf,
  type Operation,
  type WriteFailure,
} from '../interface/operation.js';
import { type AdmissionLimits, type Authenticate, createAdmission, type Sender } from './admission.js';
import { BodyTooLarge } from './body-faults.js';
import type { ReadBody } from './body-reader.js';
import { envelope } from './envelope.js';
import { type Failure, failureOf, ofService, retryAfter } from './failure.js';
import { findFaults, findShapeFault, writeFaults } from './faults.js';
import { holdsSlices, isPieces, jsonText, mapSlices } from './json-text.js';
import { readAhead } from './read-ahead.js';
import { choose, createRoutes, decodeParams, type Match, withoutCondition } from './routes.js';

export type DispatchRequest = {
  readonly method: string;
  /** The path, percent-encoded, without the query string. */
  readonly path: string;
  readonly query: Readonly<Record<string, unknown>>;
  readonly authorization: string | undefined;
  readonly ifNoneMatch?: string | undefined;
  readonly acceptLanguage?: string | undefined;
  /** The header `Guestlist-Gateway`. */
  readonly gateway?: string | undefined;
  /** The caller, if code of this process makes the request. No HTTP request sets it. */
  readonly caller?: Caller;
  /** True: an author looks as a guest, and gets the developer's messages. No HTTP request sets it. */
  readonly showsCauses?: boolean;
  /** The body of an in-process call. */
  readonly body?: unknown;
  /** Reads the body of an HTTP request. Called only after the caller was authenticated. */
  readonly readBody?: ReadBody;
  /** The sender of an HTTP request. */
  readonly sender?: Sender;
  /** The HTTP request, for what is no operation. Operations never get it. */
  readonly from?: IncomingMessage;
  /** The id under which failures are logged. Left out: a new one. */
  readonly requestId?: string;
  /** The trace that the caller of an HTTP request named. */
  readonly trace?: RemoteTrace | undefined;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
};

export type DispatchResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly contentType: string;
  /**
   * A value, which may have fields that are long lists in slices, or an `AsyncIterable` of text or bytes in pieces: a file.
   * A consumer must read them to the end or call their `return`. If one throws, the error was logged, and the consumer must
   * not let the answer look complete.
   */
  readonly body: unknown;
  /** For logs and meters; never sent to the caller. */
  readonly operation: string;
  /** For logs. Undefined: no trace is known. */
  readonly traceId?: string | undefined;
  /** For meters: the trace, if it is sampled. */
  readonly exemplar?: string | undefined;
  readonly refused?: {
    readonly code: string;
    readonly reason: string;
    /** The developer's message, if the caller got a neutral one. */
    readonly message?: string;
    /** Which restriction does not fit which metric, and why. */
    readonly cause?: string;
  };
};

/** Resolves to undefined if no operation has this path. */
export type Dispatch = (request: DispatchRequest) => Promise<DispatchResponse | undefined>;

/** Receives internal failures with their full cause. */
export type ServiceLog = Pick<Log, 'error' | 'info'>;

type AnyHandler = (caller: Caller, input: unknown, signal: AbortSignal) => Promise<unknown>;
type Answer = Pick<DispatchResponse, 'status' | 'headers' | 'body' | 'contentType'> & {
  readonly refused?: {
    readonly code: Code;
    readonly reason: Reason;
    readonly message?: string;
    readonly cause?: string;
  };
};

/** The date on which the camel-case paths became deprecated, in the format of RFC 9745: seconds since 1970. */
const deprecation = `@${Date.UTC(2026, 10, 1) / 1000}`;

const json = 'application/json; charset=utf-8';

const refuse = (faults: readonly string[]): never => {
  throw new Refusal('INVALID_REQUEST_BODY', writeFaults(faults));
};

/** Returns the input's fields. The body is read only here, after the caller was authenticated. */
const bodyOf = ({ operation, binding }: Match, { body, readBody }: DispatchRequest): unknown =>
  readBody?.({ maxBytes: operation.bodyBytes ?? limits.usualBodyBytes, multipart: binding.multipart }) ?? body;

/** Whether the operation accepts an input without any field. */
const takesNothing = (() => {
  const known = new WeakMap<Operation, boolean>();
  return (operation: Operation): boolean => {
    const there = known.get(operation) ?? operation.input.safeParse({}).success;
    known.set(operation, there);
    return there;
  };
})();

/** The language that the caller wants most; undefined if it names none. */
export const firstLanguage = (acceptLanguage = ''): string | undefined =>
  /^\s*([A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8}){0,3})\s*(?:[,;]|$)/.exec(acceptLanguage)?.[1];

const decode = ({ operation, binding, params }: Match, request: DispatchRequest, body: unknown): unknown => {
  const root = binding.from;
  const names = Object.keys(params);
  const given = { body, query: { ...request.query }, path: {} }[root];
  // No body is needed if the path contains all fields, or if the operation requires none.
  const mayBeBare = names.length > 0 || takesNothing(operation);
  const fields = given === undefined && mayBeBare ? {} : given;
  const shape = findShapeFault(fields, root);
  if (shape.fault !== undefined) refuse([shape.fault]);
  const twice = names.filter((name) => isRecord(fields) && Object.hasOwn(fields, name));
  if (twice.length > 0) refuse(twice.map((name) => `${name}: is given in the path and must not be in the ${root}`));
  const wanted = operation.takesLanguage === true ? firstLanguage(request.acceptLanguage) : undefined;
  const language = wanted === undefined ? {} : { language: wanted };
  const input = isRecord(fields) ? { ...language, ...fields, ...decodeParams(params) } : fields;
  const decoded = findFaults(binding.input ?? operation.input, input, { root, values: shape.values });
  return 'faults' in decoded ? refuse(decoded.faults) : decoded.data;
};

const fileNames: Readonly<Partial<Record<ContentType, string>>> = {
  'text/csv': 'metric.csv',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'metrics.xlsx',
  'application/pdf': 'guestlist.pdf',
  'image/png': 'guestlist.png',
};

const isText = (type: ContentType): boolean => type.startsWith('text/') || /[/+-](nd)?json$/.test(type);

/** Throws if the first part of a list cannot be read. */
const encode = async ({ operation, binding }: Match, result: unknown, writeFailure: WriteFailure): Promise<Answer> => {
  const { contentType } = operation;
  const fileName = fileNames[contentType];
  const encoded: unknown = binding.encode?.(result) ?? operation.encode(result, writeFailure);
  const body = holdsSlices(encoded) ? await readAhead(encoded as object) : encoded;
  const isLines = contentType === 'application/x-ndjson' && isPieces(body);
  return {
    status: 200,
    headers: fileName === undefined ? {} : { 'Content-Disposition': `attachment; filename="${fileName}"` },
    contentType: isText(contentType) ? `${contentType}; charset=utf-8` : contentType,
    body: isLines ? linesOf(body) : body,
  };
};

/** The tag is weak: the time that an answer took is not part of it. */
const tagHeader = (tag: string): string => `W/"${tag}"`;

/** RFC 9110, 13.1.2, without `*`: a caller that names no tag has no answer to keep. */
const isNamed = (tag: string, ifNoneMatch = ''): boolean =>
  [...ifNoneMatch.matchAll(/"([^"]*)"/g)].some(([, named]) => named === tag);

/** The answer with its tag; only the tag if the request names it. */
const tagged = async (
  tag: string | undefined,
  { ifNoneMatch }: DispatchRequest,
  answer: () => Promise<Answer>,
): Promise<Answer> => {
  if (tag === undefined) return answer();
  const headers = { ETag: tagHeader(tag) };
  if (isNamed(tag, ifNoneMatch)) return { status: 304, headers, contentType: json, body: '' };
  const whole = await answer();
  return { ...whole, headers: { ...whole.headers, ...headers } };
};

/** Newline-delimited JSON. */
async function* linesOf(values: AsyncIterable<unknown>): AsyncGenerator<string> {
  for await (const value of values) yield `${await jsonText(value)}\n`;
}

/**
 * Passes each piece of an answer on. Between two pieces, other requests are served. An empty piece is not sent. An error is only logged:
 * the status line was already sent, so the caller cannot be told.
 */
async function* logged<Piece extends { readonly length: number }>(
  pieces: AsyncIterable<Piece>,
  signal: AbortSignal,
  fields: object,
  log: ServiceLog,
): AsyncGenerator<Piece> {
  try {
    for await (const piece of pieces) {
      await breathe();
      if (piece.length > 0) yield piece;
    }
  } catch (err) {
    if (!signal.aborted) log.error({ event: 'response.aborted', err, ...fields }, 'a streamed answer failed');
    throw err;
  }
}

const headersOf = (failure: Failure): Answer['headers'] => ({
  ...(failure.status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}),
  ...retryAfter(failure),
});

/** The cause of a refusal that is written for the log: it names definitions, and no value. */
const causeOf = (error: unknown): Pick<NonNullable<Answer['refused']>, 'cause'> =>
  error instanceof Refusal && error.cause instanceof RestrictionMisfit ? { cause: error.cause.message } : {};

const answerError = (failure: Failure, error?: unknown): Answer => {
  const { code, message, status, reason } = failure;
  const body = envelope(code, message, status);
  return { status, headers: headersOf(failure), contentType: json, body, refused: { code, reason, ...causeOf(error) } };
};

/**
 * Returns the answer for an error. A declared refusal is sent to the caller; the cause of an internal failure is only
 * logged.
 */
const fail = (error: unknown, { name, errors }: Operation, requestId: string, log: ServiceLog): Answer => {
  const { INTERNAL_SERVER_ERROR: _, ...statuses } = errors;
  const telling = ofService(requestId, statuses);
  const line = { err: error, requestId, operation: name };
  const away = telling.away(error);
  if (away !== undefined) {
    log.error({ event: 'operation.interrupted', ...line }, 'an operation needs a server that cannot be reached');
    return answerError(away);
  }
  const failure = failureOf(error, telling);
  if (failure.status < 500) return answerError(failure, error);
  log.error({ event: 'operation.failed', ...line }, 'an operation failed');
  const { message } = failure;
  const text = message === telling.failed ? message : `${message} ${telling.failed}`;
  return answerError({ ...failure, message: text, retryAfterSeconds: null });
};

/**
 * Reasons of INVALID_REQUEST_BODY whose message names only what the guest sent, what this guest may choose from, and the
 * limits of the interface. A new reason is neutral to guests until it is listed here.
 */
const requestReasons: ReadonlySet<Reason> = new Set<Reason>([
  // Names measures and dimensions of a metric that the guest reads.
  'alert-invalid',
  'board-of-another-user',
  'body-ended-early',
  'body-not-json',
  'body-read-before',
  'body-too-large',
  'body-type',
  'body-unreadable',
  'comparison-of-the-host',
  'drill',
  'filter-unknown',
  'filter-value',
  'filters-of-the-host',
  'form',
  'guest-definition',
  // The faults that the schema of the operation finds.
  'invalid-request-body',
  'json-excess',
  'metric-of-no-user',
  'picture-too-tall',
  'report-format',
  'report-of-a-channel',
  'report-recipients',
  'report-recurrence',
  'report-too-large',
  'report-under-way',
  'text-not-storable',
  'too-many-boards',
  'too-many-guest-metrics',
  'too-many-schedules',
  'too-many-views',
  'view-choices',
  'where-of-the-host',
]);

/**
 * Whether guests get the developer's message: for faults in their own request, for missing permissions, and for what the
 * end user can fix. All other messages describe the metric, its restrictions or its datasource, which an end user must
 * not learn.
 */
const isForGuests = (code: Code, reason: Reason): boolean =>
  code === 'INVALID_REQUEST_BODY'
    ? requestReasons.has(reason)
    : code === 'UNAUTHORIZED' || errors[code].mender === 'end user';

/** What passes is said to pass: an administrator could not mend it. */
const neutralText = (status: number): string =>
  status === 503
    ? 'This is unavailable for the moment. Try again shortly.'
    : "This chart can't be shown. Ask your administrator.";

/**
 * Returns the error as an end user sees it: the same status and code, a neutral message, and the request id as a
 * reference. The developer's message goes to the log.
 */
const neutral = (answer: Answer, requestId: string): Answer => {
  const { refused, body, status } = answer;
  const failure = errorBody.safeParse(body);
  if (refused === undefined || !failure.success || isForGuests(refused.code, refused.reason)) return answer;
  return {
    ...answer,
    body: envelope(refused.code, `${neutralText(status)} Reference: ${requestId}.`, status),
    refused: { ...refused, message: failure.data.error.message },
  };
};

/** The error of one part of a streamed answer. The answer has its status already. */
const writePart = ({ body, refused }: Answer, { name }: Operation, requestId: string, log: ServiceLog) => {
  log.info({ event: 'operation.part_refused', requestId, operation: name, refused }, 'a part of an answer was refused');
  return errorBody.parse(body).error;
};

/** Whether a body was read and then refused. A body that was refused by its Content-Length was not read. */
const isRefusedBody = (error: unknown): boolean =>
  error instanceof BodyTooLarge ? error.wasRead : error instanceof Refusal && error.code === 'INVALID_REQUEST_BODY';

const notAllowed = (method: string, allowed: readonly string[]): DispatchResponse => ({
  status: 405,
  headers: { Allow: allowed.join(', '), 'Cache-Control': 'no-store' },
  contentType: json,
  body: envelope('METHOD_NOT_ALLOWED', `This path takes ${allowed.join(', ')}, not ${method.slice(0, 20)}.`, 405),
  operation: 'unmatched',
});

type LogPieces = <Piece extends { readonly length: number }>(pieces: AsyncIterable<Piece>) => AsyncIterable<Piece>;

const respond = ({ operation: { name }, binding }: Match, served: Answer, log: LogPieces): DispatchResponse => {
  const { body, headers } = served;
  const legacy = binding.isLegacy === true ? { Deprecation: deprecation } : {};
  return {
    ...served,
    body: isPieces(body) ? log(body) : holdsSlices(body) ? mapSlices(body, log) : body,
    headers: { 'Cache-Control': 'no-store', ...headers, ...legacy },
    operation: name,
  };
};

/** Throws INVALID_REQUEST_BODY for a name that would not be stored: its tokens could not be revoked by it. */
const withGateway = (caller: Caller, { gateway }: DispatchRequest): Caller => {
  if (gateway === undefined || caller.kind !== 'apiKey') return caller;
  if (!isGatewayId(gateway)) refuse([`the header Guestlist-Gateway: ${gatewayIdMend}`]);
  return { ...caller, gateway };
};

const fieldOf = (input: unknown, name: string): string | null =>
  isRecord(input) && typeof input[name] === 'string' ? input[name] : null;

const placeOf = (input: unknown): UsedOn => ({
  dashboardId: fieldOf(input, 'dashboardId'),
  metricId: fieldOf(input, 'metricId'),
});

/**
 * The tenant and the user for whom a request is counted. A person who looks in Studio is counted without a user. Null: the
 * organization itself asks, which is not counted.
 */
const usedBy = (caller: Caller, input: unknown): UsedBy | null => {
  if (caller.kind === 'serviceToken') return null;
  if (caller.kind === 'guest') {
    const { dataAppId, clientId, userIdentifier } = caller.grant;
    return { dataAppId, clientId, userIdentifier: caller.isView === true ? null : userIdentifier };
  }
  const params = isRecord(input) ? input.params : undefined;
  const userIdentifier = fieldOf(params, 'userIdentifier');
  return { dataAppId: caller.dataAppId, clientId: fieldOf(input, 'clientId'), userIdentifier };
};

/** Somebody who looks in Studio is counted, and never limited. */
const quotaOf = (caller: Caller): Quota =>
  caller.kind === 'guest' && caller.isView !== true && caller.author === undefined ? caller.grant.quota : noQuota;

const held = async ({ hold }: CountUse, caller: Caller, input: unknown, name: HeldName): Promise<() => void> => {
  const by = usedBy(caller, input);
  return by === null ? () => {} : hold(by, name, quotaOf(caller));
};

/** Throws QUOTA_REACHED. */
const seated = async ({ seat }: CountUse, caller: Caller, input: unknown): Promise<void> => {
  const by = usedBy(caller, input);
  if (by !== null) await seat(by, quotaOf(caller));
};

const useOf = (counting: CountUse, caller: Caller, input: unknown): RequestUse => ({
  add: (on, counts) => {
    const by = usedBy(caller, input);
    if (by !== null) counting.add({ ...by, ...on }, counts);
  },
  stored: counting.stored,
  hold: (name) => held(counting, caller, input, name),
  seat: () => seated(counting, caller, input),
});

type CountedFor = { readonly use: RequestUse; readonly requestId: string; readonly signal: AbortSignal };

/** An own signal, since a call in this process may pass on the signal of a request that is counted for somebody else. */
const ownSignal = ({ signal, ...of }: CountedFor): AbortSignal => {
  const own = anyOf(signal);
  // All queries of a dashboard wait on this one signal. From eleven on, Node would warn of a leak.
  setMaxListeners(0, own);
  return Object.assign(own, of);
};

/** Calls the use case, and counts what it costs for its caller. */
const counted = async <R>(
  { reads, counts }: Operation,
  input: unknown,
  of: CountedFor,
  call: (signal: AbortSignal) => Promise<R>,
): Promise<R> => {
  if (needsData(reads)) await of.use.seat();
  const done = counts === 'exports' ? await of.use.hold(counts) : () => {};
  try {
    const result = await call(needsData(reads) ? ownSignal(of) : of.signal);
    if (counts === undefined) return result;
    of.use.add(placeOf(input), { [counts]: 1 });
    // A kill must not lose what is billed.
    await of.use.stored();
    return result;
  } finally {
    done();
  }
};

/** The path is the template: the ids in it may name a tenant. */
const spanOf = ({ operation, binding }: Match, { from, trace }: DispatchRequest, requestId: string) =>
  ({
    name: operation.name,
    kind: from === undefined ? 'internal' : 'server',
    attributes: () => ({
      'http.request.method': binding.method,
      'http.route': binding.path,
      'guestlist.request_id': requestId,
    }),
    from: trace,
  }) as const;

const noteServed = (span: OpenSpan, { operation: { name } }: Match, { status, refused }: Answer): void => {
  span.note(() => ({
    'guestlist.operation': name,
    'http.response.status_code': status,
    ...(refused === undefined ? {} : { 'guestlist.code': refused.code, 'guestlist.reason': refused.reason }),
  }));
  if (status >= 500) span.failed(refused?.reason ?? String(status));
};

/** Creates the dispatch of a set of operations. */
export const createDispatch = <const Operations extends Readonly<Record<string, Operation>>>({
  operations,
  handlers,
  authenticate,
  limits: limited,
  log,
  use: counting = noUse,
  newRequestId = randomUUID,
}: {
  readonly operations: Operations;
  readonly handlers: HandlersOf<Operations>;
  readonly authenticate: Authenticate;
  /** Left out: no limits apply. */
  readonly limits?: AdmissionLimits;
  readonly log: ServiceLog;
  /** Left out: nothing is counted. */
  readonly use?: CountUse;
  readonly newRequestId?: () => string;
}): Dispatch => {
  const { admit, countMore, refusedBody } = createAdmission(authenticate, limited ?? null);
  const find = createRoutes(Object.values(operations));
  // The cast is safe: HandlersOf pairs each operation with its use case, and `decode` and `authenticate` produce the
  // declared types.
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
      const caller = withGateway(await admit(match.operation, request), request);
      isGuest = caller.kind === 'guest';
      const body = await bodyOf(match, request);
      match = choose(found, { query: request.query, body });
      const call = calls.get(match.operation);
      if (call === undefined) throw new Error(`${match.operation.name} has no handler`);
      const input = decode(match, request, body);
      await countMore(caller, request, match.operation.requestsOf?.(input));
      const of = { use: useOf(counting, caller, input), requestId, signal: request.signal };
      const result = await counted(match.operation, input, of, (signal) => call(caller, input, signal));
      const writeFailure: WriteFailure = (error) => writePart(answerFailure(error), match.operation, requestId, log);
      return tagged(match.operation.tagOf?.(result), request, () => encode(match, result, writeFailure));
    };
    const answerFailure = (error: unknown): Answer => {
      const answer = fail(error, match.operation, requestId, log);
      return isGuest && request.showsCauses !== true ? neutral(answer, requestId) : answer;
    };
    return inSpan(spanOf(match, request, requestId), async (open) => {
      const served = await serve().catch((error) => {
        if (isRefusedBody(error)) refusedBody(request);
        return answerFailure(error);
      });
      noteServed(open, match, served);
      const fields = { requestId, operation: match.operation.name };
      const response = respond(match, served, (pieces) => logged(pieces, request.signal, fields, log));
      return { ...response, traceId: open.traceId, exemplar: sampledTraceId() };
    });
  };
};
