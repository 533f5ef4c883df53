/**
 * Stops an HTTP server within a deadline. First readiness fails, so that load balancers send no more requests, and
 * responses carry `Connection: close`. Then the port closes, idle connections end and running requests finish. Finally
 * the remaining requests are cut, and each one is logged.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { handled } from '../../model/handled.js';
import type { Log } from '../../model/log-events.js';
import type { Handle } from './wire/in-turn.js';
import { pathOf } from './wire/request.js';
import { json, send } from './wire/sending.js';

type DrainLog = Pick<Log, 'info' | 'warn'>;

export type DrainOptions = {
  /**
   * Milliseconds that requests are still accepted after readiness has failed. Applies only if a load balancer polls
   * readiness.
   */
  readonly noticeMs: number;
  /** Milliseconds from the call of `stop` until running requests are cut. */
  readonly cutAfterMs: number;
  readonly log: DrainLog;
  /** Probes of another server in the process, if readiness may be polled on either server. */
  readonly probes?: Probes;
};

export type Drain = {
  /** Wraps the product's own handler. */
  readonly watch: (handle: Handle) => Handle;
  /** Resolves when the last connection is closed, at the latest after `cutAfterMs`. */
  readonly stop: () => Promise<void>;
  /** Cuts running requests at once. */
  readonly hurry: () => void;
};

/**
 * Milliseconds in which a client with a busy kept-alive connection usually sends its next request. It then gets
 * `Connection: close`.
 */
const lingerMs = 300;
/** Readiness counts as polled after at least two probes within 60 seconds. */
const watchedProbes = 2;
const watchedWithinMs = 60_000;

/** Tracks running requests and open connections. */
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
    /** Closes connections that a client opened in advance without sending data. */
    closeUnused: (): void => {
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    },
    connections: (): number => sockets.size,
  };
};

type Traffic = ReturnType<typeof createTraffic>;

/** Closes every connection and logs which requests were cut. */
const cutAll = (server: Server, { requests, connections }: Traffic, log: DrainLog): void => {
  if (connections() === 0) return;
  for (const { request, startedMs } of requests.values()) {
    const ms = Math.round(performance.now() - startedMs);
    log.warn(
      { event: 'shutdown.request_cut', method: request.method, path: pathOf(request).slice(0, 500), ms },
      'a request was cut',
    );
  }
  const halfSent = connections() - requests.size;
  const what = 'connections were cut on which half a request had come, or whose caller had not read its answer';
  if (halfSent > 0) log.warn({ event: 'shutdown.connection_cut', halfSent }, what);
  server.closeAllConnections();
};

/** The pauses during the stop. `hurry` ends them early. */
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

/** Tracks whether readiness is polled. */
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
  // Calls the close method of the net server. The HTTP server's own `close` ends idle connections at once, even if a
  // request is already in transit.
  const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
  if (traffic.connections() > 0) await Promise.race([closed, pauses.pause(lingerMs)]);
  closeIdle();
  // A response that began before the stop may have kept its connection open.
  const sweeping = setInterval(closeIdle, 100);
  const isLate = handled(pauses.pause(cutAfterMs - (performance.now() - startedMs)).then(() => true));
  // The server reports its close shortly before the last socket closes.
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
      if (isProbe && isStopping) return send(response, { status: 503, headers: json, body: { status: 'stopping' } });
      return handle(request, response);
    },
    stop: () => {
      ended ??= handled(endServer({ ...options, server, traffic, pauses, isWatched: probes.areRegular() }));
      return ended;
    },
    hurry: pauses.end,
  };
};
