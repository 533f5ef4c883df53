/** Where a request comes from, as far as anybody but the caller says so. */
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

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
  const entries = (Array.isArray(given) ? given.join(',') : (given ?? '')).split(',');
  return entries.at(-trustedProxies)?.trim();
};

/**
 * The address of the caller: the connection's other end, or where `trustedProxies` stand in front, what the outermost of them
 * wrote. Anything to the left of that is the caller's own word, and is never read. IPv6: the network.
 */
export const addressOf = (request: IncomingMessage, trustedProxies: number): string => {
  const forwarded = trustedProxies === 0 ? undefined : nameOf(forwardedFor(request, trustedProxies) ?? '');
  return forwarded ?? nameOf(request.socket.remoteAddress ?? '') ?? 'unknown';
};
