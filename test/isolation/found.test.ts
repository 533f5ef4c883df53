/** Mistakes that the oracle found, each by a question that a person can read. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '../../src/domain/ports.js';
import { type Builder, createBuilder, findKinds } from '../engine/places.js';
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

  it('a condition that one row meets is not taken as met by another whose key differs by case or a blank', async () => {
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

  it('a direction of a sort that is neither of the two is refused', async () => {
    const definition = metric('orders', { dimensions: [{ name: 'id', column: columnRef('orders.id') }] });
    const sort = JSON.parse('[{"name":"id","direction":"DESC, (SELECT 1)"}]');
    const refusal = await refusalOf(() => engine.query(question(place, mart, 'None', definition, { sort })));
    expect(refusal).toMatchObject({ code: 'METRIC_QUERY_ERROR', reason: 'sort-unknown' });
  });
});
