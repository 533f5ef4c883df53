/** Where the elements of the caller reach the service. */
import type { IncomingMessage } from 'node:http';
import { readAllowedHost } from '../../platform/allowed-hosts.js';

/** Of one request's answer alone: it may be that caller's own word. Never part of anything that is kept. */
export type ServiceUrlOf = (request: IncomingMessage) => string;

const schemeOf = ({ headers, socket }: IncomingMessage, host: string): string => {
  // Browsers say the scheme in front of a proxy that ends TLS, and pages cannot change what they say.
  if (headers.origin === `https://${host}` || 'encrypted' in socket) return 'https';
  return 'http';
};

/** The server that the connection reached. */
const localOf = ({ socket }: IncomingMessage): string => {
  const address = (socket.localAddress ?? '127.0.0.1').replace(/^::ffff:(?=\d+\.)/i, '');
  return `${address.includes(':') ? `[${address}]` : address}:${socket.localPort ?? 80}`;
};

/** By the Host header, where that names a host; otherwise the address that the connection reached. */
const askedOf: ServiceUrlOf = (request) => {
  const host = request.headers.host?.toLowerCase() ?? '';
  const named = readAllowedHost(host) !== undefined && !/^[^[]*:.*:/.test(host) ? host : localOf(request);
  return `${schemeOf(request, named)}://${named}`;
};

/** `fixed`: what the configuration says; null: the address that the caller used. */
export const createServiceUrl = (fixed: string | null): ServiceUrlOf => (fixed === null ? askedOf : () => fixed);
