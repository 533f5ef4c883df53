/**
 * Selects which of the servers in DATABASE_URL to connect to. If a server is lost or takes no writes, the next one is
 * tried.
 */
import type { ClientBase } from 'pg';
import { serverUrls } from '../addresses/database-url.js';

/** SQLSTATE of a write to a read-only server. */
const readOnlyCode = '25006';

/** Rejects like a write if the server is a standby or is set to read-only. */
export const assertPrimary = async (client: ClientBase): Promise<void> => {
  const { rows } = await client.query<{ transaction_read_only: string }>('show transaction_read_only');
  if (rows[0]?.transaction_read_only === 'off') return;
  throw Object.assign(new Error('this server of the metadata database takes no writes'), { code: readOnlyCode });
};

export type PostgresServers = {
  /** Returns the URL of the server for new connections. */
  readonly current: () => string;
  /**
   * Counts how often all connections became unusable together. A connection from an earlier generation is not lent any
   * more.
   */
  readonly generation: () => number;
  /** Moves on to the next server, if `url` is the current one and there is another. */
  readonly leave: (url: string) => void;
  /** Reports that the server of this generation takes no writes. Leaves the server and all connections to it. */
  readonly outdate: (generation: number) => void;
};

export const createPostgresServers = (databaseUrl: string): PostgresServers => {
  const urls = serverUrls(databaseUrl);
  let index = 0;
  let generation = 0;
  const current = (): string => urls[index] ?? databaseUrl;
  const goOn = (): void => {
    index = (index + 1) % urls.length;
    generation += 1;
  };
  return {
    current,
    generation: () => generation,
    leave: (url) => {
      if (urls.length > 1 && url === current()) goOn();
    },
    outdate: (outdated) => {
      if (outdated === generation) goOn();
    },
  };
};
