/** The scripted upstream as a service on a port of its own, and what else listens for the time of a test. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { createScriptedUpstream } from './scripted-upstream.js';

type Listener = Parameters<typeof createServer>[1];

/** Where it listens, until the test has finished. */
export const listen = async (listener: Listener): Promise<string> => {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const bodyOf = async (request: IncomingMessage): Promise<unknown> => {
  const chunks = await request.toArray();
  return chunks.length === 0 ? undefined : JSON.parse(Buffer.concat(chunks).toString('utf8'));
};

/** A service of the interface on a port of its own. */
export const startScriptedService = async () => {
  const upstream = createScriptedUpstream();
  const url = await listen(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://service');
    const answer = await upstream.transport({
      method: (request.method ?? 'GET') as 'GET',
      path: pathname,
      query: Object.fromEntries(searchParams),
      bearer: (request.headers.authorization ?? '').replace('Bearer ', ''),
      body: await bodyOf(request),
    });
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body));
  });
  return { upstream, url };
};
