/** Histograms: buckets of a given width, and a given approximate number of buckets. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Dimension } from '../../src/model/dashboard/metric.js';
import type { Engine, MetricQuestion } from '../../src/model/query/engine.js';
import { type Builder, createBuilder, findKinds } from './test-databases.js';
import {
  byClients,
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
} from './world.js';

const columns = { client: 'VARCHAR', whole: 'BIGINT', exact: 'DECIMAL(10,2)', real: 'DOUBLE', word: 'VARCHAR' };
const mart = datamart({
  tenancy: byClients(),
  tables: [
    table('clients', { id: 'VARCHAR', name: 'VARCHAR' }),
    table('t', columns, 'client'),
    table('words', { client: 'VARCHAR', word: 'VARCHAR', kind: 'VARCHAR' }, 'client'),
  ],
  relationships: [relationship('t.word', 'words.word')],
});

describe.each(await findKinds())('on %s', (kind) => {
  let builder: Builder;
  let place: Place;
  let engine: Engine;

  beforeAll(async () => {
    builder = await createBuilder(kind);
    place = await builder.build('buckets', [
      {
        name: 'clients',
        columns: { id: 'VARCHAR', name: 'VARCHAR' },
        rows: [
          ['a', 'A'],
          ['b', 'B'],
          ['c', 'C'],
        ],
      },
      {
        name: 'words',
        columns: { client: 'VARCHAR', word: 'VARCHAR', kind: 'VARCHAR' },
        rows: [
          ['a', 'x', 'short'],
          ['a', 'y', 'long'],
        ],
      },
      {
        name: 't',
        columns,
        rows: [
          ['a', -7, -0.3, -0.3, 'x'],
          ['a', 0, 0, 0, 'x'],
          ['a', 3, 0.3, 0.3, 'x'],
          ['a', 10, 0.7, 0.7, 'x'],
          ['a', 12, 1.1, 1.1, 'y'],
          ['a', null, null, null, 'y'],
          ['b', 1_000_000, 5000, 5000, 'z'],
          ['b', 42, 1, 1, 'z'],
          ['d', 4, 4, 4, 'z'],
          ['d', 7, 7, 7, 'z'],
        ],
      },
    ]);
    ({ engine } = createLoggedEngine());
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  const ask = async (dimension: Partial<Dimension>, clientId = 'a', parts: Partial<MetricQuestion> = {}) => {
    const definition = metric('t', {
      dimensions: [{ name: 'from', column: columnRef('t.whole'), ...dimension }],
      measures: [{ name: 'n', aggregate: 'COUNT' }],
    });
    const { rows } = await engine.query(question(place, mart, clientId, definition, parts));
    return rows.map((row) => Object.values(row));
  };

  it('buckets of a given width contain values from their lower end up to the next one', async () => {
    expect(await ask({ bucketWidth: 5 })).toEqual([
      [-10, 1],
      [0, 2],
      [10, 2],
      [null, 1],
    ]);
    expect(await ask({ bucketWidth: 2.5 })).toEqual([
      [-7.5, 1],
      [0, 1],
      [2.5, 1],
      [10, 2],
      [null, 1],
    ]);
  });

  it.each(['exact', 'real'])(
    'buckets of width 0.1 have round ends, and 0.3 and 0.7 are in the right bucket: %s',
    async (name) => {
      expect(await ask({ column: columnRef(`t.${name}`), bucketWidth: 0.1 })).toEqual([
        [-0.3, 1],
        [0, 1],
        [0.3, 1],
        [0.7, 1],
        [1.1, 1],
        [null, 1],
      ]);
    },
  );

  it.each([
    [
      1,
      20,
      [
        [-20, 1],
        [0, 4],
      ],
    ],
    [
      2,
      10,
      [
        [-10, 1],
        [0, 2],
        [10, 2],
      ],
    ],
    [
      4,
      5,
      [
        [-10, 1],
        [0, 2],
        [10, 2],
      ],
    ],
    [
      10,
      2,
      [
        [-8, 1],
        [0, 1],
        [2, 1],
        [10, 1],
        [12, 1],
      ],
    ],
    [
      1000,
      1,
      [
        [-7, 1],
        [0, 1],
        [3, 1],
        [10, 1],
        [12, 1],
      ],
    ],
  ])('about %s of whole numbers have width %s', async (bucketCount, _, groups) => {
    expect(await ask({ bucketCount })).toEqual([...groups, [null, 1]]);
  });

  it('do not get wider because a third is rounded', async () => {
    // In floats, 7/3 - 4/3 is slightly more than 1.
    expect(await ask({ bucketCount: 3 }, 'd')).toEqual([
      [4, 1],
      [7, 1],
    ]);
  });

  it("have a width for this guest's rows, not for those of other tenants", async () => {
    // Tenant b has a value of one million. If it counted, all rows would be in one bucket.
    expect((await ask({ bucketCount: 2 })).length).toBe(4);
    expect(await ask({ bucketCount: 2 }, 'b')).toEqual([
      [0, 1],
      [1_000_000, 1],
    ]);
    const conditions = [condition('t.whole', { kind: 'range', from: 0, to: 3, toIsExclusive: false })];
    expect(await ask({ bucketCount: 3 }, 'a', { conditions })).toEqual([
      [0, 1],
      [3, 1],
    ]);
  });

  it('have a width for the rows that the token shows, by a table that the metric does not read', async () => {
    const ofToken = { isOfToken: true, isHidden: true, restriction: 'always' } as const;
    const long = { ...condition('words.kind', { kind: 'oneOf', values: ['long'] }), ...ofToken };
    // The hidden rows are from -7 to 10: with them, buckets would be ten wide, and this one would begin at 10.
    expect(await ask({ bucketCount: 2 }, 'a', { conditions: [long] })).toEqual([
      [12, 1],
      [null, 1],
    ]);
  });

  it.each(['exact', 'real'])('about five for %s have a width of a quarter or half of a power of ten', async (name) => {
    // The values are from -0.3 to 1.1. Five buckets would be 0.28 wide each, and 0.5 is the next round width.
    expect(await ask({ column: columnRef(`t.${name}`), bucketCount: 5 })).toEqual([
      [-0.5, 1],
      [0, 2],
      [0.5, 1],
      [1, 1],
      [null, 1],
    ]);
  });

  it('buckets of one value, of only NULL and of no rows work', async () => {
    const only = (value: number) => [condition('t.whole', { kind: 'oneOf', values: [value] })];
    expect(await ask({ bucketCount: 10 }, 'a', { conditions: only(12) })).toEqual([[12, 1]]);
    expect(await ask({ bucketCount: 10, column: columnRef('t.exact') }, 'a', { conditions: only(12) })).toEqual([
      [1, 1],
    ]);
    const unknown = [condition('t.whole', { kind: 'isNull' } as const)];
    expect(await ask({ bucketCount: 10 }, 'a', { conditions: unknown })).toEqual([[null, 1]]);
    expect(await ask({ bucketCount: 10 }, 'c')).toEqual([]);
  });

  it.each([
    { bucketCount: 0 },
    { bucketCount: 1.5 },
    { bucketCount: 5, bucketWidth: 5 },
    { bucketCount: 5, column: columnRef('t.word') },
    { bucketCount: 5, grain: 'day' as const },
    { bucketWidth: Number.NaN },
    { bucketWidth: 1e-40 },
  ])('buckets with %o are refused', async (dimension) => {
    expect((await refusalOf(() => ask(dimension))).code).toBe('METRIC_QUERY_ERROR');
  });
});
