/** A proxy that simulates a faulty network: it forwards requests to a service and applies a chosen fault to each. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export const faults = [
  'none',
  /** The answer arrives late, but within the time limit. */
  'slow',
  /** The service never receives the request. */
  'refused-500',
  'busy-503',
  'reset-before',
  'silent-before',
  /** The service has done its work, but the answer is lost or damaged. */
  'lost-500',
  'reset-after',
  'silent-after',
  'cut',
  'truncated',
  'overlong',
  'garbage',
  'html',
  'wrong-shape',
] as const;
export type Fault = (typeof faults)[number];

export type Carried = {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly fault: Fault;
  /** The service's answer; undefined if the request did not reach it. */
  readonly answer: { readonly status: number; readonly body: unknown } | undefined;
};

export type FaultProxy = {
  readonly url: string;
  readonly carried: readonly Carried[];
  /** Sets the function that chooses the fault of each request. */
  readonly decide: (next: (request: { readonly method: string; readonly path: string }) => Fault) => void;
  /** Number of requests that are held without an answer. */
  readonly kept: () => number;
  /** Closes the held requests without an answer. */
  readonly release: () => void;
  readonly close: () => Promise<void>;
};

type Answer = { readonly status: number; readonly type: string; readonly body: Buffer };

const parsed = (body: Buffer): unknown => (body.length === 0 ? undefined : JSON.parse(body.toString('utf8')));

const askService = async (target: string, request: IncomingMessage, body: Buffer): Promise<Answer> => {
  const { authorization, 'content-type': type } = request.headers;
  const answer = await fetch(`${target}${request.url}`, {
    method: request.method ?? 'GET',
    headers: {
      ...(authorization === undefined ? {} : { authorization }),
      ...(type === undefined ? {} : { 'content-type': type }),
    },
    ...(body.length === 0 ? {} : { body }),
  });
  return {
    status: answer.status,
    type: answer.headers.get('content-type') ?? '',
    body: Buffer.from(await answer.arrayBuffer()),
  };
};

const isBefore = (fault: Fault): boolean =>
  ['refused-500', 'busy-503', 'reset-before', 'silent-before'].includes(fault);

const spoil = (response: ServerResponse, fault: Fault, { status, type, body }: Answer): void => {
  const half = body.subarray(0, Math.ceil(body.length / 2));
  const whole = (text: Buffer | string) => response.writeHead(status, { 'content-type': type }).end(text);
  if (fault === 'truncated') whole(half);
  else if (fault === 'garbage') whole(Buffer.from(body.map((byte) => byte ^ 0x5a)));
  else if (fault === 'html') response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Please log in</html>');
  else if (fault === 'wrong-shape') whole('{"token":7,"data":{"id":null},"id":[]}');
  else if (fault === 'overlong') {
    // The extra bytes are where the client expects the next answer on this connection.
    response.writeHead(status, { 'content-type': type, 'content-length': half.length }).end(body);
  } else {
    response.writeHead(status, { 'content-type': type, 'content-length': body.length });
    response.write(half, () => response.destroy());
  }
};

/** The seconds in `Retry-After` of the fault `busy-503`. */
export const busySeconds = 50;

export const openFaultProxy = async (target: string): Promise<FaultProxy> => {
  const carried: Carried[] = [];
  const kept = new Set<ServerResponse>();
  let next: Parameters<FaultProxy['decide']>[0] = () => 'none';
  const keep = (response: ServerResponse) => {
    kept.add(response);
    response.once('close', () => kept.delete(response));
  };
  const answerWith = (fault: Fault, response: ServerResponse, answer: Answer | undefined): void => {
    if (fault === 'silent-before' || fault === 'silent-after') keep(response);
    else if (fault === 'reset-before' || fault === 'reset-after') response.socket?.resetAndDestroy();
    else if (fault === 'busy-503') response.writeHead(503, { 'retry-after': String(busySeconds) }).end('busy');
    else if (answer === undefined || fault === 'lost-500') response.writeHead(500).end('<h1>500</h1>');
    else if (fault !== 'none' && fault !== 'slow') spoil(response, fault, answer);
    else response.writeHead(answer.status, { 'content-type': answer.type }).end(answer.body);
  };
  const server = createServer(async (request, response) => {
    const { method = 'GET', url = '' } = request;
    const [path = ''] = url.split('?');
    const fault = next({ method, path });
    const body = await buffer(request);
    const answer = isBefore(fault) ? undefined : await askService(target, request, body);
    carried.push({
      method,
      path,
      body: parsed(body),
      fault,
      answer: answer === undefined ? undefined : { status: answer.status, body: parsed(answer.body) },
    });
    if (fault === 'slow') setTimeout(() => answerWith(fault, response, answer), 40);
    else answerWith(fault, response, answer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    carried,
    decide: (decided) => {
      next = decided;
    },
    kept: () => kept.size,
    release: () => {
      for (const response of kept) response.destroy();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
