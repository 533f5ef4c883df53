import { createConnection, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import type { DatabaseError } from 'pg';
import { clientOf } from '../../../model/datamart/tenant.js';
import type { Datasource, ServerConnection } from '../../../model/organization.js';
import { Refusal } from '../../../model/refusal.js';
import { malformedCode } from '../../../platform/addresses/answer-guard.js';
import { guardPostgres } from '../../../platform/databases/postgres-guard.js';
import { untilReadLimit } from '../../connections/batches.js';
import { refuseFault } from '../../connections/connection-faults.js';
import { createConnections, type Driver } from '../../connections/connections.js';
import {
  forCatalog,
  forOpening,
  type OpenDatabase,
  type OpenOptions,
  type ResultTable,
  runLogged,
} from '../../connections/database.js';
import type { Dialect } from '../../dialect/dialect.js';
import type { Ask } from '../../dialect/source-tables.js';
import { faultOf } from './faults.js';
import { type PostgresForm, postgresForms } from './forms.js';
import { readPosition } from './position.js';
import {
  assertAssumed,
  createServer,
  runSetting,
  runStatement,
  type Server,
  storable,
  streamStatement,
} from './read.js';

type PostgresSource = Datasource & ServerConnection & { readonly datasourceType: keyof typeof postgresForms };

/** Opens PostgreSQL and each of its variants. */
export const openPostgres: OpenDatabase<PostgresSource> = async (datasource, options) => {
  const form = postgresForms[datasource.datasourceType];
  const { catalog } = form;
  const { log, timeoutMs, streamMs } = options;
  const connections = createConnections(createDriver(datasource, form, options), options.connections, options.permits);
  const ask: Ask = (sql, parameters = []) =>
    connections.use(async (client) => (await runStatement(client, { sql, parameters })).rows, forCatalog);
  const told = <R>(work: Promise<R>): Promise<R> =>
    work.catch((cause: unknown) => refuseFault(datasource.name, cause, faultOf));
  try {
    await told(connections.use(async () => {}, forOpening(options)));
  } catch (cause) {
    await connections.close();
    throw cause;
  }
  return {
    dialect: form.dialect,
    readCatalog: (schemas) => told(catalog.readCatalog(ask, schemas)),
    describe: () => catalog.readSourceTables(ask),
    listClientDatabases: () => catalog.readClientDatabases(ask, datasource),
    readRights: () => told(form.readRights(ask)),
    run: (statement, tenant, running = {}) => {
      const { signal, requestId } = running;
      const settings = { timeoutMs, client: clientOf(tenant), signal, requestId, isRepeatable: true };
      const work = () => connections.use((server) => runStatement(server, statement, running), settings);
      const all = async (): Promise<ResultTable> => {
        const table = await untilReadLimit(work);
        // The transaction of these rows was cut off at the read limit.
        if (table.isCut === true) await connections.use((server) => assertAssumed(server, statement), settings);
        return table;
      };
      return runLogged(all, log, { datasource, tenant, running, faultOf });
    },
    stream: (statement, tenant, sink, running = {}) => {
      if (!form.hasCursor) return Promise.reject(lacksDownloads(form.dialect));
      const { signal, requestId } = running;
      const settings = { timeoutMs, totalMs: streamMs, client: clientOf(tenant), signal, requestId };
      const work = () => connections.use((server) => streamStatement(server, statement, sink, running), settings);
      return runLogged(work, log, { datasource, tenant, running, faultOf });
    },
    ...(form.hasReplicas ? { position: () => told(readPosition(ask)) } : {}),
    close: connections.close,
  };
};

const lacksDownloads = ({ capabilities: { databaseName } }: Dialect): Refusal =>
  new Refusal(
    'METRIC_QUERY_ERROR',
    `${databaseName} is read without a cursor, so nothing of it can be downloaded whole. Read the metric in pages.`,
    { reason: 'variant-lacks' },
  );

const createDriver = (
  source: PostgresSource,
  form: PostgresForm,
  { log, connectTimeoutMs }: OpenOptions,
): Driver<Server> => ({
  connect: (lost) => connect(source, lost, connectTimeoutMs),
  begin: async (server, { timeoutMs, client: clientId }) => {
    const settings = form.settings({ timeoutMs, clientId: storable(clientId) });
    const begun = server.client.query('BEGIN READ ONLY');
    server.ended = null;
    server.begun = Promise.all([begun, ...settings.map((statement) => runSetting(server, statement))]);
    // The connection's error is reported by the statement that waits for it.
    server.begun.catch(() => undefined);
  },
  restore: async (server) => {
    await server.begun;
    await (server.ended ?? server.client.query('ROLLBACK'));
  },
  end: ({ client }) => client.end(),
  destroy: ({ client }) => {
    // The driver reports the destroyed connection to the running statement, whose caller handles it.
    (client.connection as unknown as { readonly stream: Duplex }).stream.destroy();
  },
  cancel: async ({ client }, requestId) => {
    try {
      await cancelBackend(source, client as unknown as BackendKey, connectTimeoutMs);
    } catch (err) {
      log.warn(
        { event: 'query.cancel_failed', requestId, err, datasource: source.name },
        'failed to cancel a query; the server ends it at its time limit',
      );
    }
  },
  isAnswer: (cause) => isServerError(cause) && cause.severity === 'ERROR',
  faultOf,
});

const isServerError = (cause: unknown): cause is DatabaseError => cause instanceof Error && 'severity' in cause;

const connect = async (source: PostgresSource, lost: () => void, connectTimeoutMs: number): Promise<Server> => {
  // A path would connect to a Unix socket of this machine and bypass the datasource allow-list.
  if (source.host.startsWith('/')) throw Object.assign(new Error('the host is a path'), { code: 'ENOTFOUND' });
  // Imported at first use, because the import would slow every start.
  const { default: pg } = await import('pg');
  const client = new pg.Client({
    host: source.host,
    port: source.port,
    user: source.username,
    // A function, because for an empty password the driver would send the PGPASSWORD of this process.
    password: () => source.password,
    database: source.database,
    ssl: source.isSsl ? { rejectUnauthorized: true } : false,
    application_name: 'guestlist',
    client_encoding: 'UTF8',
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    pipeline: true,
    types: { getTypeParser: () => (value: string) => value },
  });
  guardPostgres(client);
  // An unhandled error event would end the process.
  client.on('error', lost);
  try {
    await client.connect();
  } catch (cause) {
    throw withCode(cause);
  }
  return createServer(client);
};

/** Codes for the driver's errors without one. One text is for a server without encryption, one for an odd answer to the question. */
const codeOfText = (text: string): string => {
  if (text.includes('does not support SSL')) return 'ERR_TLS_REFUSED';
  return text.includes('SSL') ? malformedCode : 'ETIMEDOUT';
};

const withCode = (cause: unknown): unknown => {
  if (!(cause instanceof Error) || 'code' in cause) return cause;
  return Object.assign(cause, { code: codeOfText(cause.message) });
};

/** The key of a connection from the server. Who has it may cancel the connection's statement. */
export type BackendKey = { readonly processID: number; readonly secretKey: number };

/** Protocol request codes, sent in place of a version. */
const sslRequest = 80_877_103;
const cancelRequest = 80_877_102;

const message = (...numbers: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(4 + 4 * numbers.length);
  [bytes.length, ...numbers].forEach((number, index) => {
    bytes.writeInt32BE(number, 4 * index);
  });
  return bytes;
};

const once = (socket: Socket, event: 'connect' | 'secureConnect' | 'data' | 'close'): Promise<unknown> =>
  new Promise((resolve, reject) => {
    socket.once(event, resolve);
    socket.once('error', reject);
    socket.once('timeout', () => socket.destroy(new Error('the server does not take the request to cancel')));
  });

/**
 * Cancels the connection's statement by the protocol's own request: unlike `pg_cancel_backend` it needs no login, and
 * works through poolers. Resolves when the server took it.
 */
const cancelBackend = async (
  { host, port, isSsl }: ServerConnection,
  { processID, secretKey }: BackendKey,
  timeoutMs: number,
): Promise<void> => {
  const plain = createConnection({ host, port }).setTimeout(timeoutMs);
  try {
    await once(plain, 'connect');
    const socket = isSsl ? await encrypted(plain, host) : plain;
    const closed = once(socket, 'close');
    socket.resume().write(message(cancelRequest, processID, secretKey));
    // The server sends no answer and closes the connection.
    await closed;
  } finally {
    plain.destroy();
  }
};

const encrypted = async (plain: Socket, host: string): Promise<Socket> => {
  const answer = once(plain, 'data');
  plain.write(message(sslRequest));
  if (String(await answer) !== 'S') throw new Error('the server has no encryption for the request to cancel');
  const socket = connectTls({ socket: plain, host, rejectUnauthorized: true });
  await once(socket, 'secureConnect');
  return socket;
};
