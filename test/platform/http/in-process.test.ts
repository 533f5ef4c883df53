import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createClient,
  type Transport,
  UpstreamRefusal,
  type WireRequest,
} from '../../../src/platform/http/interface/client.js';
import type { Operation } from '../../../src/platform/http/interface/operation.js';
import { inProcessTransport } from '../../../src/platform/http/wire/in-process.js';
import { operations } from '../../../src/service/operations.js';
import { exampleRequest } from './requests.js';
import { apiKey, createSample } from './sample.js';

const { app, dispatch } = await createSample();
const inProcess = inProcessTransport(dispatch);
const server = createServer(app).listen(0, '127.0.0.1');

const overHttp: Transport = async ({ method, path, query, body, bearer }) => {
  const { port } = server.address() as AddressInfo;
  const search = new URLSearchParams(query).toString();
  const response = await fetch(`http://127.0.0.1:${port}${path}${search === '' ? '' : `?${search}`}`, {
    method,
    headers: {
      Authorization: `Bearer ${bearer}`,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const { status } = response;
  const type = response.headers.get('content-type') ?? '';
  if (!type.includes('charset')) return { status, body: Buffer.from(await response.arrayBuffer()) };
  const text = await response.text();
  return { status, body: type.startsWith('application/json') ? JSON.parse(text) : text };
};

beforeAll(() => new Promise<void>((resolve) => (server.listening ? resolve() : server.once('listening', resolve))));
afterAll(() => new Promise<void>((resolve) => server.close(() => resolve())));

const both = async (request: WireRequest) => [await inProcess(request), await overHttp(request)] as const;

describe.each(Object.entries<Operation>(operations))('%s', (_, operation) => {
  test('answers in-process as over HTTP, and the answer fits its schema', async () => {
    const request = await exampleRequest(operation);
    const [inner, outer] = await both(request);
    expect(inner).toEqual(outer);
    expect(inner.status).toBe(200);
    const isLines = operation.contentType === 'application/x-ndjson';
    const values = isLines
      ? String(inner.body)
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line))
      : [inner.body instanceof Buffer ? inner.body.toString('latin1') : inner.body];
    for (const value of values) expect(operation.output.safeParse(value).error?.issues).toBeUndefined();
  });

  test('refuses in-process as over HTTP', async () => {
    const request = await exampleRequest(operation);
    const wrongs: WireRequest[] = [
      { ...request, bearer: 'wrong' },
      { ...request, body: { ...(request.body as object), surprise: 'a' }, query: { ...request.query, surprise: 'a' } },
      { ...request, path: `${request.path}/nowhere` },
      { ...request, method: 'PUT' },
    ];
    for (const wrong of wrongs) {
      const hasNoBody = wrong.method === 'GET';
      const [inner, outer] = await both(hasNoBody ? { ...wrong, body: undefined } : wrong);
      expect(inner).toEqual(outer);
    }
  });
});

const mint: WireRequest = {
  method: 'POST',
  path: '/api/v2/guest-token/create',
  query: {},
  body: { clientId: 'LAX', dataAppName: 'flights' },
  bearer: apiKey,
};

test('drops what JSON cannot represent, as over HTTP', async () => {
  const body = { clientId: new Date(0), dataAppName: 'flights', expiryTime: undefined, params: {} };
  const [inner, outer] = await both({ ...mint, body });
  expect(inner).toEqual(outer);
  expect(inner.body).toEqual({ token: 'token-of-1970-01-01T00:00:00.000Z' });
});

test('refuses a body that is too large, as over HTTP', async () => {
  const body = { clientId: 'x'.repeat(3_000_000), dataAppName: 'flights' };
  const [inner, outer] = await both({ ...mint, body });
  expect(inner).toEqual(outer);
  expect(inner.status).toBe(413);
});

test('sends a query as text', async () => {
  const request: WireRequest = {
    method: 'GET',
    path: '/api/v2/data-app/metrics',
    query: { embedId: 'é&=+ %', clientId: 'a b' },
    body: undefined,
    bearer: apiKey,
  };
  const [inner, outer] = await both(request);
  expect(inner).toEqual(outer);
  expect(inner.status).toBe(200);
});

test("rejects with the signal's reason if the caller aborts", async () => {
  const aborted = AbortSignal.abort(new Error('enough'));
  await expect(inProcess(mint, aborted)).rejects.toThrow('enough');
  const controller = new AbortController();
  const never = inProcessTransport(() => new Promise(() => {}))(mint, controller.signal);
  controller.abort(new Error('later'));
  await expect(never).rejects.toThrow('later');
});

test('the typed client reads answers and errors through the transport', async () => {
  const call = createClient(inProcess, apiKey);
  await expect(call(operations.createGuestToken, { clientId: 'LAX', dataAppName: 'flights' })).resolves.toEqual({
    token: 'token-of-LAX',
  });
  await expect(call(operations.listEmbeds, { isPagination: true, pageNumber: 2 })).resolves.toMatchObject({
    error: null,
  });
  const refused = createClient(inProcess, 'wrong')(operations.listEmbeds, {});
  await expect(refused).rejects.toThrow(UpstreamRefusal);
  await expect(refused).rejects.toMatchObject({ status: 401, code: 'AUTHENTICATION_ERROR' });
});
