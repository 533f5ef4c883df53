/** Clients that each have a database or a schema: on every engine, a client reads only its own. */
import { parse } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { catalogFor, clientDatabaseOf, databaseNameFor } from '../../src/engine/scope/client-database.js';
import { scopeToTenant } from '../../src/engine/scope/scope-to-tenant.js';
import type { Epoch } from '../../src/model/brand.js';
import type { SqlDefinition, VisualDefinition } from '../../src/model/dashboard/metric.js';
import type { Datamart, DatamartTable } from '../../src/model/datamart/datamart.js';
import { type ClientDatabase, type TenantScope, tenantScope } from '../../src/model/datamart/tenant.js';
import { type Datasource, isFile } from '../../src/model/organization.js';
import type { Engine, MetricQuestion } from '../../src/model/query/engine.js';
import { Refusal } from '../../src/model/refusal.js';
import { type Builder, createBuilder, findSqlKinds, type TableData, type Value } from './test-databases.js';
import { catalogOf, createLoggedEngine, datamart, type Place, refusalOf, table } from './world.js';

const orders = (rows: readonly (readonly Value[])[]): TableData => ({
  name: 'orders',
  columns: { id: 'BIGINT', city: 'VARCHAR', owner: 'VARCHAR' },
  rows,
});
const cities: TableData = {
  name: 'cities',
  columns: { code: 'VARCHAR', state: 'VARCHAR' },
  rows: [
    ['LA', 'CA'],
    ['SF', 'CA'],
    ['NY', 'NY'],
  ],
};
/** The clients' rows. Their sums are all different, so a sum shows whose rows were read. */
const rowsOf = {
  model: [[1_000_000, 'LA', 'model']],
  acme: [
    [1, 'LA', 'acme'],
    [2, 'NY', 'acme'],
    [4, 'SF', 'intruder'],
  ],
  globex: [[8, 'NY', 'globex']],
} as const;
type Name = keyof typeof rowsOf;

const in_ = (schemaName: string, item: DatamartTable): DatamartTable => ({ ...item, schemaName });
const martOf = (model: string, primary: string, parts: Partial<Datamart>): Datamart =>
  datamart({
    tables: [
      in_(model, table('orders', { id: 'BIGINT', city: 'VARCHAR', owner: 'VARCHAR' })),
      in_(primary, table('cities', { code: 'VARCHAR', state: 'VARCHAR' })),
    ],
    relationships: [
      {
        relationshipName: 'to',
        parent: { schemaName: model, tableName: 'orders', columnName: 'city' },
        child: { schemaName: primary, tableName: 'cities', columnName: 'code' },
        cardinality: 'ManyToOne',
        join: 'LEFT JOIN',
      },
    ],
    ...parts,
  });

const inSql = (sql: string): SqlDefinition => ({
  ...{ kind: 'sql', chart: { type: 'table' }, sql, dimensions: [], measures: [{ name: 'sum' }], filters: [] },
  ...{ rlsVariables: [], sort: [], limit: null },
});

/** A metric: the sum of ids by state. */
const byState = (mart: Datamart): VisualDefinition => {
  const [own, shared] = mart.tables;
  if (own === undefined || shared === undefined) throw new Error('a table is missing');
  return {
    kind: 'visual',
    chart: { type: 'table' },
    from: own,
    dimensions: [{ name: 'state', column: { ...shared, columnName: 'state' } }],
    measures: [{ name: 'sum', aggregate: 'SUM', column: { ...own, columnName: 'id' } }],
    filters: [],
    rlsVariables: [],
    underlying: [],
    drillPath: [],
    sort: [],
    limit: null,
  };
};

const listed = (mart: Datamart, clientId: string): TenantScope =>
  tenantScope(mart, clientId, clientId as ClientDatabase);
const questionOf = (datasource: Datasource, mart: Datamart, tenant: TenantScope): MetricQuestion => ({
  datasource,
  datamart: mart,
  tenant,
  dataAppId: 'app',
  epoch: '0/0' as Epoch,
  definition: byState(mart),
  conditions: [],
  timezone: null,
  sort: null,
  limit: null,
  offset: 0,
});

const kinds = await findSqlKinds();
/** Whether one statement can read several databases of a server. */
const hasDatabaseSchemas = (kind: string): boolean => kind === 'MYSQL' || kind === 'CLICKHOUSE';
describe.each(kinds)('%s', (kind) => {
  let builder: Builder;
  let engine: Engine;
  let datasource: Datasource;
  let places: Record<Name, Place>;
  let bare: Place;

  const idOf = ({ datasource: of }: Place): string => (isFile(of) ? parse(of.path).name : of.database);
  const sums = async (mart: Datamart, tenant: TenantScope): Promise<Record<string, number>> => {
    const { rows } = await engine.query(questionOf(datasource, mart, tenant));
    return Object.fromEntries(rows.map(({ state, sum }) => [String(state), Number(sum)]));
  };

  beforeAll(async () => {
    builder = await createBuilder(kind);
    engine = createLoggedEngine().engine;
    const build = (name: Name): Promise<Place> => builder.build(name, [orders(rowsOf[name]), cities]);
    places = { model: await build('model'), acme: await build('acme'), globex: await build('globex') };
    bare = await builder.build("bare 'x'", [{ ...orders([]), columns: { id: 'BIGINT' } }]);
    datasource = places.model.datasource;
  }, 60_000);
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  describe('DATABASE', () => {
    const mart = (): Datamart =>
      martOf(places.model.schemaName, places.model.schemaName, {
        tenancy: { tenancyLevel: 'DATABASE', primaryDatabase: null },
      });
    const scopeOf = (name: Name): TenantScope => listed(mart(), idOf(places[name]));

    it("reads each client's own database, and never the datasource's own", async () => {
      const [acme, globex] = await Promise.all([sums(mart(), scopeOf('acme')), sums(mart(), scopeOf('globex'))]);
      expect([acme, globex]).toEqual([{ CA: 5, NY: 2 }, { NY: 8 }]);
    });

    it("reports clearly what a client's database lacks", async () => {
      const tenant = listed(mart(), idOf(bare));
      expect(await refusalOf(() => sums(mart(), tenant))).toMatchObject({
        code: 'METRIC_QUERY_ERROR',
        reason: 'table-not-in-datasource',
        message: expect.stringContaining('this client’s database'.replace('’', "'")),
      });
    });

    it('a database that was removed after the sync is refused like an unavailable server', async () => {
      const refusal = await refusalOf(() => sums(mart(), listed(mart(), 'gl_gone')));
      expect(refusal).toMatchObject({ code: 'METRIC_QUERY_ERROR', reason: 'datasource-unavailable' });
      expect(refusal.message).not.toContain('gl_gone');
    });

    it('a datamart of one database for each client also enforces a client column if one is declared', async () => {
      const tables = mart().tables.map((item, index) => (index === 0 ? { ...item, clientColumn: 'owner' } : item));
      const own = { ...mart(), tables };
      if (kind === 'DUCKDB') expect(await sums(own, listed(own, 'acme'))).toEqual({ CA: 1, NY: 2 });
      else expect(await sums(own, listed(own, idOf(places.acme)))).toEqual({});
    });

    it("lists the other databases of the server, without its own and the system's", async () => {
      const { DATABASE } = await engine.listClientDatabases(datasource);
      expect(DATABASE).toEqual(expect.arrayContaining([idOf(places.acme), idOf(places.globex), idOf(bare)]));
      const never = ['postgres', 'template0', 'template1', 'mysql', 'information_schema', 'performance_schema', 'sys'];
      expect(DATABASE).not.toContain(idOf(places.model));
      expect(DATABASE.filter((name) => never.includes(name))).toEqual([]);
    });

    it('lists no database that the operator does not allow, such as the metadata database', async () => {
      const assertReachable = async (of: Datasource): Promise<void> => {
        if (idOf({ datasource: of, schemaName: '' }) !== idOf(places.globex)) return;
        throw new Refusal('DATASOURCE_CONNECTION_ERROR', 'not this one', { reason: 'metadata-database' });
      };
      const { engine: strict } = createLoggedEngine({ assertReachable });
      const { DATABASE } = await strict.listClientDatabases(datasource);
      expect(DATABASE).toContain(idOf(places.acme));
      expect(DATABASE).not.toContain(idOf(places.globex));
      const asked = refusalOf(() => strict.query(questionOf(datasource, mart(), scopeOf('globex'))));
      expect(await asked).toMatchObject({ code: 'METRIC_QUERY_ERROR', reason: 'datasource-unavailable' });
      await strict.close();
    });

    it('{{DATABASE_NAME}} is the schema by which the datamart names the tables, or else the database itself', () => {
      const asked = { datasource, datamart: mart(), tenant: scopeOf('acme') };
      const expected = hasDatabaseSchemas(kind) ? places.model.schemaName : idOf(places.acme);
      expect(databaseNameFor(asked)).toBe(expected);
    });

    it("custom SQL reads the client's tables, by the placeholder and by their own names", async () => {
      const sums = async (sql: string, name: 'acme' | 'globex') => {
        const asked = questionOf(datasource, mart(), scopeOf(name));
        const { rows } = await engine.query({ ...asked, definition: inSql(sql) });
        return rows.map(({ sum }) => Number(sum));
      };
      for (const from of ['{{DATABASE_NAME}}.orders', 'orders', 'orders o']) {
        expect(await sums(`select sum(id) as sum from ${from}`, 'acme')).toEqual([7]);
        expect(await sums(`select sum(id) as sum from ${from}`, 'globex')).toEqual([8]);
      }
    });
  });

  describe('MULTI_DATABASE', () => {
    /** On MySQL, another database of the server; on other databases, another schema of the same one. */
    let source: Datasource;
    let names: Record<Name | 'primary', string>;
    const mart = (parts: Partial<Datamart> = {}): Datamart =>
      martOf(names.model, names.primary, {
        tenancy: { tenancyLevel: 'MULTI_DATABASE', primaryDatabase: names.primary },
        sharedTables: ['cities'],
        ...parts,
      });
    const sumsOf = async (of: Datamart, tenant: TenantScope): Promise<Record<string, number>> => {
      const { rows } = await engine.query(questionOf(source, of, tenant));
      return Object.fromEntries(rows.map(({ state, sum }) => [String(state), Number(sum)]));
    };

    beforeAll(async () => {
      if (hasDatabaseSchemas(kind)) {
        const primary = await builder.build('primary', [cities]);
        source = { ...primary.datasource, id: 'multi' };
        const { model, acme, globex } = places;
        names = { primary: idOf(primary), model: idOf(model), acme: idOf(acme), globex: idOf(globex) };
        return;
      }
      const schemas = (['model', 'acme', 'globex'] as const).flatMap((name) => [
        `CREATE SCHEMA gl_${name}`,
        `CREATE TABLE gl_${name}.orders AS SELECT * FROM (VALUES ${rowsOf[name]
          .map(([id, city, owner]) => `(CAST(${id} AS BIGINT), '${city}', '${owner}')`)
          .join(', ')}) AS t (id, city, owner)`,
      ]);
      const primary = await builder.build('multi', [cities, ...schemas]);
      source = { ...primary.datasource, id: 'multi' };
      names = { primary: primary.schemaName, model: 'gl_model', acme: 'gl_acme', globex: 'gl_globex' };
    }, 60_000);

    it("custom SQL reads the client's tables, by the placeholder and by their own names", async () => {
      const sums = async (sql: string, name: 'acme' | 'globex') => {
        const asked = questionOf(source, mart(), listed(mart(), names[name]));
        const { rows } = await engine.query({ ...asked, definition: inSql(sql) });
        return rows.map(({ sum }) => Number(sum));
      };
      for (const from of ['{{DATABASE_NAME}}.orders', 'orders', 'orders o']) {
        expect(await sums(`select sum(id) as sum from ${from}`, 'acme')).toEqual([7]);
        expect(await sums(`select sum(id) as sum from ${from}`, 'globex')).toEqual([8]);
      }
    });

    it("joins the client's tables with the shared ones of the primary database", async () => {
      const [acme, globex] = await Promise.all(
        (['acme', 'globex'] as const).map((name) => sumsOf(mart(), listed(mart(), names[name]))),
      );
      expect([acme, globex]).toEqual([{ CA: 5, NY: 2 }, { NY: 8 }]);
    });

    it('refuses a table of the primary database that is not declared as shared', async () => {
      const undeclared = mart({ sharedTables: [] });
      const asked = refusalOf(() => sumsOf(undeclared, listed(undeclared, names.acme)));
      expect(await asked).toMatchObject({ code: 'METRIC_QUERY_ERROR', reason: 'primary-table-not-shared' });
    });

    it("sharedTables does not make a client's own table readable for others", async () => {
      const generous = mart({ sharedTables: ['cities', 'orders'] });
      expect(await sumsOf(generous, listed(generous, names.globex))).toEqual({ NY: 8 });
    });

    it("without a primary database, every table is the client's, so a shared one is missing", async () => {
      const alone = mart({ tenancy: { tenancyLevel: 'MULTI_DATABASE', primaryDatabase: null } });
      const expected = hasDatabaseSchemas(kind) ? undefined : 'table-not-in-datasource';
      if (expected === undefined) expect(await sumsOf(alone, listed(alone, names.acme))).toEqual({ CA: 5, NY: 2 });
      else expect(await refusalOf(() => sumsOf(alone, listed(alone, names.acme)))).toMatchObject({ reason: expected });
    });

    it("lists databases that may be a client's, but not the primary one; {{DATABASE_NAME}} is the datamart's schema name", async () => {
      const { MULTI_DATABASE } = await engine.listClientDatabases(source);
      expect(MULTI_DATABASE).toEqual(expect.arrayContaining([names.acme, names.globex]));
      const never = ['public', 'information_schema', 'pg_catalog', 'mysql', 'sys', 'system', 'default'];
      expect(MULTI_DATABASE.filter((name) => never.includes(name))).toEqual([]);
      await expect(refusalOf(async () => listed(mart(), names.primary))).resolves.toMatchObject({
        code: 'CLIENT_ID_ERROR',
      });
      const asked = { datasource: source, datamart: mart(), tenant: listed(mart(), names.acme) };
      expect(databaseNameFor(asked)).toBe(names.model);
    });

    it('the datasource shows tables of the databases that a datamart names', async () => {
      const tables = await engine.introspect(source, [names.primary, names.model]);
      expect(tables.map(({ schemaName, tableName }) => `${schemaName}.${tableName}`)).toEqual(
        expect.arrayContaining([`${names.primary}.cities`, `${names.model}.orders`]),
      );
      const systems = ['mysql', 'information_schema', 'system', 'INFORMATION_SCHEMA'];
      if (hasDatabaseSchemas(kind)) expect(await engine.introspect(source, systems)).toHaveLength(1);
    });
  });
});

describe("another client's database cannot be read", () => {
  const mart = martOf('main', 'main', { tenancy: { tenancyLevel: 'DATABASE', primaryDatabase: 'main_db' } });
  const datasource: Datasource = {
    id: 'd',
    name: 'w',
    syncedAt: null,
    datasourceType: 'DUCKDB',
    path: '/x/main_db.db',
  };
  const leaves = [{ table: { schemaName: 'main', tableName: 'orders' }, isMarked: false }];

  it.each([
    ['not looked up', 'acme', undefined],
    ['not on the list', 'acme', 'globex'],
    ['of another case', 'ACME', 'acme'],
    ['the primary database', 'main_db', 'main_db'],
  ])('%s: all get the same refusal, which does not reveal which databases exist', async (_, clientId, found) => {
    const refusal = await refusalOf(() => tenantScope(mart, clientId, found as ClientDatabase | undefined));
    const other = await refusalOf(() => tenantScope(mart, 'unheard-of'));
    expect(refusal).toEqual(other);
    expect(refusal.code).toBe('CLIENT_ID_ERROR');
  });

  it('scoping refuses the catalog of another database, or of none', async () => {
    const acme = { datasource, datamart: mart, tenant: listed(mart, 'acme') };
    const globex = { ...acme, tenant: listed(mart, 'globex') };
    const real = catalogOf(mart);
    const placed = (of: typeof acme) => catalogFor(of, real);
    const scoped = scopeToTenant({ leaves }, acme.tenant, { datamart: mart, catalog: placed(acme) });
    expect(scoped.leaves[0]?.table).toEqual(leaves[0]?.table);
    for (const catalog of [real, placed(globex)]) {
      const refusal = await refusalOf(() => scopeToTenant({ leaves }, acme.tenant, { datamart: mart, catalog }));
      expect(refusal.code).toBe('CLIENT_ID_ERROR');
    }
    const byTable = datamart({ tables: mart.tables, sharedTables: ['orders', 'cities'] });
    const ofTable = { datamart: byTable, catalog: placed(acme) };
    const refused = refusalOf(() => scopeToTenant({ leaves }, tenantScope(byTable, 'acme'), ofTable));
    expect((await refused).code).toBe('CLIENT_ID_ERROR');
    const wrongLevel = { kind: 'tenant', clientId: acme.tenant, database: null } as unknown as TenantScope;
    expect((await refusalOf(() => scopeToTenant({ leaves }, wrongLevel, { datamart: mart, catalog: real }))).code).toBe(
      'CLIENT_ID_ERROR',
    );
  });

  it('a datamart with level TABLE or without tenancy uses no client database', () => {
    const byTable = datamart({ tables: mart.tables });
    expect(clientDatabaseOf({ datamart: byTable, tenant: listed(mart, 'acme') })).toBeNull();
    expect(clientDatabaseOf({ datamart: mart, tenant: { kind: 'untenanted' } })).toBeNull();
  });
});
