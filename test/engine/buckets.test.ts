/** Histograms: buckets by their width, and by about how many there are to be. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Dimension } from '../../src/domain/dashboard/metric.js';
import type { Engine, MetricQuestion } from '../../src/domain/query/engine.js';
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
  table,
} from './world.js';

const columns = { client: 'VARCHAR', whole: 'BIGINT', exact: 'DECIMAL(10,2)', real: 'DOUBLE', word: 'VARCHAR' };
const mart = datamart({
  tenancy: byClients(),
  tables: [table('clients', { id: 'VARCHAR', name: 'VARCHAR' }), table('t', columns, 'client')],
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

  it('of a width hold what is not below their lower end', async () => {
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

  it.each(['exact', 'real'])('of a tenth have round ends, and take 0.3 and 0.7 for what they are: %s', async (name) => {
    expect(await ask({ column: columnRef(`t.${name}`), bucketWidth: 0.1 })).toEqual([
      [-0.3, 1],
      [0, 1],
      [0.3, 1],
      [0.7, 1],
      [1.1, 1],
      [null, 1],
    ]);
  });

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
  ])('about %s of whole numbers are %s wide', async (bucketCount, _, groups) => {
    expect(await ask({ bucketCount })).toEqual([...groups, [null, 1]]);
  });

  it('are no wider for the rounding of a third', async () => {
    // 7/3 - 4/3 is a little more than 1.
    expect(await ask({ bucketCount: 3 }, 'd')).toEqual([
      [4, 1],
      [7, 1],
    ]);
  });

  it('are as wide as this guest’s rows want, and no other tenant’s', async () => {
    // Tenant b's million would make one bucket of everything.
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

  it.each(['exact', 'real'])('about five of %s are a quarter or half of a power of ten wide', async (name) => {
    // From -0.3 to 1.1: 0.28 each, and 0.5 is the next round width.
    expect(await ask({ column: columnRef(`t.${name}`), bucketCount: 5 })).toEqual([
      [-0.5, 1],
      [0, 2],
      [0.5, 1],
      [1, 1],
      [null, 1],
    ]);
  });

  it('of one value, of NULL alone and of no rows', async () => {
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
  ])('of %o are refused', async (dimension) => {
    expect((await refusalOf(() => ask(dimension))).code).toBe('METRIC_QUERY_ERROR');
  });
});
