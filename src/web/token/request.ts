/** Asks for a guest token: from a URL that answers as the gateway's `POST /embed-token`, or from a function of the page. */
import { isRecord } from '../base/client.js';
import { ownTraceHeaders } from '../base/page-trace.js';
import type { MintOutcome, OwnTenant, Refused } from './keeper.js';

export type GrantedEmbed = { readonly id: string; readonly name: string; readonly type: string };

/** The part of the gateway's answer that pages and elements use. */
export type EmbedToken = {
  readonly token: string;
  readonly refreshInMs: number | null;
  readonly embeds: readonly GrantedEmbed[];
  /** Empty: the answer names no service. */
  readonly serviceUrl: string;
  /** The tenant that the token is of; null: the answer does not say. */
  readonly tenant: string | null;
  /** What the session may choose from; empty: it has no choice. */
  readonly tenants: readonly OwnTenant[];
};

/**
 * What `getToken` may return: a token, or an answer of the gateway. Null or an empty text: nobody is logged in.
 * `replaces`: the SHA-256 of the token that the service has refused. `tenant`: the one that the user chose, or that the
 * attribute names. Both are for the body of `/embed-token`.
 */
export type GetToken = (asked: AskedBody) => unknown;

type AskedBody = { readonly replaces?: string; readonly tenant?: string };

type Outcome = MintOutcome<EmbedToken>;

export type TokenAsk = {
  /** The token that the service has refused. The source is told its digest. */
  readonly dead?: string | undefined;
  /** The tenant whose token is wanted; left out: the session's only one. */
  readonly tenant?: string | undefined;
};

/** The SHA-256 in hex. Pages without TLS have no digests: they name no token. */
const digestOf = async (token: string): Promise<string | undefined> => {
  if (globalThis.crypto?.subtle === undefined) return undefined;
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token)));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
};

const wanting = (tenant: string | undefined): AskedBody => (tenant === undefined ? {} : { tenant });

const replacing = async (dead: string | undefined): Promise<AskedBody> => {
  const replaces = dead === undefined ? undefined : await digestOf(dead);
  return replaces === undefined ? {} : { replaces };
};

/** Statuses of a source that takes no such body, as an earlier gateway or a path of the host's own. */
const takesNoBody: readonly number[] = [400, 404, 405, 411, 413, 415, 422];

/** Asks a URL, with the page's cookies. Never throws. */
export const requestToken = async (
  url: string,
  fetch: typeof globalThis.fetch,
  { dead, tenant }: TokenAsk = {},
): Promise<Outcome> => {
  try {
    const trace = ownTraceHeaders(url);
    const headers = Object.keys(trace).length === 0 ? {} : { headers: trace };
    const init = { method: 'POST', credentials: 'include', cache: 'no-store', ...headers } as const;
    const send = (asked: AskedBody) =>
      fetch(
        url,
        Object.keys(asked).length === 0
          ? init
          : { ...init, headers: { ...trace, 'content-type': 'application/json' }, body: JSON.stringify(asked) },
      );
    const wanted = wanting(tenant);
    const asked = { ...wanted, ...(await replacing(dead)) };
    if (asked.replaces === undefined) return await outcomeOf(await send(wanted));
    // A source of another origin may also forbid the body before it is sent.
    const answer = await send(asked).catch(() => undefined);
    const isTaken = answer !== undefined && !takesNoBody.includes(answer.status);
    // The tenant is never left out: the token would be of another one.
    return await outcomeOf(isTaken ? answer : await send(wanted));
  } catch (error) {
    return { kind: 'away', retryAfterMs: null, reason: textOf(error) };
  }
};

/** Calls a function of the page. Never throws. */
export const callForToken = async (getToken: GetToken, { dead, tenant }: TokenAsk = {}): Promise<Outcome> => {
  try {
    const answer = await getToken({ ...wanting(tenant), ...(await replacing(dead)) });
    if (answer === null || answer === undefined || answer === '') return { kind: 'refused', refused: noSession };
    const minted = tokenIn(answer, undefined);
    if (minted !== undefined) return { kind: 'minted', minted };
    const refused = refusedIn(answer);
    return refused === undefined ? unreadable : withoutToken(refused, null);
  } catch (error) {
    return { kind: 'away', retryAfterMs: null, reason: textOf(error) };
  }
};

const noSession: Refused = { code: 'SESSION_INVALID', message: 'There is no session.', status: 401 };
const unreadable: Outcome = { kind: 'retry', retryAfterMs: null, reason: 'The answer has no token that can be read.' };

const outcomeOf = async (response: Response): Promise<Outcome> => {
  const body: unknown = await response.json().catch(() => null);
  if (response.ok) {
    const minted = tokenIn(body, Date.parse(response.headers.get('date') ?? '') || undefined);
    if (minted !== undefined) return { kind: 'minted', minted };
    // Hosts send a browser without a session to their login page.
    return response.redirected ? { kind: 'refused', refused: noSession } : unreadable;
  }
  const { status, statusText } = response;
  const refused = refusedIn(body) ?? { code: `HTTP ${status}`, message: statusText, status };
  return withoutToken({ ...refused, status }, retryAfterMs(response));
};

const withoutToken = (refused: Refused, waitMs: number | null): Outcome => {
  const { status, code, message } = refused;
  if (status !== 408 && status !== 429 && status < 500) return { kind: 'refused', refused };
  const kind = [502, 503, 504].includes(status) ? 'away' : 'retry';
  return { kind, retryAfterMs: waitMs, reason: `${code}: ${message}` };
};

/** The error of an answer of the gateway. */
const refusedIn = (body: unknown): Refused | undefined => {
  const error = isRecord(body) && isRecord(body.error) ? body.error : {};
  const { code, message, status = 500 } = error;
  if (typeof code !== 'string' || typeof message !== 'string' || typeof status !== 'number') return undefined;
  const tenants = tenantsIn(error.tenants);
  return { code, message, status, ...(tenants.length === 0 ? {} : { tenants }) };
};

const retryAfterMs = (response: Response): number | null => {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : null;
};

/** `serverNowMs` is the time of the answer by the clock that wrote its times; undefined: not known. */
const tokenIn = (answer: unknown, serverNowMs: number | undefined): EmbedToken | undefined => {
  if (typeof answer === 'string')
    return { token: answer, refreshInMs: null, embeds: [], serviceUrl: '', tenant: null, tenants: [] };
  if (!isRecord(answer) || typeof answer.token !== 'string' || answer.token === '') return undefined;
  const { token, embeds, serviceUrl, refreshAfter, expiresAt, tenant, tenants } = answer;
  const nowMs = serverNowMs ?? Date.now();
  const refreshAtMs = instantOf(refreshAfter);
  const expiresAtMs = instantOf(expiresAt);
  const lifeMs = expiresAtMs === null ? null : expiresAtMs - nowMs;
  const refreshInMs = refreshAtMs !== null ? refreshAtMs - nowMs : lifeMs === null ? null : lifeMs * shareBeforeRenewal;
  // A new token that is due already: the clock of the page is ahead. The token is used until the service refuses it.
  const isAhead = serverNowMs === undefined && refreshInMs !== null && refreshInMs <= 0;
  return {
    token,
    refreshInMs: isAhead ? null : refreshInMs,
    embeds: Array.isArray(embeds) ? embeds.filter(isEmbed) : [],
    serviceUrl: typeof serviceUrl === 'string' ? serviceUrl : '',
    tenant: typeof tenant === 'string' ? tenant : null,
    tenants: tenantsIn(tenants),
  };
};

/** An answer without `refreshAfter` is renewed after this share of its life. */
const shareBeforeRenewal = 2 / 3;

/** Reads an ISO 8601 date or milliseconds since 1970. */
const instantOf = (value: unknown): number | null => {
  const instant = typeof value === 'number' ? value : typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(instant) ? null : instant;
};

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
const tenantsIn = (value: unknown): readonly OwnTenant[] =>
  Array.isArray(value)
    ? value.flatMap((each: unknown) => {
        if (!isRecord(each) || typeof each.id !== 'string') return [];
        return [typeof each.name === 'string' ? { id: each.id, name: each.name } : { id: each.id }];
      })
    : [];
const isEmbed = (value: unknown): value is GrantedEmbed =>
  isRecord(value) && typeof value.id === 'string' && typeof value.type === 'string';

/**
 * Picks the embed that an element shows: the one with this id, or the copy of the template with this name, which has an id
 * of its own for each client. Without an id: the first embed of the kind. An id that is not among the embeds stays as it is.
 * The service decides what the token may read.
 */
export const grantedId = (
  granted: readonly GrantedEmbed[],
  kind: 'dashboard' | 'metric',
  wanted: string | null,
): string | null => {
  const ids = granted.filter(({ type }) => type === kind).map(({ id }) => id);
  if (wanted === null) return ids[0] ?? null;
  return ids.includes(wanted) ? wanted : (ids.find((id) => id.startsWith(`${wanted}--`)) ?? wanted);
};
