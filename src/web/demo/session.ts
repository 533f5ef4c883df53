/** HTTP calls of the demo host page: read the session, log in and out, and get a guest token from the gateway. */
import { isRecord } from '../base/client.js';
import type { MintOutcome } from './token-keeper.js';

export type DemoUser = {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly airport: string;
  readonly roles: readonly string[];
  readonly region: string | null;
  readonly description: string;
};

export type CurrentUser = Omit<DemoUser, 'description'> & { readonly claims: Readonly<Record<string, unknown>> };
export type DemoSession = { readonly users: readonly DemoUser[]; readonly current: CurrentUser | null };
export type GrantedEmbed = { readonly id: string; readonly name: string; readonly type: string };

/** The part of the gateway's answer that this page uses. */
export type EmbedToken = {
  readonly token: string;
  readonly refreshInMs: number;
  readonly embeds: readonly GrantedEmbed[];
  readonly serviceUrl: string;
};

/** The gateway's refusal: its code, its message for end users, and the HTTP status. */
export type HostError = { readonly code: string; readonly message: string; readonly status: number };

export const readSession = async (): Promise<DemoSession> => {
  const response = await fetch('/demo/session', { credentials: 'same-origin', cache: 'no-store' });
  const body: unknown = await response.json();
  if (!response.ok || !isRecord(body) || !Array.isArray(body.users)) throw new Error('The demo session can’t be read.');
  return { users: body.users.filter(isUser), current: isCurrent(body.current) ? body.current : null };
};

export const logIn = (user: string): Promise<void> => send('/demo/login', { user });
export const logOut = (): Promise<void> => send('/demo/logout', {});

const send = async (path: string, body: unknown): Promise<void> => {
  const response = await post(path, body);
  if (!response.ok) throw new Error((await errorOf(response)).message);
};

/** Asks the gateway for a token. Never throws: failures are outcomes. */
export const mintToken = async (
  onRefusal: (error: HostError) => void,
  signal: AbortSignal,
): Promise<MintOutcome<EmbedToken>> => {
  try {
    const response = await post('/embed-token', {}, signal);
    if (response.ok) return { kind: 'minted', minted: await tokenOf(response) };
    const error = await errorOf(response);
    if (response.status !== 429 && response.status < 500) {
      onRefusal(error);
      return { kind: 'refused' };
    }
    return { kind: 'retry', retryAfterMs: retryAfterMs(response), reason: `${error.code}: ${error.message}` };
  } catch (error) {
    return { kind: 'retry', retryAfterMs: null, reason: error instanceof Error ? error.message : String(error) };
  }
};

const post = (path: string, body: unknown, signal?: AbortSignal): Promise<Response> =>
  fetch(path, {
    method: 'POST',
    credentials: 'same-origin',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });

const tokenOf = async (response: Response): Promise<EmbedToken> => {
  const body: unknown = await response.json();
  if (!isRecord(body) || typeof body.token !== 'string' || !Array.isArray(body.embeds)) {
    throw new Error('The gateway’s answer can’t be read.');
  }
  const serverNow = Date.parse(response.headers.get('date') ?? '') || Date.now();
  return {
    token: body.token,
    refreshInMs: instantOf(body.refreshAfter) - serverNow,
    embeds: body.embeds.filter(isEmbed),
    serviceUrl: typeof body.serviceUrl === 'string' ? body.serviceUrl : '',
  };
};

/** Reads an ISO 8601 date or milliseconds since 1970. Throws if the value is neither. */
const instantOf = (value: unknown): number => {
  const instant = typeof value === 'number' ? value : Date.parse(String(value));
  if (Number.isNaN(instant)) throw new Error('The gateway’s answer has no refreshAfter.');
  return instant;
};

const errorOf = async (response: Response): Promise<HostError> => {
  const body: unknown = await response.json().catch(() => null);
  const error = isRecord(body) && isRecord(body.error) ? body.error : {};
  return {
    code: typeof error.code === 'string' ? error.code : `HTTP ${response.status}`,
    message: typeof error.message === 'string' ? error.message : response.statusText,
    status: response.status,
  };
};

const retryAfterMs = (response: Response): number | null => {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : null;
};

/** A title for an embed. A copy's id is `<template>--<clientId>`; the title shows the template's name alone. */
export const embedTitle = (id: string, name: string | undefined): string => {
  const given = name === undefined || name === '' ? id : name;
  const plain = given === id ? given.replace(/--.*$/, '') : given;
  return plain.charAt(0).toUpperCase() + plain.slice(1);
};

const isUser = (value: unknown): value is DemoUser =>
  isRecord(value) && typeof value.id === 'string' && typeof value.name === 'string' && Array.isArray(value.roles);
const isCurrent = (value: unknown): value is CurrentUser => isUser(value) && 'claims' in value;
const isEmbed = (value: unknown): value is GrantedEmbed => isRecord(value) && typeof value.id === 'string';
