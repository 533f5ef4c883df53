/** The scripted upstream as a service on its own port, and other servers for one test. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { createScriptedUpstream } from './scripted-upstream.js';

type Listener = Parameters<typeof createServer>[1];

/** A server that a test can stop before it ends. */
const open = async (listener: Listener) => {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  onTestFinished(stop);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop };
};

/** Starts a server until the test ends. Returns its URL. */
export const listen = async (listener: Listener): Promise<string> => (await open(listener)).url;

const bodyOf = async (request: IncomingMessage): Promise<unknown> => {
  const chunks = await request.toArray();
  return chunks.length === 0 ? undefined : JSON.parse(Buffer.concat(chunks).toString('utf8'));
};

/** A service of the interface on its own port. */
export const startScriptedService = async () => {
  const upstream = createScriptedUpstream();
  const { url, stop } = await open(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://service');
    const answer = await upstream.transport({
      method: (request.method ?? 'GET') as 'GET',
      path: pathname,
      query: Object.fromEntries(searchParams),
      bearer: (request.headers.authorization ?? '').replace('Bearer ', ''),
      body: await bodyOf(request),
    });
    response
      .writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers })
      .end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body));
  });
  return { upstream, url, stop };
};
