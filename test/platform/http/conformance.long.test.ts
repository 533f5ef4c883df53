/** The conformance checks against one service, over HTTP and as the gateway of the same process calls it. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runConformance } from '../../../src/conformance/conformance.js';
import type { Method } from '../../../src/platform/http/interface/operation.js';
import { createAddresses } from '../../../src/platform/http/wire/address.js';
import { inProcessTransport } from '../../../src/platform/http/wire/in-process.js';
import { serveOperations } from '../../../src/platform/http/wire/operations.js';
import { beginning } from '../../../src/platform/http/wire/request.js';
import { createOwnService, type OwnService } from '../../gateway/own-service.js';

const log = pino({ level: 'silent' });
const serviceToken = randomUUID();
let service: OwnService;
let url: string;
const server = createServer((request, response) => serve(request, response, () => response.writeHead(404).end()));
let serve: ReturnType<typeof serveOperations>;

beforeAll(async () => {
  service = await createOwnService();
  const { deps, dispatch, store } = service;
  await store.serviceTokens.insert({
    ...{ id: randomUUID(), name: 'conformance', hash: deps.tokens.hash(serviceToken) },
    ...{ createdAt: deps.clock.now(), expiresAt: null },
  });
  const addressOf = createAddresses({ trustedProxies: 0, log });
  serve = serveOperations({ roots: ['/api/v2'], dispatch, addressOf, begin: beginning({ log }), log, headers: [] });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
  await service.close();
});

/** Calls the service in this process. A form, which only HTTP has, is sent. */
const inProcess: typeof fetch = async (address, init = {}) => {
  if (init.body instanceof FormData) return fetch(address, init);
  const { pathname, searchParams } = new URL(String(address));
  const { status, body } = await inProcessTransport(service.dispatch)({
    method: init.method as Method,
    path: pathname,
    query: Object.fromEntries(searchParams),
    body: init.body === undefined ? undefined : JSON.parse(String(init.body)),
    bearer: new Headers(init.headers).get('authorization')?.slice('Bearer '.length) ?? '',
  });
  return new Response(typeof body === 'string' ? body : JSON.stringify(body), { status });
};

type Outcome = { readonly operation: string; readonly sentence: string; readonly result: string };

const run = async (ask: typeof fetch): Promise<readonly Outcome[]> => {
  const printed: string[] = [];
  const output = { log: (text: string) => printed.push(text), error: (text: string) => printed.push(text) };
  const credentials = ['--service-token', serviceToken, '--api-key', service.upstream.apiKey, '--data-app', 'app'];
  const args = ['--base-url', url, ...credentials, '--client', 'a', '--ours', '--json'];
  await runConformance(args, output, new AbortController().signal, ask);
  const { outcomes }: { readonly outcomes: readonly Outcome[] } = JSON.parse(printed.join('\n'));
  return outcomes.map(({ operation, sentence, result }) => ({ operation, sentence, result }));
};

test('each check of conformance ends in one process as it does over HTTP, and none fails', {
  timeout: 240_000,
}, async () => {
  const overHttp = await run(fetch);
  expect(overHttp.filter(({ result }) => result === 'fails')).toEqual([]);
  expect(overHttp.filter(({ result }) => result === 'holds').length).toBeGreaterThan(300);
  expect(await run(inProcess)).toEqual(overHttp);
});
