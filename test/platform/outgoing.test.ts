/** Calls of addresses that the operator named, and of others: which addresses are reached. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AskOptions, askFrom, Barred } from '../../src/platform/calls/outgoing.js';

let server: Server;
let port: number;
const asked: string[] = [];
beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.accept} ${request.headers['content-length']}`);
    if (request.url === '/away') return void response.writeHead(302, { location: '/', 'set-cookie': ['a', 'b'] }).end();
    if (request.url === '/empty') return void response.writeHead(204).end();
    if (request.url === '/large') return void response.end('x'.repeat(2_000));
    if (request.url === '/never') return;
    response.end('answered');
  });
  await new Promise<void>((resolve) => server.listen(0, resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** A name server that knows every name by these addresses. */
const resolving = (...addresses: readonly string[]) =>
  ((_: string, __: object, done: (error: null, found: readonly { address: string; family: number }[]) => void) =>
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )) as unknown as NonNullable<AskOptions['lookup']>;

const signal = () => AbortSignal.timeout(10_000);
const ask = (url: string, allowsPrivate: boolean, ...addresses: readonly string[]) =>
  askFrom(
    { url, allowsPrivate },
    { signal: signal(), headers: { accept: 'a/b' } },
    { maxBytes: 1_000, lookup: resolving(...addresses) },
  );

describe('an address of the operator’s own network', () => {
  test.each([
    ['https://10.0.0.1/', []],
    ['https://[fd00::1]/', []],
    ['https://0.0.0.0/', []],
    ['http://169.254.169.254/latest/meta-data', []],
    ['https://keys.example/', ['10.0.0.1']],
    ['https://keys.example/', ['127.0.0.1']],
    ['https://keys.example/', ['93.184.216.34', '192.168.0.1']],
    ['https://keys.example/', ['::ffff:10.0.0.1']],
  ])('is not reached by %s (%s), unless the target allows it', async (url, addresses) => {
    await expect(ask(url, false, ...addresses)).rejects.toBeInstanceOf(Barred);
  });

  test('is reached where the target allows it', async () => {
    expect(await (await ask(`http://0.0.0.0:${port}/`, true)).text()).toBe('answered');
    expect(await (await ask(`http://keys.example:${port}/`, true, '0.0.0.0')).text()).toBe('answered');
  });
});

describe('an answer', () => {
  const local = (path: string) => ask(`http://127.0.0.1:${port}${path}`, true);

  test('has its status, its headers and no redirect that is followed', async () => {
    asked.length = 0;
    const answer = await local('/away');
    expect([answer.status, answer.headers.get('location'), answer.headers.getSetCookie()]).toEqual([
      302,
      '/',
      ['a', 'b'],
    ]);
    expect((await local('/empty')).status).toBe(204);
    expect(asked).toEqual(['GET /away a/b undefined', 'GET /empty a/b undefined']);
  });

  test('an answer that is too large is not read', async () => {
    await expect(local('/large')).rejects.toThrow('larger than 1000 bytes');
  });

  test('an answer that never comes ends with the signal', async () => {
    const ended = new AbortController();
    const to = { url: `http://127.0.0.1:${port}/never`, allowsPrivate: true };
    const asking = askFrom(to, { signal: ended.signal }, { maxBytes: 1 });
    ended.abort();
    await expect(asking).rejects.toMatchObject({ name: 'AbortError' });
  });

  test('to a body that was sent', async () => {
    asked.length = 0;
    const to = { url: `http://127.0.0.1:${port}/form`, allowsPrivate: true };
    const body = new URLSearchParams({ a: 'ü' });
    await askFrom(to, { method: 'POST', body, headers: { accept: '*/*' }, signal: signal() }, { maxBytes: 100 });
    expect(asked).toEqual(['POST /form */* 8']);
  });
});
