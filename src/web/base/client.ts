/** HTTP client for guest reads. One client holds one token and serves one element. */

import type { FilterValue, Scalar } from '../../model/filter/filter.js';
import type { GuestDashboard, GuestMetric, GuestOption, GuestTheme } from '../../model/guest/view.js';
import type { AnswerColumn, MetricAnswer } from '../../model/query/engine.js';
import { type Answers, type BatchQuery, createBatch, type Part, type Question } from './batch.js';
import {
  downloadGuestCsv,
  downloadGuestXlsx,
  getGuestDashboard,
  getGuestMetric,
  listGuestFilterOptions,
  listGuestUnderlying,
  previewGuestMetric,
  queryGuestDashboard,
  queryGuestMetric,
} from './guest-operations.js';
import { pause } from './latest.js';
import { type CallAsGuest, requestOf } from './operations.js';
import { withOthersCells } from './others.js';
import { pageTraceHeaders } from './page-trace.js';

/** A failed read. `code` is the service's error code, `NETWORK_ERROR` or `UNREADABLE_ANSWER`. */
export class GuestError extends Error {
  override readonly name = 'GuestError';
  readonly code: string;
  /** HTTP status; 0 if no answer arrived. */
  readonly status: number;

  constructor(code: string, message: string, status: number, cause?: unknown) {
    super(message, { cause });
    this.code = code;
    this.status = status;
  }
}

/** The service as a whole gave no answer of its own: the network, a proxy, a server that starts or stops. */
export class OutageError extends GuestError {}

/** Whether the token can no longer be used. For the guest it makes no difference why. */
export const isEnded = (error: unknown): boolean =>
  error instanceof GuestError && (error.code === 'TOKEN_EXPIRED' || error.code === 'AUTHENTICATION_ERROR');

export type FilterValues = Readonly<Record<string, FilterValue>>;
/** The values of a filter that a search found. `hasMore`: it found more than these. */
export type OptionList = { readonly options: readonly GuestOption[]; readonly hasMore: boolean };

export type DrillStep = { readonly columnName: string; readonly value: Scalar | null };

/** Every call throws `GuestError`, or the abort error if its signal was aborted. */
export type GuestClient = {
  readonly dashboard: (dashboardId: string, signal: AbortSignal) => Promise<GuestDashboard>;
  readonly metric: (
    metricId: string,
    signal: AbortSignal,
  ) => Promise<GuestMetric & { readonly theme?: GuestTheme | null }>;
  readonly query: (metricId: string, question: Question, signal: AbortSignal) => Promise<MetricAnswer>;
  readonly underlying: (metricId: string, question: Question, signal: AbortSignal) => Promise<MetricAnswer>;
  readonly csv: (metricId: string, question: Question, signal: AbortSignal) => Promise<Blob>;
  readonly xlsx: (metricId: string, question: Question, signal: AbortSignal) => Promise<Blob>;
  /** `beside`: values of other filters, which narrow the list. An earlier service lists all values. */
  readonly options: (
    dashboardId: string,
    filter: string,
    search: string,
    signal: AbortSignal,
    beside?: FilterValues,
  ) => Promise<OptionList>;
  /** The answer of a metric that is not saved. */
  readonly preview: (body: object, signal: AbortSignal) => Promise<MetricAnswer>;
  /** Another operation of the guest. */
  readonly call: CallAsGuest;
};

export type ClientSettings = {
  /** Base URL of the service, with or without a trailing slash. */
  readonly baseUrl: string;
  readonly token: string;
  readonly fetch: typeof globalThis.fetch;
  /** Waits for these milliseconds; rejects if the signal aborts. Left out: by the timers of the page. */
  readonly pause?: typeof pause | undefined;
  /** The reader's language, in which the service names dashboards, metrics and filters. */
  readonly language?: (() => string | undefined) | undefined;
  /** Answers of an earlier token of the same guest. Unchanged ones are not sent again. */
  readonly answers?: Answers<MetricAnswer> | undefined;
  /**
   * Called if a read that the guest asks for (rows, CSV, options) finds the token ended. The read is repeated with the client
   * that this resolves to; undefined: there is none, and the read fails.
   */
  readonly next?: ((error: GuestError) => Promise<GuestClient | undefined>) | undefined;
};

/** What the guest asks for. It is asked again with the next token, if its own has ended. */
const repeated = ['underlying', 'csv', 'xlsx', 'options', 'call'] as const;
type Ask = (...args: readonly unknown[]) => Promise<unknown>;

export const createGuestClient = (settings: ClientSettings): GuestClient => {
  const client = createPlainClient(settings);
  const patient =
    (name: (typeof repeated)[number]): Ask =>
    async (...args) => {
      try {
        return await (client[name] as Ask)(...args);
      } catch (error) {
        if (!(error instanceof GuestError) || !isEnded(error)) throw error;
        const next = await settings.next?.(error);
        // The service's message is for developers.
        if (next === undefined) throw new GuestError(error.code, 'Access to this view has ended.', error.status, error);
        return (next[name] as Ask)(...args);
      }
    };
  return { ...client, ...Object.fromEntries(repeated.map((name) => [name, patient(name)])) };
};

/** Whether the service is of a release that does not know the request. */
const isUnknown = (error: unknown): boolean =>
  error instanceof GuestError && (error.status === 404 || error.status === 405);

const createPlainClient = (settings: ClientSettings): GuestClient => {
  const ask = (route: string, input: object, signal: AbortSignal) => {
    const { path, init } = requestOf(route, input);
    return send(settings, path, { ...init, signal });
  };
  const queryOne: GuestClient['query'] = async (metricId, question, signal) =>
    decode(await ask(queryGuestMetric, { metricId, ...question }, signal), answerIn);
  const queryAll = async (dashboardId: string, query: BatchQuery, signal: AbortSignal) => {
    try {
      return partsOf(await ask(queryGuestDashboard, { dashboardId, ...query }, signal));
    } catch (error) {
      if (isUnknown(error)) return undefined;
      throw error;
    }
  };
  return {
    dashboard: async (dashboardId, signal) =>
      decode(await ask(getGuestDashboard, { dashboardId }, signal), dashboardIn),
    metric: async (metricId, signal) => decode(await ask(getGuestMetric, { metricId }, signal), metricIn),
    query: createBatch({ queryOne, queryAll, missing: () => unreadable(200), answers: settings.answers ?? new Map() }),
    underlying: async (metricId, question, signal) =>
      decode(await ask(listGuestUnderlying, { metricId, ...question }, signal), answerIn),
    csv: async (metricId, question, signal) => (await ask(downloadGuestCsv, { metricId, ...question }, signal)).blob(),
    xlsx: async (metricId, question, signal) =>
      (await ask(downloadGuestXlsx, { metricId, ...question }, signal)).blob(),
    options: async (dashboardId, filter, search, signal, beside) => {
      const input = { dashboardId, filter, search };
      if (beside !== undefined) {
        try {
          return decode(await ask(listGuestFilterOptions, { ...input, dashboardFilter: beside }, signal), optionsIn);
        } catch (error) {
          if (!isUnknown(error)) throw error;
        }
      }
      return decode(await ask(listGuestFilterOptions.replace('POST', 'GET'), input, signal), optionsIn);
    },
    preview: async (body, signal) => decode(await ask(previewGuestMetric, body, signal), answerIn),
    // Panels check what they show of it.
    call: async (route, input, signal) =>
      (await decode(await ask(route, input, signal), (answer) => answer)).data as never,
  };
};

/** A busy service is asked again this many times, after the time that it names. */
const mostWaits = 5;
const longestWaitMs = 60_000;

/** Doubles, but is never shorter than the service says. Half of what is added is random, so that pages do not ask in step. */
const waitMsOf = (response: Response, waits: number): number => {
  const seconds = Number(response.headers.get('retry-after') ?? 0);
  const ownMs = 1000 * 2 ** waits * (0.5 + Math.random() / 2);
  return Math.min(longestWaitMs, (Number.isFinite(seconds) ? seconds * 1000 : 0) + ownMs);
};

type Sent = ReturnType<typeof requestOf>['init'] & { readonly signal: AbortSignal };

/** A refused request did nothing, so that it may be sent again, whatever it asks. */
const send = async (settings: ClientSettings, path: string, init: Sent): Promise<Response> => {
  for (let waits = 0; ; waits += 1) {
    const response = await sendOnce(settings, path, init);
    if (response.ok) return response;
    if (response.status !== 429 || waits === mostWaits) throw await refusalOf(response);
    await (settings.pause ?? pause)(waitMsOf(response, waits), init.signal);
  }
};

const sendOnce = async (
  { baseUrl, token, fetch, language }: ClientSettings,
  path: string,
  init: Sent,
): Promise<Response> => {
  const headers: Record<string, string> = { ...init.headers, ...pageTraceHeaders(), authorization: `Bearer ${token}` };
  const wanted = language?.();
  if (wanted !== undefined) headers['accept-language'] = wanted;
  const url = `${baseUrl.replace(/\/+$/, '')}/api/v2/guest/${path}`;
  return fetch(url, { ...init, headers, credentials: 'omit' }).catch((cause: unknown) => {
    if (init.signal?.aborted) throw cause;
    throw unreachable(cause);
  });
};

const unreachable = (cause: unknown): GuestError =>
  new OutageError('NETWORK_ERROR', 'The analytics service can’t be reached.', 0, cause);

const refusalOf = async (response: Response): Promise<GuestError> => {
  const refusal = refusalIn(await response.json().catch(() => null), response.status);
  const isOutage = [502, 503, 504].includes(response.status);
  return isOutage ? new OutageError(refusal.code, refusal.message, refusal.status) : refusal;
};

const refusalIn = (body: unknown, status: number): GuestError => {
  const error = isRecord(body) && isRecord(body.error) ? body.error : {};
  const code = typeof error.code === 'string' ? error.code : 'UNREADABLE_ANSWER';
  const message = typeof error.message === 'string' ? error.message : `The service answered ${status}.`;
  return new GuestError(code, message, status);
};

const unreadable = (status: number): GuestError =>
  new GuestError('UNREADABLE_ANSWER', 'The service’s answer can’t be read.', status);

/** The lines of a body. A connection that breaks throws NETWORK_ERROR. */
async function* linesOf({ body }: Response): AsyncGenerator<string> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  while (reader !== undefined) {
    const { value, done } = await reader.read().catch((cause: unknown) => {
      throw unreachable(cause);
    });
    const lines = (rest + (value ?? '')).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
    if (done) break;
  }
  if (rest !== '') yield rest;
}

/** Throws UNREADABLE_ANSWER for a line that names no metric. */
async function* partsOf(response: Response): AsyncGenerator<Part<MetricAnswer>> {
  for await (const line of linesOf(response)) {
    const part = readJson(line);
    if (!isRecord(part) || typeof part.metricId !== 'string') throw unreadable(response.status);
    yield { metricId: part.metricId, outcome: outcomeOf(part) };
  }
}

const readJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

const outcomeOf = (part: Record<string, unknown>): Part<MetricAnswer>['outcome'] => {
  const answer = isRecord(part.answer) ? answerIn(part.answer) : undefined;
  const digest = typeof part.digest === 'string' ? part.digest : undefined;
  if (answer !== undefined) return { answer, digest };
  if (part.isUnchanged === true && digest !== undefined) return { isUnchanged: true, digest };
  if (!isRecord(part.error)) return { error: unreadable(200) };
  return { error: refusalIn(part, typeof part.error.status === 'number' ? part.error.status : 0) };
};

const decode = async <T>(response: Response, read: (body: Record<string, unknown>) => T | undefined): Promise<T> => {
  const body: unknown = await response.json().catch(() => null);
  const value = isRecord(body) ? read(body) : undefined;
  if (value === undefined) throw unreadable(response.status);
  return value;
};

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isMetric = (value: unknown): value is GuestMetric =>
  isRecord(value) &&
  typeof value.metricId === 'string' &&
  typeof value.name === 'string' &&
  isRecord(value.chart) &&
  Array.isArray(value.chart.dimensions) &&
  Array.isArray(value.chart.measures);

const isDashboard = (value: unknown): value is GuestDashboard =>
  isRecord(value) &&
  typeof value.dashboardId === 'string' &&
  Array.isArray(value.layout) &&
  Array.isArray(value.filters) &&
  isRecord(value.permissions) &&
  Array.isArray(value.metrics) &&
  value.metrics.every(isMetric);

const isColumn = (value: unknown): value is AnswerColumn => isRecord(value) && typeof value.name === 'string';
const isOthersPart = (value: unknown): value is NonNullable<MetricAnswer['others']> =>
  isRecord(value) && typeof value.name === 'string' && typeof value.rows === 'number';
const isOption = (value: unknown): value is GuestOption => isRecord(value) && typeof value.label === 'string';
const isCoursePoint = (value: unknown): value is { at: string; value: number | null } =>
  isRecord(value) && typeof value.at === 'string' && (value.value === null || typeof value.value === 'number');
const isRow = (value: unknown): value is MetricAnswer['rows'][number] => isRecord(value);

const dashboardIn = ({ data }: Record<string, unknown>) => (isDashboard(data) ? data : undefined);
const metricIn = ({ data }: Record<string, unknown>) => (isMetric(data) ? data : undefined);
/** Earlier services list at most 100 options, and do not say whether there are more. */
const optionsIn = ({ data, hasMore }: Record<string, unknown>): OptionList | undefined => {
  if (!Array.isArray(data) || !data.every(isOption)) return undefined;
  return { options: data, hasMore: typeof hasMore === 'boolean' ? hasMore : data.length >= 100 };
};

/** The answer in the body of a query. Undefined: it is none. */
export const answerIn = ({
  data,
  metaData,
  totalRecords,
  truncated,
  asOf,
  comparisonValue,
  comparedFrom,
  course,
  points,
  others,
}: Record<string, unknown>): MetricAnswer | undefined => {
  if (!Array.isArray(data) || !data.every(isRow) || !isRecord(metaData)) return undefined;
  const { columns, groupbyColumnList } = metaData;
  if (!Array.isArray(columns) || !columns.every(isColumn) || !Array.isArray(groupbyColumnList)) return undefined;
  return withOthersCells({
    rows: data,
    columns,
    groupbyColumnList: groupbyColumnList.filter((name) => typeof name === 'string'),
    totalRecords: typeof totalRecords === 'number' ? totalRecords : data.length,
    ...(truncated === true ? { isTruncated: true } : {}),
    ...(typeof asOf === 'string' && !Number.isNaN(Date.parse(asOf)) ? { asOf } : {}),
    ...(isRecord(points) && typeof points.total === 'number'
      ? { points: { shown: data.length, total: points.total } }
      : {}),
    ...(typeof comparisonValue === 'number' || comparisonValue === null ? { comparisonValue } : {}),
    ...(typeof comparedFrom === 'string' ? { comparedFrom } : {}),
    ...(Array.isArray(course) && course.every(isCoursePoint) ? { course } : {}),
    ...(isOthersPart(others) ? { others: { name: others.name, rows: others.rows } } : {}),
  });
};
