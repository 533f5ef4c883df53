/**
 * Whether the server of the metadata answers at all. Asked only where a statement waits suspiciously long: a frozen server keeps
 * its connections open and says nothing, which looks like a slow statement. Once it is known to be silent, nobody waits for it
 * until a probe was answered.
 */

import type { Client } from 'pg';
import type { Log } from '../domain/log-events.js';
import { DependencyUnavailable } from '../domain/unavailable.js';
import { faultOf } from './database-faults.js';
import { assertPrimary, type PostgresServers } from './postgres-servers.js';

/** A statement that waits longer makes the server suspect. */
export const suspectAfterMs = 600;
const probeTimeoutMs = 1_500;
const probeEveryMs = 250;
/** Where this process itself was busy for so long, a late answer says nothing about the server. */
const ownDelayMs = 300;

export type ServerHealth = {
  /** Throws DependencyUnavailable while the server is known to be silent. */
  readonly assertAnswering: () => void;
  /** Asks the server on a connection of its own; questions at the same time share one. */
  readonly isAnswering: () => Promise<boolean>;
  readonly close: () => void;
};

export type HealthOptions = {
  /** A client that was never connected. */
  readonly createClient: (connectionTimeoutMs: number) => Client;
  readonly servers: PostgresServers;
  /** Whether a server that takes no writes is none. */
  readonly isPrimaryWanted: boolean;
  readonly log?: Pick<Log, 'warn'> | undefined;
};

const silent = () => new DependencyUnavailable('database-silent', 'The metadata database does not answer.');

/** Whether a new session gets an answer in time. A server that has no place for one more session is there. */
const probe = async ({ createClient, isPrimaryWanted }: HealthOptions): Promise<boolean> => {
  const client = createClient(probeTimeoutMs);
  // The promise below has the same error.
  client.on('error', () => undefined);
  const startedMs = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(silent()), probeTimeoutMs);
  });
  const wasBusy = () => performance.now() - startedMs > probeTimeoutMs + ownDelayMs;
  const ask = async (): Promise<void> => {
    await client.connect();
    if (isPrimaryWanted) await assertPrimary(client);
    else await client.query('select 1');
  };
  try {
    await Promise.race([ask(), late]);
    return true;
  } catch (error) {
    if (error instanceof DependencyUnavailable) return wasBusy();
    const fault = faultOf(error);
    return fault !== 'away' && fault !== 'read-only';
  } finally {
    clearTimeout(timer);
    // Ends at once where the server says nothing; what `end` waits for is then never told.
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
    asking ??= ask().finally(() => {
      asking = null;
    });
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
