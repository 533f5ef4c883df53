/**
 * Slow senders, and bodies that are not needed, against the product's server. Real sockets, whose events the tests
 * await.
 */
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { defaultSettings } from '../../../src/platform/config/settings.js';
import { createHttpServer } from '../../../src/platform/http/server.js';

const listen = async (listener: RequestListener, seconds = 1): Promise<number> => {
  const server = createHttpServer({
    headersTimeoutSeconds: seconds,
    requestTimeoutSeconds: seconds,
    keepAliveSeconds: defaultSettings().server.keepAliveSeconds,
  });
  server.on('request', listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
};

/** Resolves when the socket is closed. A connection that is cut may emit an error first. */
const closed = (socket: Socket): Promise<void> => new Promise((resolve) => socket.once('close', () => resolve()));

/** Sends one piece every tenth of a second until the connection is closed. Returns what the server sent. */
const drip = async (port: number, head: string, piece: string): Promise<string> => {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  socket.on('error', () => {});
  socket.write(head);
  const dripping = setInterval(() => socket.write(piece), 100);
  await closed(socket);
  clearInterval(dripping);
  return text;
};

/** Writes until the other side closes. Returns how many bytes were accepted. */
const pour = async (socket: Socket): Promise<number> => {
  const block = Buffer.alloc(64 * 1024, 'x');
  const write = (): void => {
    while (!socket.destroyed && socket.write(block));
  };
  socket.on('drain', write).on('error', () => {});
  write();
  await closed(socket);
  return socket.bytesWritten;
};

const refuse: RequestListener = (_, response) => response.writeHead(401).end('no');

describe('a kept connection', () => {
  it('stays open longer than balancers keep theirs, and longer than a caller may take for headers', async () => {
    const port = await listen((_, response) => response.end('ok'));
    const socket = connect(port, '127.0.0.1').setEncoding('utf8');
    onTestFinished(() => void socket.destroy());
    const ask = async (): Promise<string> => {
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      return String((await once(socket, 'data'))[0]);
    };
    expect(await ask()).toMatch(/^Keep-Alive: timeout=72\r$/m);
    // A caller that sends its headers too slowly, and began after the first request, is cut before the second one.
    expect(await drip(port, 'GET / HTTP/1.1\r\n', 'X-Slow: 1\r\n')).toMatch(/^HTTP\/1\.1 408 /);
    expect(await ask()).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('a slow sender', () => {
  it('a slow sender of headers is disconnected', async () => {
    const answered = await drip(await listen(refuse), 'GET / HTTP/1.1\r\nHost: x\r\n', 'X-Slow: 1\r\n');
    expect(answered).toMatch(/^HTTP\/1\.1 408 /);
  });

  it('a slow sender of a body that is needed is disconnected, and the reader gets an error', async () => {
    let hear = (): void => {};
    const heard = new Promise<void>((resolve) => {
      hear = resolve;
    });
    const read: RequestListener = (request) => {
      request.on('data', () => {}).on('error', () => {});
      request.on('close', hear);
    };
    const head = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n';
    await drip(await listen(read), head, 'x');
    await heard;
  });

  it('a slow sender of a body that is not needed is disconnected one second after the answer', async () => {
    const head = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
    expect(await drip(await listen(refuse, 600), head, '1\r\nx\r\n')).toMatch(/^HTTP\/1\.1 401 /);
  });
});

describe('a body that is not needed for its answer', () => {
  it('is not read forever if it has no end', async () => {
    const socket = connect(await listen(refuse, 600), '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000000\r\n\r\n');
    // The buffers of both kernels hold more than what the server reads.
    expect(await pour(socket)).toBeLessThan(20 * 1024 * 1024);
  });

  it('is read if it is short, and the connection serves the next request', async () => {
    const port = await listen(refuse);
    const socket = connect(port, '127.0.0.1');
    socket.setEncoding('utf8');
    for (let round = 0; round < 3; round += 1) {
      const answer = once(socket, 'data');
      socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n');
      socket.write('x'.repeat(200_000));
      expect((await answer)[0]).toMatch(/^HTTP\/1\.1 401 /);
    }
    socket.destroy();
  });
});

/** Returns what arrived until the other side ended the connection normally. Rejects if the connection is reset. */
const untilEnd = async (socket: Socket, each: (text: string) => void = () => {}): Promise<string> => {
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    each(chunk);
  });
  await once(socket, 'end');
  return text;
};

const headOf = (...headers: readonly string[]): string =>
  ['POST / HTTP/1.1', 'Host: x', ...headers, '', ''].join('\r\n');
const statuses = (text: string): readonly string[] =>
  [...text.matchAll(/^HTTP\/1\.1 (\d+) /gm)].map(([, code = '']) => code);
const next = 'GET /next HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';

describe('an answer that is sent before the body has ended', () => {
  it.each([
    [
      'of no known length',
      headOf('Transfer-Encoding: chunked'),
      `${(200_000).toString(16)}\r\n${'x'.repeat(200_000)}\r\n`,
    ],
    ['that is longer than is read', headOf('Content-Length: 1500000'), 'x'.repeat(500_000)],
    ['of a caller that wants no more', headOf('Content-Length: 600000', 'Connection: close'), 'x'.repeat(300_000)],
  ])(
    '%s says that it closes, and arrives completely: the connection is not reset while the caller still sends',
    async (_, head, part) => {
      const socket = connect(await listen(refuse, 600), '127.0.0.1');
      socket.write(head + part);
      let isAnswered = false;
      const answer = await untilEnd(socket, () => {
        if (!isAnswered) socket.write('x'.repeat(100_000));
        isAnswered = true;
      });
      expect(answer).toMatch(/^HTTP\/1\.1 401 [\s\S]*Connection: close\r\n[\s\S]*no/);
      socket.destroy();
    },
  );

  it("keeps the connection if the body is short, also for a request in the packet with the body's last bytes", async () => {
    const socket = connect(await listen(refuse), '127.0.0.1');
    let isAnswered = false;
    socket.write(headOf('Content-Length: 200000') + 'x'.repeat(1000));
    const answers = await untilEnd(socket, () => {
      if (!isAnswered) socket.write(`${'x'.repeat(199_000)}${headOf('Content-Length: 2')}xx${next}`);
      isAnswered = true;
    });
    expect(statuses(answers)).toEqual(['401', '401', '401']);
  });

  it('an answer with Connection: close is the last one: bytes after it are not read as a request', async () => {
    const seen: (string | undefined)[] = [];
    const note: RequestListener = (request, response) => {
      seen.push(request.url);
      refuse(request, response);
    };
    const socket = connect(await listen(note), '127.0.0.1');
    socket.write(headOf('Transfer-Encoding: chunked'));
    const answers = await untilEnd(socket, () => socket.write(`0\r\n\r\n${next}`));
    socket.end();
    await closed(socket);
    expect([statuses(answers), seen]).toEqual([['401'], ['/']]);
  });

  it('keeps the connection if the body has arrived by then', async () => {
    const read: RequestListener = (request, response) => {
      request.resume().on('end', () => refuse(request, response));
    };
    const socket = connect(await listen(read), '127.0.0.1');
    socket.write(`${headOf('Transfer-Encoding: chunked')}2\r\nxx\r\n0\r\n\r\n${next}`);
    expect(statuses(await untilEnd(socket))).toEqual(['401', '401']);
  });
});

describe('an expectation', () => {
  it('100-continue is answered, with or without the body', async () => {
    const socket = connect(await listen(refuse), '127.0.0.1');
    socket.write(headOf('Content-Length: 2', 'Expect: 100-continue'));
    let isContinued = false;
    const answers = await untilEnd(socket, () => {
      if (!isContinued) socket.write(`xx${next}`);
      isContinued = true;
    });
    expect(statuses(answers)).toEqual(['100', '401', '401']);
  });

  it('an unknown one is refused, and its body is not read forever', async () => {
    const socket = connect(await listen(refuse, 600), '127.0.0.1');
    const answer = once(socket, 'data');
    socket.write(headOf('Content-Length: 1000000000000', 'Expect: more'));
    expect(String((await answer)[0])).toMatch(/^HTTP\/1\.1 417 [\s\S]*Connection: close/);
    expect(await pour(socket)).toBeLessThan(20 * 1024 * 1024);
  });
});

it('headers beyond two hundred are dropped', async () => {
  const port = await listen((request, response) => response.end(String(Object.keys(request.headers).length)));
  const headers = Object.fromEntries(Array.from({ length: 900 }, (_, at) => [`x-${at}`, '1']));
  expect(Number(await (await fetch(`http://127.0.0.1:${port}`, { headers })).text())).toBeLessThanOrEqual(200);
});
