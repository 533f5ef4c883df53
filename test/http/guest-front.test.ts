/**
 * Guest requests are answered before Express with the same statuses, headers, bodies and log lines as Express would.
 */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import express from 'express';
import { afterAll, expect, test } from 'vitest';
import { limits } from '../../src/contract/fields.js';
import { createGuestFront } from '../../src/http/guest-front.js';
import {
  answerError,
  answerNotFound,
  guestHeaders,
  requestId,
  requestLog,
  securityHeaders,
  serve,
} from '../../src/http/middleware.js';
import { createMemoryLog, createSample, guestToken } from './sample.js';

const { dispatch, addressOf } = await createSample();
const closing: (() => void)[] = [];
afterAll(() => {
  for (const close of closing) close();
});

const listen = async (listener: RequestListener): Promise<number> => {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => server.close());
  return (server.address() as AddressInfo).port;
};

const byApp = createMemoryLog();
const app = express().disable('x-powered-by').disable('etag').enable('case sensitive routing');
app.use(requestId, securityHeaders(), requestLog(byApp.log), (_, res, next) => {
  for (let at = 0; at < guestHeaders.length; at += 2) res.setHeader(guestHeaders[at] ?? '', guestHeaders[at + 1] ?? '');
  next();
});
app.use('/api/v2', serve(dispatch, addressOf));
app.use(answerNotFound, answerError(byApp.log));

const byFront = createMemoryLog();
const front = createGuestFront({ dispatch, addressOf, log: byFront.log });
const passed = (): never => {
  throw new Error('no request of a guest');
};
const ports = {
  app: await listen(app),
  front: await listen((request, response) => front(request, response, passed)),
};

type Asked = {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
};
type Answer = { readonly status: number | undefined; readonly headers: IncomingHttpHeaders; readonly text: string };

const ask = async (port: number, { method = 'POST', path, headers = {}, body }: Asked): Promise<Answer> => {
  const all = { authorization: `Bearer ${guestToken}`, 'x-request-id': 'request-1', ...headers };
  const sent = send({ port, host: '127.0.0.1', method, path, headers: all, agent: false }).end(body);
  const [response] = await once(sent, 'response');
  let text = '';
  for await (const piece of response.setEncoding('utf8')) text += piece;
  const { date: _, ...rest } = response.headers;
  return { status: response.statusCode, headers: rest, text };
};

const query = '/api/v2/guest/metrics/m/query';
const json = { 'content-type': 'application/json' };
const given = '{"dashboardFilter": {"State": "CA"}}';

const requests: Readonly<Record<string, Asked & { readonly status: number }>> = {
  'a query': { path: query, headers: json, body: given, status: 200 },
  'a charset': {
    path: query,
    headers: { 'content-type': 'application/json; charset=UTF-8' },
    body: given,
    status: 200,
  },
  'a quoted charset': {
    path: query,
    headers: { 'content-type': 'application/json; charset="utf-8"' },
    body: given,
    status: 200,
  },
  'a byte order mark': { path: query, headers: json, body: `\ufeff${given}`, status: 200 },
  'no valid UTF-8': {
    path: query,
    headers: json,
    body: Buffer.from('{"dashboardFilter": {"State": "\xff"}}', 'latin1'),
    status: 200,
  },
  'a body in chunks': { path: query, headers: { ...json, 'transfer-encoding': 'chunked' }, body: given, status: 200 },
  'a packed body': {
    path: query,
    headers: { ...json, 'content-encoding': 'gzip' },
    body: gzipSync(given),
    status: 200,
  },
  'no body': { path: query, headers: json, status: 200 },
  'broken JSON': { path: query, headers: json, body: '{"dashboardFilter": "secret" "x"}', status: 400 },
  'half of a JSON': { path: query, headers: json, body: '{', status: 400 },
  'blanks alone': { path: query, headers: json, body: '  ', status: 400 },
  'a list': { path: query, headers: json, body: '[]', status: 400 },
  'a text': { path: query, headers: json, body: '"x"', status: 400 },
  'an unknown charset': {
    path: query,
    headers: { 'content-type': 'application/json; charset=klingon' },
    body: given,
    status: 400,
  },
  'an unknown encoding': { path: query, headers: { ...json, 'content-encoding': 'zip' }, body: given, status: 400 },
  'another type': { path: query, headers: { 'content-type': 'text/plain' }, body: given, status: 400 },
  'no type': { path: query, body: given, status: 400 },
  'a long body': { path: query, headers: json, body: `"${'x'.repeat(limits.usualBodyBytes)}"`, status: 413 },
  'a body that is long unpacked': {
    path: query,
    headers: { ...json, 'content-encoding': 'gzip' },
    body: gzipSync(`"${'x'.repeat(limits.usualBodyBytes)}"`),
    status: 413,
  },
  'a download': { path: '/api/v2/guest/metrics/m/csv', headers: json, body: '{}', status: 200 },
  'a dashboard': { method: 'GET', path: '/api/v2/guest/dashboards/a%20b%2Fc?x=1', status: 200 },
  'broken percent-encoding': { method: 'GET', path: '/api/v2/guest/dashboards/%E0%A4%A', status: 400 },
  'options of a filter': {
    method: 'GET',
    path: '/api/v2/guest/dashboards/d/filters/State/options?search=a%26b+c',
    status: 200,
  },
  'a field twice': {
    method: 'GET',
    path: '/api/v2/guest/dashboards/d/filters/State/options?search=a&search=b',
    status: 400,
  },
  'a whole URL': { method: 'GET', path: 'http://guestlist.example/api/v2/guest/dashboards/d?x=1', status: 200 },
  'no credential': { method: 'GET', path: '/api/v2/guest/dashboards/d', headers: { authorization: '' }, status: 401 },
  HEAD: { method: 'HEAD', path: '/api/v2/guest/dashboards/d', status: 405 },
  'another method': { method: 'PATCH', path: '/api/v2/guest/dashboards/d', status: 405 },
  'no such path': { method: 'GET', path: '/api/v2/guest/nothing', status: 404 },
  'nothing behind it': { method: 'GET', path: '/api/v2/guest', status: 404 },
  'a slash behind it': { method: 'GET', path: '/api/v2/guest/', status: 404 },
};

const lineOf = ({ lines }: typeof byApp): unknown => {
  const { time: _, durationInMs, ...line } = JSON.parse(lines.splice(0).at(-1) ?? '{}');
  return { ...line, durationInMs: typeof durationInMs };
};

test.each(Object.entries(requests))('the guest front answers as the app does: %s', async (_, { status, ...asked }) => {
  const expected = await ask(ports.app, asked);
  const answered = await ask(ports.front, asked);
  expect(answered.status).toBe(status);
  // Express sends no Content-Length for this body; the guest front knows the length.
  const { 'content-length': length, 'transfer-encoding': chunked, ...headers } = answered.headers;
  const { 'content-length': __, 'transfer-encoding': ___, ...likewise } = expected.headers;
  expect({ ...answered, headers }).toEqual({ ...expected, headers: likewise });
  if (chunked === undefined && asked.method !== 'HEAD') expect(length).toBe(String(Buffer.byteLength(answered.text)));
  await expect.poll(() => [byApp.lines.length, byFront.lines.length]).toEqual([1, 1]);
  const line = lineOf(byFront);
  const local = asked.path.replace(/^http:\/\/[^/]*/, '').split('?', 1)[0];
  expect(line).toEqual({ ...(lineOf(byApp) as object), path: local });
});

test('a URL with a host but no path is not a guest request', () => {
  const nexts: string[] = [];
  const response = {} as Parameters<typeof front>[1];
  for (const url of ['http://x?y=/api/v2/guest/dashboards/d', '/api/v2/guest-token', '/api/v2/guestlist', '*']) {
    front({ url, headers: {} } as Parameters<typeof front>[0], response, () => nexts.push(url));
  }
  expect(nexts).toHaveLength(4);
});

test('an answer that cannot be written gets 500, and the connection stays open', async () => {
  const { log, lines } = createMemoryLog();
  const answer = { status: 200, headers: {}, contentType: 'application/json', body: 1n, operation: 'getGuestMetric' };
  const odd = createGuestFront({ dispatch: async () => answer, addressOf, log });
  const port = await listen((request, response) => odd(request, response, passed));
  const { status, text } = await ask(port, { method: 'GET', path: '/api/v2/guest/metrics/m' });
  expect([status, JSON.parse(text).error.code]).toEqual([500, 'INTERNAL_SERVER_ERROR']);
  await expect.poll(() => lines.map((line) => JSON.parse(line).event)).toEqual(['request.crashed', 'request.failed']);
});
