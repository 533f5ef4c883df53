/** Where a request comes from, as far as anybody but the caller says so. */

import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { Log } from '../domain/log-events.js';

const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** The network of an IPv6 address that one customer has (/64): its 2^64 addresses are one caller. */
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
  // From its end, and no further than needed: the caller may have written thousands.
  for (let proxy = 1; proxy < trustedProxies; proxy += 1) rest = rest.slice(0, Math.max(0, rest.lastIndexOf(',')));
  return rest.slice(rest.lastIndexOf(',') + 1).trim();
};

/**
 * The address of the caller: the connection's other end, or where `trustedProxies` stand in front, what the outermost of them
 * wrote. Anything to the left of that is the caller's own word, and is never read. IPv6: the network.
 */
export const addressOf = (request: IncomingMessage, trustedProxies: number): string => {
  const forwarded = trustedProxies === 0 ? undefined : nameOf(forwardedFor(request, trustedProxies) ?? '');
  return forwarded ?? nameOf(request.socket.remoteAddress ?? '') ?? 'unknown';
};

export type AddressesOptions = {
  /** How many proxies in front each append to X-Forwarded-For whom they were called by; 0: the header is never read. */
  readonly trustedProxies: number;
  readonly log: Pick<Log, 'error'>;
  /** A proxy stands in front that the settings do not know of. */
  readonly note?: (() => void) | undefined;
};

export type AddressOf = (request: IncomingMessage) => string;

/** As `addressOf`. Says once that X-Forwarded-For arrives where nobody reads it: then everybody behind the proxy has its address. */
export const createAddresses = ({ trustedProxies, log, note }: AddressesOptions): AddressOf => {
  let isSaid = trustedProxies > 0;
  return (request) => {
    const { 'x-forwarded-for': forwardedFor, forwarded } = request.headers;
    if (!isSaid && (forwardedFor !== undefined || forwarded !== undefined)) {
      isSaid = true;
      note?.();
      log.error(
        { event: 'proxy.ignored', trustedProxies },
        'X-Forwarded-For or Forwarded arrives, but gateway.limits.trustedProxies is 0: everybody behind that proxy counts as one address. Set it to the number of proxies in front; where there are none, callers write the header themselves',
      );
    }
    return addressOf(request, trustedProxies);
  };
};
