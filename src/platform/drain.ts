/**
 * The end of an HTTP server within a deadline. Readiness goes first, so that balancers send nothing more; answers say
 * `Connection: close`; then the port closes, idle connections end, what runs finishes, and what is left is cut by name.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import type { Log } from '../domain/log-events.js';

type Handle = (request: IncomingMessage, response: ServerResponse) => void;
type DrainLog = Pick<Log, 'info' | 'warn'>;

export type DrainOptions = {
  /** How long requests are still taken after readiness has said no, where something watches readiness. */
  readonly noticeMs: number;
  /** When what still runs is cut, counted from the call of `stop`. */
  readonly cutAfterMs: number;
  readonly log: DrainLog;
  /** Those of another server of the process, where readiness may be watched on either. */
  readonly probes?: Probes;
};

export type Drain = {
  /** Stands before the product's own handler. */
  readonly watch: (handle: Handle) => Handle;
  /** Resolves when the last connection is closed: at the latest after `cutAfterMs`. */
  readonly stop: () => Promise<void>;
  /** Cuts what still runs now. */
  readonly hurry: () => void;
};

/** A client that is busy on a kept connection sends its next request within this time, and is told to close. */
const lingerMs = 300;
/** Readiness is watched where it was asked for at least so often in so long a time. */
const watchedProbes = 2;
const watchedWithinMs = 60_000;

const pathOf = ({ url = '/' }: IncomingMessage): string => url.split('?', 1)[0]?.slice(0, 500) ?? '/';

const refuseProbe = (response: ServerResponse): void => {
  response.writeHead(503, { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' });
  response.end('{"status":"stopping"}');
};

/** Requests under way, and the connections beneath them. */
const createTraffic = (server: Server) => {
  const requests = new Map<ServerResponse, { readonly request: IncomingMessage; readonly startedMs: number }>();
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return {
    requests,
    add: (request: IncomingMessage, response: ServerResponse): void => {
      requests.set(response, { request, startedMs: performance.now() });
      response.once('close', () => requests.delete(response));
    },
    /** Opened in advance, and nothing was sent on them. */
    closeUnused: (): void => {
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    },
    connections: (): number => sockets.size,
  };
};

type Traffic = ReturnType<typeof createTraffic>;

/** Ends every connection, and says which requests were cut. */
const cutAll = (server: Server, { requests, connections }: Traffic, log: DrainLog): void => {
  if (connections() === 0) return;
  for (const { request, startedMs } of requests.values()) {
    const ms = Math.round(performance.now() - startedMs);
    log.warn({ event: 'shutdown.request_cut', method: request.method, path: pathOf(request), ms }, 'a request was cut');
  }
  const halfSent = connections() - requests.size;
  const what = 'connections were cut on which half a request had come, or whose caller had not read its answer';
  if (halfSent > 0) log.warn({ event: 'shutdown.connection_cut', halfSent }, what);
  server.closeAllConnections();
};

/** What runs while the server stops: pauses that `hurry` ends. */
const createPauses = () => {
  let isHurried = false;
  const ends = new Set<() => void>();
  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      if (isHurried || ms <= 0) {
        resolve();
        return;
      }
      const end = (): void => {
        clearTimeout(timer);
        ends.delete(end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      ends.add(end);
    });
  return {
    pause,
    end: (): void => {
      isHurried = true;
      for (const end of ends) end();
    },
  };
};

/** Whether anybody asks for readiness. */
export const createProbes = () => {
  let probesMs: readonly number[] = [];
  return {
    note: (): void => {
      probesMs = [...probesMs, performance.now()].slice(-watchedProbes);
    },
    areRegular: (): boolean =>
      probesMs.length === watchedProbes && performance.now() - (probesMs[0] ?? 0) <= watchedWithinMs,
  };
};

export type Probes = ReturnType<typeof createProbes>;

type Ending = DrainOptions & {
  readonly server: Server;
  readonly traffic: Traffic;
  readonly pauses: ReturnType<typeof createPauses>;
  readonly isWatched: boolean;
};

const endServer = async ({ server, traffic, pauses, isWatched, noticeMs, cutAfterMs, log }: Ending): Promise<void> => {
  const startedMs = performance.now();
  for (const response of traffic.requests.keys()) {
    if (!response.headersSent) response.shouldKeepAlive = false;
  }
  const waitMs = isWatched ? Math.min(noticeMs, cutAfterMs) : 0;
  log.info({ event: 'shutdown.started', noticeMs: waitMs, cutAfterMs, requests: traffic.requests.size }, 'stopping');
  await pauses.pause(waitMs);
  const closeIdle = (): void => {
    server.closeIdleConnections();
    traffic.closeUnused();
  };
  // The HTTP server's own `close` would end idle connections at once, in the face of a request that is on its way.
  const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
  if (traffic.connections() > 0) await Promise.race([closed, pauses.pause(lingerMs)]);
  closeIdle();
  // An answer that began before the stop may have kept its connection.
  const sweeping = setInterval(closeIdle, 100);
  const isLate = pauses.pause(cutAfterMs - (performance.now() - startedMs)).then(() => true);
  // The server says that all is closed a moment before its last socket does.
  if (await Promise.race([closed.then(() => false), isLate])) cutAll(server, traffic, log);
  clearInterval(sweeping);
  pauses.end();
  await closed;
};

export const createDrain = (server: Server, options: DrainOptions): Drain => {
  const traffic = createTraffic(server);
  const pauses = createPauses();
  const { probes = createProbes() } = options;
  let ended: Promise<void> | undefined;
  return {
    watch: (handle) => (request, response) => {
      traffic.add(request, response);
      const isStopping = ended !== undefined;
      if (isStopping) response.shouldKeepAlive = false;
      const isProbe = pathOf(request) === '/readyz';
      if (isProbe) probes.note();
      if (isProbe && isStopping) refuseProbe(response);
      else handle(request, response);
    },
    stop: () => {
      ended ??= endServer({ ...options, server, traffic, pauses, isWatched: probes.areRegular() });
      return ended;
    },
    hurry: pauses.end,
  };
};
