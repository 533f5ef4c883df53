/**
 * Use cases of datasources without HTTP: failures midway, and two simultaneous calls. The engine is scripted, the store
 * is real.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { SourceTable } from '../../src/model/datamart/source-schema.js';
import type { ServiceCaller } from '../../src/model/guest/caller.js';
import type { Datasource } from '../../src/model/organization.js';
import type { Engine } from '../../src/model/query/engine.js';
import { Refusal } from '../../src/model/refusal.js';
import { whole } from '../../src/model/slices.js';
import type { Database } from '../../src/platform/databases/database.js';
import { createSealer } from '../../src/platform/keys/sealing.js';
import {
  createDatasource,
  listDatasources,
  type SaveDatasource,
  syncDatasource,
  updateDatasource,
} from '../../src/service/datasources/datasources.js';
import type { Store } from '../../src/service/store/store.js';
import { createStore } from '../../src/service/store/store.js';
import type { Tables } from '../../src/service/store/tables.js';
import { refusalOf } from '../engine/world.js';
import { openTestDatabase } from '../suites/metadata.js';
import { testSealer } from '../suites/sealer.js';

const caller: ServiceCaller = { kind: 'serviceToken', tokenId: 't' };
const never = async (): Promise<never> => {
  throw new Error('nothing is asked here');
};
const tableNamed = (tableName: string): SourceTable => ({
  schemaName: 'public',
  tableName,
  columns: [],
  primaryKey: [],
  uniqueKeys: [],
  foreignKeys: [],
});

let database: Database;
let store: Store;
let seen: Datasource[];
let forgotten: string[];
let look: (datasource: Datasource) => Promise<readonly SourceTable[]>;
let now: Date;

const engine: Engine = {
  query: never,
  underlying: never,
  options: never,
  stream: never,
  check: never,
  statement: never,
  asSql: never,
  countRepeats: never,
  tenantNames: never,
  until: () => engine,
  close: never,
  forgetClient: never,
  rollups: null,
  eraseFromRollups: never,
  introspect: async (datasource) => {
    seen.push(datasource);
    return look(datasource);
  },
  listClientDatabases: async () => ({ DATABASE: ['acme'], MULTI_DATABASE: [] }),
  readRights: never,
  forget: async (id) => {
    forgotten.push(id);
  },
};
const deps = () => ({ store, engine, clock: { now: () => now }, ids: { uuid: randomUUID } });

beforeAll(async () => {
  database = await openTestDatabase();
  store = createStore(database.connect<Tables>(), testSealer);
});
afterAll(() => database.close());
beforeEach(() => {
  [seen, forgotten] = [[], []];
  look = async () => [tableNamed('sales')];
  now = new Date('2026-01-01T00:00:00Z');
});

const password = 'correct horse';
const server = (name: string, parts: object = {}): SaveDatasource => ({
  datasourceType: 'POSTGRES',
  credentials: {
    name,
    host: 'DB.Example.com.',
    port: 5432,
    username: 'reader',
    password,
    database: 'shop',
    isSsl: false,
    ...parts,
  },
});
const unreachable = async (): Promise<never> => {
  throw new Refusal('DATASOURCE_CONNECTION_ERROR', 'It does not answer.');
};
const load = async (name: string): Promise<Datasource> => {
  const found = await store.datasources.findByName(name);
  if (found === undefined) throw new Error(`no datasource ${name}`);
  return found;
};

it('what was looked at is what is stored, its host in its one spelling', async () => {
  const made = await createDatasource(deps())(caller, server('whole', { schema: 'sales', isSsl: true }));
  expect(seen).toEqual([made]);
  expect(await load('whole')).toEqual(made);
  expect(made).toMatchObject({ host: 'db.example.com', schema: 'sales', isSsl: true, password, syncedAt: now });
  expect(await store.datasources.findTables(made.id)).toEqual([tableNamed('sales')]);
});

it('MySQL has no schema beside its database', async () => {
  const command = { ...server('maria', { schema: 'shop', port: 3306 }), datasourceType: 'MYSQL' } as SaveDatasource;
  expect(await createDatasource(deps())(caller, command)).toMatchObject({ datasourceType: 'MYSQL', schema: null });
});

it('ClickHouse has no schema beside its database', async () => {
  const command = {
    ...server('columns', { schema: 'shop', port: 8123 }),
    datasourceType: 'CLICKHOUSE',
  } as SaveDatasource;
  const made = await createDatasource(deps())(caller, command);
  expect(made).toMatchObject({ datasourceType: 'CLICKHOUSE', schema: null });
  expect(await load('columns')).toEqual(made);
});

it('one that cannot be reached is not stored, and the engine forgets it', async () => {
  look = unreachable;
  const failed = await refusalOf(() => createDatasource(deps())(caller, server('unreached')));
  expect(failed.code).toBe('DATASOURCE_CONNECTION_ERROR');
  expect(await store.datasources.findByName('unreached')).toBeUndefined();
  expect(forgotten).toEqual(seen.map(({ id }) => id));
});

it('a taken name is refused before any connection', async () => {
  await createDatasource(deps())(caller, server('taken'));
  seen = [];
  const failed = await refusalOf(() => createDatasource(deps())(caller, server('taken', { host: 'other' })));
  expect([failed.code, seen]).toEqual(['DATASOURCE_ALREADY_EXISTS', []]);
});

it('of two simultaneous creates, the second is refused and leaves the first unchanged', async () => {
  const all = await Promise.allSettled(
    ['one', 'two'].map((host) => createDatasource(deps())(caller, server('raced', { host }))),
  );
  const made = all.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  expect(made).toHaveLength(1);
  expect(await load('raced')).toEqual(made[0]);
  expect(forgotten).toEqual(seen.filter(({ id }) => id !== made[0]?.id).map(({ id }) => id));
});

it('an update looks under another id, replaces all credentials and forgets both', async () => {
  const made = await createDatasource(deps())(caller, server('moved', { schema: 'sales', isSsl: true }));
  look = async () => [tableNamed('orders')];
  const changed = await updateDatasource(deps())(caller, server('moved', { host: 'new', password: '' }));
  expect(changed).toMatchObject({ id: made.id, host: 'new', password: '', schema: null, isSsl: false });
  expect(await load('moved')).toEqual(changed);
  expect(await store.datasources.findTables(made.id)).toEqual([tableNamed('orders')]);
  const [, trial] = seen;
  expect(trial).toMatchObject({ host: 'new', password: '' });
  expect(trial?.id).not.toBe(made.id);
  expect(forgotten).toEqual([trial?.id, made.id]);
});

it('an update to an unreachable server changes nothing and keeps the connections open', async () => {
  const made = await createDatasource(deps())(caller, server('stays'));
  look = unreachable;
  const failed = await refusalOf(() => updateDatasource(deps())(caller, server('stays', { host: 'gone' })));
  expect(failed.code).toBe('DATASOURCE_CONNECTION_ERROR');
  expect(await load('stays')).toEqual(made);
  expect(forgotten).not.toContain(made.id);
});

it('an update of another type is refused before anything is connected to', async () => {
  await createDatasource(deps())(caller, server('typed'));
  seen = [];
  const other = { ...server('typed'), datasourceType: 'MYSQL' } as SaveDatasource;
  const failed = await refusalOf(() => updateDatasource(deps())(caller, other));
  expect([failed.code, seen]).toEqual(['INVALID_REQUEST_BODY', []]);
});

it('a sync that began before an update does not put the old tables over the new ones', async () => {
  const made = await createDatasource(deps())(caller, server('overtaken'));
  let finish: (tables: readonly SourceTable[]) => void = () => undefined;
  const late = new Promise<readonly SourceTable[]>((resolve) => {
    finish = resolve;
  });
  let isAsked: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => {
    isAsked = resolve;
  });
  look = () => {
    isAsked();
    return late;
  };
  const syncing = syncDatasource(deps())(caller, { name: 'overtaken' });
  await asked;
  look = async () => [tableNamed('new')];
  now = new Date(now.getTime() + 1000);
  await updateDatasource(deps())(caller, server('overtaken', { host: 'new' }));
  finish([tableNamed('old')]);
  await syncing;
  expect(await store.datasources.findTables(made.id)).toEqual([tableNamed('new')]);
  expect(await load('overtaken')).toMatchObject({ host: 'new', syncedAt: now });
});

it('a sync forgets what the engine knew', async () => {
  const made = await createDatasource(deps())(caller, server('synced'));
  expect(await syncDatasource(deps())(caller, { name: made.id })).toEqual({ name: 'synced', tableCount: 1 });
  expect(forgotten).toContain(made.id);
});

it('with a lost key, datasources are listed, a sync does not reveal credentials, and an update repairs them', async () => {
  const made = await createDatasource(deps())(caller, server('locked'));
  const other = createStore(database.connect<Tables>(), createSealer(crypto.getRandomValues(Buffer.alloc(32))));
  const later = { ...deps(), store: other };
  const listed = await whole(await listDatasources(later)(caller, { isPagination: false, pageNumber: 1 }));
  expect(listed.map(({ name }) => name)).toContain('locked');
  for (const one of listed) expect(JSON.stringify(one)).not.toContain(password);
  const failure = await syncDatasource(later)(caller, { name: 'locked' }).catch((error: unknown) => error);
  expect(String(failure)).toContain('GUESTLIST_ENCRYPTION_KEY');
  expect(String(failure)).not.toContain(password);
  await updateDatasource(later)(caller, server('locked'));
  expect(await other.datasources.findByName('locked')).toMatchObject({ id: made.id, password });
});
