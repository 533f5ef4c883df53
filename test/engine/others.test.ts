/** The greatest groups, and all others combined: computed from their rows, on every database, as plain SQL has them. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Measure, VisualDefinition } from '../../src/model/dashboard/metric.js';
import type { Cell, Engine, MetricAnswer, MetricQuestion } from '../../src/model/query/engine.js';
import { systemClock } from '../../src/platform/work/time.js';
import { type ByHand, connectByHand } from './by-hand.js';
import { type Builder, createBuilder, findKinds, hasSql } from './test-databases.js';
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
  rowsOf,
  table,
} from './world.js';

const columns = {
  id: 'BIGINT',
  country: 'VARCHAR',
  kind: 'VARCHAR',
  amount: 'BIGINT',
  price: 'DECIMAL(9,2)',
  day: 'DATE',
};
const lineColumns = { sale: 'BIGINT', product: 'VARCHAR' };

/** A country that is called as the combined group, one that is NULL, and one that differs from another in case. */
const rows = [
  [1, 'DE', 'a', 50, '1.50', '2024-01-05'],
  [2, 'DE', 'b', 40, '2.50', '2024-01-06'],
  [3, null, 'a', 60, '4.00', '2024-02-01'],
  [4, 'Other', 'a', 30, '8.00', '2024-02-02'],
  [5, 'FR', 'b', 20, '16.00', '2024-02-03'],
  [6, 'fr', 'b', 9, '1.00', '2024-03-01'],
  [7, 'IT', 'c', 8, null, '2024-03-02'],
  [8, 'IT', null, null, '3.00', '2024-03-03'],
  [9, '', 'c', 7, '5.00', null],
  [10, 'ES', 'a', 7, '5.00', '2024-03-05'],
] as const;
const lines = [
  [1, 'x'],
  [1, 'y'],
  [2, 'x'],
  [3, 'z'],
  [5, 'y'],
  [5, 'z'],
  [6, 'w'],
] as const;

const mart = datamart({
  tenancy: null,
  tables: [table('sales', columns), table('sale_lines', lineColumns)],
  relationships: [relationship('sales.id', 'sale_lines.sale', null, 'OneToMany')],
});

const of = (name: string, aggregate: NonNullable<Measure['aggregate']>, column?: string, rest = {}): Measure =>
  ({ name, aggregate, ...(column === undefined ? {} : { column: columnRef(column) }), ...rest }) as Measure;
const total = of('total', 'SUM', 'sales.amount');
const country = { name: 'country', column: columnRef('sales.country') };
const kindOf = { name: 'kind', column: columnRef('sales.kind') };
const greatest = { sort: [{ name: 'total', direction: 'DESC' }], limit: 2, others: true } as const;

const plain = (cell: Cell | undefined): Cell => {
  if (cell === null || cell === undefined) return null;
  return typeof cell === 'boolean' || Number.isNaN(Number(cell)) || cell === '' ? cell : Number(cell);
};
const cells = ({ columns: found, rows: all }: MetricAnswer): readonly (readonly Cell[])[] =>
  all.map((row) => found.map(({ name }) => plain(row[name])));

describe.each(await findKinds())('on %s', (kind) => {
  let builder: Builder;
  let place: Place;
  let engine: Engine;
  let byHand: ByHand;

  beforeAll(async () => {
    builder = await createBuilder(kind);
    place = await builder.build('others', [
      { name: 'sales', columns, rows },
      { name: 'sale_lines', columns: lineColumns, rows: lines },
    ]);
    engine = createLoggedEngine().engine;
    byHand = await connectByHand(kind, place);
  });
  afterAll(async () => {
    await byHand?.close();
    await engine?.close();
    await builder?.remove();
  });

  const posed = (parts: Partial<VisualDefinition>, more: Partial<MetricQuestion> = {}): MetricQuestion =>
    question(place, mart, 'None', metric('sales', { ...greatest, ...parts }), more);
  const ask = (parts: Partial<VisualDefinition>, more: Partial<MetricQuestion> = {}) =>
    engine.query(posed(parts, more));

  it('combines the rows of all other groups, NULL being a group like others', async () => {
    const answer = await ask({ dimensions: [country], measures: [total] });
    expect(cells(answer)).toEqual([
      ['DE', 90],
      [null, 60],
      [null, 81],
    ]);
    expect([answer.others, answer.totalRecords]).toEqual([{ name: 'country', rows: 1 }, 3]);
    expect(answer.columns.map(({ name }) => name)).toEqual(['country', 'total']);
  });

  it('combines NULL with the others where it is not among the greatest groups', async () => {
    const few = await ask({ dimensions: [country], measures: [total], limit: 1 });
    expect([cells(few), few.others?.rows]).toEqual([
      [
        ['DE', 90],
        [null, 141],
      ],
      1,
    ]);
    const all = await ask({ dimensions: [country], measures: [total], limit: 50 });
    expect([all.rows.length, all.others]).toEqual([8, undefined]);
  });

  it('answers every aggregate of the others as plain SQL computes it of their rows', async () => {
    const measures = [
      total,
      of('count', 'COUNT'),
      of('prices', 'COUNT', 'sales.price'),
      of('least', 'MIN', 'sales.amount'),
      of('most', 'MAX', 'sales.amount'),
      of('mean', 'AVG', 'sales.amount'),
      of('kinds', 'COUNT_DISTINCT', 'sales.kind'),
      of('middle', 'MEDIAN', 'sales.amount'),
      of('part', 'AVG', 'sales.amount', { indicator: { kind: 'compare', operator: '>', value: 8 } }),
    ];
    const answer = await ask({ dimensions: [country], measures });
    const from = `from ${place.schemaName}.sales where country is not null and country <> 'DE'`;
    const [expected = []] = await byHand.run(
      `select sum(amount), count(*), count(price), min(amount), max(amount), ${byHand.words.real('sum(amount)')} / count(amount), count(distinct kind), ${byHand.words.percentile(0.5, 'amount', from)}, ${byHand.words.real('sum(case when amount > 8 then 1 else 0 end)')} / count(amount) ${from}`,
    );
    const found = cells(answer).at(-1)?.slice(1) ?? [];
    expect(found.length).toBe(expected.length);
    for (const [index, value] of found.entries()) expect(Number(value)).toBeCloseTo(Number(expected[index]), 9);
  });

  it.runIf(hasSql(kind))('computes expressions of the others from their rows', async () => {
    const measures = [total, { name: 'ratio', expression: 'SUM(sales.amount) / COUNT(sales.kind)' }];
    const answer = await ask({ dimensions: [country], measures });
    const [[expected = null] = []] = await byHand.run(
      `select sum(amount) / count(kind) from ${place.schemaName}.sales where country is not null and country <> 'DE'`,
    );
    expect(Number(answer.rows.at(-1)?.ratio)).toBeCloseTo(Number(expected), 3);
  });

  it('counts a row once among the others, even if joins repeat it', async () => {
    const product = { name: 'product', column: columnRef('sale_lines.product') };
    const answer = await ask({ dimensions: [product], measures: [total, of('count', 'COUNT')], limit: 1 });
    // Sales 1 and 2 have x. Sale 1 has another product too, and sale 5 two others.
    expect(cells(answer)).toEqual([
      ['x', 90, 2],
      [null, 191, 9],
    ]);
  });

  it('takes the greatest values of the second dimension over all values of the first', async () => {
    const month = { name: 'month', column: columnRef('sales.day'), grain: 'month' } as const;
    const answer = await ask({ dimensions: [month, kindOf], measures: [total], limit: 1 });
    expect(answer.others).toEqual({ name: 'kind', rows: 4 });
    expect(cells(answer)).toEqual([
      ['2024-02-01', 'a', 90],
      ['2024-01-01', 'a', 50],
      ['2024-03-01', 'a', 7],
      ['2024-01-01', null, 40],
      ['2024-02-01', null, 20],
      ['2024-03-01', null, 17],
      [null, null, 7],
    ]);
  });

  it('keeps the same groups under another sort, and the others last', async () => {
    const sort = [{ name: 'total', direction: 'ASC' }] as const;
    const answer = await ask({ dimensions: [country], measures: [total] }, { sort });
    expect(cells(answer)).toEqual([
      [null, 60],
      ['DE', 90],
      [null, 81],
    ]);
    expect(answer.others?.rows).toBe(1);
  });

  it('pages like any answer, and says which of these rows are the others', async () => {
    const shown = { dimensions: [country], measures: [total] };
    const first = await ask(shown, { limit: 2 });
    expect([cells(first).length, first.others, first.totalRecords]).toEqual([2, undefined, 3]);
    const rest = await ask(shown, { limit: 2, offset: 2 });
    expect([cells(rest), rest.others]).toEqual([[[null, 81]], { name: 'country', rows: 1 }]);
  });

  it('ranks and combines only the rows that the conditions leave', async () => {
    const conditions = [condition('sales.kind', { kind: 'oneOf', values: ['a', 'b'] })];
    const answer = await ask({ dimensions: [country], measures: [total], limit: 1 }, { conditions });
    expect(cells(answer)).toEqual([
      ['DE', 90],
      [null, 126],
    ]);
  });

  it('shares the total between the groups and the others', async () => {
    const calculations = [{ kind: 'shareOfTotal', name: 'share', of: 'total' }] as const;
    const answer = await ask({ dimensions: [country], measures: [total], calculations });
    expect(answer.rows.map(({ share }) => Number(Number(share).toFixed(6)))).toEqual([0.38961, 0.25974, 0.350649]);
  });

  it('marks the others in a stream too', async () => {
    const stream = await engine.stream(posed({ dimensions: [country], measures: [total] }));
    const all = await rowsOf(stream);
    expect(all.map((row) => [row[0], Number(row[1]), stream.isOther(row)])).toEqual([
      ['DE', 90, false],
      [null, 60, false],
      [null, 81, true],
    ]);
  });

  it('adds up to the total of all rows, whatever the groups are', async () => {
    const dimensions = fc.constantFrom(
      [country],
      [kindOf],
      [{ name: 'price', column: columnRef('sales.price') }],
      [{ name: 'month', column: columnRef('sales.day'), grain: 'month' as const }],
      [{ name: 'bucket', column: columnRef('sales.amount'), bucketWidth: 10 }],
      [country, kindOf],
    );
    await fc.assert(
      fc.asyncProperty(dimensions, fc.integer({ min: 1, max: 9 }), async (groups, limit) => {
        const { rows: found } = await ask({ dimensions: groups, measures: [total, of('count', 'COUNT')], limit });
        const sum = (name: string) => found.reduce((all, row) => all + Number(row[name] ?? 0), 0);
        expect([sum('total'), sum('count')]).toEqual([231, 10]);
      }),
      { numRuns: 12 },
    );
  });

  it('answers another limit, and no others, afresh beside cached answers', async () => {
    const secret = createHash('sha256').update('others').digest();
    const cache = { secret, clock: systemClock, ttlSeconds: 60, maxBytes: 1e6, shared: null };
    const { engine: caching } = createLoggedEngine({ cache });
    onTestFinished(() => caching.close());
    const of = (parts: Partial<VisualDefinition>) =>
      caching.query(posed({ dimensions: [country], measures: [total], ...parts }));
    const counts = [];
    for (const parts of [{ limit: 1 }, { limit: 2 }, { limit: 3 }, { limit: 3, others: false }]) {
      counts.push((await of(parts)).rows.length);
    }
    expect(counts).toEqual([2, 3, 4, 3]);
  });

  it('refuses others that have no place, as a write does', async () => {
    const refused = await refusalOf(() => ask({ dimensions: [country], measures: [total], sort: [] }));
    expect([refused.code, refused.reason]).toEqual(['METRIC_QUERY_ERROR', 'others-invalid']);
  });
});
