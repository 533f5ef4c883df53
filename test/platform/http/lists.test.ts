/**
 * Whole lists over HTTP: a list without `isPagination` is read and written in slices, as fast as its reader takes it, with
 * the same text as if it were written at once.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Slices } from '../../../src/model/slices.js';
import { DependencyUnavailable } from '../../../src/model/unavailable.js';
import type { Operation } from '../../../src/platform/http/interface/operation.js';
import { inProcessTransport } from '../../../src/platform/http/wire/in-process.js';
import { isSlices } from '../../../src/platform/http/wire/json-text.js';
import { type Handlers, operations } from '../../../src/service/operations.js';
import { exampleRequest } from './requests.js';
import { apiKey, createSample, sampleHandlers } from './sample.js';

const patience = { timeout: 10_000, interval: 20 };
const sizes = [100, 100, 57];
const count = sizes.reduce((all, size) => all + size);

type AnyHandler = (...asked: unknown[]) => Promise<unknown>;

async function* many(slices: Slices<unknown>): AsyncGenerator<readonly unknown[]> {
  for await (const [item] of slices) for (const size of sizes) yield Array.from({ length: size }, () => item);
}

/** The result with the first item of its list so often that it takes three slices. */
const lengthened = (result: unknown): unknown => {
  if (isSlices(result)) return many(result);
  const members = Object.entries(result as object).map(([name, value]) =>
    isSlices(value) ? [name, many(value)] : [name, value],
  );
  return Object.fromEntries(members);
};

/** Lists that are in memory already: of one dashboard, one embed and one datasource. */
const short = ['listDashboardMetrics', 'listDatasourceTables', 'listEmbedMetrics'];

const paged = Object.entries<Operation>(operations).filter(([, { input }]) =>
  Object.hasOwn((input as { shape?: object }).shape ?? {}, 'isPagination'),
);

const wholeHandlers = Object.fromEntries(
  paged
    .filter(([name]) => !short.includes(name))
    .map(([name]) => {
      const handler = sampleHandlers[name as keyof Handlers] as AnyHandler;
      return [name, async (...asked: unknown[]) => lengthened(await handler(...asked))];
    }),
) as Partial<Handlers>;

/** What the list of embeds reads in the tests of one list, and what happened to it. */
let slices: () => AsyncGenerator<readonly unknown[]>;
let read: number;
let ended: boolean;

async function* noted(): AsyncGenerator<readonly unknown[]> {
  try {
    for await (const slice of slices()) {
      read += 1;
      yield slice;
    }
  } finally {
    ended = true;
  }
}
const listEmbeds = (async () => noted()) as unknown as Handlers['listEmbeds'];

const sample = await createSample();
const long = await createSample({ handlers: wholeHandlers });
const own = await createSample({ handlers: { listEmbeds } });
const longServer = createServer(long.app).listen(0, '127.0.0.1');
const ownServer = createServer(own.app).listen(0, '127.0.0.1');
const servers = [longServer, ownServer];
beforeAll(async () => {
  for (const server of servers) if (!server.listening) await once(server, 'listening');
});
afterAll(() => {
  for (const server of servers) server.close();
});
beforeEach(() => {
  [read, ended] = [0, false];
  own.lines.length = 0;
});

const origin = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

describe.each(Object.keys(wholeHandlers))('%s', (name) => {
  test('is sent in slices with the text that it has at once', async () => {
    const request = await exampleRequest(operations[name as keyof Handlers]);
    const { body: one } = await inProcessTransport(sample.dispatch)(request);
    const { body: listed } = await inProcessTransport(long.dispatch)(request);
    const query = new URLSearchParams(request.query).toString();
    const response = await fetch(`${origin(longServer)}${request.path}${query === '' ? '' : `?${query}`}`, {
      method: request.method,
      headers: { authorization: `Bearer ${request.bearer}`, 'content-type': 'application/json' },
      ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    const text = await response.text();
    expect(text).toBe(JSON.stringify(listed));
    const { data } = one as { readonly data: readonly unknown[] };
    expect(text).toBe(JSON.stringify({ ...(one as object), data: Array.from({ length: count }, () => data[0]) }));
  });
});

test('every other list with pages is read in slices', async () => {
  const whole: string[] = [];
  for (const [name] of paged) {
    const result = await (sampleHandlers[name as keyof Handlers] as AnyHandler)({}, {}, new AbortController().signal);
    if (![result, ...Object.values(result as object)].some(isSlices)) whole.push(name);
  }
  expect(whole.toSorted()).toEqual(short);
});

const listed = async function* (length: number) {
  const { body } = await inProcessTransport(sample.dispatch)(await exampleRequest(operations.listEmbeds));
  const [item] = (body as { readonly data: readonly { readonly embedId: string }[] }).data;
  const { embedId } = item ?? { embedId: '' };
  const embed = { embedId, embedType: 'dashboard', name: 'x'.repeat(1000), description: null, accessSettings: null };
  const dashboard = { externalDashboardId: 'delays', metadata: null, name: 'Delays' };
  for (let index = 0; index < length; index += 1)
    yield Array.from({ length: 100 }, () => ({ embed, dashboard, metric: null }));
};

const ask = () =>
  fetch(`${origin(ownServer)}/api/v2/data-app/embeds`, { headers: { authorization: `Bearer ${apiKey}` } });

test('a list that fits into one slice has its length', async () => {
  slices = () => listed(1);
  const response = await ask();
  expect(Number(response.headers.get('content-length'))).toBe((await response.text()).length);
});

test('the reads wait for a reader that pauses, and end if the reader disconnects', async () => {
  slices = () => listed(Number.POSITIVE_INFINITY);
  const gone = new AbortController();
  const response = await fetch(`${origin(ownServer)}/api/v2/data-app/embeds`, {
    headers: { authorization: `Bearer ${apiKey}` },
    signal: gone.signal,
  });
  // Sockets buffer some slices; after that, none is read until the client reads.
  let before = -1;
  await vi.waitFor(
    () => {
      const same = before === read;
      before = read;
      expect(same).toBe(true);
    },
    { ...patience, interval: 200 },
  );
  const waiting = read;
  expect(waiting).toBeLessThan(400);
  const reader = response.body?.getReader();
  await vi.waitFor(async () => {
    await reader?.read();
    expect(read).toBeGreaterThan(waiting);
  }, patience);
  gone.abort();
  await vi.waitFor(() => expect(ended).toBe(true), patience);
  expect(own.lines.join()).not.toContain('response.aborted');
});

const failing = (after: number, error: Error) =>
  async function* () {
    yield* listed(after);
    throw error;
  };

test('a failure midway cuts the connection, and only the log has the cause', async () => {
  slices = failing(3, new Error('the database says zq-secret'));
  const response = await ask();
  expect(response.status).toBe(200);
  await expect(response.text()).rejects.toThrow();
  await vi.waitFor(() => expect(own.lines.join()).toContain('response.aborted'), patience);
  expect(own.lines.join()).toContain('zq-secret');
});

test.each([0, 1])('a failure after %i slices is an ordinary error answer', async (after) => {
  slices = failing(after, new Error('the database says zq-secret'));
  const refused = await ask();
  expect(refused.status).toBe(500);
  expect(await refused.json()).toMatchObject({ error: { code: 'INTERNAL_SERVER_ERROR' } });
  slices = failing(after, new DependencyUnavailable('metadata-database', 'the metadata is away'));
  const away = await ask();
  expect([away.status, away.headers.get('retry-after')]).toEqual([503, expect.any(String)]);
});

test('in this process, a failure midway is a failure', async () => {
  slices = failing(3, new Error('broke off'));
  const request = await exampleRequest(operations.listEmbeds);
  await expect(inProcessTransport(own.dispatch)(request)).rejects.toThrow('broke off');
});
