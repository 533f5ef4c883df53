/**
 * With `joinModel` `single`, all tables that relationships reach are joined, even those that the metric does not name.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Measure, MetricDefinition } from '../../src/model/dashboard/metric.js';
import type { Relationship } from '../../src/model/datamart/datamart.js';
import type { Engine } from '../../src/model/query/engine.js';
import {
  byClients,
  columnRef,
  createFolder,
  createLoggedEngine,
  datamart,
  metric,
  question,
  refusalOf,
  relationship,
  table,
} from './world.js';

const statements = [
  'CREATE TABLE clients (id VARCHAR, name VARCHAR)',
  "INSERT INTO clients VALUES ('a', 'A'), ('b', 'B')",
  'CREATE TABLE sales (id BIGINT, client VARCHAR, shop VARCHAR)',
  "INSERT INTO sales VALUES (1,'a','s1'), (2,'a','s1'), (3,'a','s2'), (4,'a','gone'), (5,'a',NULL), (6,'b','s1')",
  'CREATE TABLE shops (code VARCHAR, region VARCHAR)',
  "INSERT INTO shops VALUES ('s1','west'), ('s2','nowhere')",
  'CREATE TABLE regions (name VARCHAR, land VARCHAR)',
  "INSERT INTO regions VALUES ('west','US')",
  'CREATE TABLE lines (sale BIGINT, client VARCHAR, sku VARCHAR)',
  "INSERT INTO lines VALUES (1,'a','x'), (1,'a','y'), (2,'b','x')",
  'CREATE TABLE apart (word VARCHAR)',
];

const tables = [
  table('clients', { id: 'VARCHAR', name: 'VARCHAR' }),
  table('sales', { id: 'BIGINT', client: 'VARCHAR', shop: 'VARCHAR' }, 'client'),
  table('shops', { code: 'VARCHAR', region: 'VARCHAR' }),
  table('regions', { name: 'VARCHAR', land: 'VARCHAR' }),
  table('lines', { sale: 'BIGINT', client: 'VARCHAR', sku: 'VARCHAR' }, 'client'),
  table('apart', { word: 'VARCHAR' }),
];
const toShop = (join: Relationship['join']) => relationship('sales.shop', 'shops.code', join);
const toRegion = (join: Relationship['join']) => relationship('shops.region', 'regions.name', join);
const lines = relationship('lines.sale', 'sales.id');

let engine: Engine;
let folder: Awaited<ReturnType<typeof createFolder>>;
let path: string;
beforeAll(async () => {
  folder = await createFolder();
  path = await folder.build('worksheet', statements);
  ({ engine } = createLoggedEngine());
});
afterAll(async () => {
  await engine.close();
  await folder.remove();
});

const counted = (measures: readonly Measure[] = [{ name: 'n', aggregate: 'COUNT' }]): MetricDefinition =>
  metric('sales', { measures, underlying: [columnRef('sales.id')] });
const ask = (
  relationships: readonly Relationship[],
  joinModel: 'single' | 'multi' | undefined,
  definition = counted(),
  clientId = 'a',
) => {
  const mart = datamart({ tables, relationships, tenancy: byClients(), sharedTables: ['shops', 'regions', 'apart'] });
  return question(path, mart, clientId, definition, { joinModel });
};
const count = async (...given: Parameters<typeof ask>) => Number((await engine.query(ask(...given))).rows[0]?.n);

describe('a worksheet', () => {
  it('uses each join as the datamart declares it, also for a metric that would join nothing', async () => {
    const inner = [toShop('INNER JOIN'), toRegion('INNER JOIN')];
    for (const model of ['multi', undefined] as const) expect(await count(inner, model)).toBe(5);
    expect(await count(inner, 'single')).toBe(2);
    expect(await count([toShop('INNER JOIN'), toRegion('LEFT JOIN')], 'single')).toBe(3);
    expect(await count([toShop('LEFT JOIN'), toRegion('LEFT JOIN')], 'single')).toBe(5);
  });

  it('is the same for underlying rows and options', async () => {
    const inner = [toShop('INNER JOIN'), toRegion('INNER JOIN')];
    expect((await engine.underlying(ask(inner, 'single'))).rows).toHaveLength(2);
    expect((await engine.underlying(ask(inner, 'multi'))).rows).toHaveLength(5);
    const options = { ...ask(inner, 'single'), column: columnRef('sales.shop'), search: null };
    expect(await engine.options(options)).toEqual(['s1']);
  });

  it('contains rows of only one client, in each of its tables', async () => {
    const relationships = [toShop('INNER JOIN'), lines];
    const skus = counted([{ name: 'n', aggregate: 'COUNT_DISTINCT', column: columnRef('lines.sku') }]);
    expect(await count(relationships, 'single', skus, 'a')).toBe(2);
    // Its only line belongs to another client's sale, which this client does not see.
    expect(await count(relationships, 'single', skus, 'b')).toBe(1);
    expect(await count([toShop('INNER JOIN')], 'single', counted(), 'b')).toBe(1);
  });

  it('counts a row once if joins repeat it', async () => {
    // As the relationship says: every line with its sale.
    const columns = ['n', 'sales', 'lines'];
    const measures = [
      { name: 'n', aggregate: 'COUNT' },
      { name: 'sales', aggregate: 'COUNT_DISTINCT', column: columnRef('sales.id') },
      { name: 'lines', aggregate: 'COUNT', column: columnRef('lines.sku') },
    ] as const;
    const { rows } = await engine.query(ask([lines], 'single', counted(measures)));
    expect(rows.map((row) => columns.map((name) => row[name]))).toEqual([[1, 1, 2]]);
    expect(await count([lines], 'multi')).toBe(5);
  });

  it('leaves out a table that no relationship reaches', async () => {
    expect(await count([], 'single')).toBe(5);
  });

  it('is refused if two paths lead to a table', async () => {
    const twice = [toShop('LEFT JOIN'), relationship('sales.client', 'shops.code', 'LEFT JOIN')];
    expect(await refusalOf(() => count(twice, 'single'))).toMatchObject({ reason: 'path-ambiguous' });
    expect(await count(twice, 'multi')).toBe(5);
  });
});
