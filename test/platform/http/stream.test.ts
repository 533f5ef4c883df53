/**
 * Downloads over HTTP: they are written as fast as they are read, end when their reader disconnects, and never look
 * complete if they failed midway.
 */
import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import readXlsx from 'read-excel-file/node';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { DownloadRows } from '../../../src/model/guest/download.js';
import type { Cell } from '../../../src/model/query/engine.js';
import { Refusal } from '../../../src/model/refusal.js';
import { inProcessTransport } from '../../../src/platform/http/wire/in-process.js';
import type { Handlers } from '../../../src/service/operations.js';
import { createSample, guestToken } from './sample.js';

const workbookType = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
type Batch = readonly (readonly Cell[])[];
const patience = { timeout: 10_000, interval: 20 };

/** Batches that the handler returns, and what happened to them. */
let batches: () => AsyncGenerator<Batch>;
let made: number;
let ended: boolean;
let signal: AbortSignal | undefined;

const counted = async function* (): AsyncGenerator<Batch> {
  try {
    for await (const batch of batches()) {
      made += 1;
      yield batch;
    }
  } finally {
    ended = true;
  }
};

const rowsOf = (given: AsyncGenerator<Batch>): DownloadRows => ({
  columns: [{ name: 'text', label: 'Text', dataType: 'string' }],
  ...{ batches: given, limit: null, offset: 0 },
});
const downloadGuestXlsx: Handlers['downloadGuestXlsx'] = async () => ({
  ...{ title: 'Texts', madeAt: new Date('2026-01-02T03:04:05Z'), timezone: null, filters: [] },
  sheets: [{ name: 'Texts', filters: [], load: async () => rowsOf(counted()) }],
});
const downloadGuestCsv: Handlers['downloadGuestCsv'] = async (_, { metricId }, given) => {
  signal = given;
  if (metricId === 'refused') throw new Refusal('METRIC_QUERY_ERROR', 'It is too much.');
  return rowsOf(counted());
};
const queryGuestMetric: Handlers['queryGuestMetric'] = async (_, __, given) => {
  signal = given;
  return new Promise(() => undefined);
};

const { app, dispatch, lines } = await createSample({
  handlers: { downloadGuestCsv, downloadGuestXlsx, queryGuestMetric },
});
const server = createServer(app).listen(0, '127.0.0.1');
beforeAll(async () => {
  if (!server.listening) await once(server, 'listening');
});
afterAll(() => new Promise<void>((resolve) => server.close(() => resolve())));
beforeEach(() => {
  [made, ended, signal] = [0, false, undefined];
  lines.length = 0;
});

const send = (path: string) => {
  const { port } = server.address() as AddressInfo;
  const headers = { Authorization: `Bearer ${guestToken}`, 'Content-Type': 'application/json' };
  const sent = httpRequest({ port, path: `/api/v2/guest/metrics/${path}`, method: 'POST', headers });
  sent.on('error', () => undefined);
  sent.end('{}');
  return sent;
};
const open = async (path: string): Promise<IncomingMessage> => {
  const [answer] = await once(send(path), 'response');
  return answer;
};
const textOf = async (answer: IncomingMessage): Promise<string> => {
  let text = '';
  for await (const chunk of answer) text += chunk;
  return text;
};

/** A quarter of a megabyte. */
const large: Batch = Array.from({ length: 256 }, () => ['x'.repeat(1022)]);

test('every batch arrives as CSV', async () => {
  batches = async function* () {
    yield [['a'], ['=b']];
    yield [['c']];
  };
  const answer = await open('any/csv');
  expect([answer.statusCode, answer.headers['content-type'], answer.headers['content-length']]).toEqual([
    200,
    'text/csv; charset=utf-8',
    undefined,
  ]);
  expect(answer.headers['content-disposition']).toContain('attachment');
  expect(await textOf(answer)).toBe("Text\r\na\r\n'=b\r\nc\r\n");
  expect(ended).toBe(true);
});

test('a workbook arrives as bytes, and is a whole archive', async () => {
  batches = async function* () {
    yield [['a'], ['=b']];
  };
  const answer = await open('any/xlsx');
  const { 'content-type': type, 'content-disposition': disposition } = answer.headers;
  expect([answer.statusCode, type]).toEqual([200, workbookType]);
  expect(disposition).toBe('attachment; filename="metrics.xlsx"');
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk);
  const [, sheet] = await readXlsx(Buffer.concat(chunks));
  expect(sheet).toEqual({ sheet: 'Texts', data: [['Text'], ['a'], ['=b']] });
  expect(ended).toBe(true);
});

test('a workbook that fails midway cuts the connection', async () => {
  batches = async function* () {
    yield large;
    throw new Error('the database says zq-secret');
  };
  const answer = await open('any/xlsx');
  await expect(textOf(answer)).rejects.toMatchObject({ code: 'ECONNRESET' });
  await vi.waitFor(() => expect(lines.join()).toContain('zq-secret'), patience);
});

test('a refusal before the first row is an ordinary error answer', async () => {
  const answer = await open('refused/csv');
  expect([answer.statusCode, answer.headers['content-type']]).toEqual([400, 'application/json; charset=utf-8']);
  expect(JSON.parse(await textOf(answer)).error.code).toBe('METRIC_QUERY_ERROR');
});

test('the stream waits for a reader that pauses, and ends if the reader disconnects', async () => {
  batches = async function* () {
    for (;;) yield large;
  };
  const answer = await open('any/csv');
  answer.pause();
  await vi.waitFor(() => expect(made).toBeGreaterThan(0), patience);
  // Sockets buffer some batches; after that, no batch is produced until the client reads.
  let before = -1;
  await vi.waitFor(
    () => {
      const same = before === made;
      before = made;
      expect(same).toBe(true);
    },
    { ...patience, interval: 200 },
  );
  const waiting = made;
  expect(waiting).toBeLessThan(400);
  answer.resume();
  await vi.waitFor(() => expect(made).toBeGreaterThan(waiting), patience);
  answer.destroy();
  await vi.waitFor(() => expect([ended, signal?.aborted]).toEqual([true, true]), patience);
  expect(lines.join()).not.toContain('broke off');
});

test('a failure midway cuts the connection, and only the log has the cause', async () => {
  batches = async function* () {
    yield large;
    throw new Error('the database says zq-secret');
  };
  const answer = await open('any/csv');
  expect(answer.statusCode).toBe(200);
  await expect(textOf(answer)).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect(answer.complete).toBe(false);
  await vi.waitFor(() => expect(lines.join()).toContain('response.aborted'), patience);
  expect(lines.join()).toContain('zq-secret');
});

test.each(['csv', 'xlsx'])('others are served while a large batch is written: %s', async (kind) => {
  batches = async function* () {
    yield Array.from({ length: 50_000 }, (_, row) => [`row ${row} ${'x'.repeat(100)}`]);
  };
  let turns = 0;
  const others = setInterval(() => {
    turns += 1;
  });
  const call = inProcessTransport(dispatch);
  const path = `/api/v2/guest/metrics/any/${kind}`;
  const { status } = await call({ method: 'POST', path, query: {}, body: {}, bearer: guestToken });
  clearInterval(others);
  expect(status).toBe(200);
  expect(turns).toBeGreaterThan(2);
});

test('a caller that disconnects before the answer aborts its query', async () => {
  const sent = send('any/query');
  await vi.waitFor(() => expect(signal?.aborted).toBe(false), patience);
  sent.destroy();
  await vi.waitFor(() => expect(signal?.aborted).toBe(true), patience);
});

test('in-process, the answer is one text, and aborting ends it', async () => {
  batches = async function* () {
    yield [['a']];
    yield [['b']];
  };
  const call = inProcessTransport(dispatch);
  const path = '/api/v2/guest/metrics/any/csv';
  const wire = { method: 'POST', path, query: {}, body: {}, bearer: guestToken } as const;
  expect(await call(wire)).toEqual({ status: 200, body: 'Text\r\na\r\nb\r\n' });
  batches = async function* () {
    yield [['a']];
    throw new Error('broke off');
  };
  await expect(call(wire)).rejects.toThrow('broke off');
  const gone = new AbortController();
  const asked = call({ ...wire, path: '/api/v2/guest/metrics/any/query' }, gone.signal);
  await vi.waitFor(() => expect(signal?.aborted).toBe(false), patience);
  gone.abort(new Error('gone'));
  await expect(asked).rejects.toThrow('gone');
  expect(signal?.aborted).toBe(true);
});
