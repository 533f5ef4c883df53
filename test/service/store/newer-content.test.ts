/** Content that a newer release stored, as this one reads it; and content of this one, as release 0.2.0 looks for it. */
import fc from 'fast-check';
import { type Kysely, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DatamartTable } from '../../../src/model/datamart/datamart.js';
import type { GuestGrant } from '../../../src/model/guest/grant.js';
import { isRecord } from '../../../src/model/is-record.js';
import { Refusal } from '../../../src/model/refusal.js';
import { findUnavailable } from '../../../src/model/unavailable.js';
import { createToken, hashToken } from '../../../src/platform/keys/keys.js';
import {
  knownAccessSettings,
  knownDashboardFilters,
  knownDefinition,
  knownGrant,
  knownRelationships,
  knownRollups,
  knownTables,
  knownTenancy,
} from '../../../src/service/store/known-content.js';
import type { Known } from '../../../src/service/store/known-fields.js';
import { createStore, type Store } from '../../../src/service/store/store.js';
import type { Tables } from '../../../src/service/store/tables.js';
import { openTestDatabase, type TestDatabase } from '../../suites/metadata.js';
import { testSealer } from '../../suites/sealer.js';
import {
  accessSettingsSample,
  dashboardSample,
  datamartSample,
  embedSample,
  firstEpoch,
  grantSample,
  insertOrganization,
  metricSample,
  type Organization,
} from '../../suites/store-samples.js';

const column = { schemaName: 'main', tableName: 'flights', columnName: 'delay' };
const table = { schemaName: 'main', tableName: 'flights' };

const [plainTable] = datamartSample('source').tables;
if (plainTable === undefined) throw new Error('the sample has no table');
const [plainColumn] = plainTable.columns;
if (plainColumn === undefined) throw new Error('the sample has no column');

/** A table with all that restricts it. */
const ruledTable: DatamartTable = {
  ...plainTable,
  through: { relationship: 'memberships_users', columns: ['delay'] },
  baseFilters: [{ columnName: 'deleted_at', predicate: { kind: 'isNull' } }],
  columns: [{ ...plainColumn, numbers: { scale: 2, currency: { column: 'currency' } }, dates: { style: 'short' } }],
};

const grant: Partial<GuestGrant> = {
  columnRules: { hideColumns: ['main.flights.delay'], maskColumns: { 'main.flights.tail': 'last4' } },
  quota: { queriesPerDay: 10 },
  pinnedDashboards: [{ externalDashboardId: 'delays', dashboardId: 'd' }],
  accessPermissions: { dashboardFilterColumns: [{ tableName: 'main.airports', columns: ['state'] }] },
};

const documentOf = (fields: Partial<GuestGrant>): object => {
  const { id, dataAppId, clientId, userIdentifier, datamartId, createdAt, expiresAt, ...rest } = grantSample(
    'a',
    fields,
  );
  return rest;
};

const condition = { column, predicate: { kind: 'oneOf', values: ['CA'] } };

/** Each kind of stored content, with as much in it as there can be. */
const contents: Readonly<Record<string, { readonly known: Known; readonly sample: unknown }>> = {
  grant: { known: knownGrant, sample: documentOf(grant) },
  tables: { known: knownTables, sample: [ruledTable] },
  tenancy: { known: knownTenancy, sample: datamartSample('source').tenancy },
  relationships: { known: knownRelationships, sample: datamartSample('source').relationships },
  rollups: {
    known: knownRollups,
    sample: [
      {
        name: 'by day',
        from: table,
        dimensions: ['carrier'],
        grain: 'day',
        measures: [{ aggregate: 'SUM', column: 'delay' }],
        partition: { column: 'date', by: 'month', closesAfterHours: 24 },
        refresh: { everyMinutes: 60, again: 1 },
      },
    ],
  },
  definition: {
    known: knownDefinition,
    sample: {
      ...metricSample('w').definition,
      where: { all: [condition, { any: [condition] }] },
      having: { any: [{ measure: 'flights', predicate: { kind: 'compare', operator: '>', value: 3 } }] },
      calculations: [{ kind: 'shareOfTotal', name: 'share', of: 'flights', within: ['day'] }],
      comparison: { column, grain: 'month', periods: 1 },
      filters: [{ name: 'state', label: 'State', column, dataType: 'string', predicate: { kind: 'isNotNull' } }],
      rlsVariables: [{ name: 'region', column, isOptional: false }],
      underlying: [column],
      withoutBaseFilters: [table],
    },
  },
  filters: { known: knownDashboardFilters, sample: dashboardSample('w').filters },
  accessSettings: { known: knownAccessSettings, sample: accessSettingsSample },
};

/** Paths below which names are those of users, or say how something looks. */
const isFree = (path: string): boolean => /(?:\.values|\.maskColumns|\.chart|\.dates)$/.test(path);

/** The places of all objects in a value. */
const objectsIn = (value: unknown, path = ''): readonly string[] => {
  if (Array.isArray(value)) return value.flatMap((item, index) => objectsIn(item, `${path}[${index}]`));
  if (!isRecord(value)) return [];
  return [
    ...(isFree(path) ? [] : [path]),
    ...Object.entries(value).flatMap(([name, part]) => objectsIn(part, `${path}.${name}`)),
  ];
};

/** The value with a field more at the place. */
const withField = (value: unknown, place: string, name: string, path = ''): unknown => {
  if (Array.isArray(value)) return value.map((item, index) => withField(item, place, name, `${path}[${index}]`));
  if (!isRecord(value)) return value;
  const parts = Object.entries(value).map(([key, part]) => [key, withField(part, place, name, `${path}.${key}`)]);
  return { ...Object.fromEntries(parts), ...(path === place ? { [name]: { restricts: true } } : {}) };
};

describe('what this release does not know', () => {
  it.each(Object.entries(contents))('%s of this release are known', (_, { known, sample }) => {
    expect(known(JSON.parse(JSON.stringify(sample)))).toBeUndefined();
  });

  it.each(Object.entries(contents))('a field that nobody knows, anywhere in %s, is found', (_, { known, sample }) => {
    const places = fc.constantFrom(...objectsIn(sample));
    const names = fc.string({ minLength: 1 }).map((name) => `x-${name}`);
    fc.assert(
      fc.property(places, names, (place, name) => {
        expect(known(withField(sample, place, name))).toBe(`${place}.${name}`);
      }),
    );
  });

  it.each([
    ['grant', documentOf({ columnRules: { hideColumns: [], maskColumns: { 'main.flights.tail': 'first8' } } })],
    ['grant', documentOf({ columnRules: { hideColumns: [{ column: 'delay' } as never], maskColumns: {} } })],
    ['tables', [{ ...ruledTable, baseFilters: [{ columnName: 'deleted_at', predicate: { kind: 'between' } }] }]],
    ['tables', { tables: [ruledTable] }],
    ['tenancy', { tenancyLevel: 'SCHEMA' }],
    ['definition', { ...metricSample('w').definition, kind: 'cube' }],
    ['definition', { ...metricSample('w').definition, chart: { type: 'sunburst' } }],
  ])('a word or a form that nobody knows, in %s, is found', (name, value) => {
    expect(contents[name]?.known(value)).toBeTypeOf('string');
  });
});

describe('the store', () => {
  let database: TestDatabase;
  let store: Store;
  let db: Kysely<Tables>;
  let world: Organization;
  beforeAll(async () => {
    database = await openTestDatabase('pglite');
    db = database.connect<Tables>();
    store = createStore(db, testSealer, null);
    world = await insertOrganization(store);
  });
  afterAll(() => database.close());

  const insertToken = async (fields: Partial<GuestGrant>) => {
    const hash = hashToken(createToken());
    const stored = grantSample(world.dataApp.id, { allowedEmbeds: null, ...fields });
    expect(await store.guestTokens.insert(hash, stored, firstEpoch)).toBe(true);
    return { hash, stored };
  };

  const refused = async (reading: Promise<unknown>): Promise<void> => {
    const error = await reading.then(
      () => undefined,
      (fault: unknown) => fault,
    );
    expect(error).toBeInstanceOf(Refusal);
    expect(findUnavailable(error)?.reason).toBe('written-by-newer-release');
  };

  it('a token with a restriction of a newer release is not found, and not taken for one without it', async () => {
    const { hash, stored } = await insertToken({});
    await sql`update guestlist.guest_tokens set grants = grants || '{"hideRows": ["main.flights"]}'
      where id = ${stored.id}`.execute(db);
    await refused(store.guestTokens.findByHash(hash));
    await refused(store.guestTokens.findById(stored.id));
  });

  it('a datamart with a restriction of a newer release is not read, and others are', async () => {
    const newer = datamartSample(world.datasource.id);
    await store.datamarts.insert(newer);
    await sql`update guestlist.datamarts set tables = jsonb_set(tables, '{0,rowRules}', '["own"]')
      where id = ${newer.id}`.execute(db);
    await refused(store.datamarts.findById(newer.id));
    await refused(store.datamarts.lockByName(newer.name));
    await refused(store.datamarts.findByName(newer.name));
    expect((await store.datamarts.findById(world.datamart.id))?.id).toBe(world.datamart.id);
    const listed = await store.workspaces.listDatamarts(world.workspace);
    expect(listed.map(({ id }) => id)).toEqual([world.datamart.id]);
    await store.datamarts.remove(newer.id);
  });

  it('a token or a datamart with a restriction in a column of a later migration is not read', async () => {
    const { hash, stored } = await insertToken({});
    await sql`alter table guestlist.guest_tokens add column row_limit integer`.execute(db);
    await sql`alter table guestlist.datamarts add column row_owner text`.execute(db);
    expect((await store.guestTokens.findByHash(hash))?.id).toBe(stored.id);
    const ruled = datamartSample(world.datasource.id);
    await store.datamarts.insert(ruled);
    expect((await store.datamarts.findById(ruled.id))?.id).toBe(ruled.id);
    await sql`update guestlist.guest_tokens set row_limit = 3 where id = ${stored.id}`.execute(db);
    await sql`update guestlist.datamarts set row_owner = 'own' where id = ${ruled.id}`.execute(db);
    await refused(store.guestTokens.findByHash(hash));
    await refused(store.datamarts.findById(ruled.id));
    await store.datamarts.remove(ruled.id);
    await sql`alter table guestlist.guest_tokens drop column row_limit`.execute(db);
    await sql`alter table guestlist.datamarts drop column row_owner`.execute(db);
  });

  it('metrics, dashboards and embeds with a part of a newer release are not read', async () => {
    const board = dashboardSample(world.workspace.id);
    const metric = metricSample(world.workspace.id);
    const embed = embedSample(world.dataApp.id, board.id);
    await store.dashboards.insert(board);
    await store.metrics.insert(metric);
    await store.embeds.insert(embed);
    await sql`update guestlist.metrics set definition = definition || '{"rowLimits": [1]}'
      where metric_id = ${metric.metricId}`.execute(db);
    await sql`update guestlist.embeds set access_settings = access_settings || '{"isReadByRole": "admin"}'
      where embed_id = ${embed.embedId}`.execute(db);
    await refused(store.metrics.findById(metric.metricId));
    await refused(store.embeds.findById(world.dataApp.id, embed.embedId));
    await sql`update guestlist.dashboards set filters = jsonb_set(filters, '{0,isForced}', 'true')
      where id = ${board.id}`.execute(db);
    await refused(store.dashboards.findById(board.id));
  });

  /** As release 0.2.0 finds a token, in all that decides whether it does. */
  const findAsBefore = async (hash: string): Promise<number> => {
    const { rows } = await sql`select from guestlist.guest_tokens where hash = ${hash} and epoch = (
      select coalesce(sum(subject.epoch), 0)::bigint from guestlist.revocation_epochs as subject
      where subject.data_app_id = guest_tokens.data_app_id and (
        (subject.client_id = '' and subject.user_identifier = '')
        or (subject.client_id = guest_tokens.client_id
          and subject.user_identifier in ('', coalesce(guest_tokens.user_identifier, '')))
      ))`.execute(db);
    return rows.length;
  };

  it.each([
    ['hidden columns', { columnRules: { hideColumns: ['main.flights.delay'], maskColumns: {} } }],
    ['masked columns', { columnRules: { hideColumns: [], maskColumns: { 'main.flights.tail': 'last4' } } }],
    ['a quota', { quota: { seats: 3 } }],
  ])('release 0.2.0 does not find a token with %s, this one does, and a revocation ends it', async (name, fields) => {
    const clientId = `client with ${name}`;
    const { hash, stored } = await insertToken({ clientId, ...fields });
    expect(await findAsBefore(hash)).toBe(0);
    expect((await store.guestTokens.findByHash(hash))?.id).toBe(stored.id);
    expect(await store.guestTokens.isGood(stored.id)).toBe(true);
    const which = { kind: 'client', clientId, userIdentifier: null } as const;
    expect(await store.guestTokens.revoke(world.dataApp.id, which, stored.createdAt)).toBe(1);
    // A mint that began before the revocation stores its token after it.
    const late = grantSample(world.dataApp.id, { clientId, allowedEmbeds: null, ...fields });
    const lateHash = hashToken(createToken());
    await store.guestTokens.insert(lateHash, late, firstEpoch);
    expect(await store.guestTokens.findByHash(lateHash)).toBeUndefined();
    const next = grantSample(world.dataApp.id, { clientId, allowedEmbeds: null, ...fields });
    const nextHash = hashToken(createToken());
    const epoch = await store.guestTokens.currentEpoch(next);
    await store.guestTokens.insert(nextHash, next, epoch);
    expect((await store.guestTokens.findByHash(nextHash))?.id).toBe(next.id);
    expect(await findAsBefore(nextHash)).toBe(0);
  });

  it('release 0.2.0 finds a token without such restrictions', async () => {
    const { hash } = await insertToken({ permissions: { isEnableCreateDashboard: true } });
    expect(await findAsBefore(hash)).toBe(1);
  });

  const storedAs = async (tables: readonly DatamartTable[]): Promise<string | undefined> => {
    const datamart = datamartSample(world.datasource.id, { tables });
    await store.datamarts.insert(datamart);
    expect((await store.datamarts.findById(datamart.id))?.tables).toEqual(tables);
    const { rows } = await sql<{ kind: string }>`select jsonb_typeof(tables) as kind from guestlist.datamarts
      where id = ${datamart.id}`.execute(db);
    return rows[0]?.kind;
  };

  it.each([
    ['a bridge', { through: ruledTable.through }],
    ['base filters', { baseFilters: ruledTable.baseFilters }],
    ['a scale', { columns: [{ ...plainColumn, numbers: { scale: 2 } }] }],
    ['currencies of rows', { columns: [{ ...plainColumn, numbers: { currency: { column: 'currency' } } }] }],
  ])('release 0.2.0 finds no list of tables where one has %s', async (_, fields) => {
    expect(await storedAs([plainTable, { ...plainTable, ...fields }])).toBe('object');
  });

  it('release 0.2.0 finds the list of tables where nothing restricts them', async () => {
    const numbers = { format: 'percent', currency: 'EUR' } as const;
    expect(await storedAs([{ ...plainTable, leftOut: ['tail'], columns: [{ ...plainColumn, numbers }] }])).toBe(
      'array',
    );
  });
});
