import { expect, test } from 'vitest';
import { combineOf, grainOf } from '../../src/web/charts/model/columns.js';

test('a column with the name of a member of every object has no grain and no rule of its own', () => {
  const chart = { grains: { Day: 'day' as const }, combine: { Flights: 'sum' as const } };
  for (const name of ['constructor', 'toString', '__proto__']) {
    expect([grainOf(chart, name), combineOf(chart, name)]).toEqual([undefined, undefined]);
  }
  expect([grainOf(chart, 'Day'), combineOf(chart, 'Flights')]).toEqual(['day', 'sum']);
});
