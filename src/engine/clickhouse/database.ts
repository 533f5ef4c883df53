import type { ClickHouseClient } from '@clickhouse/client';
import { readHost } from '../../domain/host.js';
import type { Datasource, ServerConnection } from '../../domain/organization.js';
import { Refusal } from '../../domain/refusal.js';
import { refuseFault } from '../connection-faults.js';
import {
  catalogTimeoutMs,
  connectionsPerDatabase,
  type OpenDatabase,
  type ResultTable,
  refuseLate,
  runLogged,
  type Statement,
  textOf,
} from '../database.js';
import { createLimiter } from '../limiter.js';
import { refuseQuery } from '../refuse.js';
import { clickHouseDialect } from './dialect.js';
import { greatestValueBytes } from './names.js';
import { readCatalog, readSourceTables } from './schema.js';
import { settings } from './settings.js';
import { readerOf } from './values.js';

type ClickHouseSource = Datasource & ServerConnection;

/**
 * `readonly`: what is sent to keep the query from writing and from changing a setting. Null: the user's own profile keeps it from writing, and
 * takes no other value; that its SQL holds no SETTINGS is then the engine's to see to.
 */
type Server = { readonly client: ClickHouseClient; readonly readonly: '1' | null };

/** The server stops what runs too long; where it does not answer at all, we hang up after this much more. */
const graceMs = 5000;

/** By HTTP, each statement for itself: there is no session, and so nothing that could stay in one. */
export const openClickHouse: OpenDatabase<ClickHouseSource> = async (datasource, options) => {
  const { log, timeoutMs, connectTimeoutMs } = options;
  let client: ClickHouseClient | undefined;
  try {
    client = await createClientOf(datasource);
    const server: Server = { client, readonly: await findReadonly(client, connectTimeoutMs) };
    const limiter = createLimiter(Array.from({ length: connectionsPerDatabase }, () => server));
    const ask = (sql: string) =>
      limiter.use(async (one) => (await runTimed(one, { sql, parameters: [] }, catalogTimeoutMs)).rows);
    return {
      catalog: await readCatalog(ask),
      dialect: clickHouseDialect,
      describe: () => readSourceTables(ask),
      run: (statement) => runLogged(() => limiter.use((one) => runTimed(one, statement, timeoutMs)), datasource, log),
      close: async () => {
        await limiter.drain();
        await server.client.close();
      },
    };
  } catch (cause) {
    await client?.close();
    return refuseFault(datasource.name, cause instanceof Refusal ? cause.cause : cause, faults);
  }
};

/** The server's numbers of errors. */
const faults: Parameters<typeof refuseFault>[2] = new Map([
  ['516', 'credentials'],
  ['192', 'credentials'],
  ['193', 'credentials'],
  ['194', 'credentials'],
  ['81', 'database'],
  ['291', 'database'],
  ['497', 'database'],
  ['115', 'settings'],
  ['164', 'settings'],
  ['452', 'settings'],
  // What answers is no HTTP: the port of ClickHouse's own protocol, say.
  ['HPE_INVALID_CONSTANT', 'network'],
]);

/** The server stopped the statement because it ran too long. */
const timeoutCode = '159';

const createClientOf = async (source: ClickHouseSource): Promise<ClickHouseClient> => {
  // A path would be part of the URL, whatever hosts the operator allows.
  const host = readHost(source.host);
  if (host === undefined) throw Object.assign(new Error('the host is none'), { code: 'ENOTFOUND' });
  // Loaded where it is used: its import would slow every start.
  const { createClient, ClickHouseLogLevel } = await import('@clickhouse/client');
  return createClient({
    url: `${source.isSsl ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${source.port}`,
    username: source.username,
    password: source.password,
    database: source.database,
    application: 'guestlist',
    max_open_connections: connectionsPerDatabase,
    request_timeout: catalogTimeoutMs + graceMs,
    // Values are sent in the body: a URL has its limit, and is what proxies log.
    use_multipart_params: true,
    // It would tell the console what the log is told.
    log: { level: ClickHouseLogLevel.OFF },
  });
};

/** Asked without any setting: a user who may set none would hear of that, and not of what it means. */
const findReadonly = async (client: ClickHouseClient, connectTimeoutMs: number): Promise<Server['readonly']> => {
  const { rows } = await runWithin(connectTimeoutMs, (signal) =>
    readTable(client, { query: "SELECT toString(getSetting('readonly'))", abort_signal: signal }, signal),
  ).catch((cause: unknown) => {
    throw isAbort(cause) ? Object.assign(new Error('no answer in time'), { code: 'ETIMEDOUT', cause }) : cause;
  });
  const found = rows[0]?.[0];
  // As the server itself would say it, at the first question.
  if (found === '1') throw Object.assign(new Error('the user may set nothing'), { code: '164' });
  return found === '0' ? '1' : null;
};

const runTimed = async (
  { client, readonly }: Server,
  { sql, parameters }: Statement,
  timeoutMs: number,
): Promise<ResultTable> => {
  const values = parameters.map(bindableOf);
  const own = { ...settings, max_execution_time: timeoutMs / 1000, ...(readonly === null ? {} : { readonly }) };
  try {
    return await runWithin(timeoutMs + graceMs, (signal) =>
      readTable(
        client,
        {
          query: sql,
          query_params: Object.fromEntries(values.map((value, index) => [`p${index + 1}`, value])),
          clickhouse_settings: own,
          abort_signal: signal,
        },
        signal,
      ),
    );
  } catch (cause) {
    if (isAbort(cause) || codeOf(cause) === timeoutCode) return refuseLate(timeoutMs, cause);
    throw cause;
  }
};

const runWithin = async <R>(ms: number, work: (signal: AbortSignal) => Promise<R>): Promise<R> => {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), ms);
  try {
    return await work(controller.signal);
  } catch (cause) {
    if (controller.signal.aborted) throw Object.assign(new Error('hung up'), { name: 'AbortError', cause });
    throw cause;
  } finally {
    clearTimeout(timer);
  }
};

type Asked = Omit<Parameters<ClickHouseClient['query']>[0], 'format'>;

const readTable = async (client: ClickHouseClient, asked: Asked, signal: AbortSignal): Promise<ResultTable> => {
  const result = await client.query({ ...asked, format: 'JSONCompactEachRowWithNamesAndTypes' });
  // The client itself hears the signal only until the answer begins.
  const hangUp = (): void => result.close();
  signal.addEventListener('abort', hangUp);
  try {
    return tableOf(await result.text());
  } finally {
    signal.removeEventListener('abort', hangUp);
  }
};

/** A line of names, one of types, and one for each row. The last one ends too, or it is not the last. */
const tableOf = (text: string): ResultTable => {
  const [names, types, ...lines] = text.split('\n');
  if (names === undefined || types === undefined || lines.pop() !== '') throw new Error('the answer ends too early');
  const readers = (JSON.parse(types) as string[]).map(readerOf);
  return {
    names: JSON.parse(names) as string[],
    dataTypes: readers.map(({ dataType }) => dataType),
    rows: lines.map((line) => {
      const row = JSON.parse(line) as unknown[];
      return readers.map(({ cellOf }, index) => cellOf(row[index]));
    }),
  };
};

const bindableOf = (parameter: unknown): string | string[] =>
  Array.isArray(parameter) ? parameter.map(bindable) : bindable(parameter);

const bindable = (parameter: unknown): string => {
  const text = textOf(parameter);
  return Buffer.byteLength(text) > greatestValueBytes
    ? refuseQuery('A value is longer than ClickHouse takes in a question; shorten it.', 'value-too-long')
    : text;
};

const isAbort = (cause: unknown): boolean => cause instanceof Error && cause.name === 'AbortError';

const codeOf = (cause: unknown): string =>
  typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : '';
