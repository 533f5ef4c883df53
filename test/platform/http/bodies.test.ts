/**
 * Bodies are read only after the caller is authenticated, and only as far as needed. Real sockets, so that every byte
 * is counted.
 */
import { once } from 'node:events';
import { createServer, IncomingMessage } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import fc from 'fast-check';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { identifier, limits, named, text } from '../../../src/platform/http/interface/fields.js';
import type { Multipart } from '../../../src/platform/http/interface/operation.js';
import { bodyOf } from '../../../src/platform/http/wire/body-reader.js';
import { findFaults } from '../../../src/platform/http/wire/faults.js';
import { operations } from '../../../src/service/operations.js';
import { apiKey, createSample, guestToken, serviceToken } from './sample.js';

const { app } = await createSample();
const server = createServer(app);
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo;
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

type Asked = {
  readonly path: string;
  readonly bearer?: string;
  readonly headers?: readonly string[];
  readonly body?: string;
};

/** Sends the head and the given part of the body. Returns what the server answers before more is sent. */
const ask = async ({ path, bearer, headers = [], body = '' }: Asked) => {
  const socket = connect(port, '127.0.0.1');
  const authorization = bearer === undefined ? [] : [`Authorization: Bearer ${bearer}`];
  socket.write([`POST ${path} HTTP/1.1`, 'Host: x', ...authorization, ...headers, '', body].join('\r\n'));
  const [first] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  const [head = '', text = ''] = first.toString('utf8').split('\r\n\r\n');
  const { error } = JSON.parse(text) as { error: { code: string; message: string } };
  return { status: Number(head.split(' ')[1]), ...error };
};

const json = 'Content-Type: application/json';
const query = '/api/v2/guest/metrics/m/query';
const mint = '/api/v2/guest-token/create';
const announced = (bytes: number) => `Content-Length: ${bytes}`;

describe('without a valid credential', () => {
  const bodies = {
    JSON: [json, announced(1_000_000)],
    'JSON in chunks': [json, 'Transfer-Encoding: chunked'],
    'packed JSON': [json, 'Content-Encoding: gzip', announced(1000)],
    'a form': ['Content-Type: multipart/form-data; boundary=x', announced(1_000_000)],
    'what is no JSON': ['Content-Type: text/plain', announced(10)],
    'more than is taken': [json, announced(1_000_000_000)],
  };
  const paths = {
    'a guest read': query,
    'a mint': mint,
    'an import': '/api/v2/data-app/dashboard-embeds',
    'a service operation': '/api/v2/data-app',
  };
  for (const [what, path] of Object.entries(paths)) {
    test.each(Object.entries(bodies))(
      `${what} is refused before any byte of its body arrives: %s`,
      async (_, headers) => {
        expect((await ask({ path, headers })).status).toBe(401);
        expect((await ask({ path, headers, bearer: 'wrong' })).status).toBe(401);
      },
    );
  }

  test('an unknown path does not wait for the body either', async () => {
    expect((await ask({ path: '/api/v2/nothing', headers: [json, announced(1000)] })).status).toBe(404);
  });
});

describe('with a valid credential', () => {
  test.each([
    ['a guest read', query, guestToken, limits.usualBodyBytes],
    ['a small operation', '/api/v2/data-app', serviceToken, limits.usualBodyBytes],
    ['a mint', mint, apiKey, limits.bodyBytes],
  ])(
    '%s accepts a body of its maximum size, and refuses a larger one by its Content-Length',
    async (_, path, bearer, most) => {
      const answer = await ask({ path, bearer, headers: [json, announced(most + 1)] });
      expect([answer.status, answer.code, answer.message]).toEqual([
        413,
        'INVALID_REQUEST_BODY',
        `The body is larger than ${most} bytes.`,
      ]);
    },
  );

  const send = (path: string, bearer: string, body: unknown) => {
    const text = JSON.stringify(body);
    return ask({ path, bearer, headers: [json, announced(Buffer.byteLength(text))], body: text });
  };

  const chunked = [json, 'Transfer-Encoding: chunked'];
  const chunkOf = (bytes: Buffer | string) =>
    `${Buffer.byteLength(bytes).toString(16)}\r\n${bytes.toString('latin1')}\r\n`;

  test.each([
    ['a guest read', query, guestToken, limits.usualBodyBytes],
    ['a mint', mint, apiKey, limits.bodyBytes],
  ])(
    '%s refuses a body without a length at the first byte too many, without waiting for its end',
    async (_, path, bearer, most) => {
      const body = chunkOf('x'.repeat(most + 1));
      expect(await ask({ path, bearer, headers: chunked, body })).toMatchObject({ status: 413 });
      const packed = [...chunked, 'Content-Encoding: gzip'];
      expect(await ask({ path, bearer, headers: packed, body })).toMatchObject({ status: 413 });
    },
  );

  test.each(['gzip', 'deflate', 'br'])(
    "a body that is not %s although its header says so is the caller's fault",
    async (encoding) => {
      const headers = [json, `Content-Encoding: ${encoding}`, announced(9)];
      const answer = await ask({ path: query, bearer: guestToken, headers, body: '{"a": 10}' });
      expect(answer).toMatchObject({ status: 400, code: 'INVALID_REQUEST_BODY' });
      expect(answer.message).toMatch(/^The body cannot be unpacked/);
    },
  );

  test('a body that was already read is refused with a message, and does not hang', async () => {
    const request = new IncomingMessage(new Socket());
    Object.assign(request.headers, { 'content-type': 'application/json', 'content-length': '2' });
    request.push(null);
    request.resume();
    await once(request, 'end');
    const reading = bodyOf(request)({ maxBytes: 10, multipart: undefined });
    await expect(reading).rejects.toMatchObject({ code: 'INVALID_REQUEST_BODY', reason: 'body-read-before' });
  });

  test('only the first of very many faults in a body is named', async () => {
    const { status, message } = await send(query, guestToken, {
      dashboardFilter: Object.fromEntries(Array.from({ length: 1900 }, (_, at) => [`f${at}`, { startDate: at }])),
    });
    expect(status).toBe(400);
    expect(message).toMatch(
      /^dashboardFilter\.f0.* \(the body has 3802 values, so only its first fault is listed\)\.$/,
    );
  });

  test('an object with very many properties is refused by their number', async () => {
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`u${at}`, 1]));
    const most = 'got an object of 20000 properties, expected at most 2000';
    expect(await send(query, guestToken, many)).toMatchObject({ status: 400, message: `body: ${most}.` });
    const nested = { dashboardFilter: { State: many } };
    expect((await send(query, guestToken, nested)).message).toBe(`dashboardFilter.State: ${most}.`);
    const unknown = Object.fromEntries(Object.entries(many).slice(0, 1000));
    expect((await send(query, guestToken, unknown)).message.length).toBeLessThan(300);
  });

  test('text with thousands of levels is refused with a message', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const answer = await ask({ path: query, bearer: guestToken, headers: [json, announced(deep.length)], body: deep });
    expect([answer.status, answer.message]).toEqual([400, 'body: nested deeper than 32 levels.']);
  });

  test('text that is too deep is not parsed, also in a form', async () => {
    const parse = vi.spyOn(JSON, 'parse');
    const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`;
    const read = async (type: string, body: string, multipart?: Multipart) => {
      const request = new IncomingMessage(new Socket());
      Object.assign(request.headers, { 'content-type': type, 'content-length': String(body.length) });
      request.push(body);
      request.push(null);
      return bodyOf(request)({ maxBytes: 100_000, multipart });
    };
    try {
      const message = 'body: nested deeper than 32 levels.';
      await expect(read('application/json', deep)).rejects.toMatchObject({ code: 'INVALID_REQUEST_BODY', message });
      const form = `--x\r\nContent-Disposition: form-data; name="themes"\r\n\r\n${deep}\r\n--x--\r\n`;
      const file = {
        part: 'file',
        field: 'file',
        contentType: 'application/json',
        member: 'a',
        code: 'INVALID_REQUEST_BODY',
      } as const;
      const reading = read('multipart/form-data; boundary=x', form, { jsonFields: ['themes'], file });
      await expect(reading).rejects.toMatchObject({ message: 'themes: nested deeper than 32 levels.' });
      expect(parse.mock.calls.some(([given]) => given === deep)).toBe(false);
    } finally {
      parse.mockRestore();
    }
  });

  test('text with very many values is refused by their number', async () => {
    const many = `{"dashboardFilter":{"State":[${'1,'.repeat(40_000)}1]}}`;
    const small = await ask({ path: query, bearer: guestToken, headers: [json, announced(many.length)], body: many });
    expect([small.status, small.message]).toEqual([400, 'body: more than 32768 values.']);
    const more = `{"params":{"allowedEmbeds":[${'1,'.repeat(400_000)}1]}}`;
    const large = await ask({ path: mint, bearer: apiKey, headers: [json, announced(more.length)], body: more });
    expect([large.status, large.message]).toEqual([400, 'body: more than 262144 values.']);
  });

  test('the values that are read equal those of JSON.parse', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json({ maxDepth: 20 }), async (body) => {
        const request = new IncomingMessage(new Socket());
        const length = String(Buffer.byteLength(body));
        Object.assign(request.headers, { 'content-type': 'application/json', 'content-length': length });
        request.push(body);
        request.push(null);
        expect(await bodyOf(request)({ maxBytes: 1_000_000, multipart: undefined })).toEqual(JSON.parse(body));
      }),
    );
  });

  test('a form with thousands of parts is refused before the parts are parsed', async () => {
    const part = '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n';
    const body = `${part.repeat(5000)}--x--\r\n`;
    const headers = ['Content-Type: multipart/form-data; boundary=x', announced(body.length)];
    const answer = await ask({ path: '/api/v2/data-app/dashboard-embeds', bearer: apiKey, headers, body });
    expect([answer.status, answer.message]).toEqual([400, 'got 5000 parts, expected at most 50.']);
  });
});

describe('finding faults', () => {
  const looked = { count: 0 };
  const counted = (item: z.ZodType) =>
    z.preprocess((value) => {
      looked.count += 1;
      return value;
    }, item);

  test.each([
    ['a name', identifier, ''],
    ['a text', text, '\0'],
    ['another type', z.number(), 'bad'],
  ])('stops at the first fault in a list: %s', (_, item, wrong) => {
    const schema = z.object({ items: z.array(counted(item)) });
    const bad = Array.from({ length: 5000 }, () => wrong);
    looked.count = 0;
    const list = findFaults(schema, { items: bad }, { root: 'body', values: 5000 });
    expect(looked.count).toBe(1);
    expect(list).toMatchObject({ faults: [expect.stringContaining('items[0]')] });
  });

  test('stops at the first fault in objects with names that the caller chooses, also nested ones', () => {
    const schema = z.object({ names: named(named(counted(identifier))).optional() });
    const entries = (value: (at: number) => unknown) =>
      Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`a${at}`, value(at)]));
    const bad = { names: entries(() => entries(() => '')) };
    looked.count = 0;
    expect(findFaults(schema, bad, { root: 'body', values: 10_000 })).toMatchObject({
      faults: [expect.stringContaining('names.a0.a0')],
    });
    expect(looked.count).toBe(1);
    const few = { names: { a: { b: '', c: 'good' }, d: { e: '' } } };
    expect(findFaults(schema, few, { root: 'body', values: 6 })).toMatchObject({
      faults: [expect.stringContaining('names.a.b'), expect.stringContaining('names.d.e')],
    });
    const badName = findFaults(
      schema,
      { names: entries((at) => (at === 7 ? { '': 'x' } : {})) },
      { root: 'body', values: 501 },
    );
    expect(badName).toMatchObject({ faults: [expect.stringMatching(/^names.a7.*: as a name, expected/)] });
  });

  test('an object with chosen names is read unchanged', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 9 }), fc.string({ unit: 'grapheme' })),
        (given) => {
          const value = JSON.parse(JSON.stringify(given));
          const plain = z.record(identifier, text);
          const answer = findFaults(named(text), value, { root: 'body', values: 1 });
          const { data } = plain.safeParse(value);
          if (data !== undefined) expect(answer).toEqual({ data });
          else expect(answer).toHaveProperty('faults');
        },
      ),
    );
  });
});

test('bindings of one method and path accept the same credentials, so they are checked before the body is read', () => {
  const byPlace = new Map<string, Set<string>>();
  for (const { credentials, authenticationCode, bindings } of Object.values(operations)) {
    for (const { method, path } of bindings) {
      const of = JSON.stringify([credentials, authenticationCode]);
      byPlace.set(`${method} ${path}`, (byPlace.get(`${method} ${path}`) ?? new Set()).add(of));
    }
  }
  expect([...byPlace].filter(([, of]) => of.size > 1)).toEqual([]);
});
