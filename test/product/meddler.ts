/** A proxy that damages answers, to simulate a server with one fault. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export type Passed = { readonly method: string; readonly path: string; readonly query: string; readonly body: string };
export type Reply = { readonly status: number; readonly body: unknown };
/** Returns the answer to send instead. */
export type Spoil = (reply: Reply, request: Passed) => Reply;

export type Meddler = {
  readonly url: string;
  /** Requests that were forwarded. */
  readonly passed: readonly Passed[];
  readonly close: () => Promise<void>;
};

const headersOf = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    ['authorization', 'content-type'].flatMap((name) =>
      typeof headers[name] === 'string' ? [[name, headers[name]]] : [],
    ),
  );

/** Opens a proxy in front of `target`. `onPassed` is called with each request before it is forwarded. */
export const openMeddler = async (
  target: string,
  spoil: Spoil = (reply) => reply,
  onPassed: (count: number) => void = () => {},
): Promise<Meddler> => {
  const passed: Passed[] = [];
  const server = createServer(async (request, response) => {
    try {
      const [path = '', query = ''] = (request.url ?? '').split('?');
      const method = request.method ?? 'GET';
      // The forms contain only text and JSON, so one byte is one character in both directions.
      const body = await text(request.setEncoding('latin1'));
      const seen = { method, path, query, body };
      passed.push(seen);
      onPassed(passed.length);
      const init = { method, headers: headersOf(request), redirect: 'manual' as const };
      const hasBody = method !== 'GET' && body !== '';
      const answer = await fetch(`${target}${request.url}`, {
        ...init,
        ...(hasBody ? { body: Buffer.from(body, 'latin1') } : {}),
      });
      const came = await answer.text();
      const isJson = answer.headers.get('content-type')?.startsWith('application/json') ?? false;
      const reply = isJson ? spoil({ status: answer.status, body: JSON.parse(came) }, seen) : undefined;
      response.writeHead(reply?.status ?? answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
      response.end(reply === undefined ? came : JSON.stringify(reply.body));
    } catch {
      response.destroy();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    passed,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
