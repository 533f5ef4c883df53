/** Mistakes that the random oracle found, each as a small fixed question. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '../../src/model/query/engine.js';
import { type Builder, createBuilder, findKinds } from '../engine/test-databases.js';
import {
  columnRef,
  condition,
  createLoggedEngine,
  datamart,
  metric,
  type Place,
  question,
  refusalOf,
  relationship,
  table,
} from '../engine/world.js';

const mart = datamart({
  tenancy: null,
  tables: [
    table('orders', { id: 'BIGINT', code: 'VARCHAR', amount: 'BIGINT' }),
    table('places', { code: 'VARCHAR', label: 'VARCHAR' }),
  ],
  relationships: [relationship('orders.code', 'places.code', 'LEFT JOIN', 'ManyToOne')],
});

describe.each(await findKinds())('on %s', (kind) => {
  let builder: Builder;
  let place: Place;
  let engine: Engine;

  beforeAll(async () => {
    builder = await createBuilder(kind, { POSTGRES: { VARCHAR: 'VARCHAR COLLATE public.loose' } });
    engine = createLoggedEngine().engine;
    place = await builder.build('found', [
      {
        name: 'orders',
        columns: { id: 'BIGINT', code: 'VARCHAR', amount: 'BIGINT' },
        rows: [
          [1, 'x', 10],
          [2, 'X', 20],
          [3, 'x', 30],
          [4, 'X', 40],
          [5, 'x ', 50],
        ],
      },
      {
        name: 'places',
        columns: { code: 'VARCHAR', label: 'VARCHAR' },
        rows: [
          ['x', 'seen'],
          ['X', 'unseen'],
          ['x ', 'unseen'],
        ],
      },
    ]);
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  it("a condition must be met by one row, even if another row's key differs only by case or a blank", async () => {
    const definition = metric('orders', {
      dimensions: [{ name: 'id', column: columnRef('orders.id') }],
      measures: [{ name: 'middle', aggregate: 'MEDIAN', column: columnRef('orders.amount') }],
    });
    const ask = async (label: string) => {
      const conditions = [condition('places.label', { kind: 'oneOf', values: [label] })];
      const { rows } = await engine.query(question(place, mart, 'None', definition, { conditions }));
      return rows.map(({ id }) => id);
    };
    expect(await ask('seen')).toEqual([1, 3]);
    expect(await ask('unseen')).toEqual([2, 4, 5]);
  });

  it('a sort direction other than the two known ones is refused', async () => {
    const definition = metric('orders', { dimensions: [{ name: 'id', column: columnRef('orders.id') }] });
    const sort = JSON.parse('[{"name":"id","direction":"DESC, (SELECT 1)"}]');
    const refusal = await refusalOf(() => engine.query(question(place, mart, 'None', definition, { sort })));
    expect(refusal).toMatchObject({ code: 'METRIC_QUERY_ERROR', reason: 'sort-unknown' });
  });
});

const numbers = { owner: 'VARCHAR', day: 'DATE', big: 'BIGINT', exact: 'DECIMAL(18,2)', huge: 'HUGEINT' };
const sized = datamart({
  tables: [
    ...['large', 'small'].map((name) => table(name, numbers, 'owner')),
    table('few', { owner: 'VARCHAR', fine: 'DECIMAL(38,30)' }, 'owner'),
    table('clients', { id: 'VARCHAR', name: 'VARCHAR' }),
  ],
  relationships: ['large', 'small'].map((name) => relationship('few.fine', `${name}.big`, 'INNER JOIN', 'ManyToMany')),
});
const tiny = '0.0000000000000000000000000000000000001';

describe.each(await findKinds())('the values of other tenants, on %s', (kind) => {
  const { engine } = createLoggedEngine();
  let builder: Builder;
  let place: Place;

  beforeAll(async () => {
    builder = await createBuilder(kind);
    const holdsFarDays = kind === 'DUCKDB' || kind === 'POSTGRES';
    const large = [holdsFarDays ? '500000-01-01' : '2200-01-01', '9000000000000000000', '9999999999999999.99'];
    const small = ['2024-01-01', 1, 1];
    const rows = (values: (string | number)[], huge: string | number) =>
      Array.from({ length: 2000 }, (_, index) => (index % 2 === 0 ? ['a', ...small, 1] : ['b', ...values, huge]));
    // DuckDB reorders conditions at run time, but only with this many rows.
    const doubled = (name: string) => Array.from({ length: 7 }, () => `INSERT INTO ${name} SELECT * FROM ${name}`);
    place = await builder.build('sizes', [
      { name: 'large', columns: numbers, rows: rows(large, '9'.repeat(38)) },
      { name: 'small', columns: numbers, rows: rows(small, 1) },
      { name: 'few', columns: { owner: 'VARCHAR', fine: 'DECIMAL(38,30)' }, rows: [['a', 1]] },
      ...doubled('large'),
      ...doubled('small'),
    ]);
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  it.each([
    ['big', tiny],
    ['big', '0.0000012345678901234567'],
    ['exact', tiny],
    ['huge', '0.5'],
    ['day', '2023-12-31T10:00:00'],
  ])('do not affect whether %s can be compared with %s', async (name, value) => {
    const count = { measures: [{ name: 'n', aggregate: 'COUNT' as const }] };
    const ask = async (from: string) => {
      const conditions = [condition(`${from}.${name}`, { kind: 'compare', operator: '>', value })];
      const { rows } = await engine.query(question(place, sized, 'a', metric(from, count), { conditions }));
      return rows;
    };
    const told = (from: string) => ask(from).catch(() => refusalOf(() => ask(from)).then(({ reason }) => reason));
    const [large, small] = [await told('large'), await told('small')];
    expect(large).toEqual(small);
    expect(large).not.toBe('datasource-failed');
    if (kind === 'DUCKDB' && name === 'day') expect(large).toEqual([{ n: 128_000 }]);
  });

  it('do not affect a join that passes a condition from one column to the other', async () => {
    const ask = async (far: string) => {
      const measures = [{ name: 'n', aggregate: 'COUNT' as const, column: columnRef(`${far}.big`) }];
      const conditions = [condition('few.fine', { kind: 'compare', operator: '=', value: 1 })];
      const { rows } = await engine.query(question(place, sized, 'a', metric('few', { measures }), { conditions }));
      return rows;
    };
    for (const far of ['large', 'small']) {
      if (kind !== 'DUCKDB') expect(await ask(far)).toEqual([{ n: 128_000 }]);
      else expect(await refusalOf(() => ask(far))).toMatchObject({ reason: 'join-of-different-types' });
    }
  });
});
