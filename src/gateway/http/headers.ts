import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import helmet from 'helmet';

/** Names and values in turn, as `writeHead` takes them. */
export type FlatHeaders = readonly string[];

/** helmet's headers. They are the same for each request, so they are made once and sent as constants. */
export const securityHeaders = (): FlatHeaders => {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  helmet()(request, response, (error?: unknown) => {
    if (error !== undefined) throw error;
  });
  return Object.entries(response.getHeaders()).flatMap(([name, value]) => [name, String(value)]);
};

/** CORS for the pages of allowed origins, with their cookies; nothing for any other page. */
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

/** What a browser may send from an allowed page. */
export const preflightHeaders: FlatHeaders = [
  'Access-Control-Allow-Methods',
  'POST',
  'Access-Control-Allow-Headers',
  'Authorization, Content-Type',
  'Access-Control-Max-Age',
  '600',
];
