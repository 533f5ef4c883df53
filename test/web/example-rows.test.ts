/** Made-up rows for people who may see none: as many columns as the metric has, and nothing of a tenant. */
import { describe, expect, test } from 'vitest';
import type { TemplateMetric } from '../../src/web/studio/base/content.js';
import { DrawnMetrics } from '../../src/web/studio/base/drawn-metrics.js';

const from = { schemaName: 'main', tableName: 'flights' };
const metric = (more: object, name = 'Delays'): TemplateMetric =>
  ({
    ...{ metricId: 'm', name, lineage: [], placement: 'METRIC' },
    definition: {
      ...{
        kind: 'visual',
        chart: { type: 'bar' },
        from,
        dimensions: [],
        measures: [{ name: 'Flights', aggregate: 'COUNT' }],
      },
      ...{ filters: [], rlsVariables: [], underlying: [], drillPath: [], sort: [], limit: null, ...more },
    },
  }) as TemplateMetric;
const split = (name: string, grain?: string) => ({ name, column: { ...from, columnName: 'date' }, grain });
const { signal } = new AbortController();

describe('the cards of a template as they are drawn', () => {
  test('made-up rows have a value for each column, dates by their grain, and are the same each time', async () => {
    const asked = metric({ dimensions: [split('Month', 'month'), split('Carrier')] });
    const [first, second] = [new DrawnMetrics(null).of(asked), new DrawnMetrics(null).of(asked)];
    const answer = await first.ask({}, signal);
    expect(answer).toEqual(await second.ask({}, signal));
    expect(answer.columns.map(({ name, dataType }) => [name, dataType])).toEqual([
      ['Month', 'date'],
      ['Carrier', 'string'],
      ['Flights', 'number'],
    ]);
    expect(answer.rows.length).toBe(36);
    for (const row of answer.rows) expect(Object.keys(row)).toEqual(['Month', 'Carrier', 'Flights']);
    expect(answer.rows[3]?.Month).toBe('2024-02-01');
  });

  test('a metric that is only named anew keeps its question, and one that is changed gets another', () => {
    const asks = async () => {
      throw new Error('unused');
    };
    const drawn = new DrawnMetrics(asks);
    const first = drawn.of(metric({}));
    expect(drawn.of(metric({}))).toBe(first);
    const renamed = drawn.of(metric({}, 'Late'));
    expect([renamed.metric.name, renamed.key, renamed.ask]).toEqual(['Late', first.key, first.ask]);
    expect(drawn.of(metric({ limit: 3 })).key).not.toBe(first.key);
  });

  test('questions go one after the other, and one that fails does not hold the next', async () => {
    const order: string[] = [];
    const drawn = new DrawnMetrics(async (_, asked) => {
      order.push(JSON.stringify(asked));
      if (order.length === 1) throw new Error('refused');
      return { rows: [], columns: [], groupbyColumnList: [], totalRecords: 0 };
    });
    const { ask } = drawn.of(metric({}));
    const both = [ask({ limit: 1, maxPoints: 9 }, signal), ask({ limit: 2 }, signal)];
    await expect(both[0]).rejects.toThrow('refused');
    await expect(both[1]).resolves.toMatchObject({ totalRecords: 0 });
    expect(order).toEqual(['{"limit":1}', '{"limit":2}']);
  });
});
