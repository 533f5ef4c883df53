/**
 * Detects whether the metadata server responds at all. It is checked only if a statement waits unusually long, because
 * a frozen server keeps its connections open without responding, like a slow statement. Once the server is known not to
 * respond, requests fail at once until a probe succeeds.
 */

import type { Client } from 'pg';
import { handled } from '../../model/handled.js';
import type { Log } from '../../model/log-events.js';
import { DependencyUnavailable } from '../../model/unavailable.js';
import { faultOf } from './database-faults.js';
import { assertPrimary, type PostgresServers } from './postgres-servers.js';

/** Milliseconds that a statement may wait before the server is checked. */
export const suspectAfterMs = 600;
const probeTimeoutMs = 1_500;
const tickMs = 100;
const probeEveryMs = 250;

export type ServerHealth = {
  /** Throws DependencyUnavailable while the server is known not to respond. */
  readonly assertAnswering: () => void;
  /** Probes the server on a separate connection. Concurrent calls share one probe. */
  readonly isAnswering: () => Promise<boolean>;
  readonly close: () => void;
};

export type HealthOptions = {
  /** Creates a client that is not connected yet. */
  readonly createClient: (connectionTimeoutMs: number) => Client;
  readonly servers: PostgresServers;
  /** Whether a server that takes no writes counts as unavailable. */
  readonly isPrimaryWanted: boolean;
  readonly log?: Pick<Log, 'warn'> | undefined;
};

const silent = () => new DependencyUnavailable('database-silent', 'The metadata database does not answer.');

/** Whether a new session gets a response in time. A server that has no free connection counts as available. */
const probe = async ({ createClient, isPrimaryWanted }: HealthOptions): Promise<boolean> => {
  // The ticks below decide: the driver's own limit does not know of a process that is busy.
  const client = createClient(10 * probeTimeoutMs);
  // The promise below receives the same error.
  client.on('error', () => undefined);
  let timer: NodeJS.Timeout | undefined;
  // Counts rounds of the event loop, not time: what a busy process reads late is no silence of the server, and a silent
  // server is found out however busy the process is.
  const late = handled(
    new Promise<never>((_, reject) => {
      let left = probeTimeoutMs / tickMs;
      timer = setInterval(() => {
        left -= 1;
        if (left === 0) reject(silent());
      }, tickMs);
    }),
  );
  const ask = async (): Promise<void> => {
    await client.connect();
    if (isPrimaryWanted) await assertPrimary(client);
    else await client.query('select 1');
  };
  try {
    await Promise.race([ask(), late]);
    return true;
  } catch (error) {
    if (error instanceof DependencyUnavailable) return false;
    const fault = faultOf(error);
    return fault !== 'away' && fault !== 'read-only';
  } finally {
    clearInterval(timer);
    // Closes the socket directly. If the server does not respond, `end` would wait forever.
    client.connection.stream.destroy();
  }
};

export const createServerHealth = (options: HealthOptions): ServerHealth => {
  const { servers, log } = options;
  let asking: Promise<boolean> | null = null;
  let isSilent = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  const isAnswering = (): Promise<boolean> => {
    asking ??= handled(
      ask().finally(() => {
        asking = null;
      }),
    );
    return asking;
  };
  const ask = async (): Promise<boolean> => {
    const server = servers.current();
    const isThere = await probe(options);
    if (!isThere) servers.leave(server);
    note(isThere);
    return isThere;
  };
  const note = (isThere: boolean): void => {
    if (isClosed) return;
    if (isSilent === isThere) {
      if (isThere) log?.warn({ event: 'metadata.recovered' }, 'the metadata database answers again');
      else
        log?.warn({ event: 'metadata.disconnected' }, 'the metadata database does not answer; probing until it does');
    }
    isSilent = !isThere;
    if (isSilent) timer = setTimeout(() => void isAnswering(), probeEveryMs).unref();
  };
  return {
    assertAnswering: () => {
      if (isSilent) throw silent();
    },
    isAnswering,
    close: () => {
      isClosed = true;
      clearTimeout(timer);
    },
  };
};
