/** Reads the URL of a customer's database, as `guestlist init` and Studio take it. Pure. */
import {
  type DatasourceConnection,
  isFile,
  type ServerConnection,
  usualSchemaOf,
  type Variant,
  variantNames,
  variants,
} from '../organization.js';

export const urlExamples =
  'postgres://user:password@host:5432/database, mysql://…, clickhouse://…, or the path of a DuckDB or SQLite file';

/** A URL that names no database. The message has no part of it, since it may hold a password. */
export class UnreadableUrl extends Error {
  override readonly name = 'UnreadableUrl';
}

type Scheme = { readonly type: ServerConnection['datasourceType']; readonly port: number };

/** A scheme has no underscore: `aurora-postgres:`. */
const schemeOf = (type: Variant): string => `${type.toLowerCase().replace('_', '-')}:`;

const servers: Readonly<Record<string, Scheme>> = {
  'postgres:': { type: 'POSTGRES', port: 5432 },
  'postgresql:': { type: 'POSTGRES', port: 5432 },
  'mysql:': { type: 'MYSQL', port: 3306 },
  'mariadb:': { type: 'MYSQL', port: 3306 },
  'clickhouse:': { type: 'CLICKHOUSE', port: 8123 },
  ...Object.fromEntries(
    variantNames.map((type): [string, Scheme] => [schemeOf(type), { type, port: variants[type].port }]),
  ),
};

const wantsSsl = (url: URL): boolean => {
  const mode = url.searchParams.get('sslmode') ?? url.searchParams.get('ssl-mode') ?? '';
  return ['require', 'verify-ca', 'verify-full', 'required', 'verify_identity'].includes(mode.toLowerCase());
};

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new UnreadableUrl('a part of the URL has a % that is no escape: write it as %25');
  }
};

const readServer = (url: URL): DatasourceConnection => {
  const server = servers[url.protocol];
  const database = decoded(url.pathname.slice(1));
  if (server === undefined) throw new UnreadableUrl(`unknown kind of database "${url.protocol}": give ${urlExamples}`);
  if (url.hostname === '' || database === '')
    throw new UnreadableUrl(`the URL needs a host and a database: ${urlExamples}`);
  const isSsl = wantsSsl(url);
  const usual = server.type === 'CLICKHOUSE' && isSsl ? 8443 : server.port;
  return {
    datasourceType: server.type,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? usual : Number(url.port),
    username: decoded(url.username),
    password: decoded(url.password),
    database,
    schema: usualSchemaOf(server.type) === null ? null : url.searchParams.get('schema'),
    isSsl,
  };
};

/** The path of a file stays as it is given. Throws UnreadableUrl. */
export const readSourceUrl = (text: string): DatasourceConnection => {
  const path = text.replace(/^(duckdb|sqlite|file):(\/\/)?/, '');
  const isSqlite = /^sqlite:/.test(text) || /\.(db3|sqlite3?)$/i.test(path);
  if (!/^[a-z-]+:\/\//i.test(path)) return { datasourceType: isSqlite ? 'SQLITE' : 'DUCKDB', path };
  if (!URL.canParse(text)) throw new UnreadableUrl(`the database URL cannot be read: give ${urlExamples}`);
  return readServer(new URL(text));
};

const fileName = (path: string): string => (path.split(/[/\\]/).at(-1) ?? '').replace(/\.[^.]*$/, '');

/** A name for what is made for the database: datasource, datamart, workspace and data app. */
export const sourceNameOf = (connection: DatasourceConnection): string => {
  const text = isFile(connection) ? fileName(connection.path) : connection.database;
  const plain = text.replace(/[^A-Za-z0-9_]+/g, '-').replace(/^-+|-+$/g, '');
  return plain === '' ? 'main' : plain;
};

/** The connection as `createDatasource` takes it. */
export const credentialsOf = (name: string, connection: DatasourceConnection) => {
  if (isFile(connection)) return { name, path: connection.path };
  const { datasourceType: _, schema, ...server } = connection;
  return { name, ...server, ...(schema === null ? {} : { schema }) };
};

/** Where the database is, without a credential. */
export const placeOf = (connection: DatasourceConnection): string =>
  isFile(connection) ? connection.path : `${connection.host}:${connection.port}/${connection.database}`;
