import helmet from 'helmet';
import type { Clock } from '../../model/ports.js';
import { isLocalOrigin } from '../../platform/addresses/origin.js';
import { constantHeaders, type FlatHeaders } from '../../platform/http/wire/constant-headers.js';
import type { Log } from '../../platform/logs/log.js';
import { createCounts } from '../../platform/work/window-counts.js';
import type { Origins } from '../authenticate/credential.js';

export const securityHeaders = (): FlatHeaders => constantHeaders(helmet());

const exposed: FlatHeaders = ['Access-Control-Expose-Headers', 'Date, Retry-After, X-Request-Id'];

/**
 * Computes CORS headers. Pages of allowed origins get headers that permit cookies, and local pages get headers that do
 * not. Pages of other origins get none.
 */
export const createCors = ({ allowedOrigins, allowsLocalPages = false }: Origins) => {
  const vary = allowedOrigins.length === 0 && !allowsLocalPages ? [] : ['Vary', 'Origin'];
  const isLocal = (origin: string | undefined): origin is string =>
    allowsLocalPages && origin !== undefined && isLocalOrigin(origin);
  const byOrigin = new Map<string | undefined, FlatHeaders>(
    allowedOrigins.map((origin) => [
      origin,
      [...vary, 'Access-Control-Allow-Origin', origin, 'Access-Control-Allow-Credentials', 'true', ...exposed],
    ]),
  );
  return {
    isAllowed: (origin: string | undefined): boolean => byOrigin.has(origin) || isLocal(origin),
    headers: (origin: string | undefined): FlatHeaders =>
      byOrigin.get(origin) ?? (isLocal(origin) ? [...vary, 'Access-Control-Allow-Origin', origin, ...exposed] : vary),
  };
};

/** The methods and headers that a page of an allowed origin may send. */
export const preflightHeaders: FlatHeaders = [
  'Access-Control-Allow-Methods',
  'POST',
  'Access-Control-Allow-Headers',
  'Authorization, Content-Type, Traceparent, Tracestate, X-Request-Id',
  'Access-Control-Max-Age',
  '600',
];

const minuteMs = 60_000;
/** Anybody can send any origin, so the lines of all origins together are limited too. */
const linesPerMinute = 10;

/**
 * Returns a function that logs a preflight of a page whose origin may not call the gateway: otherwise only the browser of
 * the page says why it failed. It logs one line a minute for each origin, at most ten lines for all of them.
 */
export const createRefusedOrigins = ({ clock, log }: { readonly clock: Clock; readonly log: Log }) => {
  const lines = createCounts(minuteMs);
  return (origin: string | undefined): void => {
    if (origin === undefined) return;
    const nowMs = clock.now().getTime();
    const [one, all] = [`origin ${origin.slice(0, 200)}`, 'all'];
    if (lines.waitMs(one, 1, nowMs) > 0 || lines.waitMs(all, linesPerMinute, nowMs) > 0) return;
    lines.add(one, nowMs);
    lines.add(all, nowMs);
    log.warn(
      { event: 'origin.refused', origin: origin.slice(0, 200), setting: 'GUESTLIST_ALLOWED_ORIGINS' },
      'a page of this origin may not call /embed-token; if it is yours, add the origin to GUESTLIST_ALLOWED_ORIGINS (gateway.allowedOrigins; in a mounted gateway, allowedOrigins of createGateway)',
    );
  };
};
