/** Alerts write the values of a measure as its card does. */
import { expect, test } from 'vitest';
import { type AlertText, sentencesOf } from '../../src/delivery/alert-text.js';
import type { ColumnNumbers } from '../../src/model/datamart/datamart.js';
import { speechOf } from '../../src/model/texts/messages.js';
import { createFormat } from '../../src/web/base/format.js';

const alert: AlertText = {
  ...{ metricId: 'm', metricName: 'Sales', measure: 'Amount', isBreached: true, hasChanged: true, isAnew: false },
  ...{ condition: { is: 'above', value: 1200 }, value: 1234.5, at: [], before: 1100, change: 12.2, appeared: [] },
};
const asIs = (text: string): string => text;

test.each<[ColumnNumbers, number, number]>([
  [{ currency: 'EUR' }, 1234.5, 1200],
  [{ currency: 'JPY', notation: 'compact' }, 1234567, 1200000],
  [{ format: 'percent' }, 0.215, 0.2],
  [{ notation: 'compact' }, 1234567, 1200000],
  [{ currency: 'USD', unit: 'a day' }, 20, 10],
])('the value, the limit and the value before are written as a card writes %j', (numbers, value, limit) => {
  for (const language of ['en', 'de', 'ja']) {
    const write = (number: number): string => createFormat(language).measure(number, numbers);
    const condition = { is: 'above', value: limit } as const;
    const [first, second] = sentencesOf({ ...alert, condition, value, numbers }, speechOf(language), asIs);
    expect(first).toContain(write(value));
    expect(second).toContain(write(limit));
    const change = { is: 'changeAbove', percent: 5, to: 'lastCheck' } as const;
    const told = sentencesOf({ ...alert, condition: change, value, before: limit, numbers }, speechOf(language), asIs);
    expect(told.join(' ')).toContain(write(limit));
  }
});

test('a number without a format keeps every digit, and its unit, so that it differs from the limit', () => {
  const numbers = { unit: 'min' };
  const condition = { is: 'above', value: 5 } as const;
  const said = sentencesOf({ ...alert, condition, value: 5.004, numbers }, speechOf('en'), asIs);
  expect(said).toEqual(['Sales: Amount is 5.004\u00a0min.', 'The value is above 5\u00a0min.']);
});
