/** A row counts once in each group, even if joins repeat it. Verified by fixed answers and by nested loops. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Measure, VisualDefinition } from '../../src/model/dashboard/metric.js';
import type { Cardinality, Datamart, JoinKind } from '../../src/model/datamart/datamart.js';
import type { Engine } from '../../src/model/query/engine.js';
import { answerOf, joined, type Row, type Tables } from './nested-loops.js';
import { type Builder, createBuilder, findKinds } from './test-databases.js';
import { columnRef, createLoggedEngine, datamart, metric, type Place, question, relationship, table } from './world.js';

const columns = { id: 'BIGINT', a: 'BIGINT', b: 'BIGINT', c: 'BIGINT', x: 'BIGINT', d: 'VARCHAR' };
const names = ['orders', 'lines', 'notes', 'parts'] as const;

/** Keys that repeat on both sides, match nothing, or are NULL. */
const data: Tables = {
  orders: rowsOf(
    [1, 1, null, null, 10, 'p'],
    [2, 1, null, null, 20, 'q'],
    [3, 2, null, null, 30, 'p'],
    [4, 7, null, null, 40, null],
    [5, null, null, null, null, 'q'],
  ),
  lines: rowsOf(
    [1, 1, 1, null, 1, 'u'],
    [2, 1, 2, null, 2, 'v'],
    [3, 1, 2, null, 4, 'u'],
    [4, 2, 1, null, null, 'v'],
    [5, 9, 3, null, 8, 'u'],
    [6, null, 1, null, 16, null],
  ),
  notes: rowsOf(
    [1, 1, null, null, 100, 's'],
    [2, 1, null, null, 200, 's'],
    [3, 2, null, null, 300, 't'],
    [4, 8, null, null, 400, 't'],
  ),
  parts: rowsOf(
    [1, null, 1, null, 5, 'y'],
    [2, null, 2, null, 7, 'z'],
    [3, null, 2, null, 9, 'y'],
    [4, null, 4, null, 11, null],
  ),
};

function rowsOf(...rows: readonly (readonly (number | string | null)[])[]): readonly Row[] {
  return rows.map(([id = null, a = null, b = null, c = null, x = null, d = null]) => ({ id, a, b, c, x, d }));
}

const edges = [
  ['orders.a', 'lines.a'],
  ['orders.a', 'notes.a'],
  ['lines.b', 'parts.b'],
] as const;

const martOf = (joins: readonly JoinKind[], cardinality: Cardinality | null = null): Datamart =>
  datamart({
    tenancy: null,
    tables: names.map((name) => table(name, columns)),
    relationships: edges.map(([parent, child], index) =>
      relationship(parent, child, joins[index] ?? null, cardinality),
    ),
  });

const measure = (name: string, aggregate: NonNullable<Measure['aggregate']>, column?: string, rest = {}): Measure => ({
  name,
  aggregate,
  ...(column === undefined ? {} : { column: columnRef(column) }),
  ...rest,
});
const over = (definition: Partial<VisualDefinition>) => metric('orders', definition);
const allJoins: readonly JoinKind[] = ['LEFT JOIN', 'INNER JOIN', 'RIGHT JOIN', 'FULL JOIN'];

describe.each(await findKinds())('an aggregate on %s', (kind) => {
  let builder: Builder;
  let place: Place;
  let engine: Engine;
  const joinKinds = allJoins.filter((join) => kind !== 'MYSQL' || join !== 'FULL JOIN');

  beforeAll(async () => {
    builder = await createBuilder(kind);
    place = await builder.build(
      'fanout',
      names.map((name) => ({ name, columns, rows: (data[name] ?? []).map((row) => Object.values(row)) })),
    );
    ({ engine } = createLoggedEngine());
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  const ask = async (mart: Datamart, definition: VisualDefinition) => {
    const { rows } = await engine.query(question(place, mart, 'None', definition));
    return rows.map((row) => Object.values(row));
  };

  const byLine = { dimensions: [{ name: 'line', column: columnRef('lines.d') }] };
  const measures = [
    measure('n', 'COUNT'),
    measure('sum', 'SUM', 'orders.x'),
    measure('avg', 'AVG', 'orders.x'),
    measure('median', 'MEDIAN', 'orders.x'),
    measure('most', 'MAX', 'orders.x'),
    measure('lines', 'SUM', 'lines.x'),
  ];

  it('an aggregate of the one side is counted once, grouped by a column of the many side', async () => {
    // Orders 1 and 2 have the lines u, v and u of key 1. Order 3 has the line v of key 2. Orders 4 and 5 have none.
    expect(await ask(martOf(['LEFT JOIN']), over({ ...byLine, measures }))).toEqual([
      ['u', 2, 30, 15, 15, 20, 5],
      ['v', 3, 60, 20, 20, 30, 2],
      [null, 2, 40, 40, 40, 40, null],
    ]);
  });

  it('says of which measures the groups share rows, so that nobody adds them up', async () => {
    const overlapping = async (parts: Parameters<typeof over>[0]): Promise<readonly string[]> => {
      const mart = martOf(['LEFT JOIN'], 'OneToMany');
      const { columns } = await engine.query(question(place, mart, 'None', over(parts)));
      return columns.flatMap(({ name, isOverlapping }) => (isOverlapping === true ? [name] : []));
    };
    expect(await overlapping({ ...byLine, measures })).toEqual(['n', 'sum', 'avg', 'median', 'most']);
    const byOrder = { dimensions: [{ name: 'order', column: columnRef('orders.d') }] };
    expect(await overlapping({ ...byOrder, measures })).toEqual([]);
  });

  it('has no share and no running total of groups that share rows, and says so of their columns', async () => {
    const calculations = [
      { kind: 'shareOfTotal', name: 'share', of: 'sum' },
      { kind: 'shareOfTotal', name: 'share of lines', of: 'lines' },
      { kind: 'shareOfTotal', name: 'share of orders in a line', of: 'sum', within: ['line'] },
      { kind: 'runningTotal', name: 'running', of: 'sum', along: 'line' },
    ] as const;
    const definition = over({
      dimensions: [...byLine.dimensions, { name: 'order', column: columnRef('orders.d') }],
      measures: measures.filter(({ name }) => name === 'sum' || name === 'lines'),
      calculations,
    });
    const mart = martOf(['LEFT JOIN'], 'OneToMany');
    const { rows, columns } = await engine.query(question(place, mart, 'None', definition));
    const overlapping = columns.filter(({ isOverlapping }) => isOverlapping === true).map(({ name }) => name);
    expect(overlapping).toEqual(['sum', 'share', 'running']);
    for (const row of rows) expect([row.share, row.running]).toEqual([null, null]);
    expect(rows.reduce((sum, row) => sum + Number(row['share of lines']), 0)).toBeCloseTo(1);
    const ofU = rows.filter((row) => row.line === 'u').map((row) => Number(row['share of orders in a line']));
    expect(ofU.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1);
  });

  it('an aggregate of the one side is counted once without groups', async () => {
    const both = [
      ...measures,
      measure('notes', 'SUM', 'notes.x'),
      measure('share', 'AVG', 'notes.x', { indicator: { kind: 'compare', operator: '>', value: 150 } }),
    ];
    expect(await ask(martOf(['LEFT JOIN', 'LEFT JOIN']), over({ measures: both }))).toEqual([
      [5, 100, 25, 25, 40, 7, 600, 2 / 3],
    ]);
    expect(await ask(martOf(['INNER JOIN', 'LEFT JOIN']), over({ measures: both }))).toEqual([
      [3, 60, 20, 20, 30, 7, 600, 2 / 3],
    ]);
  });

  it('a group of rows that an outer join padded exists and counts 0', async () => {
    // Lines 5 and 6 have no order.
    expect(await ask(martOf(['RIGHT JOIN']), over({ ...byLine, measures }))).toEqual([
      ['u', 2, 30, 15, 15, 20, 13],
      ['v', 3, 60, 20, 20, 30, 2],
      [null, 0, null, null, null, null, 16],
    ]);
  });

  it('is the same with a declared cardinality and with none', async () => {
    const ofOrders = { ...byLine, measures: measures.slice(0, 5) };
    const answers = await Promise.all(
      (['OneToMany', 'ManyToMany', null] as const).map((cardinality) =>
        ask(martOf(['LEFT JOIN'], cardinality), over(ofOrders)),
      ),
    );
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
  });

  const aggregates = ['SUM', 'COUNT', 'AVG', 'MEDIAN', 'PERCENTILE', 'MIN', 'COUNT_DISTINCT'] as const;
  const asked = fc.record({
    joins: fc.tuple(...edges.map(() => fc.constantFrom(...joinKinds))),
    dimensions: fc.subarray([...names], { maxLength: 2 }),
    measures: fc.array(fc.tuple(fc.constantFrom(...aggregates), fc.constantFrom(...names)), {
      minLength: 1,
      maxLength: 4,
    }),
    isCounted: fc.boolean(),
    where: fc.option(fc.tuple(fc.constantFrom(...names), fc.integer({ min: 0, max: 60 }))),
  });

  it('equals the result of nested loops', async () => {
    await fc.assert(
      fc.asyncProperty(asked, async ({ joins, dimensions, measures: chosen, isCounted, where }) => {
        const definition = over({
          dimensions: dimensions.map((name) => ({ name: `d_${name}`, column: columnRef(`${name}.d`) })),
          measures: [
            ...(isCounted ? [measure('n', 'COUNT')] : []),
            ...chosen.map(([aggregate, name], index) =>
              measure(`m${index}`, aggregate, `${name}.x`, aggregate === 'PERCENTILE' ? { percentile: 0.25 } : {}),
            ),
          ],
          ...(where === null
            ? {}
            : {
                where: {
                  all: [
                    {
                      column: columnRef(`${where[0]}.x`),
                      predicate: { kind: 'compare', operator: '>', value: where[1] },
                    },
                  ],
                },
              }),
        });
        const mart = martOf(joins);
        const expected = answerOf(joined(data, mart, definition), definition);
        expect(await ask(mart, definition)).toEqual(expected);
      }),
      { seed: 20261122, numRuns: 40 },
    );
  });
});
