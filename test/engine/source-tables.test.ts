/** What each kind of database reports about its tables, and which relationships names suggest if it has no keys. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { proposeFor } from '../../src/model/datamart/source-proposals.js';
import { grainOf, offeredTables } from '../../src/model/datamart/source-schema.js';
import type { Engine } from '../../src/model/query/engine.js';
import { northwind } from '../fixtures/northwind.js';
import { saasStatements } from '../fixtures/saas-database.js';
import { isPostgresThere } from '../suites/postgres.js';
import { connectByHand } from './by-hand.js';
import { type Builder, createBuilder, findKinds } from './test-databases.js';
import { createLoggedEngine, type Place } from './world.js';

describe.each(await findKinds())('on %s', (kind) => {
  let builder: Builder;
  let place: Place;
  let engine: Engine;
  beforeAll(async () => {
    builder = await createBuilder(kind);
    place = await builder.build('northwind', [...northwind, 'CREATE VIEW recent AS SELECT * FROM orders']);
    const byHand = await connectByHand(kind, place);
    if (kind === 'POSTGRES') await byHand.run('analyze');
    await byHand.close();
    engine = createLoggedEngine().engine;
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  it.runIf(kind !== 'SQLITE')('returns estimated numbers of rows', async () => {
    const tables = await engine.introspect(place.datasource);
    const orders = tables.find(({ tableName }) => tableName === 'orders');
    const rows = northwind.find(({ name }) => name === 'orders')?.rows.length ?? 0;
    expect(rows).toBeGreaterThan(100);
    expect(orders?.estimatedRows).toBeGreaterThan(rows * 0.8);
    expect(orders?.estimatedRows).toBeLessThan(rows * 1.2);
  });

  it('marks views, whose rows no key identifies', async () => {
    const tables = await engine.introspect(place.datasource);
    const views = tables.filter(({ kind: of }) => of === 'view');
    expect(views.map((view) => [view.tableName, grainOf(view)])).toEqual([['recent', []]]);
    expect(tables.find(({ tableName }) => tableName === 'orders')?.kind).toBe('table');
  });

  it('without keys, names suggest relationships without a cardinality, so no suggestion makes rows readable', async () => {
    const { relationships } = proposeFor(await engine.introspect(place.datasource));
    const found = relationships.map(({ parent, child }) => `${parent.tableName} ${child.tableName}`);
    expect(found).toEqual(
      expect.arrayContaining(['orders customers', 'products categories', 'products suppliers', 'orders employees']),
    );
    expect(new Set(relationships.map(({ basis, cardinality }) => `${basis} ${cardinality}`))).toEqual(
      new Set(['name null']),
    );
  });
});

describe.runIf(await isPostgresThere())('on PostgreSQL with partitions and views', () => {
  let builder: Builder;
  let engine: Engine;
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  it('offers a partitioned table with its keys instead of its partitions, and views with the keys that they have', async () => {
    builder = await createBuilder('POSTGRES');
    engine = createLoggedEngine().engine;
    const { datasource } = await builder.build('saas', saasStatements);
    const read = await engine.introspect(datasource);
    expect(read.filter(({ kind }) => kind === 'partition')).toHaveLength(3);
    const offered = offeredTables(read);
    const find = (name: string) => offered.find(({ tableName }) => tableName === name);
    expect(offered.map(({ tableName }) => tableName).filter((name) => name.startsWith('events'))).toEqual(['events']);
    expect(find('events')).toMatchObject({
      kind: 'table',
      primaryKey: ['id', 'occurred_at'],
      foreignKeys: [{ columns: ['organization_id'] }, { columns: ['user_id'] }],
    });
    const views = offered.filter(({ kind }) => kind === 'view');
    expect(views.map((view) => [view.tableName, grainOf(view)])).toEqual([
      ['monthly_revenue', ['organization_id', 'month']],
      ['open_tasks', []],
    ]);
    expect(find('users')?.columns.map(({ columnName, kind }) => [columnName, kind])).toContainEqual(['email', 'text']);
  });
});
