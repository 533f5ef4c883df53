/** Reads the URL of a customer's database, as `init` takes it. */
import { basename, isAbsolute, resolve } from 'node:path';
import { type DatasourceConnection, type ServerConnection, usualSchemas } from '../../model/organization.js';
import { WrongCall } from '../kit/exit.js';

export const urlExamples =
  'postgres://user:password@host:5432/database, mysql://…, clickhouse://…, or the path of a DuckDB file';

const servers: Readonly<Record<string, { readonly type: ServerConnection['datasourceType']; readonly port: number }>> =
  {
    'postgres:': { type: 'POSTGRES', port: 5432 },
    'postgresql:': { type: 'POSTGRES', port: 5432 },
    'mysql:': { type: 'MYSQL', port: 3306 },
    'mariadb:': { type: 'MYSQL', port: 3306 },
    'clickhouse:': { type: 'CLICKHOUSE', port: 8123 },
  };

const wantsSsl = (url: URL): boolean => {
  const mode = url.searchParams.get('sslmode') ?? url.searchParams.get('ssl-mode') ?? '';
  return ['require', 'verify-ca', 'verify-full', 'required', 'verify_identity'].includes(mode.toLowerCase());
};

const readServer = (url: URL): DatasourceConnection => {
  const server = servers[url.protocol];
  const database = decodeURIComponent(url.pathname.slice(1));
  if (server === undefined) throw new WrongCall(`unknown kind of database "${url.protocol}": give ${urlExamples}`);
  if (url.hostname === '' || database === '')
    throw new WrongCall(`the URL needs a host and a database: ${urlExamples}`);
  const isSsl = wantsSsl(url);
  const usual = server.type === 'CLICKHOUSE' && isSsl ? 8443 : server.port;
  return {
    datasourceType: server.type,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? usual : Number(url.port),
    username: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database,
    schema: usualSchemas[server.type] === null ? null : url.searchParams.get('schema'),
    isSsl,
  };
};

/** Throws WrongCall, without the URL's text: it may hold a password. */
export const readDatabaseUrl = (text: string): DatasourceConnection => {
  const path = text.replace(/^(duckdb|file):(\/\/)?/, '');
  if (!/^[a-z]+:\/\//i.test(path)) {
    return { datasourceType: 'DUCKDB', path: isAbsolute(path) ? path : resolve(path) };
  }
  if (!URL.canParse(text)) throw new WrongCall(`the database URL cannot be read: give ${urlExamples}`);
  return readServer(new URL(text));
};

/** A name for what is made for the database: datasource, datamart, workspace and data app. */
export const nameOf = (connection: DatasourceConnection): string => {
  const text =
    connection.datasourceType === 'DUCKDB' ? basename(connection.path).replace(/\.[^.]*$/, '') : connection.database;
  const plain = text.replace(/[^A-Za-z0-9_]+/g, '-').replace(/^-+|-+$/g, '');
  return plain === '' ? 'main' : plain;
};

/** Where the database is, without a credential. */
export const placeOf = (connection: DatasourceConnection): string =>
  connection.datasourceType === 'DUCKDB'
    ? connection.path
    : `${connection.host}:${connection.port}/${connection.database}`;
