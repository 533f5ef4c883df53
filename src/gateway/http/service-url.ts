/** The address at which the elements in the browser reach the service. */
import type { IncomingMessage } from 'node:http';
import { readAllowedHost } from '../../platform/allowed-hosts.js';

/** The address for one answer. It may come from the caller's Host header, so it must never be cached. */
export type ServiceUrlOf = (request: IncomingMessage) => string;

const schemeOf = ({ headers, socket }: IncomingMessage, host: string): string => {
  // Behind a proxy that ends TLS, the Origin header has the scheme that the browser used. Pages cannot change it.
  if (headers.origin === `https://${host}` || 'encrypted' in socket) return 'https';
  return 'http';
};

/** The address of this server that the connection reached. */
const localOf = ({ socket }: IncomingMessage): string => {
  const address = (socket.localAddress ?? '127.0.0.1').replace(/^::ffff:(?=\d+\.)/i, '');
  return `${address.includes(':') ? `[${address}]` : address}:${socket.localPort ?? 80}`;
};

/** From the Host header if it names a valid host, otherwise from the address that the connection reached. */
const askedOf: ServiceUrlOf = (request) => {
  const host = request.headers.host?.toLowerCase() ?? '';
  const named = readAllowedHost(host) !== undefined && !/^[^[]*:.*:/.test(host) ? host : localOf(request);
  return `${schemeOf(request, named)}://${named}`;
};

/** `fixed`: the configured address; null: the address that the caller used. */
export const createServiceUrl = (fixed: string | null): ServiceUrlOf => (fixed === null ? askedOf : () => fixed);
