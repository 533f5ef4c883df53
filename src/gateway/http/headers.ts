import helmet from 'helmet';
import { isLocalOrigin } from '../../platform/addresses/origin.js';
import { constantHeaders, type FlatHeaders } from '../../platform/http/wire/constant-headers.js';
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
  'Authorization, Content-Type, X-Request-Id',
  'Access-Control-Max-Age',
  '600',
];
