/** Every grain of moments before and after 1970, with fractions of a second, on every database (ClickHouse#79290, ClickHouse#119967). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TimeGrain } from '../../src/model/dashboard/metric.js';
import { periods } from '../../src/model/filter/period.js';
import type { Engine } from '../../src/model/query/engine.js';
import { type Builder, createBuilder, findKinds } from './test-databases.js';
import { columnRef, createLoggedEngine, datamart, metric, type Place, question, table } from './world.js';

const columns = { id: 'BIGINT', at: 'TIMESTAMP' };
const mart = datamart({ tenancy: null, tables: [table('moments', columns)] });

const moments = [
  '1900-01-01T00:00:00.000',
  '1958-02-28T23:59:00.250',
  '1969-12-28T23:59:59.999',
  '1969-12-31T22:59:59.500',
  '1969-12-31T23:58:59.500',
  '1969-12-31T23:59:59.500',
  '1970-01-01T00:00:00.000',
  '2000-02-29T12:34:56.789',
  '2024-12-31T23:59:59.999',
];

const inDays = (date: Date): number => Math.floor(date.getTime() / 86_400_000);
const ofDay = (day: number): string => new Date(day * 86_400_000).toISOString().slice(0, 10);

/** The start of the period, as an answer writes it. */
const startOf = (text: string, grain: TimeGrain): string | number => {
  const date = new Date(`${text}Z`);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  // 1970-01-01 was a Thursday.
  const weekday = (((inDays(date) + 3) % 7) + 7) % 7;
  const firstOf = (of: number): string => new Date(Date.UTC(year, of, 1)).toISOString().slice(0, 10);
  switch (grain) {
    case 'minute':
      return `${text.slice(0, 16)}:00`;
    case 'hour':
      return `${text.slice(0, 13)}:00:00`;
    case 'day':
      return text.slice(0, 10);
    case 'week':
      return ofDay(inDays(date) - weekday);
    case 'month':
      return firstOf(month);
    case 'quarter':
      return firstOf(month - (month % 3));
    case 'year':
      return firstOf(0);
    case 'hourOfDay':
      return date.getUTCHours();
    case 'dayOfWeek':
      return weekday + 1;
  }
};

describe.each(await findKinds())('on %s', (kind) => {
  let builder: Builder;
  let place: Place;
  let engine: Engine;
  beforeAll(async () => {
    builder = await createBuilder(kind);
    const rows = moments.map((at, id) => [id, at.replace('T', ' ')]);
    place = await builder.build('grains', [{ name: 'moments', columns, rows }]);
    engine = createLoggedEngine().engine;
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  it.each([...periods, 'hourOfDay', 'dayOfWeek'] as readonly TimeGrain[])(
    'each moment is in its own %s',
    async (grain) => {
      const definition = metric('moments', {
        dimensions: [
          { name: 'id', column: columnRef('moments.id') },
          { name: 'd', column: columnRef('moments.at'), grain },
        ],
        sort: [{ name: 'id', direction: 'ASC' }],
      });
      const { rows } = await engine.query(question(place, mart, 'None', definition));
      expect(rows.map(({ d }) => d)).toEqual(moments.map((at) => startOf(at, grain)));
    },
  );
});
