/** A receiver of webhooks over real HTTP. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Received = { readonly headers: IncomingHttpHeaders; readonly body: string };

/** `answer`: the status of the next answers, or `cut`: none comes. `close` ends it; `reopen` listens at the same port again. */
export const openReceiver = async () => {
  const received: Received[] = [];
  const state: { answer: number | 'cut' } = { answer: 200 };
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece) => pieces.push(piece));
    request.on('end', () => {
      received.push({ headers: request.headers, body: Buffer.concat(pieces).toString() });
      if (state.answer === 'cut') request.socket.destroy();
      else response.writeHead(state.answer).end();
    });
  });
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    ...{ received, state, url: `http://127.0.0.1:${port}/usage` },
    close: () => new Promise<void>((resolve) => void server.close(() => resolve())),
    reopen: () => listen(port),
  };
};

export type Receiver = Awaited<ReturnType<typeof openReceiver>>;
