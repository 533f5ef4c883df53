/** Determines the address of a request's caller, trusting only headers that known proxies wrote. */

import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { Log } from '../../../model/log-events.js';

const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/**
 * Returns the /64 network of an IPv6 address. One customer usually has a whole /64, so its 2^64 addresses count as one
 * caller.
 */
const networkOf = (address: string): string => {
  const [head = '', tail] = address.toLowerCase().replace(/%.*$/, '').split('::');
  const groups = head === '' ? [] : head.split(':');
  const missing = tail === undefined ? 0 : 8 - groups.length - (tail === '' ? 0 : tail.split(':').length);
  const all = [...groups, ...Array.from({ length: missing }, () => '0'), ...(tail?.split(':') ?? [])];
  return `${all
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`;
};

const nameOf = (address: string): string | undefined => {
  const plain = mapped.exec(address)?.[1] ?? address;
  const version = isIP(plain);
  if (version === 0) return undefined;
  return version === 4 ? plain : networkOf(plain);
};

const forwardedFor = ({ headers }: IncomingMessage, trustedProxies: number): string | undefined => {
  const given = headers['x-forwarded-for'];
  let rest = Array.isArray(given) ? given.join(',') : (given ?? '');
  // Searches backwards and stops early, since a caller may send thousands of addresses.
  for (let proxy = 1; proxy < trustedProxies; proxy += 1) rest = rest.slice(0, Math.max(0, rest.lastIndexOf(',')));
  return rest.slice(rest.lastIndexOf(',') + 1).trim();
};

/**
 * Returns the address of the caller. Without trusted proxies, this is the other end of the connection. With them, it is
 * the address that the outermost one appended to X-Forwarded-For; the caller itself may have written anything to the
 * left of it, so that part is ignored. For IPv6, returns the /64 network.
 */
const addressOf = (request: IncomingMessage, trustedProxies: number): string => {
  const forwarded = trustedProxies === 0 ? undefined : nameOf(forwardedFor(request, trustedProxies) ?? '');
  return forwarded ?? nameOf(request.socket.remoteAddress ?? '') ?? 'unknown';
};

export type AddressOf = (request: IncomingMessage) => string;

/**
 * As `addressOf`. Logs once if X-Forwarded-For arrives but no proxy is configured: all callers behind that proxy then
 * share one address and one limit.
 */
export const createAddresses = ({
  trustedProxies,
  log,
  note,
}: {
  /**
   * Number of proxies in front that each append their caller's address to X-Forwarded-For. 0: the header is ignored.
   */
  readonly trustedProxies: number;
  readonly log: Pick<Log, 'error'>;
  /** Called if a request came through a proxy that is not configured. */
  readonly note?: (() => void) | undefined;
}): AddressOf => {
  let isSaid = trustedProxies > 0;
  return (request) => {
    const { 'x-forwarded-for': forwardedFor, forwarded } = request.headers;
    if (!isSaid && (forwardedFor !== undefined || forwarded !== undefined)) {
      isSaid = true;
      note?.();
      log.error(
        { event: 'proxy.ignored', trustedProxies },
        'X-Forwarded-For or Forwarded arrives, but gateway.limits.trustedProxies is 0: all callers behind that proxy count as one address. Set it to the number of proxies in front. If there is none, callers send the header themselves',
      );
    }
    return addressOf(request, trustedProxies);
  };
};
