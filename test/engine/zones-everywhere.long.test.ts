/**
 * 597 instants, each near a clock change of its own timezone. Every database must group them as Intl does. DuckDB
 * supplies only the names of the zones, since Intl does not list links.
 */
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '../../src/model/query/engine.js';
import { type Builder, createBuilder, findKinds, type Kind } from './test-databases.js';
import { columnRef, createLoggedEngine, datamart, metric, type Place, question, table } from './world.js';

const instantsWanted = 597;

/** This zone is no longer in IANA's list, although Intl and DuckDB know the name. It is left out. */
const disputed: ReadonlySet<string> = new Set(['US/Pacific-New']);

const isKnownToIntl = (zone: string): boolean => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
};

/**
 * IANA's names without a slash. ICU has more of these (`IST`, `PST`), which other databases do not know or read as
 * other zones.
 */
const plainNames = new Set(
  `CET CST6CDT Cuba EET EST EST5EDT Egypt Eire GB GB-Eire GMT GMT+0 GMT-0 GMT0 Greenwich HST Hongkong Iceland Iran Israel
   Jamaica Japan Kwajalein Libya MET MST MST7MDT NZ NZ-CHAT Navajo PRC PST8PDT Poland Portugal ROC ROK Singapore Turkey UCT
   UTC Universal W-SU WET Zulu`.split(/\s+/),
);

/** Returns every zone that Intl lists, then links to them. */
const findZones = async (): Promise<readonly string[]> => {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const rows = (await connection.runAndReadAll('select name from pg_timezone_names() order by name')).getRowsJson();
  connection.closeSync();
  instance.closeSync();
  const links = rows
    .map(([name]) => String(name))
    .filter((name) => plainNames.has(name) || (/^[A-Z][a-zA-Z]+\/[A-Z]/.test(name) && !name.startsWith('SystemV/')));
  return [...new Set([...Intl.supportedValuesOf('timeZone'), ...links])].filter(
    (name) => !disputed.has(name) && isKnownToIntl(name),
  );
};

/** A number from 0 to 1 that depends only on the seed. */
const chance = (seed: number): number => {
  let bits = Math.imul(seed ^ 0x20261122, 0x9e3779b1);
  bits = Math.imul(bits ^ (bits >>> 15), 0x85ebca6b);
  return ((bits ^ (bits >>> 13)) >>> 0) / 2 ** 32;
};

const walls = new Map<string, (moment: number) => string>();

/** Returns the local time in the zone, by Intl: `2024-03-31T03:30:00`. */
const wallOf = (zone: string): ((moment: number) => string) => {
  const known = walls.get(zone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
  const wall = (moment: number): string => format.format(moment).replace(' ', 'T');
  walls.set(zone, wall);
  return wall;
};

const [minute, day] = [60_000, 86_400_000];

/** Returns the clock change between two moments, exact to the second; undefined if both have the same offset. */
const changeBetween = (from: number, to: number, ahead: (moment: number) => number): number | undefined => {
  if (ahead(from) === ahead(to)) return undefined;
  let [low, high] = [from, to];
  while (high - low > 1_000) {
    const middle = low + Math.floor((high - low) / 2_000) * 1_000;
    if (ahead(middle) === ahead(from)) low = middle;
    else high = middle;
  }
  return high;
};

/**
 * An instant near a clock change between 1970 and 2037, chosen by the zone's index. For a zone without a change in
 * these years, any instant.
 */
const instantOf = (zone: string, index: number): number => {
  const wall = wallOf(zone);
  const ahead = (moment: number): number => Date.parse(`${wall(moment)}Z`) - moment;
  const near = Math.round((chance(index) - 0.5) * 240) * minute;
  for (let trial = 0; trial < 4; trial += 1) {
    const start = Date.UTC(1970 + Math.floor(chance(index * 5 + trial) * 67), 1, 1);
    for (let month = 0; month < 12; month += 1) {
      const from = start + month * 30 * day;
      const change = changeBetween(from, from + 30 * day, ahead);
      if (change !== undefined) return change + near - (near % (30 * minute) === 0 ? 1_000 : 0);
    }
  }
  return Date.UTC(1970, 1, 1) + Math.floor(chance(index * 7) * 67 * 365) * day + near;
};

const stored = (moment: number): string => new Date(moment).toISOString().slice(0, 19).replace('T', ' ');

type Instant = { readonly zone: string; readonly moment: number; readonly wall: string };
type Asked = { readonly zone: string; readonly instants: readonly Instant[] };

/**
 * Number of instants in one zone, and so in one question. Computing a zone's offsets for MariaDB takes 20 ms, and so
 * does opening a session of ClickHouse. So these two get fewer zones with more instants each.
 */
const instantsPerZone: Readonly<Record<Kind, number>> = { DUCKDB: 1, POSTGRES: 1, MYSQL: 9, CLICKHOUSE: 3, SQLITE: 9 };

const zones = (await findZones()).slice(0, instantsWanted);
const askedOf = (kind: Kind): readonly Asked[] => {
  const each = instantsPerZone[kind];
  return zones
    .filter((_, index) => index % each === 0)
    .map((zone, at) => {
      const wall = wallOf(zone);
      const first = at * each;
      const moments = Array.from({ length: Math.min(each, instantsWanted - first) }, (_, part) =>
        instantOf(zone, first + part),
      );
      return { zone, instants: moments.map((moment) => ({ zone, moment, wall: wall(moment) })) };
    });
};

const columns = { id: 'BIGINT', at: 'TIMESTAMP', moment: 'TIMESTAMP WITH TIME ZONE' };
const mart = datamart({
  tenancy: null,
  tables: [table('instants', { id: 'BIGINT', 'at@': 'TIMESTAMP', 'moment@': 'TIMESTAMP WITH TIME ZONE' })],
});
const grains = ['hour', 'day', 'month'] as const;
const grouped = ['at', 'moment'].flatMap((column) =>
  grains.map((grain) => ({ name: `${grain} of ${column}`, column: columnRef(`instants.${column}`), grain })),
);
const id = { name: 'id', column: columnRef('instants.id') };
const definition = metric('instants', {
  dimensions: [id, ...grouped],
  measures: [{ name: 'n', aggregate: 'COUNT' }],
});

const expectedOf = ({ wall }: Instant, index: number) => {
  const groups = [`${wall.slice(0, 13)}:00:00`, wall.slice(0, 10), `${wall.slice(0, 7)}-01`];
  return [index, ...groups, ...groups, 1];
};

/** Zones that skipped a whole day when they crossed the date line: instants before and after that day. */
const skippedDay: readonly Asked[] = zones.flatMap((zone) => {
  const wall = wallOf(zone);
  const ahead = (moment: number): number => Date.parse(`${wall(moment)}Z`) - moment;
  const moments = [Date.UTC(1975, 0, 10, 23, 51), Date.UTC(2023, 0, 10, 23, 51), Date.UTC(2023, 6, 31, 11, 2)];
  const [before = 0, after = 0] = moments.map(ahead);
  if (after - before < 20 * 60 * minute) return [];
  return [{ zone, instants: moments.map((moment) => ({ zone, moment, wall: wall(moment) })) }];
});

it('seven zones skipped a day', () => {
  const names = ['Apia', 'Enderbury', 'Fakaofo', 'Kanton', 'Kiritimati', 'Kwajalein'].map((name) => `Pacific/${name}`);
  expect(skippedDay.map(({ zone }) => zone).sort()).toEqual(['Kwajalein', ...names]);
});

it('there are 597 zones, including all that Intl lists, and most instants are near a clock change', () => {
  expect(new Set(zones).size).toBe(instantsWanted);
  expect(Intl.supportedValuesOf('timeZone').filter((zone) => !disputed.has(zone) && !zones.includes(zone))).toEqual([]);
  const isNear = ({ zone, moment }: Instant): boolean => {
    const wall = wallOf(zone);
    const ahead = (at: number): number => Date.parse(`${wall(at)}Z`) - at;
    return ahead(moment - day) !== ahead(moment + day);
  };
  for (const kind of ['POSTGRES', 'MYSQL', 'CLICKHOUSE'] as const)
    expect(askedOf(kind).flatMap(({ instants }) => instants)).toHaveLength(instantsWanted);
  expect(
    askedOf('DUCKDB')
      .flatMap(({ instants }) => instants)
      .filter(isNear).length,
  ).toBeGreaterThan(300);
});

describe.each(await findKinds())('on %s', (kind) => {
  const questions = [...askedOf(kind), ...skippedDay];
  const all = questions.flatMap(({ instants }) => instants);
  let builder: Builder;
  let place: Place;
  let engine: Engine;

  beforeAll(async () => {
    builder = await createBuilder(kind);
    const rows = all.map(({ moment }, index) => [index, stored(moment), `${stored(moment)}+00`]);
    place = await builder.build('zones', [{ name: 'instants', columns, rows }]);
    engine = createLoggedEngine().engine;
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  it('each instant is grouped by the hour, day and month of its zone', async () => {
    const wrong: unknown[] = [];
    let next = 0;
    for (const { zone, instants } of questions) {
      const [from, to] = [next, next + instants.length - 1];
      next = to + 1;
      const predicate = { kind: 'range', from, to, toIsExclusive: false } as const;
      const conditions = [{ column: id.column, predicate }];
      const { rows } = await engine.query(question(place, mart, 'None', definition, { timezone: zone, conditions }));
      const answered = rows.map((row) => Object.values(row));
      const expected = instants.map((instant, index) => expectedOf(instant, from + index));
      if (JSON.stringify(answered) !== JSON.stringify(expected)) {
        wrong.push({ zone, utc: instants.map(({ moment }) => stored(moment)), answered, expected });
      }
    }
    expect(wrong).toEqual([]);
  }, 180_000);
});
