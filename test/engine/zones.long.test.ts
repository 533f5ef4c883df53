/**
 * Days with clock changes, on every database. The expected values come from Intl, one instant at a time, and from the
 * known length of the day, never from a database.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TimeGrain } from '../../src/model/dashboard/metric.js';
import type { Condition } from '../../src/model/filter/filter.js';
import { readFilterValue } from '../../src/model/filter/value.js';
import type { Cell, Engine } from '../../src/model/query/engine.js';
import { type Builder, createBuilder, findKinds } from './test-databases.js';
import { columnRef, createLoggedEngine, datamart, metric, type Place, question, table } from './world.js';

type Change = {
  readonly zone: string;
  readonly day: string;
  /** Number of half hours of that day: 48, except those that the clocks skip or repeat. */
  readonly halfHours: number;
  /** Start and exclusive end of the local times that are skipped or occur twice. */
  readonly odd: readonly [from: string, to: string, halfHours: number];
};

const changes: readonly Change[] = [
  { zone: 'Europe/Berlin', day: '2024-03-31', halfHours: 46, odd: ['02:00:00', '03:00:00', 0] },
  { zone: 'Europe/Berlin', day: '2024-10-27', halfHours: 50, odd: ['02:00:00', '03:00:00', 4] },
  { zone: 'America/New_York', day: '2024-03-10', halfHours: 46, odd: ['02:00:00', '03:00:00', 0] },
  { zone: 'America/New_York', day: '2024-11-03', halfHours: 50, odd: ['01:00:00', '02:00:00', 4] },
  // The change is half an hour: 02:00 becomes 02:30 in October, and 02:00 becomes 01:30 in April.
  { zone: 'Australia/Lord_Howe', day: '2024-10-06', halfHours: 47, odd: ['02:00:00', '02:30:00', 0] },
  { zone: 'Australia/Lord_Howe', day: '2024-04-07', halfHours: 49, odd: ['01:30:00', '02:00:00', 2] },
];

const minutes = 60_000;
const half = 30 * minutes;

/** Returns every half hour of the three days around the change, as instants. */
const ticksOf = ({ day }: Change): readonly number[] => {
  const noon = Date.parse(`${day}T12:00:00Z`);
  return Array.from({ length: 6 * 24 }, (_, index) => noon + (index - 3 * 24) * half);
};

const stored = (moment: number): string => new Date(moment).toISOString().slice(0, 19).replace('T', ' ');

/** Returns the local time in the zone, by Intl: `2024-03-31T03:30:00`. */
const wallOf = (zone: string): ((moment: number) => string) => {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
  return (moment) => format.format(moment).replace(' ', 'T');
};

const grains: Readonly<Partial<Record<TimeGrain, (wall: string) => Cell>>> = {
  minute: (wall) => `${wall.slice(0, 16)}:00`,
  hour: (wall) => `${wall.slice(0, 13)}:00:00`,
  day: (wall) => wall.slice(0, 10),
  month: (wall) => `${wall.slice(0, 7)}-01`,
  hourOfDay: (wall) => Number(wall.slice(11, 13)),
  dayOfWeek: (wall) => new Date(`${wall.slice(0, 10)}T00:00:00Z`).getUTCDay() || 7,
};

const countBy = (values: readonly Cell[]): readonly (readonly Cell[])[] => {
  const counts = new Map<Cell, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));
};

const columns = { span: 'BIGINT', at: 'TIMESTAMP', moment: 'TIMESTAMP WITH TIME ZONE' };
const mart = datamart({
  tenancy: null,
  tables: [table('ticks', { span: 'BIGINT', 'at@': 'TIMESTAMP', 'moment@': 'TIMESTAMP WITH TIME ZONE' })],
});
const count = { name: 'n', aggregate: 'COUNT' } as const;

describe.each(await findKinds())('on %s', (kind) => {
  let builder: Builder;
  let place: Place;
  let engine: Engine;

  beforeAll(async () => {
    builder = await createBuilder(kind);
    const rows = changes.flatMap((change, span) =>
      ticksOf(change).map((moment) => [span, stored(moment), `${stored(moment)}+00`]),
    );
    place = await builder.build('zones', [{ name: 'ticks', columns, rows }]);
    engine = createLoggedEngine().engine;
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  describe.each(changes)('$zone on $day', (change) => {
    const { zone, day, halfHours, odd } = change;
    const span: Condition = {
      column: columnRef('ticks.span'),
      predicate: { kind: 'compare', operator: '=', value: changes.indexOf(change) },
    };
    const asked = (column: string, conditions: readonly Condition[], grain?: TimeGrain) =>
      question(
        place,
        mart,
        'None',
        metric('ticks', {
          dimensions: grain === undefined ? [] : [{ name: 'd', column: columnRef(column), grain }],
          measures: [count],
        }),
        { timezone: zone, conditions: [span, ...conditions] },
      );
    const countOf = async (column: string, from: string | null, to: string | null): Promise<Cell | undefined> => {
      const predicate = { kind: 'range', from, to, toIsExclusive: true } as const;
      return (await engine.query(asked(column, [{ column: columnRef(column), predicate }]))).rows[0]?.n;
    };

    it.each(['ticks.at', 'ticks.moment'])('%s is grouped by local time', async (column) => {
      const walls = ticksOf(change).map(wallOf(zone));
      for (const [grain, expected] of Object.entries(grains)) {
        const { rows } = await engine.query(asked(column, [], grain as TimeGrain));
        expect(countBy(rows.flatMap(({ d, n }) => Array<Cell>(Number(n)).fill(d ?? null))), grain).toEqual(
          countBy(walls.map(expected)),
        );
      }
    });

    it.each(['ticks.at', 'ticks.moment'])(
      '%s: a group of hours or weekdays has the rows that it counts',
      async (column) => {
        for (const grain of ['hourOfDay', 'dayOfWeek'] as const) {
          const { rows } = await engine.query(asked(column, [], grain));
          const counted = await Promise.all(
            rows.map(async ({ d }) => {
              const predicate = { kind: 'recurring', grain, value: Number(d) } as const;
              return (await engine.query(asked(column, [{ column: columnRef(column), predicate }]))).rows[0]?.n;
            }),
          );
          expect([grain, counted]).toEqual([grain, rows.map(({ n }) => n)]);
        }
      },
    );

    it.each(['ticks.at', 'ticks.moment'])('%s: ranges end where the day ends, however long it is', async (column) => {
      const walls = ticksOf(change).map(wallOf(zone));
      const next = new Date(Date.parse(`${day}T00:00:00Z`) + 48 * half).toISOString().slice(0, 10);
      const [from, to, halves] = odd;
      expect(await countOf(column, day, next)).toBe(halfHours);
      expect(await countOf(column, `${day}T${from}`, `${day}T${to}`)).toBe(halves);
      expect(await countOf(column, day, null)).toBe(walls.filter((wall) => wall >= day).length);
      expect(await countOf(column, null, next)).toBe(walls.filter((wall) => wall < next).length);
    });

    it('presets use the local day, from its first half hour to its last', async () => {
      const wall = wallOf(zone);
      const today = ticksOf(change).filter((moment) => wall(moment).startsWith(day));
      expect(today).toHaveLength(halfHours);
      for (const now of [today[0], today.at(-1)]) {
        const reading = readFilterValue('date', 'Today', { now: new Date(now ?? 0), timezone: zone });
        if (!('predicate' in reading)) throw new Error(reading.expected);
        const conditions = [{ column: columnRef('ticks.at'), predicate: reading.predicate }];
        expect((await engine.query(asked('ticks.at', conditions))).rows).toEqual([{ n: halfHours }]);
      }
    });
  });
});
