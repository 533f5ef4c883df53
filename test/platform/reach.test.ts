import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ServerConnection, variantNames, variants } from '../../src/model/organization.js';
import { readAllowedHost } from '../../src/platform/addresses/allowed-hosts.js';
import { createReach, type ReachOptions } from '../../src/platform/calls/reach.js';
import { refusalOf } from '../engine/world.js';

const nothing: ReachOptions = {
  allowedHosts: [],
  duckdbFolders: [],
  sqliteFolders: [],
  untested: false,
  dataDir: '/nowhere',
  files: [],
  databaseUrl: null,
};

const server = (host: string, port = 5432, parts: Partial<ServerConnection> = {}): ServerConnection => ({
  datasourceType: 'POSTGRES',
  host,
  port,
  username: 'reader',
  password: 's3cret',
  database: 'shop',
  schema: null,
  isSsl: false,
  ...parts,
});

const isReached = async (options: Partial<ReachOptions>, datasource: ServerConnection): Promise<boolean> => {
  try {
    await createReach({ ...nothing, ...options }).assertReachable(datasource);
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: 'DATASOURCE_CONNECTION_ERROR' });
    expect(String(error)).not.toContain('s3cret');
    return false;
  }
};

describe('servers', () => {
  it('no server is reachable until the operator names it, and the refusal names the setting', async () => {
    for (const host of ['localhost', '127.0.0.1', 'db.example.com', '169.254.169.254', '::1'])
      expect(await isReached({}, server(host)), host).toBe(false);
    const { message } = await refusalOf(() => createReach(nothing).assertReachable(server('db.example.com', 5433)));
    expect(message).toContain('datasources.allowedHosts');
    expect(message).toContain('"db.example.com:5433"');
  });

  it.each(variantNames)(
    'a source of type %s, which was never run, is refused until the operator allows such types',
    async (type) => {
      const allowedHosts = ['db.example.com'];
      const source = server('db.example.com', variants[type].port, { datasourceType: type });
      expect(await isReached({ allowedHosts }, source)).toBe(false);
      expect(await isReached({ allowedHosts, untested: true }, source)).toBe(true);
      expect(await isReached({ untested: true }, source)).toBe(false);
      const { message, reason } = await refusalOf(() =>
        createReach({ ...nothing, allowedHosts }).assertReachable(source),
      );
      expect(reason).toBe('type-untested');
      expect(message).toContain('datasources.untested: true');
      expect(message).toContain(variants[type].title);
    },
  );

  it('a replica is reached only where its own host is named, and never the metadata server', async () => {
    const of = (host: string) => ({ ...server('db.example.com'), replicas: [{ host, port: 5432 }] });
    const allowedHosts = ['db.example.com', 'one.example.com', 'meta.example.com'];
    expect(await isReached({ allowedHosts }, of('one.example.com'))).toBe(true);
    expect(await isReached({ allowedHosts }, of('two.example.com'))).toBe(false);
    const { database } = server('db.example.com');
    const databaseUrl = `postgres://u@meta.example.com:5432/${database}`;
    expect(await isReached({ allowedHosts, databaseUrl }, of('meta.example.com'))).toBe(false);
  });

  it.each([
    ['db.example.com', 'db.example.com', 1],
    ['db.example.com', 'DB.Example.COM', 5432],
    ['db.example.com', 'db.example.com.', 5432],
    ['DB.example.com.:5432', 'db.example.com', 5432],
    ['10.0.0.7:5432', '10.0.0.7', 5432],
    ['::1', '::1', 5432],
    ['[::1]', '::1', 5432],
    ['[FE80::1]:5432', '[fe80::1]', 5432],
  ])('%s allows %s, port %d', async (entry, host, port) => {
    expect(await isReached({ allowedHosts: [entry] }, server(host, port))).toBe(true);
  });

  it.each([
    ['db.example.com:5432', 'db.example.com', 5433],
    ['db.example.com', 'evil.db.example.com', 5432],
    ['db.example.com', 'db.example.com.evil.net', 5432],
    ['db.example.com', 'example.com', 5432],
    ['db.example.com', 'db.example.com,evil.net', 5432],
    ['db.example.com', 'evil.net,db.example.com', 5432],
    ['db.example.com', 'user@db.example.com', 5432],
    ['db.example.com', 'db.example.com/x', 5432],
    ['db.example.com', 'db.example.com:5432', 5432],
    ['db.example.com', 'db.example.com\0.evil.net', 5432],
    ['db.example.com', ' db.example.com', 5432],
    ['db.example.com', 'db.example.com..', 5432],
    ['db.example.com', '', 5432],
    ['db.example.com', '.', 5432],
    ['127.0.0.1', 'localhost', 5432],
    ['127.0.0.1', '2130706433', 5432],
    ['127.0.0.1', '0x7f.0.0.1', 5432],
    ['127.0.0.1', '127.1', 5432],
    ['127.0.0.1', '::ffff:127.0.0.1', 5432],
    ['[::1]:5432', '::1', 5433],
    ['::1', '0:0:0:0:0:0:0:1', 5432],
    ['localhost', '/var/run/postgresql', 5432],
    ['localhost', '/tmp', 5432],
  ])('%s does not allow %j, port %d', async (entry, host, port) => {
    expect(await isReached({ allowedHosts: [entry] }, server(host, port))).toBe(false);
  });

  it.each([
    '',
    '*',
    '*.example.com',
    '/var/run',
    'a,b',
    'db:0',
    'db:99999',
    'db:x',
    'http://db',
    'user@db',
    'db/x',
    'a b',
  ])('%j is no allowed host', (entry) => {
    expect(readAllowedHost(entry)).toBeUndefined();
  });

  it('whatever is asked for, only what was named is reached', async () => {
    const named = fc.constantFrom('db', 'db.example.com', '10.0.0.7', '::1');
    const near = fc
      .tuple(named, fc.string({ maxLength: 3 }), fc.string({ maxLength: 3 }), fc.boolean())
      .map(([host, before, after, isUpper]) => `${before}${isUpper ? host.toUpperCase() : host}${after}`);
    await fc.assert(
      fc.asyncProperty(named, fc.oneof(near, fc.string(), fc.domain(), fc.ipV4(), fc.ipV6()), async (allowed, host) => {
        const plain = host
          .toLowerCase()
          .replace(/\.$/, '')
          .replace(/^\[(.*)\]$/, '$1');
        const isReachedNow = await isReached({ allowedHosts: [allowed] }, server(host));
        if (isReachedNow) expect(plain).toBe(allowed);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['postgres://root@127.0.0.1:5432/meta', '127.0.0.1'],
    ['postgres://root@127.0.0.1/meta', 'localhost'],
    ['postgres://root@localhost/meta', '::1'],
    ['postgres://root@DB.example.com/meta', 'db.example.com'],
    ['postgres://root@/meta?host=db.example.com', 'db.example.com'],
    ['postgres://root@elsewhere.example.com:1/meta?host=db.example.com&port=5432', 'db.example.com'],
    ['postgres://root@/meta?host=/var/run/postgresql', '127.0.0.1'],
    ['postgres:///meta', 'localhost'],
    ['socket:/var/run/postgresql?db=meta', '127.0.0.1'],
    ['/var/run/postgresql meta', 'localhost'],
    ['postgres://root@[::1]/me%74a', 'localhost'],
    ['postgres://root@db-1.example.com,db-2.example.com:5432/meta', 'db-1.example.com'],
    ['postgres://root@db-1.example.com,db-2.example.com:5432/meta', 'db-2.example.com'],
  ])('the database of the metadata (%s) is no datasource by host %s', async (databaseUrl, host) => {
    const options = { allowedHosts: [host], databaseUrl };
    expect(await isReached(options, server(host, 5432, { database: 'meta' }))).toBe(false);
    expect(await isReached(options, server(host, 5432, { database: 'shop' }))).toBe(true);
    expect(await isReached(options, server(host, 5433, { database: 'meta' }))).toBe(true);
    expect(await isReached({ ...options, databaseUrl: null }, server(host, 5432, { database: 'meta' }))).toBe(true);
  });
});

describe.each([
  ['DUCKDB', 'duckdbFolders'],
  ['SQLITE', 'sqliteFolders'],
] as const)('files of %s', (datasourceType, setting) => {
  let folder: string;
  let socket: Server;
  const at = (...names: string[]): string => join(folder, ...names);
  const reach = async (path: string, options: Partial<ReachOptions> = {}): Promise<boolean> => {
    const { assertReachable } = createReach({ ...nothing, dataDir: at('data'), ...options });
    try {
      await assertReachable({ datasourceType, path });
      return true;
    } catch (error) {
      expect(error).toMatchObject({ code: 'DATASOURCE_CONNECTION_ERROR', reason: 'path-not-allowed' });
      expect(String(error)).toContain(`datasources.${setting}`);
      expect(String(error)).not.toContain(folder);
      return false;
    }
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guestlist-reach-'));
    for (const name of ['data/sources/deep', 'data/metadata', 'data/sources-else', 'lake', 'lake-else', 'elsewhere'])
      await mkdir(at(name), { recursive: true });
    for (const name of [
      'data/sources/one.duckdb',
      'data/sources/deep/two.duckdb',
      'data/sources-else/x.duckdb',
      'data/metadata/PG_VERSION',
      'data/metadata.lock',
      'data/credentials.json',
      'data/flights.duckdb',
      'lake/three.duckdb',
      'lake/odd?access_mode=x',
      'lake-else/x.duckdb',
      'elsewhere/four.duckdb',
    ])
      await writeFile(at(name), '');
    await symlink(at('lake/three.duckdb'), at('data/sources/inward.duckdb'));
    await symlink(at('elsewhere/four.duckdb'), at('lake/outward.duckdb'));
    await symlink(at('elsewhere'), at('lake/door'));
    await symlink(at('data/metadata.lock'), at('data/sources/lock.duckdb'));
    await symlink(at('data/credentials.json'), at('lake/credentials.duckdb'));
    await symlink(at('lake/loop'), at('lake/loop'));
    await symlink(at('lake'), at('lake-link'));
    socket = createServer().listen(at('lake/socket'));
    await new Promise((resolve) => socket.once('listening', resolve));
  });
  afterAll(async () => {
    await new Promise((resolve) => socket.close(resolve));
    await rm(folder, { recursive: true, force: true });
  });

  it('those in `sources` of the data folder and in the named folders are reached, however deep', async () => {
    const lake = { [setting]: [at('lake')] };
    expect(await reach(at('data/sources/one.duckdb'))).toBe(true);
    expect(await reach(at('data/sources/deep/two.duckdb'))).toBe(true);
    expect(await reach(at('lake/three.duckdb'))).toBe(false);
    expect(await reach(at('lake/three.duckdb'), lake)).toBe(true);
    expect(await reach(`${at('elsewhere')}/../lake/three.duckdb`, lake)).toBe(true);
    expect(await reach(at('data/sources/inward.duckdb'), lake)).toBe(true);
    expect(await reach(at('lake/three.duckdb'), { [setting]: [at('lake-link')] })).toBe(true);
    expect(await reach(at('lake/three.duckdb'), { [setting]: [`${at('lake')}/`] })).toBe(true);
  });

  it.each([
    'elsewhere/four.duckdb',
    'lake/../elsewhere/four.duckdb',
    'lake/outward.duckdb',
    'lake/door/four.duckdb',
    'lake/loop',
    'lake/socket',
    'lake/missing.duckdb',
    'lake',
    'lake-else/x.duckdb',
    'lake/odd?access_mode=x',
    'lake/three.duckdb?access_mode=READ_WRITE',
    'lake/three.duckdb\0.txt',
    'lake/*.duckdb',
    'data/sources-else/x.duckdb',
  ])('%j is not reached', async (name) => {
    expect(await reach(`${folder}/${name}`, { [setting]: [at('lake')] })).toBe(false);
  });

  it.each([
    '',
    ':memory:',
    's3://bucket/x.duckdb',
    'http://127.0.0.1/x.duckdb',
    'https://example.com/x.duckdb',
    'file:///etc/passwd',
    'sqlite:/etc/passwd',
    'postgres:host=localhost',
    'md:shop',
    '/etc/passwd',
    '/dev/null',
    '/proc/self/environ',
    '/proc/self/fd/0',
  ])('%j is not reached', async (path) => {
    expect(await reach(path, { [setting]: [at('lake')] })).toBe(false);
  });

  it('a relative path is not reached, also where it leads to an allowed file', async () => {
    const path = relative(process.cwd(), at('lake/three.duckdb'));
    expect(await reach(path, { [setting]: [at('lake')] })).toBe(false);
  });

  it.each(['metadata/PG_VERSION', 'metadata.lock', 'credentials.json', 'flights.duckdb', 'sources/lock.duckdb'])(
    'the data folder’s own %s is no datasource, whatever folders are named',
    async (name) => {
      for (const folders of [[], [at('data')], [folder], ['/'], [at('data/metadata')]])
        expect(await reach(at('data', name), { [setting]: folders })).toBe(false);
    },
  );

  it('nor is a link to one of its files from a named folder', async () => {
    expect(await reach(at('lake/credentials.duckdb'), { [setting]: [at('lake'), folder] })).toBe(false);
  });

  it('one file of its own is reached where it is named exactly: the demo’s', async () => {
    const files = [at('data/flights.duckdb')];
    expect(await reach(at('data/flights.duckdb'), { files })).toBe(true);
    expect(await reach(at('data/credentials.json'), { files })).toBe(false);
  });

  it('says the same of a file that is not allowed and of one that is not there', async () => {
    const { assertReachable } = createReach({ ...nothing, dataDir: at('data') });
    const [there, gone] = await Promise.all(
      ['elsewhere/four.duckdb', 'elsewhere/five.duckdb'].map((name) =>
        refusalOf(() => assertReachable({ datasourceType: 'DUCKDB', path: at(name) })),
      ),
    );
    expect(there).toEqual(gone);
  });
});
