/**
 * In joins and groups, texts are equal only if their bytes are, whatever the collations of the columns. This matters
 * most for client ids.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Builder, createBuilder, findKinds, type Kind } from './test-databases.js';
import {
  byClients,
  columnRef,
  condition,
  createLoggedEngine,
  datamart,
  metric,
  type Place,
  question,
  relationship,
  table,
} from './world.js';

/** Types whose own `=` treats `Ann` and `ANN` as equal. In some, a key accepts only one of them. */
const loose: Readonly<Record<Kind, readonly (readonly [string, string])[]>> = {
  DUCKDB: [['NOCASE', 'VARCHAR COLLATE NOCASE']],
  POSTGRES: [
    ['citext', 'public.citext'],
    ['a collation without case', 'TEXT COLLATE public.loose'],
  ],
  MYSQL: [['a collation without case', 'VARCHAR(40) COLLATE utf8mb4_general_ci']],
  CLICKHOUSE: [['plain', 'VARCHAR']],
  SQLITE: [['NOCASE', 'TEXT COLLATE NOCASE']],
};

const mart = datamart({
  tenancy: byClients(),
  tables: [
    table('sales', { owner: 'VARCHAR', buyer: 'VARCHAR', amount: 'BIGINT' }, 'owner'),
    table('buyers', { owner: 'VARCHAR', name: 'VARCHAR', city: 'VARCHAR' }, 'owner'),
    table('clients', { id: 'VARCHAR', name: 'VARCHAR' }),
  ],
  relationships: [relationship('sales.buyer', 'buyers.name', 'LEFT JOIN', null)],
});

describe.each((await findKinds()).flatMap((kind) => loose[kind].map(([name, type]) => ({ kind, name, type }))))(
  'on $kind, $name',
  ({ kind, type }) => {
    const { engine } = createLoggedEngine();
    let builder: Builder;
    let place: Place;

    beforeAll(async () => {
      builder = await createBuilder(kind);
      place = await builder.build('collations', [
        {
          name: 'sales',
          columns: { owner: type, buyer: type, amount: 'BIGINT' },
          rows: [
            ['a', 'Ann', 10],
            ['a', 'ANN', 20],
            ['A', 'Ann', 40],
          ],
        },
        {
          name: 'buyers',
          columns: { owner: type, name: type, city: 'VARCHAR' },
          rows: [
            ['a', 'Ann', 'Bonn'],
            ['A', 'ANN', 'Rome'],
          ],
        },
      ]);
    });
    afterAll(async () => {
      await engine.close();
      await builder.remove();
    });

    const sum = { name: 'sum', aggregate: 'SUM', column: columnRef('sales.amount') } as const;
    const by = async (client: string, path: string) => {
      const definition = metric('sales', { dimensions: [{ name: 'd', column: columnRef(path) }], measures: [sum] });
      const { rows } = await engine.query(question(place, mart, client, definition));
      return new Map(rows.map(({ d, sum }) => [d, sum]));
    };

    it('joins only equal bytes, and never a row of another tenant', async () => {
      expect(await by('a', 'buyers.city')).toEqual(new Map([['Bonn', 10], [null, 20]])); // biome-ignore format: pairs
      expect(await by('A', 'buyers.city')).toEqual(new Map([[null, 40]]));
    });

    it('groups and finds only equal bytes', async () => {
      expect(await by('a', 'sales.buyer')).toEqual(new Map([['Ann', 10], ['ANN', 20]])); // biome-ignore format: pairs
      const asked = question(place, mart, 'a', metric('sales', { measures: [sum] }), {
        conditions: [condition('sales.buyer', { kind: 'oneOf', values: ['ANN'] })],
      });
      expect((await engine.query(asked)).rows).toEqual([{ sum: 20 }]);
    });
  },
);

it('on DuckDB, a key of a case-insensitive column that holds both spellings still counts as unique', async () => {
  const builder = await createBuilder('DUCKDB');
  const { engine } = createLoggedEngine();
  const place = await builder.build('keyed', [
    'CREATE TABLE sales (owner VARCHAR, buyer VARCHAR COLLATE NOCASE, amount BIGINT)',
    "INSERT INTO sales VALUES ('a', 'Ann', 10)",
    'CREATE TABLE buyers (owner VARCHAR, name VARCHAR COLLATE NOCASE PRIMARY KEY, city VARCHAR)',
    "INSERT INTO buyers VALUES ('a', 'Ann', 'Bonn'), ('a', 'ANN', 'Rome')",
  ]);
  const measures = [
    { name: 'sum', aggregate: 'SUM', column: columnRef('sales.amount') },
    { name: 'cities', aggregate: 'COUNT', column: columnRef('buyers.city') },
  ] as const;
  expect((await engine.query(question(place, mart, 'a', metric('sales', { measures })))).rows).toEqual([
    { sum: 10, cities: 1 },
  ]);
  await engine.close();
  await builder.remove();
});
