/** What callers get, and what the log says of it: every header and every line, as a file of this folder holds them. */
import { once } from 'node:events';
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { limits } from '../../../src/platform/http/interface/fields.js';
import { serveOperations } from '../../../src/platform/http/wire/operations.js';
import { beginning } from '../../../src/platform/http/wire/request.js';
import { apiKey, createMemoryLog, createSample, guestToken, serviceToken } from './sample.js';

const { app, lines, dispatch, addressOf } = await createSample();
const server = createServer(app).listen(0, '127.0.0.1');
await once(server, 'listening');
afterAll(() => void server.close());

type Asked = {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
};

const ownPort = (server.address() as AddressInfo).port;
const ask = async ({ method = 'POST', path, headers = {}, body }: Asked, port = ownPort) => {
  const all = { authorization: `Bearer ${guestToken}`, 'x-request-id': 'request-1', ...headers };
  const sent = send({ port, host: '127.0.0.1', method, path, headers: all, agent: false }).end(body);
  const [response] = await once(sent, 'response');
  let text = '';
  for await (const piece of response.setEncoding('utf8')) text += piece;
  const { date: _, 'content-length': length, 'transfer-encoding': __, ...rest } = response.headers;
  // A length is said or not; a false one would cut the answer.
  if (length !== undefined && method !== 'HEAD') expect(length).toBe(String(Buffer.byteLength(text)));
  return { status: response.statusCode as number, headers: rest as object, text };
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

const integrator = { authorization: `Bearer ${apiKey}`, ...json };
const mint = '/api/v2/guest-token/create';
const minted = '{"clientId": "LAX", "dataAppName": "flights"}';
const page = { method: 'GET', headers: { authorization: '' } };

const others: Readonly<Record<string, Asked & { readonly status: number }>> = {
  'a preflight of a guest': {
    method: 'OPTIONS',
    path: query,
    headers: { origin: 'https://host.example' },
    status: 204,
  },
  'a guest of another origin': {
    path: query,
    headers: { ...json, origin: 'https://host.example' },
    body: given,
    status: 200,
  },
  'an answer that the guest has': {
    method: 'GET',
    path: '/api/v2/guest/dashboards/d',
    headers: { 'if-none-match': '"d"' },
    status: 200,
  },
  'a token for an integrator': { path: mint, headers: integrator, body: minted, status: 200 },
  'a wrong key': { path: mint, headers: { ...json, authorization: 'Bearer wrong' }, body: minted, status: 401 },
  'a wrong body': { path: mint, headers: integrator, body: '{"clientId": 1}', status: 400 },
  'a gateway with a wrong name': {
    path: mint,
    headers: { ...integrator, 'guestlist-gateway': 'a b' },
    body: minted,
    status: 400,
  },
  'an old path': { path: '/api/v2/guestToken/create', headers: integrator, body: minted, status: 404 },
  'a preflight of an integrator': {
    method: 'OPTIONS',
    path: mint,
    headers: { origin: 'https://host.example' },
    status: 405,
  },
  'a list': {
    method: 'GET',
    path: '/api/v2/workspaces?expandDetails=false&x=1&x=2',
    headers: { authorization: `Bearer ${serviceToken}` },
    status: 404,
  },
  'no operation': { ...page, path: '/api/v2/nothing?x=1', status: 404 },
  'the root of the interface': { ...page, path: '/api/v2', status: 404 },
  'another case': { ...page, path: '/API/v2/guest-token/create', status: 404 },
  home: { ...page, path: '/', status: 200 },
  'a page that is not there': { ...page, path: '/nowhere', status: 404 },
  'the head of a page that is not there': { ...page, method: 'HEAD', path: '/nowhere', status: 404 },
  'a method that no page takes': { ...page, method: 'DELETE', path: '/', status: 404 },
  'the head of a page': { ...page, method: 'HEAD', path: '/', status: 200 },
  'whether it lives': { ...page, path: '/healthz', status: 200 },
  'whether it is ready': { ...page, path: '/readyz', status: 200 },
  'the style of the reference': { ...page, path: '/docs/style.css', status: 200 },
  'a path that is no text': { ...page, path: '/%E0%A4%A', status: 404 },
  'a whole URL of a page': { ...page, path: 'http://guestlist.example/healthz?x=1', status: 200 },
};

/** The line without its time. */
const lineOf = (): object => {
  const { time: _, durationInMs, ...line } = JSON.parse(lines.splice(0).at(-1) ?? '{}');
  const fields = Object.entries({ ...line, durationInMs: typeof durationInMs });
  return Object.fromEntries(fields.toSorted(([a], [b]) => (a < b ? -1 : 1)));
};

const short = (text: string): string => (text.length > 2000 ? `${text.length} characters` : text);

test('each request gets the answer, and each answer the line, that callers and operators know', async () => {
  const answers: string[] = [];
  for (const [name, { status, ...asked }] of [...Object.entries(requests), ...Object.entries(others)]) {
    lines.splice(0);
    const answer = await ask(asked);
    await expect.poll(() => lines.length).toBeGreaterThan(0);
    const headers = Object.entries(answer.headers).toSorted(([a], [b]) => (a < b ? -1 : 1));
    const sent = headers.map(([header, value]) => `${header}: ${value}`);
    answers.push(
      [`## ${name}`, String(answer.status), ...sent, short(answer.text), JSON.stringify(lineOf())].join('\n'),
    );
    expect.soft(answer.status, name).toBe(status);
  }
  await expect(`${answers.join('\n\n')}\n`).toMatchFileSnapshot('answers.txt');
});

const guestsOf = (served: Pick<Parameters<typeof serveOperations>[0], 'dispatch' | 'log'>) =>
  serveOperations({ ...served, roots: ['/api/v2/guest'], addressOf, begin: beginning(served), headers: [] });

test('a URL with a host but no path is not a guest request', () => {
  const nexts: string[] = [];
  const front = guestsOf({ dispatch, log: createMemoryLog().log });
  const response = {} as Parameters<typeof front>[1];
  for (const url of ['http://x?y=/api/v2/guest/dashboards/d', '/api/v2/guest-token', '/api/v2/guestlist', '*']) {
    front({ url, headers: {} } as Parameters<typeof front>[0], response, () => nexts.push(url));
  }
  expect(nexts).toHaveLength(4);
});

test('an answer that cannot be written gets 500, and the connection stays open', async () => {
  const { log, lines: own } = createMemoryLog();
  const answer = { status: 200, headers: {}, contentType: 'application/json', body: 1n, operation: 'getGuestMetric' };
  const odd = guestsOf({ dispatch: async () => answer, log });
  const broken = createServer((request, response) => odd(request, response, () => response.end()));
  await once(broken.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void broken.close());
  const { port } = broken.address() as AddressInfo;
  const { status, text } = await ask({ method: 'GET', path: '/api/v2/guest/metrics/m' }, port);
  expect([status, JSON.parse(text).error.code]).toEqual([500, 'INTERNAL_SERVER_ERROR']);
  await expect.poll(() => own.map((line) => JSON.parse(line).event)).toEqual(['request.crashed', 'request.failed']);
});
