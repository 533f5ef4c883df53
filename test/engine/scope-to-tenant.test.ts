import { describe, expect, it } from 'vitest';
import { duckDbDialect } from '../../src/engine/databases/duckdb/dialect.js';
import { createMysqlDialect } from '../../src/engine/databases/mysql/dialect.js';
import { postgresDialect } from '../../src/engine/databases/postgres/dialect.js';
import type { Dialect } from '../../src/engine/dialect/dialect.js';
import type { Plan } from '../../src/engine/plan/plan.js';
import { buildPlan } from '../../src/engine/question/build-plan.js';
import { resolve } from '../../src/engine/question/resolve.js';
import { scopeToTenant } from '../../src/engine/scope/scope-to-tenant.js';
import { compile } from '../../src/engine/sql/compile.js';
import type { VisualDefinition } from '../../src/model/dashboard/metric.js';
import { type Datamart, tableKey } from '../../src/model/datamart/datamart.js';
import type { TenantScope } from '../../src/model/datamart/tenant.js';
import type { MetricQuestion } from '../../src/model/query/engine.js';
import {
  byClients,
  catalogOf,
  columnRef,
  condition,
  datamart,
  metric,
  question,
  refusalOf,
  relationship,
  scopeOf,
  table,
} from './world.js';

const orders = table('orders', { id: 'BIGINT', owner: 'VARCHAR', city: 'VARCHAR', at: 'TIMESTAMP' }, 'owner');
const items = table('items', { order: 'BIGINT', owner: 'VARCHAR', sku: 'VARCHAR' }, 'owner');
const cities = table('cities', { name: 'VARCHAR', state: 'VARCHAR' });
const clients = table('clients', { id: 'VARCHAR', name: 'VARCHAR' });
const mart = datamart({
  tables: [orders, items, cities, clients],
  sharedTables: ['cities'],
  relationships: [
    relationship('orders.city', 'cities.name', 'LEFT JOIN'),
    relationship('items.order', 'orders.id', 'RIGHT JOIN'),
    relationship('orders.owner', 'clients.id', 'FULL JOIN'),
  ],
});

const count = { name: 'n', aggregate: 'COUNT' } as const;
const byState: VisualDefinition = metric('orders', {
  dimensions: [
    { name: 'state', column: columnRef('cities.state') },
    { name: 'client', column: columnRef('clients.name') },
  ],
  measures: [count],
});

const catalog = catalogOf(mart);
const planFor = (definition: VisualDefinition, parts: Partial<MetricQuestion> = {}, of: Datamart = mart): Plan => {
  const asked = { ...question('unused', of, of.tenancy === null ? 'None' : '7', definition, parts), definition };
  return buildPlan(resolve(asked, { catalog: catalogOf(of), stored: catalogOf(of) }), {
    kind: 'answer',
    question: asked,
  });
};
const compiled = (scope: TenantScope, definition: VisualDefinition, parts: Partial<MetricQuestion> = {}) =>
  compile(scopeToTenant(planFor(definition, parts), scope, { datamart: mart, catalog }), duckDbDialect).page;

describe('every use of every table is a leaf', () => {
  const onItems = condition('items.sku', { kind: 'compare', operator: '=', value: "x' OR 1=1 --" });
  const query = compiled(scopeOf(mart, 'acme'), byState, { conditions: [onItems] });

  it('in joins and semi-joins: only leaves name tables', () => {
    const [leaves = '', rest = ''] = query.sql.split(') SELECT ');
    expect(rest).toContain('EXISTS (SELECT 1 FROM "gl_leaf_3"');
    for (const { tableName } of mart.tables) {
      expect(rest).not.toContain(`"${tableName}"`);
      expect(leaves).toContain(`FROM "warehouse"."main"."${tableName}"`);
    }
  });

  it('the tenant is inside the leaf and nowhere else', () => {
    expect(query.sql.match(/"owner" COLLATE "c" = CAST/g)).toHaveLength(2);
    expect(query.sql).toContain('FROM "warehouse"."main"."clients" WHERE "id" COLLATE "c" = CAST($2 AS VARCHAR))');
    expect(query.sql).not.toMatch(/gl_leaf_[0-9]+"\."owner" COLLATE/);
    expect(query.parameters.filter((value) => value === 'acme')).toHaveLength(3);
  });

  it('values are bound and never in the text', () => {
    expect(query.sql).not.toContain('OR 1=1');
    expect(query.sql).not.toContain('acme');
    expect(query.parameters).toContain("x' OR 1=1 --");
  });

  it("a leaf has only the datamart's columns", () => {
    const wider = new Map(catalog.tables);
    for (const [key, columns] of catalog.tables)
      wider.set(key, new Map([...columns, ['secret', { kind: 'text', cast: 'VARCHAR' }]]));
    const scoped = scopeToTenant(planFor(byState), scopeOf(mart, 'acme'), {
      datamart: mart,
      catalog: { ...catalog, tables: wider },
    });
    expect(compile(scoped, duckDbDialect).page.sql).not.toContain('secret');
    expect(scoped.leaves[0]?.columns).toEqual(['id', 'owner', 'city', 'at']);
  });

  it('names are quoted, with any characters', () => {
    const evil = 'a" FROM secrets; --';
    const odd = datamart({ tenancy: null, tables: [table('t', { [evil]: 'VARCHAR', gl_row: 'BIGINT' })] });
    const of = { schemaName: 'main', tableName: 't', columnName: evil };
    const scoped = scopeToTenant(
      planFor(metric('t', { dimensions: [{ name: evil, column: of }] }), {}, odd),
      { kind: 'untenanted' },
      { datamart: odd, catalog: catalogOf(odd) },
    );
    expect(compile(scoped, duckDbDialect).page.sql).toBe(
      'WITH "gl_leaf_0" AS NOT MATERIALIZED (SELECT "a"" FROM secrets; --", "gl_row" FROM "warehouse"."main"."t") SELECT "gl_leaf_0"."a"" FROM secrets; --" AS "gl_c0" FROM "gl_leaf_0" GROUP BY 1 ORDER BY 1 ASC NULLS LAST',
    );
  });
});

describe('the tenant is compared by bytes inside the leaf, in every dialect', () => {
  const expected: Readonly<Record<'duckdb' | 'postgres' | 'mariadb' | 'mysql', readonly [Dialect, string, string]>> = {
    duckdb: [duckDbDialect, '"owner" COLLATE "c" = CAST($1 AS VARCHAR)', '"id" COLLATE "c" = CAST($2 AS VARCHAR)'],
    postgres: [
      postgresDialect,
      '(CAST("owner" AS text) COLLATE "C") OPERATOR(pg_catalog.=) CAST($1 AS text)',
      '"id" OPERATOR(pg_catalog.=) CAST($2 AS text)',
    ],
    mariadb: [
      createMysqlDialect({ isMariaDb: true }),
      '(CONVERT(`owner` USING utf8mb4) COLLATE utf8mb4_nopad_bin) = CAST(? AS CHAR CHARACTER SET utf8mb4)',
      '`id` = CONVERT(CAST(? AS CHAR CHARACTER SET utf8mb4) USING latin1) COLLATE latin1_swedish_ci AND (CONVERT(`id` USING utf8mb4) COLLATE utf8mb4_nopad_bin) = CAST(? AS CHAR CHARACTER SET utf8mb4)',
    ],
    mysql: [
      createMysqlDialect({ isMariaDb: false }),
      '(CONVERT(`owner` USING utf8mb4) COLLATE utf8mb4_0900_bin) = CAST(? AS CHAR CHARACTER SET utf8mb4)',
      '`id` = CONVERT(CAST(? AS CHAR CHARACTER SET utf8mb4) USING latin1) COLLATE latin1_swedish_ci AND (CONVERT(`id` USING utf8mb4) COLLATE utf8mb4_0900_bin) = CAST(? AS CHAR CHARACTER SET utf8mb4)',
    ],
  };

  it.each(Object.entries(expected))(
    'the tenant is compared by bytes inside the leaf, in %s',
    (name, [dialect, owner, id]) => {
      const collation = { postgres: '100', mariadb: 'latin1_swedish_ci', mysql: 'latin1_swedish_ci' }[name];
      const typed = new Map(catalog.tables);
      const text = { kind: 'text', cast: 'VARCHAR' } as const;
      typed.set(
        tableKey(clients),
        new Map([
          ['id', collation === undefined ? text : { ...text, collation, stored: '25 100' }],
          ['name', text],
        ]),
      );
      const byClient = metric('orders', { dimensions: [{ name: 'client', column: columnRef('clients.name') }] });
      const of = datamart({ ...mart, relationships: [relationship('orders.owner', 'clients.id')] });
      const scoped = scopeToTenant(planFor(byClient, {}, of), scopeOf(of, 'acme'), {
        datamart: of,
        catalog: { ...catalog, tables: typed },
      });
      const { sql, parameters } = compile(scoped, dialect).page;
      expect(sql).toMatch(/^WITH .gl_leaf_0. AS /);
      expect(sql).toContain(` WHERE ${owner})`);
      expect(sql).toContain(` WHERE ${id})`);
      expect(sql).not.toContain('acme');
      expect(parameters.filter((value) => value === 'acme').length).toBeGreaterThan(1);
    },
  );
});

describe('scope and datamart must fit', () => {
  const loose = datamart({ ...mart, tenancy: null });
  const database = datamart({ ...mart, tenancy: { tenancyLevel: 'DATABASE', primaryDatabase: null } });
  const tenant = scopeOf(mart, 'acme');

  it.each([
    ['nobody in a datamart with tenancy', { kind: 'untenanted' } as const, mart],
    ['a tenant in a datamart without', tenant, loose],
    ['a tenancy level that the engine does not know', tenant, database],
  ])('scope and datamart must fit: %s is a CLIENT_ID_ERROR', async (_, scope, of) => {
    const planned = planFor(byState);
    expect(await refusalOf(() => scopeToTenant(planned, scope, { datamart: of, catalog }))).toMatchObject({
      code: 'CLIENT_ID_ERROR',
    });
  });

  it('an unknown kind of scope is refused', async () => {
    const scope = JSON.parse('{"kind":"everybody"}');
    expect(await refusalOf(() => scopeToTenant(planFor(byState), scope, { datamart: mart, catalog }))).toMatchObject({
      reason: 'unknown-kind',
    });
  });

  it('without tenancy no leaf has a predicate', () => {
    const scoped = scopeToTenant(planFor(byState, {}, loose), { kind: 'untenanted' }, { datamart: loose, catalog });
    expect(scoped.leaves.map(({ tenant: predicate }) => predicate)).toEqual([null, null, null]);
  });
});

describe('a client id is compared by the type of its column', () => {
  const owned = (datatype: string, clientColumnType: 'NUMBER' | 'STRING'): Datamart =>
    datamart({
      tenancy: byClients(clientColumnType),
      tables: [table('orders', { id: 'BIGINT', owner: datatype }, 'owner')],
    });
  const counted = metric('orders', { measures: [count] });
  const securedBy = (of: Datamart, clientId: string) =>
    scopeToTenant(planFor(counted, {}, of), scopeOf(of, clientId), { datamart: of, catalog: catalogOf(of) });

  it.each([
    ['BIGINT', 'NUMBER', '-42'],
    ['BIGINT', 'NUMBER', '9223372036854775807'],
    ['UTINYINT', 'NUMBER', '255'],
    ['VARCHAR', 'STRING', '42'],
    ['UUID', 'STRING', '01234567-89ab-cdef-0123-456789abcdef'],
  ] as const)('%s takes %s %s', (datatype, declared, clientId) => {
    expect(securedBy(owned(datatype, declared), clientId).leaves[0]?.tenant).toMatchObject({
      columnName: 'owner',
      value: { text: clientId, cast: datatype },
    });
  });

  it.each([
    ['BIGINT', 'NUMBER', '9223372036854775808'],
    ['UTINYINT', 'NUMBER', '256'],
    ['UBIGINT', 'NUMBER', '-1'],
    ['INTEGER', 'NUMBER', '007'],
    ['INTEGER', 'NUMBER', '1e0'],
    ['INTEGER', 'NUMBER', '1 '],
    ['INTEGER', 'NUMBER', '-0'],
    ['VARCHAR', 'STRING', 'half\ud800'],
    ['UUID', 'STRING', '01234567-89AB-CDEF-0123-456789ABCDEF'],
    ['UUID', 'STRING', 'acme'],
  ] as const)('%s refuses %s %j as CLIENT_ID_ERROR', async (datatype, declared, clientId) => {
    expect(await refusalOf(() => securedBy(owned(datatype, declared), clientId))).toMatchObject({
      code: 'CLIENT_ID_ERROR',
    });
  });

  it.each([
    ['VARCHAR', 'NUMBER'],
    ['BIGINT', 'STRING'],
    ['DOUBLE', 'NUMBER'],
    ['DECIMAL(10,0)', 'NUMBER'],
    ['BLOB', 'STRING'],
    ["ENUM('1', '2')", 'STRING'],
  ] as const)('a %s column declared %s is reported as a fault of the datamart', async (datatype, declared) => {
    expect(await refusalOf(() => securedBy(owned(datatype, declared), '1'))).toMatchObject({
      code: 'METRIC_QUERY_ERROR',
      reason: 'client-column-type',
    });
  });

  it('a table that is missing in the datasource is refused as such, and not for its client column', async () => {
    const of = owned('BIGINT', 'NUMBER');
    const source = { datamart: of, catalog: catalogOf(datamart({ tables: [] })) };
    const refusal = await refusalOf(() => scopeToTenant(planFor(counted, {}, of), scopeOf(of, '1'), source));
    expect(refusal.reason).toBe('table-not-in-datasource');
    expect(refusal.message).toContain('Table main.orders is not in the datasource: it was renamed or removed');
  });

  it('a client column that is missing in the datasource is refused', async () => {
    const of = datamart({ tables: [table('orders', { id: 'BIGINT' }, 'owner')] });
    expect(await refusalOf(() => securedBy(of, 'acme'))).toMatchObject({ reason: 'client-column-missing' });
  });
});

describe('a table without a client column', () => {
  const unlisted = (sharedTables: readonly string[], schemas: readonly string[] = ['main']): Datamart =>
    datamart({
      tables: [orders, ...schemas.map((schemaName) => ({ ...table('notes', { id: 'BIGINT' }), schemaName }))],
      sharedTables,
    });
  const securedNotes = (of: Datamart) => {
    const planned = planFor(metric('notes', { measures: [count] }), {}, of);
    return scopeToTenant(planned, scopeOf(of, 'acme'), { datamart: of, catalog: catalogOf(of) });
  };

  it('is refused by its name, with how to fix it', async () => {
    expect(await refusalOf(() => securedNotes(unlisted([])))).toMatchObject({
      code: 'METRIC_QUERY_ERROR',
      reason: 'table-no-owner',
      message: expect.stringMatching(/^Table main\.notes is not readable: .* or list it in sharedTables/),
    });
  });

  it('is refused if no table of the datamart has one', async () => {
    const bare = { tables: [table('orders', { id: 'BIGINT' }), table('notes', { id: 'BIGINT', owner: 'VARCHAR' })] };
    expect(await refusalOf(() => securedNotes(datamart(bare)))).toMatchObject({ reason: 'table-no-owner' });
  });

  it('gets its client by keys of the datasource', async () => {
    const of = datamart({
      tables: [orders, table('notes', { order: 'BIGINT' })],
      relationships: [relationship('notes.order', 'orders.id', null, null)],
    });
    const planned = planFor(metric('notes', { measures: [count] }), {}, of);
    const securedBy = (...keys: string[][]) => {
      const uniqueKeys = new Map([[tableKey(orders), keys]]);
      return scopeToTenant(planned, scopeOf(of, 'acme'), { datamart: of, catalog: { ...catalogOf(of), uniqueKeys } });
    };
    const { leaves } = securedBy(['id']);
    expect(leaves[0]?.tenant).toMatchObject({
      kind: 'parent',
      near: { ref: columnRef('notes.order') },
      far: { ref: columnRef('orders.id') },
      tenant: { kind: 'column', columnName: 'owner', value: { text: 'acme' } },
    });
    expect(await refusalOf(() => securedBy())).toMatchObject({ reason: 'table-cardinality-unknown' });
    expect(await refusalOf(() => securedBy(['id', 'owner']))).toMatchObject({ reason: 'table-key-within-client' });
  });

  it.each(['main.notes', 'notes'])('is readable for all tenants if listed as %s', (entry) => {
    expect(securedNotes(unlisted([entry])).leaves[0]?.tenant).toBeNull();
  });

  it('is not shared by a name that two tables have, or that means another table', async () => {
    const two = unlisted(['notes'], ['main', 'archive']);
    expect(await refusalOf(() => securedNotes(two))).toMatchObject({ reason: 'table-no-owner' });
    expect(await refusalOf(() => securedNotes(unlisted(['Notes', 'orders'])))).toMatchObject({
      reason: 'table-no-owner',
    });
  });

  it('a table with a client column belongs to the tenant, listed or not', () => {
    const of = datamart({ ...mart, sharedTables: ['main.orders', 'main.clients', 'cities'] });
    const scoped = scopeToTenant(planFor(byState), scopeOf(of, 'acme'), { datamart: of, catalog });
    expect(scoped.leaves.map((leaf) => [leaf.table.tableName, leaf.tenant])).toMatchObject([
      ['orders', { kind: 'column', columnName: 'owner' }],
      ['cities', null],
      ['clients', { kind: 'column', columnName: 'id' }],
    ]);
  });
});
