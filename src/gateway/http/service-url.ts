/** Determines the service's URL, which the elements in the browser use. */
import type { IncomingMessage } from 'node:http';
import { readAllowedHost } from '../../platform/addresses/allowed-hosts.js';

/**
 * Returns the service's URL for one response. It can depend on the caller's Host header, so it must never be cached.
 */
export type ServiceUrlOf = (request: IncomingMessage) => string;

const schemeOf = ({ headers, socket }: IncomingMessage, host: string): string => {
  // Behind a proxy that ends TLS, the Origin header has the scheme that the browser used. Pages cannot change it.
  if (headers.origin === `https://${host}` || 'encrypted' in socket) return 'https';
  return 'http';
};

/** Returns the local address of the connection. */
const localOf = ({ socket }: IncomingMessage): string => {
  const address = (socket.localAddress ?? '127.0.0.1').replace(/^::ffff:(?=\d+\.)/i, '');
  return `${address.includes(':') ? `[${address}]` : address}:${socket.localPort ?? 80}`;
};

/** Returns the URL from the Host header if that is valid, else from the local address of the connection. */
const askedOf: ServiceUrlOf = (request) => {
  const host = request.headers.host?.toLowerCase() ?? '';
  const named = readAllowedHost(host) !== undefined && !/^[^[]*:.*:/.test(host) ? host : localOf(request);
  return `${schemeOf(request, named)}://${named}`;
};

/** `fixed` is the configured URL. If null, the URL depends on the request. */
export const createServiceUrl = (fixed: string | null): ServiceUrlOf => (fixed === null ? askedOf : () => fixed);
