/**
 * Traces of OpenTelemetry. The operator registers an SDK (docs/reference/monitoring.md); without one, nothing is measured
 * and nothing is sent. No other file imports the API, and no attribute may hold a row, a value of a filter, a token, a
 * claim, a tenant or a user. The message of an error may hold one of these, so a span has the error's code alone.
 */
import {
  type Attributes,
  type Context,
  context,
  createContextKey,
  createTraceState,
  isSpanContextValid,
  ProxyTracerProvider,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { Refusal } from '../../model/refusal.js';

/** The trace of a caller in another process: the headers `traceparent` and `tracestate` of W3C Trace Context. */
export type RemoteTrace = Pick<SpanContext, 'traceId'> & { readonly spanContext: SpanContext };

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** `ff` is no version. A later version may have more fields after these four. */
const traceparent = /^(?!ff)([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;
/** W3C Trace Context asks for no more to be passed on. */
const longestState = 512;

/** Undefined if the headers name no trace. A header that is not valid is ignored, as the standard says. */
export const remoteTraceOf = (headers: Headers): RemoteTrace | undefined => {
  const given = headers.traceparent;
  if (typeof given !== 'string') return undefined;
  const [, version, traceId = '', spanId = '', flags = '', more] = traceparent.exec(given) ?? [];
  const isLonger = version === '00' && more !== undefined;
  const named = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
  if (isLonger || !isSpanContextValid(named)) return undefined;
  const state = headers.tracestate;
  const isState = typeof state === 'string' && state.length <= longestState;
  return { traceId, spanContext: isState ? { ...named, traceState: createTraceState(state) } : named };
};

/** The trace of the open span. Undefined: no span is open, or only one that a caller in another process named. */
export const openTraceId = (): string | undefined => {
  const span = trace.getActiveSpan();
  return span === undefined || !isSpanContextValid(span.spanContext()) ? undefined : span.spanContext().traceId;
};

/** As `openTraceId`, if the trace is sampled: only then can somebody look it up. */
export const sampledTraceId = (): string | undefined => {
  const span = trace.getActiveSpan()?.spanContext();
  return span !== undefined && (span.traceFlags & TraceFlags.SAMPLED) !== 0 ? openTraceId() : undefined;
};

/** What the work of a span can say about it. */
export type OpenSpan = {
  /** Undefined: nothing is measured, and no caller named a trace. */
  readonly traceId: string | undefined;
  /** `make` is called only if a span is measured. */
  readonly note: (make: () => Attributes) => void;
  /** Marks the span as failed. `code` is one of a limited set. */
  readonly failed: (code: string) => void;
};

const nothing = (): void => {};
const noSpan: OpenSpan = { traceId: undefined, note: nothing, failed: nothing };

/** Undefined: no SDK is registered. A host may register one later, so each span asks. */
const findTracer = (): Tracer | undefined => {
  const provider = trace.getTracerProvider();
  return provider instanceof ProxyTracerProvider
    ? provider.getDelegateTracer('guestlist')
    : provider.getTracer('guestlist');
};

const kinds = { internal: SpanKind.INTERNAL, server: SpanKind.SERVER, client: SpanKind.CLIENT } as const;

export type SpanStart = {
  /** One of a limited set: it names neither a tenant nor an object of one. */
  readonly name: string;
  /** `server`: answers another process. `client`: waits for one. Left out: neither. */
  readonly kind?: keyof typeof kinds;
  /** Called only if the span is measured. */
  readonly attributes?: () => Attributes;
  /** The caller's span. A span that is open already, such as one of the host's own instrumentation, comes before it. */
  readonly from?: RemoteTrace | undefined;
};

const codeOf = (error: unknown): string => {
  if (error instanceof Refusal) return error.reason;
  return error instanceof Error ? error.name : typeof error;
};

/** Errors are logged by those who called the work, when its span has ended. */
const tracesOfErrors = new WeakMap<object, string>();

/** The trace of the innermost span whose work threw this error. */
export const traceIdOfError = (error: unknown): string | undefined =>
  error instanceof Error ? tracesOfErrors.get(error) : undefined;

const createOpenSpan = (span: Span): OpenSpan => ({
  traceId: span.spanContext().traceId,
  note: (make) => {
    if (span.isRecording()) span.setAttributes(make());
  },
  failed: (code) => {
    span.setAttribute('error.type', code);
    span.setStatus({ code: SpanStatusCode.ERROR });
  },
});

/** The span that is open, or the caller's. */
const parentOf = (from: RemoteTrace | undefined): Context => {
  const active = context.active();
  const isOpen = from === undefined || trace.getSpanContext(active) !== undefined;
  return isOpen ? active : trace.setSpanContext(active, from.spanContext);
};

/**
 * Runs the work in a span, which ends with it. What it throws or rejects with passes through unchanged. Spans that the
 * work opens, after any `await` too, are children of this one.
 */
export const inSpan = <R>({ name, kind = 'internal', attributes, from }: SpanStart, work: (span: OpenSpan) => R): R => {
  const tracer = findTracer();
  if (tracer === undefined) return work(from === undefined ? noSpan : { ...noSpan, traceId: from.traceId });
  const parent = parentOf(from);
  const span = tracer.startSpan(name, { kind: kinds[kind] }, parent);
  const open = createOpenSpan(span);
  if (attributes !== undefined) open.note(attributes);
  const end = <T>(result: T): T => {
    span.end();
    return result;
  };
  const fail = (error: unknown): never => {
    open.failed(codeOf(error));
    if (error instanceof Error && !tracesOfErrors.has(error)) tracesOfErrors.set(error, span.spanContext().traceId);
    span.end();
    throw error;
  };
  let result: R;
  try {
    result = context.with(trace.setSpan(parent, span), work, undefined, open);
  } catch (error) {
    return fail(error);
  }
  return result instanceof Promise ? (result.then(end, fail) as R) : end(result);
};

/** The key by which instrumentation of OpenTelemetry knows that a call is traced already. */
const suppressed = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING');

/**
 * Calls another process. `headers` continue the open span there; without one there are none. Instrumentation that the
 * host has registered for calls adds no second pair.
 */
export const withTraceHeaders = <R>(call: (headers: Readonly<Record<string, string>>) => R): R => {
  const active = context.active();
  const span = trace.getSpanContext(active);
  if (span === undefined || !isSpanContextValid(span)) return call({});
  const { traceId, spanId, traceFlags, traceState } = span;
  const flags = (traceFlags & 1).toString(16).padStart(2, '0');
  const state = traceState?.serialize() ?? '';
  const headers = {
    traceparent: `00-${traceId}-${spanId}-${flags}`,
    ...(state === '' ? {} : { tracestate: state }),
  };
  return context.with(active.setValue(suppressed, true), call, undefined, headers);
};
