import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { readBody } from '../../src/gateway/http/body.js';

test.each([new Error('aborted'), undefined])(
  'a body that the client cuts off (%s) is its fault, and no failure of ours',
  async (error) => {
    const request = new IncomingMessage(new Socket());
    Object.assign(request.headers, { 'content-type': 'application/json', 'transfer-encoding': 'chunked' });
    const reading = readBody(request);
    request.push('{"tenant":');
    request.destroy(error);
    await expect(reading).rejects.toMatchObject({ code: 'INVALID_REQUEST_BODY', reason: 'body-ended-early' });
  },
);
