/** Reads the session's credential from the headers, and checks which pages may send it. Must not read anything but headers. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isOrigin, originMend } from '../../platform/addresses/origin.js';

/** Returns the Bearer credential, which can be empty. Null if the header is missing or has another scheme. */
export const bearerOf = ({ authorization }: IncomingHttpHeaders): string | null => {
  const match = /^bearer(?: +(.*))?$/i.exec(authorization ?? '');
  return match === null ? null : (match[1] ?? '');
};

/**
 * Whether more than one Authorization header was sent. Such a request is refused: Node keeps the first header, but a
 * proxy may have used another.
 */
export const isAuthorizedTwice = ({ rawHeaders }: IncomingMessage): boolean => {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === 13 && name.toLowerCase() === 'authorization') count += 1;
  }
  return count > 1;
};

/** The origins whose pages may use a session cookie. */
export type Origins = {
  /** Allowed origins other than the gateway's own, such as `https://app.example.com`. */
  readonly allowedOrigins: readonly string[];
  /** The gateway's own origin as browsers see it. If null, any scheme with the host of the request. */
  readonly publicOrigin?: string | null | undefined;
  /**
   * Whether pages of this machine may call with a Bearer session, never with a cookie: for development. A Bearer session
   * is sent only by a page that has it already. Left out: false.
   */
  readonly allowsLocalPages?: boolean | undefined;
};

/**
 * Throws TypeError for an invalid origin. A text that no browser sends would allow no page, and `null` would allow
 * every sandboxed page.
 */
export const assertOrigins = ({ allowedOrigins, publicOrigin }: Origins): void => {
  for (const origin of [
    ...allowedOrigins,
    ...(publicOrigin === undefined || publicOrigin === null ? [] : [publicOrigin]),
  ]) {
    if (!isOrigin(origin)) throw new TypeError(`${JSON.stringify(origin)} ${originMend}`);
  }
};

const hostOf = (origin: string): string | null => {
  try {
    return new URL(origin).host;
  } catch {
    // `Origin: null` and other texts without a host match no origin.
    return null;
  }
};

/**
 * Whether the page that sent the request has the gateway's own origin or an allowed one. A request without `Origin` is trusted only
 * with `Sec-Fetch-Site: same-origin`, which no page can set. The gateway's own origin with another `Sec-Fetch-Site` is refused.
 */
export const isTrustedOrigin = (headers: IncomingHttpHeaders, { allowedOrigins, publicOrigin }: Origins): boolean => {
  const { origin, host } = headers;
  if (origin !== undefined && allowedOrigins.includes(origin)) return true;
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') return false;
  if (origin === undefined) return site === 'same-origin';
  if (publicOrigin !== undefined && publicOrigin !== null) return origin === publicOrigin;
  return host !== undefined && hostOf(origin) === host.toLowerCase();
};
