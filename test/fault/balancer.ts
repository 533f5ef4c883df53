/** A minimal load balancer: it watches readiness, keeps connections open, and never repeats a request. */
import { Agent, createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setInterval } from 'node:timers';
import { askOnce } from './clients.js';

export type Balancer = {
  readonly url: string;
  readonly add: (target: string) => void;
  /** Number of targets that were ready at the last check. */
  readonly ready: () => number;
  readonly close: () => void;
};

const probeEveryMs = 200;

export const startBalancer = async (targets: readonly string[]): Promise<Balancer> => {
  const all = [...targets];
  const down = new Set<string>();
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const probe = async (target: string): Promise<void> => {
    const { status } = await askOnce(`${target}/readyz`);
    if (status === 200) down.delete(target);
    else down.add(target);
  };
  const probing = setInterval(() => {
    for (const target of all) void probe(target);
  }, probeEveryMs);
  let turn = 0;
  const server = createServer((request, response) => {
    turn += 1;
    const up = all.filter((target) => !down.has(target));
    const target = up[turn % up.length];
    if (target === undefined) {
      response.writeHead(502).end('nobody is ready');
      return;
    }
    const options = { agent, method: request.method, headers: request.headers };
    const onward = send(new URL(request.url ?? '/', target), options, (answer) => {
      const { connection: _, ...headers } = answer.headers;
      response.writeHead(answer.statusCode ?? 502, headers);
      answer.pipe(response);
    });
    onward.once('error', (error) => {
      if (response.headersSent) response.destroy();
      else response.writeHead(502).end(`${target}: ${error.message}`);
    });
    request.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    add: (target) => all.push(target),
    ready: () => all.length - down.size,
    close: () => {
      clearInterval(probing);
      agent.destroy();
      server.closeAllConnections();
      server.close();
    },
  };
};
