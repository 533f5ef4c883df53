/** What a card shows after a drill. */
import { describe, expect, it } from 'vitest';
import { chartTypes } from '../../src/model/dashboard/chart.js';
import type { TimeGrain } from '../../src/model/dashboard/metric.js';
import type { AnswerColumn } from '../../src/model/query/engine.js';
import { createFormat } from '../../src/web/base/format.js';
import { drilledTitle, drilledType } from '../../src/web/elements/drilled.js';

const day: AnswerColumn = { name: 'Day', dataType: 'date' };
const city: AnswerColumn = { name: 'City', dataType: 'string' };

describe('the type after a drill', () => {
  it.each([
    ['bar', day, 'day', 'line'],
    ['pie', day, 'month', 'line'],
    ['sankey', day, 'day', 'line'],
    ['line', city, undefined, 'bar'],
    ['waterfall', city, undefined, 'bar'],
    ['bar', city, undefined, 'bar'],
    ['bar', { name: 'Hour', dataType: 'number' }, 'hourOfDay', 'bar'],
    ['line', { name: 'Weekday', dataType: 'number' }, 'dayOfWeek', 'bar'],
    ['table', day, 'day', 'table'],
  ] as const)('of a %s to %o by %s is a %s', (type, column, grain, expected) => {
    expect(drilledType(type, column, grain as TimeGrain | undefined)).toBe(expected);
  });

  it('is one that draws a single dimension, for every type', () => {
    for (const type of chartTypes)
      for (const column of [day, city])
        expect(['sankey', 'histogram', 'waterfall']).not.toContain(drilledType(type, column, undefined));
  });
});

it('the title after a drill names the measures and the dimension', () => {
  const measures: readonly AnswerColumn[] = [
    { name: 'flights', dataType: 'number' },
    { name: 'delay', dataType: 'number', label: 'Average delay' },
  ];
  expect(drilledTitle(day, measures, createFormat('en'))).toBe('Flights and Average delay by Day');
});
