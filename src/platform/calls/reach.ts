/**
 * Decides which servers and files this installation may read: only those that the operator named. Callers choose hosts
 * and paths, so everything that does not match exactly is refused. The error does not reveal what else exists.
 */
import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, resolve, sep } from 'node:path';
import { handled } from '../../model/handled.js';
import { readHost } from '../../model/host.js';
import {
  type DatasourceConnection,
  type FileConnection,
  fileTypes,
  isFile,
  isUntested,
  isVariant,
  type ReplicaAddress,
  type ServerConnection,
  variants,
} from '../../model/organization.js';
import type { Reason } from '../../model/reasons.js';
import { Refusal } from '../../model/refusal.js';
import { type AllowedHost, readAllowedHost } from '../addresses/allowed-hosts.js';
import { serverUrls } from '../addresses/database-url.js';

export type ReachOptions = {
  /** The setting `datasources.allowedHosts`. */
  readonly allowedHosts: readonly string[];
  /** The setting `datasources.duckdbFolders`, as absolute paths. */
  readonly duckdbFolders: readonly string[];
  /** The setting `datasources.sqliteFolders`, as absolute paths. */
  readonly sqliteFolders: readonly string[];
  /** The setting `datasources.untested`: types on which Guestlist was never run are allowed. */
  readonly untested: boolean;
  /** The data folder. Of its contents, only the folder `sources` may hold datasources, whatever the other folders contain. */
  readonly dataDir: string;
  /** Files of this installation that are also allowed as datasources: the demo's. */
  readonly files: readonly string[];
  /**
   * The URL of the metadata servers, or null if embedded. The metadata database is never a datasource, even if its host
   * is allowed.
   */
  readonly databaseUrl: string | null;
};

/**
 * Throws DATASOURCE_CONNECTION_ERROR for a server or file that is missing or not allowed. The message names the setting
 * to change.
 */
export type AssertReachable = (datasource: DatasourceConnection) => Promise<void>;

export const createReach = (options: ReachOptions): { readonly assertReachable: AssertReachable } => {
  const hosts = options.allowedHosts.flatMap((entry) => readAllowedHost(entry) ?? []);
  let reading: Promise<readonly Server[]> | undefined;
  return {
    assertReachable: async (datasource) => {
      if (isFile(datasource)) return assertFile(datasource, options);
      assertTested(datasource, options);
      const addresses = [datasource, ...(datasource.replicas ?? [])];
      for (const address of addresses) assertServer(address, hosts);
      reading ??= handled(readMetadataServers(options.databaseUrl));
      for (const server of await reading)
        for (const { host, port } of addresses) assertOther({ ...datasource, host, port }, server);
    },
  };
};

const refuse = (message: string, reason: Reason): never => {
  throw new Refusal('DATASOURCE_CONNECTION_ERROR', message, { reason });
};

/** Closed by default: nobody has seen which rows such a database answers to this release. */
const assertTested = ({ datasourceType: type }: ServerConnection, { untested }: ReachOptions): void => {
  if (untested || !isVariant(type) || !isUntested(type)) return;
  const { title } = variants[type];
  refuse(
    `A datasource of type ${type} may not be connected to: Guestlist was never run on ${title}, so its answers and its isolation are not tested. Its operator allows it by datasources.untested: true in the configuration, after a test with two tenants.`,
    'type-untested',
  );
};

const assertServer = ({ host, port }: ReplicaAddress, hosts: readonly AllowedHost[]): void => {
  const wanted = readHost(host);
  const isAllowed = hosts.some((one) => one.host === wanted && (one.port === null || one.port === port));
  if (wanted !== undefined && isAllowed) return;
  refuse(
    `Server ${JSON.stringify(`${host}:${port}`)} may not be connected to: its operator adds it to datasources.allowedHosts in the configuration.`,
    'host-not-allowed',
  );
};

type Server = { readonly host: string; readonly port: number; readonly database: string };

/**
 * Returns the metadata servers, parsed by the driver's own parser. The URL's query may hold hosts and ports, and the
 * driver accepts texts that are not valid URLs. Does not connect.
 */
const readMetadataServers = async (databaseUrl: string | null): Promise<readonly Server[]> => {
  if (databaseUrl === null) return [];
  const { default: pg } = await import('pg');
  return serverUrls(databaseUrl).map((connectionString) => {
    const { host, port, database = '' } = new pg.Client({ connectionString });
    // A path is a socket on this machine.
    return { host: oneName(host.startsWith('/') ? undefined : readHost(host)), port, database };
  });
};

/** Maps all common names of this machine to `localhost`. Only the operator can know other aliases. */
const oneName = (host: string | undefined): string =>
  host === undefined || /^(127\.|localhost$|0\.0\.0\.0$|::1$|::ffff:127\.)/.test(host) ? 'localhost' : host;

const assertOther = ({ host, port, database }: ServerConnection, metadata: Server): void => {
  const isSame = oneName(readHost(host)) === metadata.host && port === metadata.port && database === metadata.database;
  if (!isSame) return;
  refuse(
    'This is the database of the metadata, which is no datasource: name another database of the server.',
    'metadata-database',
  );
};

/** Which setting names the folders of a kind of file. */
const folderSettings = { DUCKDB: 'duckdbFolders', SQLITE: 'sqliteFolders' } as const;

const assertFile = async ({ datasourceType, path }: FileConnection, options: ReachOptions): Promise<void> => {
  const file = await findFile(path);
  const setting = folderSettings[datasourceType];
  if (file !== undefined && (await isAllowed(file, options[setting], options))) return;
  // Both cases get the same answer, so that callers cannot learn which files exist outside the allowed folders.
  refuse(
    `There is no ${fileTypes[datasourceType]} file at this path in the folders that may be read: give its absolute path, in the folder "sources" of the data folder or in one that the operator adds to datasources.${setting} in the configuration.`,
    'path-not-allowed',
  );
};

/**
 * Returns the regular file at the path, with all links resolved. Refuses relative paths and URLs, because
 * databases give them other meanings: `:memory:`, `s3://`, `file:`.
 */
const findFile = async (path: string): Promise<string | undefined> => {
  if (!isAbsolute(path) || /[\0?*]|:\/\//.test(path)) return undefined;
  const file = await realpath(path).catch(() => undefined);
  if (file === undefined || !(await stat(file)).isFile()) return undefined;
  return file;
};

const isAllowed = async (
  file: string,
  others: readonly string[],
  { dataDir, files }: ReachOptions,
): Promise<boolean> => {
  const own = await findFolder(dataDir);
  const sources = join(own ?? resolve(dataDir), 'sources');
  if (own !== undefined && isInside(file, own)) {
    return isInside(file, sources) || (await Promise.all(files.map(findFolder))).includes(file);
  }
  const folders = await Promise.all([sources, ...others].map(findFolder));
  return folders.some((folder) => folder !== undefined && isInside(file, folder));
};

const findFolder = (path: string): Promise<string | undefined> => realpath(path).catch(() => undefined);

const isInside = (file: string, folder: string): boolean =>
  file.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
