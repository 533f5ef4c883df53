import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '../../src/model/query/engine.js';
import { type Builder, createBuilder, findKinds } from './test-databases.js';
import { columnRef, createLoggedEngine, datamart, metric, type Place, question, table } from './world.js';

const columns = { day: 'DATE', amount: 'BIGINT' };
const mart = datamart({ tenancy: null, tables: [table('balances', columns)] });

describe.each(await findKinds())('on %s', (kind) => {
  let builder: Builder;
  let place: Place;
  let engine: Engine;
  beforeAll(async () => {
    builder = await createBuilder(kind);
    const rows = [
      ['2024-01-01', -100],
      ['2024-02-01', -50],
      ['2024-03-01', 100],
      ['2024-04-01', 50],
      ['2024-05-01', 0],
      ['2024-06-01', 10],
    ] as const;
    place = await builder.build('balances', [{ name: 'balances', columns, rows }]);
    engine = createLoggedEngine().engine;
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  // lightdash#8157: a fall from -900 to -1,000 was shown as a rise, because the change was divided by -900.
  it('a relative change is positive where the value grew, also from below zero', async () => {
    const definition = metric('balances', {
      dimensions: [{ name: 'month', column: columnRef('balances.day'), grain: 'month' }],
      measures: [{ name: 'sum', aggregate: 'SUM', column: columnRef('balances.amount') }],
      calculations: [
        { kind: 'previousPeriod', name: 'change', of: 'sum', along: 'month', periods: 1, result: 'relativeChange' },
      ],
      sort: [{ name: 'month', direction: 'ASC' }],
    });
    const { rows } = await engine.query(question(place, mart, 'None', definition));
    expect(rows.map(({ change }) => change)).toEqual([null, 0.5, 3, -0.5, -1, null]);
  });
});
