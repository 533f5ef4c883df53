/** Hidden measures are computed for what is built on them, and are no column of the answer: a running total stands alone. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { VisualDefinition } from '../../src/model/dashboard/metric.js';
import { compared } from '../../src/model/query/comparison.js';
import type { Engine } from '../../src/model/query/engine.js';
import { type Builder, createBuilder, findKinds } from './test-databases.js';
import { columnRef, condition, createLoggedEngine, datamart, metric, type Place, question, table } from './world.js';

const columns = { day: 'DATE', amount: 'BIGINT' };
const mart = datamart({ tenancy: null, tables: [table('sales', columns)] });
const total = { name: 'total', aggregate: 'SUM', column: columnRef('sales.amount'), isHidden: true } as const;
const soFar = { kind: 'runningTotal', name: 'so far', of: 'total' } as const;
const monthly = { name: 'month', column: columnRef('sales.day'), grain: 'month' } as const;

describe.each(await findKinds())('on %s', (kind) => {
  let builder: Builder;
  let place: Place;
  let engine: Engine;

  beforeAll(async () => {
    builder = await createBuilder(kind);
    const rows = [
      ['2024-01-05', 10],
      ['2024-01-06', 1],
      ['2024-02-01', 5],
      ['2024-03-01', 20],
    ] as const;
    place = await builder.build('hidden_measures', [{ name: 'sales', columns, rows }]);
    engine = createLoggedEngine().engine;
  });
  afterAll(async () => {
    await engine?.close();
    await builder?.remove();
  });

  const posed = (parts: Partial<VisualDefinition>) => question(place, mart, 'None', metric('sales', parts));
  const running = { dimensions: [monthly], measures: [total], calculations: [soFar] };

  it('answers a running total alone, without the measure that it adds up', async () => {
    const { columns: found, rows } = await engine.query(posed(running));
    expect(found.map(({ name }) => name)).toEqual(['month', 'so far']);
    expect(rows.map((row) => Object.keys(row))).toEqual(rows.map(() => ['month', 'so far']));
    expect(rows.map((row) => Number(row['so far']))).toEqual([11, 16, 36]);
  });

  it('sorts and filters groups by a measure that is hidden', async () => {
    const sort = [{ name: 'total', direction: 'DESC' }] as const;
    const having = { measure: 'total', predicate: { kind: 'compare', operator: '>', value: 5 } } as const;
    const { rows } = await engine.query(posed({ ...running, sort, having }));
    expect(rows.map((row) => Number(row['so far']))).toEqual([31, 11]);
    expect(Object.keys(rows[0] ?? {})).not.toContain('total');
  });

  it('leaves the measure out of downloads too', async () => {
    const { columns: found, batches } = await engine.stream(posed(running));
    expect(found.map(({ name }) => name)).toEqual(['month', 'so far']);
    const rows: (readonly unknown[])[] = [];
    for await (const batch of batches) rows.push(...batch);
    expect(rows.map((row) => [row.length, Number(row[1])])).toEqual([
      [2, 11],
      [2, 16],
      [2, 36],
    ]);
  });

  it('compares the first measure that is shown with the period before', async () => {
    const comparison = { column: columnRef('sales.day'), grain: 'month', periods: 1 } as const;
    const where = condition('sales.day', {
      ...{ kind: 'range', from: '2024-02-01', to: '2024-03-01', toIsExclusive: true },
    } as const);
    const measures = [total, { name: 'rows', aggregate: 'COUNT' } as const];
    const answer = await compared(engine.query)(posed({ measures, comparison, where }));
    expect([Number(answer.rows[0]?.rows), Number(answer.comparisonValue)]).toEqual([1, 2]);
  });
});
