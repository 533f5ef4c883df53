/** What PostgreSQL 18 has beyond 15: columns that are computed when they are read, keys of time, and UUIDs of version 7. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '../../src/model/query/engine.js';
import { isPostgresThere, onServer } from '../suites/postgres.js';
import { type Builder, createBuilder } from './test-databases.js';
import { columnRef, createLoggedEngine, datamart, metric, type Place, question, table } from './world.js';

const isThere =
  (await isPostgresThere()) &&
  Number((await onServer((client) => client.query('show server_version_num'))).rows[0]?.server_version_num) >= 180_000;

const mart = datamart({
  tenancy: null,
  tables: [table('stays', { id: 'uuid', room: 'bigint', nights: 'bigint', price: 'numeric' })],
});

describe.runIf(isThere)('PostgreSQL 18', () => {
  let builder: Builder;
  let place: Place;
  let engine: Engine;
  beforeAll(async () => {
    builder = await createBuilder('POSTGRES');
    place = await builder.build('stays', [
      'CREATE EXTENSION btree_gist SCHEMA public',
      `CREATE TABLE stays (id uuid DEFAULT uuidv7(), room bigint, during daterange NOT NULL,
        nights bigint GENERATED ALWAYS AS (upper(during) - lower(during)) VIRTUAL,
        price numeric, CONSTRAINT once PRIMARY KEY (room, during WITHOUT OVERLAPS))`,
      `INSERT INTO stays (room, during, price) VALUES (1, '[2026-01-01,2026-01-04)', 10), (1, '[2026-01-05,2026-01-06)', 20)`,
    ]);
    ({ engine } = createLoggedEngine());
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  it('a virtual generated column is a dimension, a measure and a condition', async () => {
    const nights = columnRef('stays.nights');
    const definition = metric('stays', {
      dimensions: [{ name: 'nights', column: nights }],
      measures: [{ name: 'sum', aggregate: 'SUM', column: nights }],
      where: { column: nights, predicate: { kind: 'compare', operator: '>', value: 1 } },
    });
    expect((await engine.query(question(place, mart, 'None', definition))).rows).toEqual([{ nights: 3, sum: 3 }]);
  });

  it('a key of time is unique only with its range, so its other columns identify no row', async () => {
    const stays = (await engine.introspect(place.datasource)).find(({ tableName }) => tableName === 'stays');
    expect([stays?.primaryKey, ...(stays?.uniqueKeys ?? [])]).not.toContainEqual(['room']);
    expect(stays?.columns.find(({ columnName }) => columnName === 'nights')?.kind).toBe('integer');
  });

  it('a UUID of version 7 is compared like all others', async () => {
    const id = columnRef('stays.id');
    const ids = metric('stays', { dimensions: [{ name: 'id', column: id }] });
    const [first] = (await engine.query(question(place, mart, 'None', ids))).rows;
    const only = metric('stays', {
      measures: [{ name: 'n', aggregate: 'COUNT' }],
      where: { column: id, predicate: { kind: 'oneOf', values: [String(first?.id)] } },
    });
    expect((await engine.query(question(place, mart, 'None', only))).rows).toEqual([{ n: 1 }]);
  });
});
