/** What each kind of database reports about its tables, and which relationships names suggest if it has no keys. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { proposeFor } from '../../src/model/datamart/source-proposals.js';
import type { Engine } from '../../src/model/query/engine.js';
import { northwind } from '../fixtures/northwind.js';
import { connectByHand } from './by-hand.js';
import { type Builder, createBuilder, findKinds } from './test-databases.js';
import { createLoggedEngine, type Place } from './world.js';

describe.each(await findKinds())('on %s', (kind) => {
  let builder: Builder;
  let place: Place;
  let engine: Engine;
  beforeAll(async () => {
    builder = await createBuilder(kind);
    place = await builder.build('northwind', northwind);
    const byHand = await connectByHand(kind, place);
    if (kind === 'POSTGRES') await byHand.run('analyze');
    await byHand.close();
    engine = createLoggedEngine().engine;
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  it('returns estimated numbers of rows', async () => {
    const tables = await engine.introspect(place.datasource);
    const orders = tables.find(({ tableName }) => tableName === 'orders');
    const rows = northwind.find(({ name }) => name === 'orders')?.rows.length ?? 0;
    expect(rows).toBeGreaterThan(100);
    expect(orders?.estimatedRows).toBeGreaterThan(rows * 0.8);
    expect(orders?.estimatedRows).toBeLessThan(rows * 1.2);
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
