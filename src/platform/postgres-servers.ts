/** Which of the servers that DATABASE_URL names is connected to. Where it is lost or takes no writes, the next one is tried. */
import type { ClientBase } from 'pg';
import { serverUrls } from './database-url.js';

/** SQLSTATE of a write to a server that takes none. */
const readOnlyCode = '25006';

/** Rejects where the server is a standby, or set to read-only, as a write would. */
export const assertPrimary = async (client: ClientBase): Promise<void> => {
  const { rows } = await client.query<{ transaction_read_only: string }>('show transaction_read_only');
  if (rows[0]?.transaction_read_only === 'off') return;
  throw Object.assign(new Error('this server of the metadata database takes no writes'), { code: readOnlyCode });
};

export type PostgresServers = {
  /** URL of the server that new connections go to. */
  readonly current: () => string;
  /** Counts how often connections became useless together. One that was made at a lower count is not lent any more. */
  readonly generation: () => number;
  /** Goes on to the next server, where `url` is the present one and there is another. */
  readonly leave: (url: string) => void;
  /** The server of a connection of this generation takes no writes: it is left, with all connections to it. */
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
