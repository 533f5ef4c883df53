/** A small fixed shop, and metrics over it with answers counted by hand. */

import type { Measure, VisualDefinition } from '../../src/model/dashboard/metric.js';
import type { Datamart } from '../../src/model/datamart/datamart.js';
import type { Condition } from '../../src/model/filter/filter.js';
import type { Kind } from './test-databases.js';
import { columnRef, condition, datamart, metric, relationship, table } from './world.js';

type Stored = string | number | boolean | null;

export const columns = {
  shops: { code: 'VARCHAR', state: 'VARCHAR' },
  sales: {
    id: 'BIGINT',
    shop: 'VARCHAR',
    day: 'DATE',
    'at@': 'TIMESTAMP',
    amount: 'BIGINT',
    price: 'DECIMAL(10,2)',
    weight: 'DOUBLE',
    isPaid: 'BOOLEAN',
  },
  lines: { sale: 'BIGINT', sku: 'VARCHAR', quantity: 'BIGINT' },
  goals: { shop: 'VARCHAR', target: 'BIGINT' },
} as const;
export type TableName = keyof typeof columns;

export const rows: Readonly<Record<TableName, readonly (readonly Stored[])[]>> = {
  shops: [
    ['s1', 'CA'],
    ['s2', 'NV'],
    ['s3', 'CA'],
    ['s4', null],
  ],
  sales: [
    [1, 's1', '2024-01-30', '2024-01-30 23:30:00', 10, '1.10', 0.5, true],
    [2, 's1', '2024-02-01', '2024-02-01 08:00:00', 20, '2.20', 1.5, false],
    [3, 's2', '2024-02-29', '2024-02-29 12:15:00', 30, '0.05', 2.5, true],
    [4, 's3', '2024-04-01', '2024-04-01 00:00:00', 40, null, null, null],
    [5, 'gone', '2024-04-07', '2024-04-07 23:59:59', -5, '9.99', 4.5, true],
    [6, null, null, null, null, '3.33', 5.5, false],
  ],
  lines: [
    [1, 'tea', 1],
    [1, 'cup', 2],
    [2, 'tea', 4],
    [3, 'tea', 8],
    [3, 'tea', 8],
    [9, 'cup', 16],
  ],
  goals: [
    ['s1', 100],
    ['s1', 50],
    ['s2', 200],
    ['s4', 400],
  ],
};

export const mart: Datamart = datamart({
  tenancy: null,
  tables: (Object.keys(columns) as TableName[]).map((name) => table(name, columns[name])),
  relationships: [
    relationship('sales.shop', 'shops.code', 'LEFT JOIN', 'ManyToOne'),
    relationship('sales.id', 'lines.sale', 'LEFT JOIN', 'OneToMany'),
    relationship('shops.code', 'goals.shop', 'LEFT JOIN', 'OneToMany'),
  ],
});

/** The same datamart with all relationships of one join kind. */
const joinedBy = (join: NonNullable<Datamart['relationships'][number]['join']>): Datamart => ({
  ...mart,
  relationships: mart.relationships.map((one) => ({ ...one, join })),
});

export type Item = {
  readonly name: string;
  readonly definition: VisualDefinition;
  readonly mart?: Datamart;
  readonly conditions?: readonly Condition[];
  readonly timezone?: string;
  readonly limit?: number;
  readonly offset?: number;
  /** The rows, counted by hand: cells in the order of the answer's columns. */
  readonly rows: readonly (readonly Stored[])[];
  /** Databases that must refuse the metric, with the reason. */
  readonly absent?: Partial<Record<Kind, string>>;
};

const over = (from: TableName, parts: Partial<VisualDefinition>): VisualDefinition => metric(from, parts);
const by = (path: string, rest: object = {}) => ({ name: path, column: columnRef(path), ...rest });
const of = (aggregate: NonNullable<Measure['aggregate']>, path: string, rest: object = {}): Measure => ({
  name: `${aggregate} ${path}`,
  aggregate,
  column: columnRef(path),
  ...rest,
});
const count: Measure = { name: 'rows', aggregate: 'COUNT' };
const monthly = by('sales.day', { grain: 'month' });
const sum = of('SUM', 'sales.amount');

export const items: readonly Item[] = [
  {
    name: 'every aggregate of numbers',
    definition: over('sales', {
      measures: [
        count,
        sum,
        of('AVG', 'sales.amount'),
        of('MIN', 'sales.amount'),
        of('MAX', 'sales.price'),
        of('COUNT', 'sales.shop'),
        of('COUNT_DISTINCT', 'sales.shop'),
        of('MEDIAN', 'sales.amount'),
        of('PERCENTILE', 'sales.amount', { percentile: 0.25 }),
        of('SUM', 'sales.price'),
        of('AVG', 'sales.isPaid', { indicator: { kind: 'compare', operator: '=', value: true } }),
      ],
    }),
    rows: [[6, 95, 19, -5, 9.99, 5, 4, 20, 10, 16.67, 0.6]],
  },
  {
    name: 'groups of a looked-up table, NULL last',
    definition: over('sales', { dimensions: [by('shops.state')], measures: [count, sum] }),
    rows: [
      ['CA', 3, 70],
      ['NV', 1, 30],
      [null, 2, -5],
    ],
  },
  ...(['month', 'quarter', 'year', 'week'] as const).map(
    (grain): Item => ({
      name: `by ${grain}`,
      definition: over('sales', { dimensions: [by('sales.day', { grain })], measures: [count] }),
      rows: {
        month: [
          ['2024-01-01', 1],
          ['2024-02-01', 2],
          ['2024-04-01', 2],
          [null, 1],
        ],
        quarter: [
          ['2024-01-01', 3],
          ['2024-04-01', 2],
          [null, 1],
        ],
        year: [
          ['2024-01-01', 5],
          [null, 1],
        ],
        week: [
          ['2024-01-29', 2],
          ['2024-02-26', 1],
          ['2024-04-01', 2],
          [null, 1],
        ],
      }[grain] as readonly (readonly Stored[])[],
    }),
  ),
  {
    name: 'days of a timezone, on either side of a change of clocks',
    definition: over('sales', { dimensions: [by('sales.at', { grain: 'day' })], measures: [count] }),
    timezone: 'Europe/Berlin',
    rows: [
      ['2024-01-31', 1],
      ['2024-02-01', 1],
      ['2024-02-29', 1],
      ['2024-04-01', 1],
      ['2024-04-08', 1],
      [null, 1],
    ],
  },
  {
    name: 'hours and days of the week',
    definition: over('sales', {
      dimensions: [
        by('sales.at', { grain: 'hourOfDay' }),
        { ...by('sales.day', { grain: 'dayOfWeek' }), name: 'weekday' },
      ],
      measures: [count],
      sort: [{ name: 'weekday', direction: 'DESC' }],
    }),
    rows: [
      [23, 7, 1],
      [8, 4, 1],
      [12, 4, 1],
      [23, 2, 1],
      [0, 1, 1],
      [null, null, 1],
    ],
  },
  {
    name: 'buckets of a width, below zero too',
    definition: over('sales', { dimensions: [by('sales.amount', { bucketWidth: 20 })], measures: [count] }),
    rows: [
      [-20, 1],
      [0, 1],
      [20, 2],
      [40, 1],
      [null, 1],
    ],
  },
  {
    name: 'about so many buckets',
    definition: over('sales', { dimensions: [by('sales.amount', { bucketCount: 4 })], measures: [count] }),
    rows: [
      [-20, 1],
      [0, 1],
      [20, 2],
      [40, 1],
      [null, 1],
    ],
  },
  {
    name: 'a sale is summed once, however many lines it has',
    definition: over('sales', { measures: [sum, of('SUM', 'lines.quantity'), count] }),
    rows: [[95, 23, 6]],
  },
  {
    name: 'and once in each group that it is in',
    definition: over('sales', { dimensions: [by('lines.sku')], measures: [sum, of('SUM', 'lines.quantity'), count] }),
    rows: [
      ['cup', 10, 2, 1],
      ['tea', 60, 21, 3],
      [null, 35, null, 3],
    ],
  },
  {
    name: 'two many sides do not multiply each other',
    definition: over('shops', {
      dimensions: [by('shops.code')],
      measures: [of('SUM', 'goals.target'), sum, of('SUM', 'lines.quantity')],
    }),
    rows: [
      ['s1', 150, 30, 7],
      ['s2', 200, 30, 16],
      ['s3', null, 40, null],
      [null, null, -5, null],
    ],
    mart: { ...mart, relationships: mart.relationships.slice() },
    conditions: [condition('sales.id', { kind: 'isNotNull' }), condition('sales.amount', { kind: 'isNotNull' })],
  },
  {
    name: 'an inner join leaves out what has no match',
    mart: joinedBy('INNER JOIN'),
    definition: over('sales', { dimensions: [by('shops.state')], measures: [count] }),
    rows: [
      ['CA', 3],
      ['NV', 1],
    ],
  },
  {
    name: 'a right join shows what has no sale, and counts none for it',
    mart: joinedBy('RIGHT JOIN'),
    definition: over('sales', { dimensions: [by('shops.code')], measures: [count, sum] }),
    rows: [
      ['s1', 2, 30],
      ['s2', 1, 30],
      ['s3', 1, 40],
      ['s4', 0, null],
    ],
  },
  {
    name: 'a full join shows both',
    mart: joinedBy('FULL JOIN'),
    definition: over('sales', { dimensions: [by('shops.code')], measures: [count] }),
    rows: [
      ['s1', 2],
      ['s2', 1],
      ['s3', 1],
      ['s4', 0],
      [null, 2],
    ],
    absent: { MYSQL: 'full-join-unsupported' },
  },
  {
    name: 'a condition on a joined table takes rows away, not names',
    definition: over('sales', { dimensions: [by('shops.state')], measures: [count] }),
    conditions: [condition('shops.state', { kind: 'compare', operator: '<>', value: 'NV' })],
    rows: [['CA', 3]],
  },
  {
    name: 'a condition on a table that is not joined asks whether there is such a row',
    definition: over('sales', { measures: [count, sum] }),
    conditions: [condition('lines.sku', { kind: 'oneOf', values: ['tea'] })],
    rows: [[3, 60]],
  },
  {
    name: 'two of them are met by one row',
    definition: over('sales', { measures: [count] }),
    conditions: [
      condition('lines.sku', { kind: 'oneOf', values: ['cup'] }),
      condition('lines.quantity', { kind: 'compare', operator: '<', value: 2 }),
    ],
    rows: [[0]],
  },
  {
    name: 'groups of conditions: alternatives are no more than what stands beside them allows',
    definition: over('sales', {
      dimensions: [by('sales.id')],
      where: {
        all: [
          condition('sales.amount', { kind: 'compare', operator: '>', value: 0 }),
          {
            any: [
              condition('shops.state', { kind: 'oneOf', values: ['NV'] }),
              condition('sales.isPaid', { kind: 'isNull' }),
            ],
          },
        ],
      },
    }),
    rows: [[3], [4]],
  },
  {
    name: 'NULL passes isNull alone',
    definition: over('sales', { dimensions: [by('sales.id')] }),
    conditions: [condition('sales.price', { kind: 'isNull' })],
    rows: [[4]],
  },
  {
    name: 'having, over alternatives',
    definition: over('sales', {
      dimensions: [by('sales.shop')],
      measures: [count, sum],
      having: {
        any: [
          { measure: 'rows', predicate: { kind: 'compare', operator: '>=', value: 2 } },
          { measure: sum.name, predicate: { kind: 'range', from: 35, to: null, toIsExclusive: false } },
        ],
      },
    }),
    rows: [
      ['s1', 2, 30],
      ['s3', 1, 40],
    ],
  },
  {
    name: 'shares, running totals and earlier periods, by the calendar',
    definition: over('sales', {
      dimensions: [monthly],
      measures: [sum],
      calculations: [
        { kind: 'runningTotal', name: 'so far', of: sum.name },
        { kind: 'previousPeriod', name: 'before', of: sum.name },
        { kind: 'previousPeriod', name: 'two before', of: sum.name, periods: 2, result: 'change' },
      ],
    }),
    rows: [
      ['2024-01-01', 10, 10, null, null],
      ['2024-02-01', 50, 60, 10, null],
      ['2024-04-01', 35, 95, null, -15],
      [null, null, 95, null, null],
    ],
  },
  {
    name: 'a share within a dimension',
    definition: over('sales', {
      dimensions: [by('shops.state'), by('sales.shop')],
      measures: [count],
      calculations: [{ kind: 'shareOfTotal', name: 'share', of: 'rows', within: ['shops.state'] }],
      having: { measure: 'rows', predicate: { kind: 'compare', operator: '>', value: 0 } },
    }),
    rows: [
      ['CA', 's1', 2, 2 / 3],
      ['CA', 's3', 1, 1 / 3],
      ['NV', 's2', 1, 1],
      [null, 'gone', 1, 0.5],
      [null, null, 1, 0.5],
    ],
  },
  {
    name: 'a page within the metric’s own limit, the rest ordered by what is not aggregated',
    definition: over('sales', {
      dimensions: [by('sales.shop')],
      measures: [count],
      sort: [{ name: 'rows', direction: 'ASC' }],
      limit: 4,
    }),
    limit: 2,
    offset: 1,
    rows: [
      ['s2', 1],
      ['s3', 1],
    ],
  },
  {
    name: 'dates have least and greatest ones',
    definition: over('sales', { measures: [of('MIN', 'sales.day'), of('MAX', 'sales.at'), of('MAX', 'sales.shop')] }),
    rows: [['2024-01-30', '2024-04-07T23:59:59', 's3']],
  },
  {
    name: 'a median of times',
    definition: over('sales', { measures: [of('MEDIAN', 'sales.at')] }),
    rows: [['2024-02-29T12:15:00']],
  },
];
