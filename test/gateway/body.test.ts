import { once } from 'node:events';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { readBody } from '../../src/gateway/common/wire.js';

test.each([new Error('aborted'), undefined])(
  "a body that the client cuts off (%s) is the client's fault, not a failure of the gateway",
  async (error) => {
    const request = new IncomingMessage(new Socket());
    Object.assign(request.headers, { 'content-type': 'application/json', 'transfer-encoding': 'chunked' });
    const reading = readBody(request);
    request.push('{"tenant":');
    request.destroy(error);
    await expect(reading).rejects.toMatchObject({ code: 'INVALID_REQUEST_BODY', reason: 'body-ended-early' });
  },
);

test('a body whose client disconnected before it was read does not block', async () => {
  const request = new IncomingMessage(new Socket());
  Object.assign(request.headers, { 'content-type': 'application/json', 'transfer-encoding': 'chunked' });
  request.destroy();
  await once(request, 'close');
  await expect(readBody(request)).rejects.toMatchObject({ reason: 'body-ended-early' });
});

const deepOf = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

test('a body with hundreds of levels is refused before it is parsed', async () => {
  const request = new IncomingMessage(new Socket());
  const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
  Object.assign(request.headers, headers);
  const reading = readBody(request);
  request.push(deepOf(500));
  request.push(null);
  const message = 'body: nested deeper than 32 levels.';
  await expect(reading).rejects.toMatchObject({ code: 'INVALID_REQUEST_BODY', reason: 'json-excess', message });
  const before = new IncomingMessage(new Socket());
  Object.assign(before.headers, headers);
  before.push(null);
  before.resume();
  await once(before, 'end');
  await expect(readBody(Object.assign(before, { body: deepOf(500) }))).rejects.toThrow(message);
});
