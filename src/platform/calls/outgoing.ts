/**
 * Addresses of the operator that this process sends to. A connection goes only to an address that was checked, so a
 * changed name cannot lead a message into the operator's own network.
 */
import { lookup as systemLookup } from 'node:dns';
import { type ClientRequest, type Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { isLoopbackAddress, isPublicAddress } from '../addresses/addresses.js';

/** Reads the body of a response as text. Rejects if it is larger than `maxBytes`. */
export const readText = async (
  response: { readonly body: AsyncIterable<Uint8Array> | null },
  maxBytes: number,
): Promise<string> => {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new Error(`the answer is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
};

export type Outgoing = {
  readonly url: string;
  /** Whether addresses of the operator's own network may be reached. */
  readonly allowsPrivate: boolean;
};

/** Thrown if the address may not be reached. Nothing was sent. */
export class Barred extends Error {
  override readonly name = 'Barred';
}

/** In development, a receiver on this machine is named as such by an address without TLS. */
const mayReach = ({ url, allowsPrivate }: Outgoing, address: string): boolean =>
  allowsPrivate || isPublicAddress(address) || (url.startsWith('http://') && isLoopbackAddress(address));

/**
 * Resolves a name once, for the connection itself: no second answer of a name server can lead elsewhere. One address that
 * may not be reached bars all.
 */
const checkedLookup =
  (to: Outgoing, lookup: typeof systemLookup): LookupFunction =>
  (hostname, options, done) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) return done(error, []);
      const [first] = found;
      if (first === undefined || !found.every(({ address }) => mayReach(to, address))) {
        return done(new Barred('the address may not be reached'), []);
      }
      return options.all === true ? done(null, found) : done(null, first.address, first.family);
    });
  };

/** An address that is written as such is never resolved, so it is checked by itself. */
const isBarredLiteral = (to: Outgoing): boolean => {
  const host = new URL(to.url).hostname.replace(/^\[|\]$/g, '');
  return isIP(host) !== 0 && !mayReach(to, host);
};

type SendOptions = {
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Keeps connections, which lead to addresses that were checked. Left out: one for each request. */
  readonly agent?: HttpAgent | undefined;
  /** Resolves names. Left out: the system does. */
  readonly lookup?: typeof systemLookup | undefined;
  /** Certificates to trust, for tests. Left out: those of the system. */
  readonly ca?: string | undefined;
};

const begin = (to: Outgoing, method: string, options: SendOptions): ClientRequest => {
  const { headers, signal, agent, lookup = systemLookup, ca } = options;
  if (isBarredLiteral(to)) throw new Barred('the address may not be reached');
  return (to.url.startsWith('https:') ? httpsRequest : httpRequest)(to.url, {
    ...{ method, headers, agent: agent ?? false, ...(ca === undefined ? {} : { ca }) },
    lookup: checkedLookup(to, lookup),
    signal,
  });
};

/**
 * Begins a POST, which follows no redirect. Throws Barred, or the request fails with it, if the address may not be
 * reached.
 */
export const postTo = (to: Outgoing, options: SendOptions): ClientRequest => begin(to, 'POST', options);

export type Asking = Pick<RequestInit, 'method' | 'headers' | 'body'> & { readonly signal: AbortSignal };
export type AskOptions = Pick<SendOptions, 'lookup' | 'ca' | 'agent'> & { readonly maxBytes: number };

/**
 * Asks as `fetch` does, follows no redirect, and reads the whole answer. Rejects with Barred if the address may not be
 * reached, and if the answer is larger than `maxBytes`.
 */
export const askFrom = async (
  to: Outgoing,
  { method = 'GET', headers, body = null, signal }: Asking,
  { maxBytes, ...options }: AskOptions,
): Promise<Response> => {
  const content = Buffer.from(await new Response(body).arrayBuffer());
  const sent = {
    ...Object.fromEntries(new Headers(headers)),
    ...(body === null ? {} : { 'content-length': String(content.byteLength) }),
  };
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = begin(to, method, { ...options, headers: sent, signal });
    request.on('response', resolve).on('error', reject).end(content);
  });
  const text = await readText({ body: answer }, maxBytes);
  const received = new Headers();
  for (const [name, values = []] of Object.entries(answer.headersDistinct))
    for (const value of values) received.append(name, value);
  const status = answer.statusCode ?? 0;
  return new Response([204, 205, 304].includes(status) ? null : text, { status, headers: received });
};
