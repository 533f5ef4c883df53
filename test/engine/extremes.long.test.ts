/**
 * Dates at the ends of their types, in rows of another tenant or in rows that a condition excludes, must neither fail a
 * question nor change its answer.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TimeGrain, VisualDefinition } from '../../src/model/dashboard/metric.js';
import type { Condition } from '../../src/model/filter/filter.js';
import { type Builder, createBuilder, findKinds, type Kind, type TableData } from './test-databases.js';
import {
  at,
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

/** A day, a plain timestamp and an instant. */
type Times = readonly [day: string, at: string, moment: string];

const usual: readonly Times[] = [
  ['2024-03-05', '2024-03-05 20:00:00', '2024-03-05 20:00:00+00'],
  ['2024-03-06', '2024-03-06 02:00:00', '2024-03-06 02:00:00+00'],
  ['2024-04-30', '2024-04-30 23:30:00', '2024-04-30 23:30:00+00'],
];

const extremes: Readonly<Record<Kind, readonly Times[]>> = {
  // Without infinity: if a column's greatest value is infinite, DuckDB does not evaluate expressions on finite values
  // while planning.
  DUCKDB: [
    ['300000-01-01', '294247-01-10 04:00:54.775806', '294247-01-10 04:00:54.775806+00'],
    ['5877642-06-25 (BC)', '290309-12-22 (BC) 00:00:00', '290309-12-22 (BC) 00:00:00+00'],
  ],
  POSTGRES: [
    ['5874897-12-31', '294276-12-31 23:59:59.999999', '294276-12-31 23:59:59.999999+00'],
    ['4714-11-24 BC', '4714-11-24 00:00:00 BC', '4714-11-24 00:00:00+00 BC'],
    ['infinity', 'infinity', 'infinity'],
    ['-infinity', '-infinity', '-infinity'],
  ],
  MYSQL: [
    ['9999-12-31', '9999-12-31 23:59:59.999999', '2038-01-19 03:14:07+00'],
    ['0000-00-00', '0000-00-00 00:00:00', '1970-01-01 00:00:01+00'],
  ],
  CLICKHOUSE: [
    ['2299-12-31', '2262-04-11 23:47:16.854775807', '2299-12-31 23:59:59.999999+00'],
    ['1900-01-01', '1900-01-01 00:00:00', '1900-01-01 00:00:00+00'],
  ],
  SQLITE: [
    ['9999-12-31', '9999-12-31 23:59:59.999', '9999-12-31 23:59:59.999+00'],
    ['0000-01-01', '0000-01-01 00:00:00', '0000-01-01 00:00:00+00'],
  ],
};

const types = { CLICKHOUSE: { TIMESTAMP: "DateTime64(9, 'UTC')" } };

/**
 * Tenant conditions: one that uses an index, and one that is slower than any other condition, so the planner would
 * evaluate it last.
 */
const owners: Readonly<Record<string, string>> = { plain: 'VARCHAR', padded: 'CHAR(8)' };
const columnsOf = (owner: string): Readonly<Record<string, string>> => ({
  owner,
  id: 'BIGINT',
  state: 'VARCHAR',
  day: 'DATE',
  at: 'TIMESTAMP',
  moment: 'TIMESTAMP WITH TIME ZONE',
});

const tableOf = (name: string) =>
  table(
    name,
    {
      ...{ owner: 'VARCHAR', id: 'BIGINT', state: 'VARCHAR', day: 'DATE' },
      ...{ 'at@': 'TIMESTAMP', 'moment@': 'TIMESTAMP WITH TIME ZONE' },
    },
    'owner',
  );
const mart = datamart({
  tenancy: byClients(),
  tables: [
    ...Object.keys(owners).map(tableOf),
    table('notes', { owner: 'VARCHAR', event: 'BIGINT' }, 'owner'),
    table('clients', { id: 'VARCHAR', name: 'VARCHAR' }),
  ],
  relationships: Object.keys(owners).map((name) => relationship('notes.event', `${name}.id`, 'LEFT JOIN')),
});

const grains: readonly TimeGrain[] = [
  ...(['minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'] as const),
  ...(['hourOfDay', 'dayOfWeek'] as const),
];
/**
 * Grains whose period would start before PostgreSQL's first timestamp, for times in its first weeks. A question that
 * groups such times fails.
 */
const long: readonly string[] = ['week', 'month', 'quarter', 'year'];
const zones = [null, 'Asia/Tokyo', 'America/New_York'] as const;
const open = condition('plain.state', { kind: 'oneOf', values: ['open'] });
const count = { name: 'n', aggregate: 'COUNT' } as const;

describe.each(await findKinds())('on %s', (kind) => {
  const { engine } = createLoggedEngine();
  let builder: Builder;
  let all: Place;
  let alone: Place;

  type Row = readonly [owner: string, state: string, times: Times];
  const build = (name: string, rows: readonly Row[]): Promise<Place> =>
    builder.build(name, [
      ...Object.entries(owners).map(
        ([of, owner]): TableData => ({
          name: of,
          columns: columnsOf(owner),
          rows: rows.map(([who, state, times], index) => [who, index, state, ...times]),
        }),
      ),
      {
        name: 'notes',
        columns: { owner: 'VARCHAR', event: 'BIGINT' },
        rows: rows.map(([who], index) => [who, index]),
      },
      { name: 'clients', columns: { id: 'VARCHAR', name: 'VARCHAR' }, rows: [['a', 'A']] },
    ]);

  beforeAll(async () => {
    builder = await createBuilder(kind, types);
    const own = usual.map((times): Row => ['a', 'open', times]);
    alone = await build('alone', own);
    all = await build('all', [
      ...own,
      ...extremes[kind].flatMap((times): Row[] => [
        ['a', 'secret', times],
        ['b', 'open', times],
      ]),
    ]);
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  type Asked = { readonly definition: VisualDefinition; readonly conditions?: readonly Condition[] };
  const ask = async (place: Place, client: string, { definition, conditions = [] }: Asked, zone: string | null) =>
    (await engine.query(question(place, mart, client, definition, { conditions, timezone: zone }))).rows;
  const expectAlike = async (asked: Asked): Promise<void> => {
    for (const zone of zones)
      expect(await ask(all, 'a', asked, zone), `${zone}`).toEqual(await ask(alone, 'a', asked, zone));
  };
  const isOpen = (of: string): Condition => ({ ...open, column: columnRef(`${of}.state`) });
  const range = (path: string, to: string | null): Condition =>
    condition(path, { kind: 'range', from: '2024-03-05T22:00:00', to, toIsExclusive: true });

  const paths = Object.keys(owners).flatMap((of) => ['day', 'at', 'moment'].map((column) => [of, column] as const));

  it.each(paths)('%s: every grain of %s', async (of, column) => {
    const dimensions = grains.map((grain) => ({ name: grain, column: columnRef(`${of}.${column}`), grain }));
    await expectAlike({ definition: metric(of, { dimensions, measures: [count] }), conditions: [isOpen(of)] });
  });

  it.each(paths)('%s: conditions on %s, alone, combined, and on an unjoined table', async (of, column) => {
    const path = `${of}.${column}`;
    const definition = metric(of, { measures: [count] });
    const open = isOpen(of);
    for (const to of [null, '2024-04-01']) {
      await expectAlike({ definition, conditions: [range(path, to), open] });
      await expectAlike({ definition, conditions: [open, range(path, to)] });
      const notes = metric('notes', { measures: [count] });
      await expectAlike({ definition: notes, conditions: [range(path, to), open] });
    }
    const days = condition(path, { kind: 'oneOf', values: ['2024-03-06', '2024-03-06T02:00:00'] });
    const none = condition(path, { kind: 'noneOf', values: ['2024-03-06', '2024-03-06T02:00:00'] });
    await expectAlike({ definition, conditions: [days, open] });
    await expectAlike({ definition, conditions: [none, open] });
  });

  it.each(paths)('%s: options, measures and earlier values of %s', async (of, column) => {
    const ref = columnRef(`${of}.${column}`);
    for (const zone of zones) {
      const optionsOf = (place: Place) => {
        const definition = metric(of, { measures: [count] });
        const asked = question(place, mart, 'a', definition, { conditions: [isOpen(of)], timezone: zone });
        return engine.options({ ...asked, column: at(place, ref), search: '2024' });
      };
      expect(await optionsOf(all)).toEqual(await optionsOf(alone));
    }
    const measures = [
      ...(['MIN', 'MAX', 'COUNT_DISTINCT'] as const).map((aggregate) => ({ name: aggregate, aggregate, column: ref })),
      ...(kind === 'MYSQL' ? [] : [{ name: 'median', aggregate: 'MEDIAN' as const, column: ref }]),
    ];
    await expectAlike({ definition: metric(of, { measures }), conditions: [isOpen(of)] });
    const dimensions = [{ name: 'd', column: ref, grain: 'month' as const }];
    const calculations = [{ kind: 'previousPeriod', name: 'before', of: 'n' } as const];
    const earlier = metric(of, { dimensions, measures: [count], calculations });
    await expectAlike({ definition: earlier, conditions: [isOpen(of)] });
  });

  it.each(paths)('%s: a tenant that has such values in %s can still query', async (of, column) => {
    const ref = columnRef(`${of}.${column}`);
    const every = extremes[kind].length;
    for (const zone of zones) {
      const asked = grains.filter((grain) => kind !== 'POSTGRES' || column === 'day' || !long.includes(grain));
      const dimensions = [{ name: 'd', column: ref }, ...asked.map((grain) => ({ name: grain, column: ref, grain }))];
      const calculations = asked
        .filter((grain) => !grain.includes('Of'))
        .map((along) => ({ kind: 'previousPeriod', name: `before ${along}`, of: 'n', along }) as const);
      const rows = await ask(
        all,
        'b',
        { definition: metric(of, { dimensions, measures: [count], calculations }) },
        zone,
      );
      expect([zone, rows.reduce((sum, { n }) => sum + Number(n), 0)]).toEqual([zone, every]);
      const conditions = [range(`${of}.${column}`, null)];
      const later = await ask(all, 'b', { definition: metric(of, { measures: [count] }), conditions }, zone);
      expect([zone, later]).toEqual([zone, [{ n: every / 2 }]]);
    }
  });
});

it.skipIf(!(await findKinds()).includes('POSTGRES'))(
  "on PostgreSQL, a decimal outside the range of floats fails no other tenant's join with floats",
  async () => {
    const builder = await createBuilder('POSTGRES');
    const { engine } = createLoggedEngine();
    const place = await builder.build('floats', [
      { name: 'sales', columns: { owner: 'CHAR(8)', size: 'DOUBLE' }, rows: ['a', 'b'].map((owner) => [owner, 2.5]) },
      {
        name: 'rates',
        columns: { owner: 'CHAR(8)', size: 'NUMERIC', rate: 'BIGINT' },
        rows: [
          ['a', '2.5', 7],
          ['b', `1${'0'.repeat(400)}`, 8],
          ['b', `0.${'0'.repeat(400)}1`, 9],
        ],
      },
    ]);
    const mart = datamart({
      tenancy: byClients(),
      tables: [
        table('sales', { owner: 'VARCHAR', size: 'DOUBLE' }, 'owner'),
        table('rates', { owner: 'VARCHAR', size: 'DECIMAL(38,0)', rate: 'BIGINT' }, 'owner'),
        table('clients', { id: 'VARCHAR', name: 'VARCHAR' }),
      ],
      relationships: [relationship('sales.size', 'rates.size', 'INNER JOIN')],
    });
    const definition = metric('sales', {
      measures: [{ name: 'rate', aggregate: 'MAX', column: columnRef('rates.rate') }],
    });
    const conditions = [condition('sales.size', { kind: 'compare', operator: '=', value: 2.5 })];
    const rateOf = async (client: string) =>
      (await engine.query(question(place, mart, client, definition, { conditions }))).rows;
    expect(await rateOf('a')).toEqual([{ rate: 7 }]);
    expect(await rateOf('b')).toEqual([{ rate: null }]);
    await engine.close();
    await builder.remove();
  },
);
