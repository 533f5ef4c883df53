import helmet from 'helmet';
import { constantHeaders, type FlatHeaders } from '../../http/constant-headers.js';

export type { FlatHeaders } from '../../http/constant-headers.js';

export const securityHeaders = (): FlatHeaders => constantHeaders(helmet());

/**
 * Returns a function that computes CORS headers. Pages of allowed origins get headers that permit cookies. Pages of
 * other origins get none.
 */
export const createCors = (allowedOrigins: readonly string[]) => {
  const vary = allowedOrigins.length === 0 ? [] : ['Vary', 'Origin'];
  const byOrigin = new Map<string | undefined, FlatHeaders>(
    allowedOrigins.map((origin) => [
      origin,
      [
        ...vary,
        'Access-Control-Allow-Origin',
        origin,
        'Access-Control-Allow-Credentials',
        'true',
        'Access-Control-Expose-Headers',
        'Retry-After, X-Request-Id',
      ],
    ]),
  );
  return {
    isAllowed: (origin: string | undefined): boolean => byOrigin.has(origin),
    headers: (origin: string | undefined): FlatHeaders => byOrigin.get(origin) ?? vary,
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
