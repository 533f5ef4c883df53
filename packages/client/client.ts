/**
 * The client of the interface for a host's backend. Its types are written from the contract by the build; the requests are openapi-fetch's.
 */
import createFetchClient, { type Client } from 'openapi-fetch';
import type { paths } from './api.js';

export type { components, operations, paths } from './api.js';

export type ClientOptions = {
  /** Base URL of the service. */
  readonly baseUrl: string;
  /** An API key, a service token or a guest token: sent as `Authorization: Bearer`. Each operation says which one it takes. */
  readonly credential: string;
  /** Milliseconds after which a request fails with a TimeoutError. Default: 30,000. */
  readonly timeoutMs?: number;
};

/** One method per HTTP method: `client.POST('/api/v2/guest-token/create', { body })`. */
export type GuestlistClient = Client<paths>;

/**
 * Creates a client that sends the credential with every request. It follows no redirect, which would send the credential
 * to another address. Throws TypeError if the credential is empty.
 *
 * @example
 * ```ts
 * import { createClient } from '@guestlist/client';
 *
 * const credential = process.env.GUESTLIST_API_KEY ?? '';
 * const guestlist = createClient({ baseUrl: 'https://analytics.example.com', credential, timeoutMs: 5_000 });
 * ```
 */
export const createClient = ({ baseUrl, credential, timeoutMs = 30_000 }: ClientOptions): GuestlistClient => {
  if (credential === '') throw new TypeError('createClient: credential is empty');
  return createFetchClient<paths>({
    baseUrl,
    headers: { authorization: `Bearer ${credential}` },
    fetch: (request) =>
      fetch(request, { redirect: 'error', signal: AbortSignal.any([request.signal, AbortSignal.timeout(timeoutMs)]) }),
  });
};

/**
 * The service answered with an error.
 *
 * @example
 * ```ts
 * import { dataOf, type GuestlistClient, GuestlistError } from '@guestlist/client';
 *
 * const hasEmbed = async (guestlist: GuestlistClient, embedId: string): Promise<boolean> => {
 *   try {
 *     await dataOf(guestlist.GET('/api/v2/data-app/embeds', { params: { query: { embedId } } }));
 *     return true;
 *   } catch (error) {
 *     if (error instanceof GuestlistError && error.code === 'INVALID_EMBED_ID') return false;
 *     throw error;
 *   }
 * };
 * ```
 */
export class GuestlistError extends Error {
  override readonly name = 'GuestlistError';
  constructor(
    readonly status: number,
    /** One of the interface's codes; `UNKNOWN` where the answer was not of the interface. */
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

type Answer<Data> = { readonly data?: Data; readonly error?: unknown; readonly response: Response };

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

/**
 * The data of a call. Throws GuestlistError where the service answered with an error.
 *
 * @example
 * ```ts
 * import { createClient, dataOf } from '@guestlist/client';
 *
 * const credential = process.env.GUESTLIST_API_KEY ?? '';
 * const guestlist = createClient({ baseUrl: 'https://analytics.example.com', credential });
 * const query = { embedId: 'delays--LAX' };
 * const { data } = await dataOf(guestlist.GET('/api/v2/data-app/embeds', { params: { query } }));
 * console.log(data.map(({ name }) => name));
 * ```
 */
export const dataOf = async <Data>(call: Promise<Answer<Data>>): Promise<NonNullable<Data>> => {
  const { data, error, response } = await call;
  if (data !== undefined && data !== null) return data;
  const told = isRecord(error) && isRecord(error.error) ? error.error : {};
  const { code = 'UNKNOWN', message = `HTTP ${response.status}` } = told;
  throw new GuestlistError(response.status, String(code), String(message));
};
