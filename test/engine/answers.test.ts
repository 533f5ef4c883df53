import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Aggregate, MetricDefinition, TimeGrain } from '../../src/model/dashboard/metric.js';
import type { Engine, MetricQuestion } from '../../src/model/query/engine.js';
import { type Builder, createBuilder, findKinds, type TableData } from './test-databases.js';
import {
  at,
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

const mart = datamart({
  tenancy: null,
  tables: [
    table('sales', {
      id: 'BIGINT',
      'at@': 'TIMESTAMP',
      day: 'DATE',
      moment: 'TIMESTAMP WITH TIME ZONE',
      amount: 'BIGINT',
      price: 'DECIMAL(10,2)',
      weight: 'DOUBLE',
      isPaid: 'BOOLEAN',
      shop: 'VARCHAR',
      note: 'VARCHAR',
    }),
    table('shops', { code: 'VARCHAR', state: 'VARCHAR', id: 'BIGINT' }),
    table('lines', { sale: 'BIGINT', sku: 'VARCHAR' }),
    table('words', {
      id: 'BIGINT',
      word: 'VARCHAR',
      other: 'VARCHAR',
      uid: 'UUID',
      flag: 'BOOLEAN',
      score: 'DECIMAL(12,4)',
      real: 'FLOAT',
      'at@': 'TIMESTAMP',
      'moment@': 'TIMESTAMP WITH TIME ZONE',
    }),
    table('glossary', { word: 'VARCHAR', meaning: 'VARCHAR' }),
    table('odd', { id: 'BIGINT', text: 'VARCHAR' }),
    table('big', { id: 'HUGEINT', exact: 'DECIMAL(38,10)', kind: "ENUM('x','y')" }),
  ],
  relationships: [
    relationship('sales.shop', 'shops.code', 'LEFT JOIN', 'ManyToOne'),
    relationship('lines.sale', 'sales.id', 'LEFT JOIN', 'ManyToOne'),
    relationship('words.word', 'glossary.word', 'LEFT JOIN', 'ManyToOne'),
  ],
});

const injection = "'; DROP TABLE sales; --";
/** A UUID that starts with this digit. */
const uid = (digit: string): string => `${digit}0000000-0000-4000-8000-000000000000`;

/** Texts that could break a notation of lists or strings. */
const oddTexts = [
  'a,b',
  '{x}',
  '"q"',
  "'",
  '\\',
  '\\\\',
  'NULL',
  '',
  ' ',
  '\n',
  '\u65e5\u672c',
  '\u{1f642}',
  '?',
  '$1',
  ':x',
  '%',
  '/*',
];

const statements: readonly TableData[] = [
  {
    name: 'sales',
    columns: {
      id: 'BIGINT',
      at: 'TIMESTAMP',
      day: 'DATE',
      moment: 'TIMESTAMP WITH TIME ZONE',
      amount: 'BIGINT',
      price: 'DECIMAL(10,2)',
      weight: 'DOUBLE',
      isPaid: 'BOOLEAN',
      shop: 'VARCHAR',
      note: 'VARCHAR',
    },
    rows: [
      [1, '2024-03-04 23:30:00', '2024-03-04', '2024-03-04 23:30:00+00', 10, 1.5, 0.5, true, 's1', 'fifty%'],
      [
        2,
        '2024-03-05 08:15:30.250000',
        '2024-03-05',
        '2024-03-05 08:15:30+00',
        20,
        2.25,
        1.5,
        false,
        's1',
        'fifty_five',
      ],
      [3, '2024-03-10 09:00:00', '2024-03-10', null, 30, 0.1, -0.5, null, 's2', null],
      [4, '2024-07-01 12:00:00', '2024-07-01', null, -5, null, 'NaN', true, 'gone', 'Fifty'],
      [5, null, null, null, null, 9.99, 'Infinity', false, null, 'a\\b'],
    ],
  },
  {
    name: 'shops',
    columns: { code: 'VARCHAR', state: 'VARCHAR', id: 'BIGINT' },
    rows: [
      ['s1', 'CA', 1],
      ['s2', 'NV', 2],
      ['s3', injection, 3],
    ],
  },
  {
    name: 'lines',
    columns: { sale: 'BIGINT', sku: 'VARCHAR' },
    rows: [
      [1, 'p'],
      [1, 'q'],
      [2, 'p'],
      [4, 'r'],
    ],
  },
  {
    name: 'words',
    columns: {
      id: 'BIGINT',
      word: 'VARCHAR',
      other: 'VARCHAR',
      uid: 'UUID',
      flag: 'BOOLEAN',
      score: 'DECIMAL(12,4)',
      real: 'FLOAT',
      at: 'TIMESTAMP',
      moment: 'TIMESTAMP WITH TIME ZONE',
    },
    rows: [
      [1, 'a', 'x', uid('1'), true, 1.5, 0.5, '1950-07-01 12:00:00', '1999-12-31 23:59:59+00'],
      [2, 'A', 'x', uid('2'), false, 2.25, 0.25, '2024-03-10 09:59:59.999999', '2024-03-10 10:00:00+00'],
      [3, '\u00e1', 'x', uid('f'), true, 2.26, 0.1, '2024-03-10 10:00:00', '2024-11-03 08:59:59+00'],
      [4, 'a ', 'y', uid('a'), null, 10, 0.1, '2050-07-01 12:00:00', '2024-11-03 09:00:00+00'],
      [5, '', 'y', null, false, null, null, '2099-12-31 23:00:00', null],
      [6, null, 'y', null, false, 1000.0001, null, null, null],
    ],
  },
  {
    name: 'glossary',
    columns: { word: 'VARCHAR', meaning: 'VARCHAR' },
    rows: [
      ['a', 'small'],
      ['A', 'large'],
      ['a ', 'wide'],
      ['\u00e1', 'sharp'],
    ],
  },
  { name: 'odd', columns: { id: 'BIGINT', text: 'VARCHAR' }, rows: oddTexts.map((text, index) => [index, text]) },
  {
    name: 'big',
    columns: { id: 'HUGEINT', exact: 'DECIMAL(38,10)', kind: "ENUM('x','y')" },
    rows: [
      ['9007199254740993', '12345678901234567890.0000000001', 'x'],
      [7, 0.5, 'y'],
    ],
  },
];

const numbered = (count: number): TableData => ({
  name: 'sales',
  columns: { id: 'BIGINT' },
  rows: Array.from({ length: count }, (_, index) => [index]),
});

describe.each(await findKinds())('on %s', (kind) => {
  let builder: Builder;
  let path: Place;
  let engine: Engine;

  beforeAll(async () => {
    builder = await createBuilder(kind);
    path = await builder.build('answers', statements);
    engine = createLoggedEngine().engine;
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  const asked = (definition: MetricDefinition, parts: Partial<MetricQuestion> = {}): MetricQuestion =>
    question(path, mart, 'None', definition, parts);
  const ask = (definition: MetricDefinition, parts: Partial<MetricQuestion> = {}) =>
    engine.query(asked(definition, parts));
  const valuesOf = async (definition: MetricDefinition, parts: Partial<MetricQuestion> = {}) =>
    (await ask(definition, parts)).rows.map((row) => Object.values(row));

  const count = { name: 'n', aggregate: 'COUNT' } as const;
  const byShop = metric('sales', {
    dimensions: [{ name: 'shop', column: columnRef('sales.shop') }],
    measures: [count],
  });
  const byState = metric('sales', {
    dimensions: [{ name: 'state', column: columnRef('shops.state') }],
    measures: [count],
  });
  const total = metric('sales', {
    measures: [count, { name: 'sum', aggregate: 'SUM', column: columnRef('sales.amount') }],
  });

  describe('measures', () => {
    it('have the defined meaning', async () => {
      const measures = (['SUM', 'AVG', 'MIN', 'MAX', 'COUNT', 'COUNT_DISTINCT', 'MEDIAN'] as const).map(
        (aggregate) => ({
          name: aggregate,
          aggregate,
          column: columnRef('sales.amount'),
        }),
      );
      expect(await ask(metric('sales', { measures: [...measures, count] }))).toEqual({
        rows: [{ SUM: 55, AVG: 13.75, MIN: -5, MAX: 30, COUNT: 4, COUNT_DISTINCT: 4, MEDIAN: 15, n: 5 }],
        columns: [...measures, count].map(({ name }) => ({ name, dataType: 'number' })),
        groupbyColumnList: [],
        totalRecords: 1,
      });
    });

    it('measures with an indicator are a share; NULL is not counted', async () => {
      const indicator = { kind: 'compare', operator: '>', value: 15 } as const;
      const share = { name: 'share', aggregate: 'AVG', column: columnRef('sales.amount'), indicator } as const;
      const sum = { ...share, name: 'sum', aggregate: 'SUM' } as const;
      const known = { ...share, name: 'known', aggregate: 'COUNT' } as const;
      expect(await valuesOf(metric('sales', { measures: [share, sum, known] }))).toEqual([[0.5, 2, 4]]);
    });

    it('accept an indicator on a list of values', async () => {
      const indicator = { kind: 'oneOf', values: ['s1', 's9'] } as const;
      const measures = [{ name: 'share', aggregate: 'AVG', column: columnRef('sales.shop'), indicator } as const];
      expect(await valuesOf(metric('sales', { measures }))).toEqual([[0.5]]);
    });

    it('count the rows of `from`, not rows that an outer join padded', async () => {
      const measures = [
        count,
        { name: 'shops', aggregate: 'COUNT_DISTINCT', column: columnRef('shops.code') } as const,
      ];
      const right = datamart({ ...mart, relationships: [relationship('sales.shop', 'shops.code', 'RIGHT JOIN')] });
      const definition = metric('sales', { dimensions: [{ name: 'shop', column: columnRef('shops.code') }], measures });
      expect((await engine.query(question(path, right, 'None', definition))).rows).toEqual([
        { shop: 's1', n: 2, shops: 1 },
        { shop: 's2', n: 1, shops: 1 },
        { shop: 's3', n: 0, shops: 1 },
      ]);
    });
  });

  describe('dimensions', () => {
    const byGrain = (grain: TimeGrain, column = 'sales.at') =>
      metric('sales', { dimensions: [{ name: 'at', column: columnRef(column), grain }], measures: [count] });

    it.each([
      [
        'minute',
        [
          ['2024-03-04T23:30:00', 1],
          ['2024-03-05T08:15:00', 1],
          ['2024-03-10T09:00:00', 1],
          ['2024-07-01T12:00:00', 1],
          [null, 1],
        ],
      ],
      [
        'hour',
        [
          ['2024-03-04T23:00:00', 1],
          ['2024-03-05T08:00:00', 1],
          ['2024-03-10T09:00:00', 1],
          ['2024-07-01T12:00:00', 1],
          [null, 1],
        ],
      ],
      [
        'day',
        [
          ['2024-03-04', 1],
          ['2024-03-05', 1],
          ['2024-03-10', 1],
          ['2024-07-01', 1],
          [null, 1],
        ],
      ],
      [
        'week',
        [
          ['2024-03-04', 3],
          ['2024-07-01', 1],
          [null, 1],
        ],
      ],
      [
        'month',
        [
          ['2024-03-01', 3],
          ['2024-07-01', 1],
          [null, 1],
        ],
      ],
      [
        'quarter',
        [
          ['2024-01-01', 3],
          ['2024-07-01', 1],
          [null, 1],
        ],
      ],
      [
        'year',
        [
          ['2024-01-01', 4],
          [null, 1],
        ],
      ],
      [
        'hourOfDay',
        [
          [8, 1],
          [9, 1],
          [12, 1],
          [23, 1],
          [null, 1],
        ],
      ],
      [
        'dayOfWeek',
        [
          [1, 2],
          [2, 1],
          [7, 1],
          [null, 1],
        ],
      ],
    ] as const)('dimensions group rows by %s', async (grain, rows) => {
      expect(await valuesOf(byGrain(grain))).toEqual(rows);
    });

    it('dates of a DATE column are grouped by month', async () => {
      const answer = await ask(byGrain('month', 'sales.day'));
      expect(answer.rows[0]).toEqual({ at: '2024-03-01', n: 3 });
      expect(answer.columns[0]).toEqual({ name: 'at', dataType: 'date' });
    });

    it("use the question's timezone, including daylight saving time", async () => {
      const parts = { timezone: 'America/Los_Angeles' };
      expect(await valuesOf(byGrain('hourOfDay'), parts)).toEqual([
        [0, 1],
        [1, 1],
        [5, 1],
        [15, 1],
        [null, 1],
      ]);
      expect(await valuesOf(byGrain('day'), parts)).toEqual([
        ['2024-03-04', 1],
        ['2024-03-05', 1],
        ['2024-03-10', 1],
        ['2024-07-01', 1],
        [null, 1],
      ]);
      expect((await valuesOf(byGrain('day'), { timezone: 'Asia/Tokyo' }))[0]).toEqual(['2024-03-05', 2]);
    });

    it('are in the same local time as conditions', async () => {
      const range = { kind: 'range', from: '2024-03-05', to: '2024-03-06', toIsExclusive: true } as const;
      const conditions = [condition('sales.at', range)];
      expect(await valuesOf(total, { conditions })).toEqual([[1, 20]]);
      expect(await valuesOf(total, { conditions, timezone: 'Asia/Tokyo' })).toEqual([[2, 30]]);
    });

    it('dimensions of a column without timezone conversion are answered as stored, an instant in UTC', async () => {
      const definition = metric('sales', {
        dimensions: [{ name: 'at', column: columnRef('sales.moment'), grain: 'minute' }],
      });
      expect(await valuesOf(definition, { timezone: 'Asia/Tokyo' })).toEqual([
        ['2024-03-04T23:30:00'],
        ['2024-03-05T08:15:00'],
        [null],
      ]);
    });

    it('in buckets, also below zero', async () => {
      const bucket = (width: number) =>
        metric('sales', {
          dimensions: [{ name: 'b', column: columnRef('sales.amount'), bucketWidth: width }],
          measures: [count],
        });
      expect(await valuesOf(bucket(20))).toEqual([
        [-20, 1],
        [0, 1],
        [20, 2],
        [null, 1],
      ]);
      const price = metric('sales', {
        dimensions: [{ name: 'b', column: columnRef('sales.price'), bucketWidth: 0.5 }],
        measures: [count],
      });
      expect(await valuesOf(price)).toEqual([
        [0, 1],
        [1.5, 1],
        [2, 1],
        [9.5, 1],
        [null, 1],
      ]);
    });
  });

  describe('conditions', () => {
    const idsWhere = async (...conditions: Parameters<typeof condition>[]): Promise<unknown[]> => {
      const definition = metric('sales', { dimensions: [{ name: 'id', column: columnRef('sales.id') }] });
      return (await valuesOf(definition, { conditions: conditions.map((one) => condition(...one)) })).flat();
    };

    it.each([
      ['sales.amount', { kind: 'compare', operator: '>=', value: 20 }, [2, 3]],
      ['sales.amount', { kind: 'compare', operator: '<>', value: 20 }, [1, 3, 4]],
      ['sales.amount', { kind: 'compare', operator: '>', value: 19.5 }, [2, 3]],
      ['sales.amount', { kind: 'compare', operator: '=', value: '20' }, [2]],
      ['sales.amount', { kind: 'noneOf', values: [10, 20] }, [3, 4]],
      ['sales.amount', { kind: 'oneOf', values: [10, 20.5, -5] }, [1, 4]],
      ['sales.amount', { kind: 'range', from: 10, to: 20, toIsExclusive: false }, [1, 2]],
      ['sales.amount', { kind: 'range', from: null, to: 20, toIsExclusive: true }, [1, 4]],
      ['sales.price', { kind: 'compare', operator: '=', value: 0.1 }, [3]],
      ['sales.price', { kind: 'compare', operator: '>', value: 2.249 }, [2, 5]],
      ['sales.price', { kind: 'oneOf', values: [1.5, '9.990'] }, [1, 5]],
      ['sales.weight', { kind: 'compare', operator: '=', value: 1.5 }, [2]],
      ['sales.isPaid', { kind: 'compare', operator: '=', value: false }, [2, 5]],
      ['sales.isPaid', { kind: 'noneOf', values: [true] }, [2, 5]],
      ['sales.day', { kind: 'oneOf', values: ['2024-03-05', '2024-03-10T00:00:00'] }, [2, 3]],
      ['sales.at', { kind: 'range', from: '2024-03-05T08:15', to: '2024-07-01', toIsExclusive: true }, [2, 3]],
      ['sales.note', { kind: 'like', pattern: 'fifty\\%' }, [1]],
      ['sales.note', { kind: 'like', pattern: 'fifty%' }, [1, 2]],
      ['sales.note', { kind: 'like', pattern: 'a\\\\_' }, [5]],
      ['sales.note', { kind: 'isNull' }, [3]],
      ['sales.note', { kind: 'isNotNull' }, [1, 2, 4, 5]],
      ['sales.note', { kind: 'oneOf', values: [injection, 'Fifty'] }, [4]],
    ] as const)('a condition keeps the rows that it names: %s %o', async (column, predicate, ids) => {
      expect(await idsWhere([column, predicate])).toEqual(ids);
    });

    it('all conditions of a question must hold', async () => {
      const paid = ['sales.isPaid', { kind: 'compare', operator: '=', value: true }] as const;
      const large = ['sales.amount', { kind: 'compare', operator: '>', value: 0 }] as const;
      expect(await idsWhere([...paid], [...large])).toEqual([1]);
    });

    it('accept ten thousand values', async () => {
      const values = Array.from({ length: 10_000 }, (_, index) => index + 3);
      expect(await idsWhere(['sales.id', { kind: 'oneOf', values }])).toEqual([3, 4, 5]);
    });

    it('compare integers beyond 2^53 and values of a closed list exactly', async () => {
      const ids = metric('big', { dimensions: [{ name: 'id', column: columnRef('big.id') }] });
      const equal = (value: string) => [condition('big.id', { kind: 'compare', operator: '=', value })];
      expect(await valuesOf(ids, { conditions: equal('9007199254740993') })).toEqual([['9007199254740993']]);
      expect(await valuesOf(ids, { conditions: equal('9007199254740992') })).toEqual([]);
      const kind = [condition('big.kind', { kind: 'oneOf', values: ['y', 'z'] })];
      expect(await valuesOf(ids, { conditions: kind })).toEqual([[7]]);
    });

    const inCalifornia = [condition('shops.state', { kind: 'oneOf', values: ['CA'] })];

    it("conditions on a LEFT-joined lookup remove the rows, not only the lookup's values", async () => {
      expect(await valuesOf(byState, { conditions: inCalifornia })).toEqual([['CA', 2]]);
      const both = metric('sales', {
        measures: [count, { name: 'states', aggregate: 'COUNT_DISTINCT', column: columnRef('shops.state') }],
      });
      expect(await valuesOf(both, { conditions: inCalifornia })).toEqual([[2, 1]]);
    });

    it('conditions on a lookup that is not joined restrict the same rows', async () => {
      expect(await valuesOf(total, { conditions: inCalifornia })).toEqual([[2, 30]]);
      const none = [condition('shops.state', { kind: 'compare', operator: '<>', value: 'CA' })];
      expect(await valuesOf(total, { conditions: none })).toEqual([[1, 30]]);
    });

    it('conditions on an unjoined table with many matching rows repeat no row', async () => {
      const conditions = [condition('lines.sku', { kind: 'oneOf', values: ['p', 'q'] })];
      expect(await valuesOf(total, { conditions })).toEqual([[2, 30]]);
    });

    it('several conditions on one unjoined table must be met by the same row', async () => {
      const conditions = [
        condition('lines.sku', { kind: 'compare', operator: '=', value: 'p' }),
        condition('lines.sku', { kind: 'compare', operator: '=', value: 'q' }),
      ];
      expect(await valuesOf(total, { conditions })).toEqual([[0, null]]);
    });

    it('can follow two relationships', async () => {
      const definition = metric('lines', { measures: [count] });
      expect(await valuesOf(definition, { conditions: inCalifornia })).toEqual([[3]]);
    });
  });

  describe('order and page', () => {
    it('is by dimensions by default, NULL last', async () => {
      expect(await valuesOf(byShop)).toEqual([
        ['gone', 1],
        ['s1', 2],
        ['s2', 1],
        [null, 1],
      ]);
    });

    it('uses the sort, with the dimensions as tie-breakers, and NULL last in both directions', async () => {
      const sort = [{ name: 'n', direction: 'DESC' }] as const;
      expect(await valuesOf({ ...byShop, sort })).toEqual([
        ['s1', 2],
        ['gone', 1],
        ['s2', 1],
        [null, 1],
      ]);
      expect(await valuesOf({ ...byShop, sort }, { sort: [{ name: 'shop', direction: 'DESC' }] })).toEqual([
        ['s2', 1],
        ['s1', 2],
        ['gone', 1],
        [null, 1],
      ]);
    });

    it.each([
      [null, 2, 0, 2, 4],
      [null, 2, 3, 1, 4],
      [null, 4, 0, 4, 4],
      [null, null, 9, 0, 4],
      [null, 0, 0, 0, 4],
      [3, null, 0, 3, 3],
      [3, 2, 2, 1, 3],
      [3, 2, 3, 0, 3],
      [9, 2, 0, 2, 4],
      [9, null, 0, 4, 4],
      [4, 4, 0, 4, 4],
    ])('cap %s, limit %s, offset %s: %i rows of %i', async (limit, size, offset, rows, all) => {
      const answer = await ask({ ...byShop, limit }, { limit: size, offset });
      expect([answer.rows.length, answer.totalRecords]).toEqual([rows, all]);
      expect(answer.groupbyColumnList).toEqual(['shop']);
    });

    it('without any row, the answer has no columns', async () => {
      const conditions = [condition('sales.shop', { kind: 'compare', operator: '=', value: 'nowhere' })];
      expect(await ask(byShop, { conditions })).toEqual({
        rows: [],
        columns: [],
        groupbyColumnList: [],
        totalRecords: 0,
      });
    });
  });

  describe('cells', () => {
    it('are exact, and all numbers of a column are text if JSON cannot represent one', async () => {
      const weights = metric('sales', {
        dimensions: [{ name: 'w', column: columnRef('sales.weight') }],
        measures: [count],
      });
      // MySQL has neither NaN nor infinity, so its test data have NULL there.
      const rest = { MYSQL: [null], SQLITE: ['Infinity', null] }[kind as string] ?? ['Infinity', 'NaN'];
      expect((await valuesOf(weights)).map(([cell]) => cell)).toEqual([-0.5, 0.5, 1.5, ...rest]);
      // It holds no decimals of so many digits.
      if (kind === 'SQLITE') return;
      const big = metric('big', {
        dimensions: ['id', 'exact', 'kind'].map((name) => ({ name, column: columnRef(`big.${name}`) })),
      });
      expect(await valuesOf(big)).toEqual([
        ['7', '0.5', 'y'],
        ['9007199254740993', '12345678901234567890.0000000001', 'x'],
      ]);
    });

    it('have the type of their column', async () => {
      const names = ['id', 'at', 'day', 'price', 'isPaid', 'note'];
      const definition = metric('sales', { underlying: names.map((name) => columnRef(`sales.${name}`)) });
      const answer = await engine.underlying(asked(definition, { limit: 2 }));
      expect(answer.columns.map(({ dataType }) => dataType)).toEqual([
        'number',
        'date',
        'date',
        'number',
        'boolean',
        'string',
      ]);
      expect(answer.rows[1]).toEqual({
        id: 2,
        at: '2024-03-05T08:15:30.25',
        day: '2024-03-05',
        price: 2.25,
        isPaid: false,
        note: 'fifty_five',
      });
    });

    it('keep names that are special in JavaScript or SQL', async () => {
      const definition = metric('sales', {
        dimensions: [
          { name: '__proto__', column: columnRef('sales.id') },
          { name: 'a"; DROP TABLE sales', column: columnRef('sales.shop') },
        ],
      });
      const [row] = (await ask(definition)).rows;
      expect(Object.entries(row ?? {})).toEqual([
        ['__proto__', 1],
        ['a"; DROP TABLE sales', 's1'],
      ]);
    });
  });

  describe('an answer without a limit in the question', () => {
    it('has the first ten thousand rows and the total number, and continues by offset', async () => {
      const huge = await builder.build('huge', [numbered(12_000)]);
      const byId = metric('sales', { dimensions: [{ name: 'Id', column: columnRef('sales.id') }] });
      const first = await engine.query(question(huge, mart, 'None', byId));
      expect([first.rows.length, first.totalRecords]).toEqual([10_000, 12_000]);
      const rest = await engine.query(question(huge, mart, 'None', byId, { offset: 10_000 }));
      expect([rest.rows[0]?.Id, rest.rows.length, rest.totalRecords]).toEqual([10_000, 2000, 12_000]);
    });
  });

  describe('underlying rows', () => {
    it('are the joined rows; equal column names are qualified', async () => {
      const definition = metric('sales', { underlying: ['sales.id', 'shops.id', 'shops.state'].map(columnRef) });
      expect(await engine.underlying(asked(definition, { limit: 2, offset: 1 }))).toEqual({
        rows: [
          { 'sales.id': 2, 'shops.id': 1, state: 'CA' },
          { 'sales.id': 3, 'shops.id': 2, state: 'NV' },
        ],
        columns: ['sales.id', 'shops.id', 'state'].map((name, index) => ({
          name,
          dataType: index < 2 ? 'number' : 'string',
        })),
        groupbyColumnList: ['sales.id', 'shops.id', 'state'],
        totalRecords: 5,
      });
    });

    it("ignore the answer's limit, obey every condition, and end at a thousand", async () => {
      const ids = metric('sales', { underlying: [columnRef('sales.id')], limit: 1 });
      const conditions = [condition('shops.state', { kind: 'oneOf', values: ['CA'] })];
      expect((await engine.underlying(asked(ids, { conditions }))).rows).toEqual([{ id: 1 }, { id: 2 }]);
      const many = await builder.build('many', [numbered(1500)]);
      const answer = await engine.underlying(question(many, mart, 'None', ids));
      expect([answer.rows.length, answer.totalRecords]).toEqual([1000, 1500]);
    });
  });

  describe('options', () => {
    const optionsOf = (
      column: string,
      parts: Partial<MetricQuestion> & { readonly search?: string } = {},
      of = total,
    ) => engine.options({ ...asked(of, parts), column: at(path, columnRef(column)), search: parts.search ?? null });

    it('are distinct, ascending and without NULL', async () => {
      expect(await optionsOf('sales.shop')).toEqual(['gone', 's1', 's2']);
      expect(await optionsOf('sales.isPaid')).toEqual([false, true]);
      expect(await optionsOf('sales.amount', { limit: 2 })).toEqual([-5, 10]);
    });

    it('occur in rows of the metric: a shop without sales is no option', async () => {
      expect(await optionsOf('shops.state')).toEqual(['CA', 'NV']);
      expect(await optionsOf('shops.state', {}, byState)).toEqual(['CA', 'NV']);
      const right = datamart({ ...mart, relationships: [relationship('sales.shop', 'shops.code', 'RIGHT JOIN')] });
      const asking = {
        ...question(path, right, 'None', total),
        column: at(path, columnRef('shops.state')),
        search: null,
      };
      expect(await engine.options(asking)).toEqual(['CA', 'NV']);
      expect(await engine.options({ ...asking, definition: at(path, byState) })).toEqual(
        ['CA', 'NV', injection].sort(),
      );
    });

    it('show nothing that a condition excludes, on any table', async () => {
      const conditions = [condition('shops.state', { kind: 'oneOf', values: ['NV'] })];
      expect(await optionsOf('shops.state', { conditions })).toEqual(['NV']);
      expect(await optionsOf('sales.id', { conditions })).toEqual([3]);
      const onLines = [condition('lines.sku', { kind: 'oneOf', values: ['p'] })];
      expect(await optionsOf('lines.sku', { conditions: onLines })).toEqual(['p']);
    });

    it('are searched as plain text, ignoring case', async () => {
      expect(await optionsOf('sales.note', { search: 'FIFTY' })).toEqual(['Fifty', 'fifty%', 'fifty_five']);
      expect(await optionsOf('sales.note', { search: '%' })).toEqual(['fifty%']);
      expect(await optionsOf('sales.note', { search: '_' })).toEqual(['fifty_five']);
      expect(await optionsOf('sales.note', { search: '\\' })).toEqual(['a\\b']);
      expect(await optionsOf('sales.amount', { search: '0' })).toEqual([10, 20, 30]);
    });
  });

  describe('text is compared by its bytes, whatever the collation', () => {
    const words = metric('words', {
      dimensions: [{ name: 'word', column: columnRef('words.word') }],
      measures: [count],
    });
    const idsWhere = async (predicate: Parameters<typeof condition>[1]): Promise<unknown[]> => {
      const ids = metric('words', { dimensions: [{ name: 'id', column: columnRef('words.id') }] });
      return (await valuesOf(ids, { conditions: [condition('words.word', predicate)] })).flat();
    };

    it('in groups, in their order and their number', async () => {
      const each = ['', 'A', 'a', 'a ', '\u00e1'].map((word) => [word, 1]);
      expect(await valuesOf(words)).toEqual([...each, [null, 1]]);
      const sort = [{ name: 'word', direction: 'DESC' }] as const;
      expect(await valuesOf(words, { sort })).toEqual([...each.reverse(), [null, 1]]);
      const measures = (['COUNT_DISTINCT', 'MIN', 'MAX'] as const).map((aggregate) => ({
        name: aggregate,
        aggregate,
        column: columnRef('words.word'),
      }));
      expect(await valuesOf(metric('words', { measures }))).toEqual([[5, '', '\u00e1']]);
    });

    it.each([
      [{ kind: 'compare', operator: '=', value: 'a' }, [1]],
      [{ kind: 'compare', operator: '<>', value: 'a' }, [2, 3, 4, 5]],
      [{ kind: 'compare', operator: '>', value: 'a' }, [3, 4]],
      [{ kind: 'oneOf', values: ['A', 'a '] }, [2, 4]],
      [{ kind: 'noneOf', values: ['A', 'a '] }, [1, 3, 5]],
      [{ kind: 'like', pattern: 'a%' }, [1, 4]],
      [{ kind: 'like', pattern: 'a_' }, [4]],
      [{ kind: 'range', from: 'A', to: 'a', toIsExclusive: false }, [1, 2]],
    ] as const)('text is compared by its bytes under the condition %o', async (predicate, ids) => {
      expect(await idsWhere(predicate)).toEqual(ids);
    });

    it('joins compare text by its bytes, whatever the collation', async () => {
      const definition = metric('words', {
        dimensions: [
          { name: 'word', column: columnRef('words.word') },
          { name: 'meaning', column: columnRef('glossary.meaning') },
        ],
        measures: [count],
      });
      expect(await valuesOf(definition)).toEqual([
        ['', null, 1],
        ['A', 'large', 1],
        ['a', 'small', 1],
        ['a ', 'wide', 1],
        ['\u00e1', 'sharp', 1],
        [null, null, 1],
      ]);
      const conditions = [condition('glossary.meaning', { kind: 'oneOf', values: ['small', 'sharp'] })];
      expect(await valuesOf(words, { conditions })).toEqual([
        ['a', 1],
        ['\u00e1', 1],
      ]);
    });
  });

  describe('every aggregate on every type', () => {
    const measured = (path: string, ...aggregates: Aggregate[]) =>
      aggregates.map((aggregate) => ({ name: `${aggregate} ${path}`, aggregate, column: columnRef(path) }));

    it('has the same meaning', async () => {
      const measures = [
        ...measured('words.uid', 'MIN', 'MAX', 'COUNT_DISTINCT'),
        ...measured('words.flag', 'MIN', 'MAX', 'COUNT'),
        ...measured('words.score', 'MIN', 'SUM', 'AVG', 'MEDIAN'),
        ...measured('words.real', 'MAX', 'SUM', 'AVG', 'MEDIAN'),
        ...measured('words.id', 'AVG', 'MEDIAN'),
      ];
      const answer = await ask(metric('words', { measures }));
      expect(answer.columns.map(({ dataType }) => dataType)).toEqual([
        ...['string', 'string', 'number', 'boolean', 'boolean', 'number'],
        ...Array(10).fill('number'),
      ]);
      const tenth = Math.fround(0.1);
      const [low, high, ids, least, most, flags, ...numbers] = Object.values(answer.rows[0] ?? {});
      expect([low, high, ids, least, most, flags]).toEqual([uid('1'), uid('f'), 4, false, true, 5]);
      const expected = [
        1.5,
        1016.0101,
        203.20202,
        2.26,
        0.5,
        0.75 + 2 * tenth,
        (0.75 + 2 * tenth) / 4,
        (0.25 + tenth) / 2,
        3.5,
        3.5,
      ];
      for (const [index, value] of numbers.entries()) expect(value).toBeCloseTo(expected[index] ?? Number.NaN, 6);
    });

    it('gives one value for each group, also the median', async () => {
      const measures = [
        ...measured('words.score', 'MEDIAN', 'SUM', 'COUNT'),
        count,
        ...measured('words.id', 'MEDIAN', 'AVG'),
      ];
      const definition = metric('words', {
        dimensions: [{ name: 'other', column: columnRef('words.other') }],
        measures,
      });
      expect(await valuesOf(definition, { sort: [{ name: 'MEDIAN words.id', direction: 'DESC' }] })).toEqual([
        ['y', 505.00005, 1010.0001, 2, 3, 5, 5],
        ['x', 2.25, 6.01, 3, 3, 2, 2],
      ]);
      const none = [condition('words.other', { kind: 'compare', operator: '=', value: 'z' } as const)];
      expect(await valuesOf(metric('words', { measures }), { conditions: none })).toEqual([
        [null, null, 0, 0, null, null],
      ]);
    });

    it('an average keeps its digits', async () => {
      const thirds = [condition('words.id', { kind: 'oneOf', values: [1, 2, 4] } as const)];
      const measures = measured('words.id', 'AVG');
      expect(await valuesOf(metric('words', { measures }), { conditions: thirds })).toEqual([[7 / 3]]);
    });
  });

  it('unusual text is found exactly, alone and in lists', async () => {
    const definition = metric('odd', { underlying: ['odd.id', 'odd.text'].map(columnRef) });
    const idsOf = async (predicate: Parameters<typeof condition>[1]): Promise<unknown[]> => {
      const conditions = [condition('odd.text', predicate)];
      return (await engine.underlying(asked(definition, { conditions }))).rows.map(({ id }) => id);
    };
    for (const [index, value] of oddTexts.entries()) {
      expect(await idsOf({ kind: 'compare', operator: '=', value }), value).toEqual([index]);
      expect(await idsOf({ kind: 'oneOf', values: [value, 'nothing'] }), value).toEqual([index]);
    }
    expect(await idsOf({ kind: 'oneOf', values: oddTexts })).toHaveLength(oddTexts.length);
    expect(await idsOf({ kind: 'noneOf', values: oddTexts })).toEqual([]);
    expect((await engine.underlying(asked(definition))).rows.map(({ text }) => text)).toEqual(oddTexts);
  });

  it('local time is exact to the second of a clock change, and beyond 2038', async () => {
    const timesOf = async (column: string, timezone: string): Promise<unknown[]> => {
      const definition = metric('words', { underlying: ['words.id', column].map(columnRef) });
      const { rows } = await engine.underlying(asked(definition, { timezone }));
      return rows.map((row) => row.at ?? row.moment ?? null);
    };
    expect(await timesOf('words.at', 'America/Los_Angeles')).toEqual([
      '1950-07-01T05:00:00',
      kind === 'SQLITE' ? '2024-03-10T01:59:59.999' : '2024-03-10T01:59:59.999999',
      '2024-03-10T03:00:00',
      '2050-07-01T05:00:00',
      '2099-12-31T15:00:00',
      null,
    ]);
    expect(await timesOf('words.moment', 'America/Los_Angeles')).toEqual([
      '1999-12-31T15:59:59',
      '2024-03-10T03:00:00',
      '2024-11-03T01:59:59',
      '2024-11-03T01:00:00',
      null,
      null,
    ]);
    expect(await timesOf('words.moment', 'Asia/Kathmandu')).toEqual([
      '2000-01-01T05:44:59',
      '2024-03-10T15:45:00',
      '2024-11-03T14:44:59',
      '2024-11-03T14:45:00',
      null,
      null,
    ]);
  });

  it('options of every type are searched by the text that is shown', async () => {
    const search = (column: string, text: string) =>
      engine.options({
        ...asked(metric('words', { measures: [count] })),
        column: at(path, columnRef(column)),
        search: text,
      });
    expect(await search('words.flag', 'ru')).toEqual([true]);
    expect(await search('words.uid', 'F0')).toEqual([uid('f')]);
    expect(await search('words.word', '\u00c1')).toEqual(['\u00e1']);
    expect(await search('words.word', 'A')).toEqual(['A', 'a', 'a ']);
  });

  it('a value that looks like SQL is treated as a value', async () => {
    const conditions = [condition('shops.state', { kind: 'compare', operator: '=', value: injection })];
    expect(await valuesOf(metric('shops', { measures: [count] }), { conditions })).toEqual([[1]]);
    expect(await valuesOf(total)).toEqual([[5, 55]]);
  });
});
