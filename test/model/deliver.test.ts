/** Which moments a schedule sends: properties over random recurrences, time zones, stops and rules. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { calendar } from '../../src/delivery/calendar.js';
import { catchUps, dueMoments } from '../../src/model/schedule/catch-up.js';
import { concealed } from '../../src/model/schedule/history.js';
import { nextMoment, type Recurrence, recurrenceFault, weekdays } from '../../src/model/schedule/recurrence.js';
import type { DeliveryReason, DeliveryState } from '../../src/model/schedule/schedule.js';

const two = (number: number): string => String(number).padStart(2, '0');
const at = fc.tuple(fc.nat(23), fc.nat(59)).map(([hour, minute]) => `${two(hour)}:${two(minute)}`);
const timezone = fc.constantFrom('Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata', 'UTC');
const on = fc.subarray([...weekdays], { minLength: 1 });
const day = fc.oneof(fc.integer({ min: 1, max: 31 }), fc.constant('last' as const));

const friendly = fc.oneof(
  fc.record({ timezone, every: fc.constantFrom('day' as const, 'workday' as const), at }),
  fc.record({ timezone, every: fc.constant('week' as const), on, at }),
  fc.record({ timezone, every: fc.constant('month' as const), day, at }),
);
const cron = fc.record({
  timezone,
  cron: fc
    .tuple(fc.nat(59), fc.constantFrom('*', '2,3', '*/4', '0-6'))
    .map(([minute, hour]) => `${minute} ${hour} * * *`),
});
const recurrence: fc.Arbitrary<Recurrence> = fc.oneof(friendly, cron);
const moment = fc.date({ min: new Date('2026-01-01'), max: new Date('2027-12-31'), noInvalidDate: true });
const pause = fc.integer({ min: 0, max: 90 * 86_400_000 });

const localParts = (date: Date, timeZone: string): Readonly<Record<string, string>> => {
  const options = { timeZone, hourCycle: 'h23', hour: '2-digit', minute: '2-digit', weekday: 'short' } as const;
  const parts = new Intl.DateTimeFormat('en-US', options).formatToParts(date);
  return Object.fromEntries(parts.map(({ type, value }) => [type, value]));
};

describe('recurrence', () => {
  test('the next moment is after the given one, and nothing lies between', () => {
    fc.assert(
      fc.property(recurrence, moment, fc.nat(1000), (given, after, part) => {
        const next = nextMoment(given, calendar, after);
        if (next === null) throw new Error('these recurrences always have a next moment');
        expect(next.getTime()).toBeGreaterThan(after.getTime());
        const between = new Date(after.getTime() + ((next.getTime() - after.getTime() - 1) * part) / 1000);
        expect(nextMoment(given, calendar, between)).toEqual(next);
      }),
      { numRuns: 200 },
    );
  });

  test('a friendly form comes at its local time, unless the clock leaves that time out', () => {
    fc.assert(
      fc.property(friendly, moment, (given, after) => {
        const next = nextMoment(given, calendar, after);
        if (next === null) throw new Error('friendly forms always have a next moment');
        const { hour, minute, weekday } = localParts(next, given.timezone);
        if (given.every === 'workday') expect(['Sat', 'Sun']).not.toContain(weekday);
        if (given.every === 'week') expect(given.on).toContain(weekday?.toLowerCase());
        const wanted = given.at.split(':').join('');
        const shifts = [-7_200_000, 7_200_000].map((ms) => localParts(new Date(next.getTime() + ms), given.timezone));
        const isChangeNear = shifts.some((parts, index) => {
          const minutes = Number(parts.hour) * 60 + Number(parts.minute);
          const own = Number(hour) * 60 + Number(minute);
          return (minutes - own + 2880) % 1440 !== (index === 0 ? 1320 : 120);
        });
        if (!isChangeNear) expect(`${hour}${minute}`).toBe(wanted);
      }),
      { numRuns: 300 },
    );
  });

  test('two moments are at least half an hour apart, and those of fixed hours never come twice a day', () => {
    fc.assert(
      fc.property(recurrence, moment, (given, after) => {
        const first = nextMoment(given, calendar, after) ?? after;
        const second = nextMoment(given, calendar, first);
        expect((second?.getTime() ?? 0) - first.getTime()).toBeGreaterThanOrEqual(1_800_000);
      }),
      { numRuns: 200 },
    );
  });

  test('writes the friendly forms as cron', () => {
    const cronOf = (given: Recurrence): string => {
      const asked: string[] = [];
      const next = (cron: string) => {
        asked.push(cron);
        return null;
      };
      nextMoment(given, { ...calendar, next }, new Date(0));
      return asked.join();
    };
    const zone = { timezone: 'UTC' };
    expect(cronOf({ ...zone, every: 'workday', at: '08:05' })).toBe('5 8 * * 1-5');
    expect(cronOf({ ...zone, every: 'week', on: ['mon', 'fri'], at: '17:30' })).toBe('30 17 * * 1,5');
    expect(cronOf({ ...zone, every: 'month', day: 'last', at: '00:00' })).toBe('0 0 L * *');
  });

  test.each<[Recurrence, RegExp]>([
    [{ timezone: 'Mars/Base', every: 'day', at: '08:00' }, /^timezone: /],
    [{ timezone: '', every: 'day', at: '08:00' }, /^timezone: /],
    [{ timezone: 'UTC', every: 'day', at: '8:00' }, /^at: /],
    [{ timezone: 'UTC', every: 'day', at: '24:00' }, /^at: /],
    [{ timezone: 'UTC', every: 'week', on: [], at: '08:00' }, /^on: /],
    [{ timezone: 'UTC', every: 'month', day: 32, at: '08:00' }, /^day: /],
    [{ timezone: 'UTC', every: 'month', day: 1.5, at: '08:00' }, /^day: /],
    [{ timezone: 'UTC', cron: '* * * * *' }, /^cron: .*one number as the minute/],
    [{ timezone: 'UTC', cron: '0,30 * * * *' }, /^cron: /],
    [{ timezone: 'UTC', cron: '0 8 * *' }, /^cron: /],
    [{ timezone: 'UTC', cron: '0 8 * * * *' }, /^cron: /],
    [{ timezone: 'UTC', cron: '0 99 * * *' }, /^cron: /],
    [{ timezone: 'UTC', cron: '0 8 30 2 *' }, /^cron: .*never/],
    [{ timezone: 'UTC', cron: '0 8 * * \n1' }, /^cron: /],
  ])('says what is wrong with %j', (given, fault) => {
    expect(recurrenceFault(given, calendar, new Date('2026-01-01'))).toMatch(fault);
  });

  test('finds nothing wrong with what it can read', () => {
    fc.assert(
      fc.property(recurrence, moment, (given, now) => {
        expect(recurrenceFault(given, calendar, now)).toBeUndefined();
      }),
      { numRuns: 100 },
    );
  });
});

describe('catching up', () => {
  /** A moment is missed if it is older than an hour, and not listed if it is older than 35 days. */
  const punctualMs = 3_600_000;
  const reachMs = 35 * 86_400_000;
  const cases = fc.record({ recurrence, catchUp: fc.constantFrom(...catchUps), start: moment, pause });

  test('each moment is decided once: due or skipped, and the next one is after now', () => {
    fc.assert(
      fc.property(cases, ({ start, pause: ms, ...given }) => {
        const plannedAt = nextMoment(given.recurrence, calendar, start) ?? start;
        const now = new Date(plannedAt.getTime() + ms);
        const { due, skipped, nextAt } = dueMoments(given, calendar, plannedAt, now);
        const decided = [...due, ...skipped].map((at) => at.getTime()).toSorted((a, b) => a - b);
        expect(new Set(decided).size).toBe(decided.length);
        expect(decided[0]).toBe(plannedAt.getTime());
        expect(nextAt?.getTime()).toBeGreaterThan(now.getTime());
        for (const at of decided.slice(1)) expect(now.getTime() - at).toBeLessThanOrEqual(reachMs);
      }),
      { numRuns: 150 },
    );
  });

  test('cutting a stop in two decides about the same moments', () => {
    fc.assert(
      fc.property(cases, fc.nat(1000), ({ start, pause: ms, ...given }, part) => {
        const plannedAt = nextMoment(given.recurrence, calendar, start) ?? start;
        const now = new Date(plannedAt.getTime() + (ms % reachMs));
        const middle = new Date(plannedAt.getTime() + ((ms % reachMs) * part) / 1000);
        const all = ({ due, skipped }: ReturnType<typeof dueMoments>) =>
          [...due, ...skipped].map((at) => at.getTime()).toSorted((a, b) => a - b);
        const first = dueMoments(given, calendar, plannedAt, middle);
        const then = first.nextAt === null ? [] : all(dueMoments(given, calendar, first.nextAt, now));
        expect([...all(first), ...then]).toEqual(all(dueMoments(given, calendar, plannedAt, now)));
      }),
      { numRuns: 100 },
    );
  });

  test('skip sends at most a punctual moment, once sends the latest one, all sends each', () => {
    fc.assert(
      fc.property(cases, ({ start, pause: ms, ...given }) => {
        const plannedAt = nextMoment(given.recurrence, calendar, start) ?? start;
        const now = new Date(plannedAt.getTime() + ms);
        const { due, skipped } = dueMoments(given, calendar, plannedAt, now);
        const latest = Math.max(...[...due, ...skipped].map((at) => at.getTime()));
        if (given.catchUp === 'all') expect(skipped).toEqual([]);
        if (given.catchUp === 'once') expect(due.map((at) => at.getTime())).toEqual([latest]);
        if (given.catchUp === 'skip') {
          expect(due.map((at) => at.getTime())).toEqual(now.getTime() - latest <= punctualMs ? [latest] : []);
        }
      }),
      { numRuns: 150 },
    );
  });

  test('nothing is due before the planned moment', () => {
    const given = { recurrence: { timezone: 'UTC', every: 'day', at: '08:00' }, catchUp: 'all' } as const;
    const plannedAt = new Date('2026-05-05T08:00:00Z');
    const now = new Date('2026-05-05T07:59:59Z');
    expect(dueMoments(given, calendar, plannedAt, now)).toEqual({ due: [], skipped: [], nextAt: plannedAt });
  });
});

const told = (state: DeliveryState, reason: DeliveryReason | null, recipient = 'bob') =>
  concealed({
    ...{ id: 'd', scheduleId: 's', clientId: 'LAX', recipient, moment: new Date(0), isRequested: false, attempts: 3 },
    ...{ state, reason, finishedAt: new Date(0) },
  });

describe('the history of an alert to another user', () => {
  test.each<[DeliveryState, DeliveryReason | null]>([
    ['sent', null],
    ['skipped', 'nothing-to-tell'],
    ['due', 'mail-unreachable'],
    ['sending', null],
    ['failed', 'mail-bounced'],
    ['failed', 'too-many-rows'],
    ['failed', 'measure-not-numeric'],
  ])('does not say whether there was something to tell: %s %s', (state, reason) => {
    expect(told(state, reason)).toMatchObject({ state: 'checked', reason: null, attempts: 0, finishedAt: null });
  });

  test.each<[DeliveryState, DeliveryReason | null]>([
    ['due', null],
    ['skipped', 'no-right'],
    ['skipped', 'no-address'],
    ['skipped', 'quiet-hours'],
  ])('says what was decided before a row was read: %s %s', (state, reason) => {
    expect(told(state, reason)).toMatchObject({ state, reason });
  });
});
