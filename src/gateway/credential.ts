/** Where a session may be carried, and from which pages. Knows headers only. */
import type { IncomingHttpHeaders } from 'node:http';

/** The Bearer credential, possibly empty; null where the header is absent or of another scheme. */
export const bearerOf = ({ authorization }: IncomingHttpHeaders): string | null => {
  const match = /^bearer(?: +(.*))?$/i.exec(authorization ?? '');
  return match === null ? null : (match[1] ?? '');
};

/** The cookie's value. Several cookies of that name that differ give the empty string: no guess which one is meant. */
export const cookieOf = ({ cookie }: IncomingHttpHeaders, name: string): string | null => {
  const values = (cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1).replace(/^"(.*)"$/, '$1'));
  const [first] = values;
  if (first === undefined) return null;
  return values.every((value) => value === first) ? first : '';
};

const hostOf = (origin: string): string | null => {
  try {
    return new URL(origin).host;
  } catch {
    // `Origin: null` and other texts without a host are nobody's origin.
    return null;
  }
};

/**
 * Whether the page that sent the request is of the gateway's own origin or an allowed one. A browser that sends
 * `Sec-Fetch-Site` says the scheme too; an older one must send an `Origin` of this host.
 */
export const isTrustedOrigin = (headers: IncomingHttpHeaders, allowedOrigins: readonly string[]): boolean => {
  const { origin, host } = headers;
  if (origin !== undefined && allowedOrigins.includes(origin)) return true;
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') return false;
  if (origin === undefined) return site === 'same-origin';
  return host !== undefined && hostOf(origin) === host.toLowerCase();
};
