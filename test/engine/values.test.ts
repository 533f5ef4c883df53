/**
 * Extreme values of each type on every database: as cells, groups and options, and as values that conditions compare
 * with.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SqlType } from '../../src/engine/dialect/sql-type.js';
import { bindPredicate } from '../../src/engine/plan/values.js';
import type { Aggregate, Dimension } from '../../src/model/dashboard/metric.js';
import type { FilterDataType, Predicate, Scalar } from '../../src/model/filter/filter.js';
import { readFilterValue } from '../../src/model/filter/value.js';
import { drill } from '../../src/model/query/drill.js';
import type { Cell, Engine, MetricQuestion } from '../../src/model/query/engine.js';
import { type Builder, createBuilder, findKinds, type Kind, type TableData, type Value } from './test-databases.js';
import {
  at,
  columnRef,
  condition,
  createLoggedEngine,
  datamart,
  metric,
  type Place,
  question,
  refusalOf,
  table,
} from './world.js';

const moment = { now: new Date(0), timezone: null };
const predicateOf = (dataType: FilterDataType, value: Scalar): Predicate => {
  const reading = readFilterValue(dataType, value, moment);
  if ('expected' in reading) throw new Error(`${JSON.stringify(value)} is refused: ${reading.expected}`);
  return reading.predicate;
};

/** Questions about the table, by its columns. */
const createAsking = (engine: Engine, place: Place, { name, columns }: TableData) => {
  const mart = datamart({ tenancy: null, tables: [table(name, columns)] });
  const ask = (parts: Parameters<typeof metric>[1], more: Partial<MetricQuestion> = {}) =>
    engine.query(question(place, mart, 'None', metric(name, parts), more));
  const dimension = (column: string, more: Partial<Dimension> = {}): Dimension => ({
    name: 'd',
    column: columnRef(`${name}.${column}`),
    ...more,
  });
  const count = { name: 'n', aggregate: 'COUNT' as const };
  return {
    ask,
    dimension,
    idsBy: async (column: string, predicate: Predicate) => {
      const { rows } = await ask(
        { dimensions: [dimension('id')] },
        { conditions: [condition(`${name}.${column}`, predicate)] },
      );
      return rows.map(({ d }) => d);
    },
    groups: async (dimensioned: Dimension, more: Partial<MetricQuestion> = {}) =>
      (await ask({ dimensions: [dimensioned], measures: [count] }, more)).rows.map(({ d, n }) => [d, n]),
    drilled: async (dimensioned: Dimension, value: Cell) => {
      const whole = metric(name, { dimensions: [dimensioned], drillPath: [dimension('id')] });
      const { definition, conditions } = drill(whole, [{ columnName: 'd', value }]);
      const { rows } = await engine.query(question(place, mart, 'None', definition, { conditions }));
      return rows.map(({ d }) => d);
    },
    measured: async (aggregate: Aggregate, column: string, ids: readonly number[], percentile?: number) => {
      const { rows } = await ask(
        { measures: [{ name: 'm', aggregate, column: columnRef(`${name}.${column}`), percentile }] },
        { conditions: [condition(`${name}.id`, { kind: 'oneOf', values: ids })] },
      );
      return rows[0]?.m;
    },
    options: (column: string) => {
      const asked = question(place, mart, 'None', metric(name, { measures: [count] }));
      return engine.options({ ...asked, column: at(place, columnRef(`${name}.${column}`)), search: null });
    },
  };
};

type Asking = ReturnType<typeof createAsking>;

const whole: TableData = {
  name: 'whole',
  columns: { id: 'BIGINT', big: 'BIGINT', exact: 'DECIMAL(30,2)' },
  rows: [
    [1, '9007199254740991', '9007199254740991.00'],
    [2, '9007199254740992', '9007199254740992.00'],
    [3, '9007199254740993', '9007199254740993.00'],
    [4, '-9007199254740993', '9007199254740993.01'],
  ],
};

const floats: TableData = {
  name: 'floats',
  columns: { id: 'BIGINT', ratio: 'DOUBLE', small: 'FLOAT' },
  rows: [
    [1, 'NaN', 'NaN'],
    [2, null, null],
    [3, 'Infinity', 'Infinity'],
    [4, '-Infinity', '-Infinity'],
    [5, 1.5, 1.5],
    [6, 'NaN', 'NaN'],
    [7, null, null],
    [8, 1e300, 0.1],
  ],
};

/** PostgreSQL's numbers of arbitrary size. */
const unbounded: TableData = {
  name: 'unbounded',
  columns: { id: 'BIGINT', n: 'NUMERIC' },
  rows: [
    [1, 'NaN'],
    [2, null],
    [3, 'Infinity'],
    [4, '-Infinity'],
    [5, '9007199254740993.5'],
  ],
};

const denormal: TableData = {
  name: 'denormal',
  columns: { id: 'BIGINT', tiny: 'DOUBLE', apart: 'DOUBLE', ends: 'DOUBLE' },
  rows: [
    [1, 5e-324, 5e-324, -1.7976931348623157e308],
    [2, 1e-320, -5e-324, 1.7976931348623157e308],
    [3, 4e-320, 1e307, 5e-324],
    [4, null, 2e307, null],
  ],
};

const dates: TableData = {
  name: 'dates',
  columns: { id: 'BIGINT', day: 'DATE', at: 'TIMESTAMP' },
  rows: [
    [1, '2024-03-05', '2024-03-05 08:15:30.25'],
    [2, '9999-12-31', '9999-12-31 23:59:59.999999'],
    [3, '0044-03-15', '0044-03-15 00:00:00'],
  ],
};

/** 44 BC, 1 BC, a year of five digits, and infinite dates. */
const eras = (isDuckDb: boolean): TableData => ({
  ...dates,
  name: 'eras',
  rows: [
    [
      1,
      isDuckDb ? '0044-03-15 (BC)' : '0044-03-15 BC',
      isDuckDb ? '0044-03-15 (BC) 10:30:00' : '0044-03-15 10:30:00 BC',
    ],
    [
      2,
      isDuckDb ? '0001-12-31 (BC)' : '0001-12-31 BC',
      isDuckDb ? '0001-12-31 (BC) 23:59:59.5' : '0001-12-31 23:59:59.5 BC',
    ],
    [3, '12024-02-29', '12024-02-29 01:02:03'],
    [4, 'infinity', 'infinity'],
    [5, '-infinity', '-infinity'],
    [6, null, null],
    [7, '2024-01-01', '2024-01-01 00:00:00'],
    [8, '2024-01-03', '2024-01-03 00:00:00'],
    [9, '0012-05-01', '0012-05-01 00:00:00'],
  ],
});

it('an end of a range that every number of a column passes is left out, and one that none passes is refused', () => {
  const type: SqlType = { kind: 'integer', cast: 'TINYINT' };
  const bind = (from: Scalar | null, to: Scalar | null) =>
    bindPredicate({ kind: 'range', from, to, toIsExclusive: true }, { type, ref: columnRef('t.n') });
  const bound = (text: string) => ({ text, cast: 'TINYINT' });
  expect(bind(-130, 128)).toMatchObject({ from: null, to: null });
  expect(bind(-128, '127')).toMatchObject({ from: bound('-128'), to: bound('127') });
  for (const [from, to] of [
    [128, null],
    [null, -129],
    ['Infinity', null],
    [2 ** 60, null],
  ] as const)
    expect(() => bind(from, to)).toThrow('holds');
});

describe.each(await findKinds())('on %s', (kind: Kind) => {
  const hasNaN = kind !== 'MYSQL' && kind !== 'SQLITE';
  /** SQLite holds decimals as floats of 15 digits. */
  const hasDecimals = kind !== 'SQLITE';
  const hasEras = kind === 'DUCKDB' || kind === 'POSTGRES';
  const fits = (data: TableData): TableData =>
    kind === 'CLICKHOUSE' && data.name === 'dates'
      ? {
          ...data,
          rows: [
            ...data.rows.slice(0, 1),
            [2, '2299-12-31', '2299-12-31 23:59:59.999999'],
            [3, '1900-01-01', '1900-01-01 00:00:00'],
          ],
        }
      : data;
  let builder: Builder;
  let place: Place;
  let engine: Engine;
  const of = (data: TableData): Asking => createAsking(engine, place, data);

  beforeAll(async () => {
    builder = await createBuilder(kind);
    const tables = [
      whole,
      floats,
      denormal,
      fits(dates),
      ...(hasEras ? [eras(kind === 'DUCKDB')] : []),
      ...(kind === 'POSTGRES' ? [unbounded] : []),
    ];
    const fitting = hasNaN ? tables : tables.filter(({ name }) => name !== 'floats');
    place = await builder.build('values', [...fitting, { ...generated, rows: rowsOf(kind) }]);
    engine = createLoggedEngine().engine;
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  describe('a whole number beyond 2^53', () => {
    it.each([
      ['big', '9007199254740993', [3]],
      ['big', '9007199254740992', [2]],
      ['big', '-9007199254740993', [4]],
      ['exact', '9007199254740993', [3]],
      ['exact', '9007199254740993.01', [4]],
    ] as const)(
      'a whole number of %s beyond 2^53 is exact as the text %s, in a filter and in a drill',
      async (column, text, ids) => {
        if (column === 'exact' && !hasDecimals) return;
        const asking = of(whole);
        expect(await asking.idsBy(column, predicateOf('number', text))).toEqual(ids);
        expect(await asking.idsBy(column, { kind: 'oneOf', values: [text] })).toEqual(ids);
        expect(await asking.drilled(asking.dimension(column), text)).toEqual(ids);
      },
    );

    it('is exact as an end of a range', async () => {
      const reading = readFilterValue('number', { min: '9007199254740992', max: '9007199254740992' }, moment);
      if ('expected' in reading) throw new Error(reading.expected);
      expect(await of(whole).idsBy('big', reading.predicate)).toEqual([2]);
    });

    // JSON.parse returns 9007199254740992 for 9007199254740993.
    const unsafe = JSON.parse('9007199254740993');
    it.each<[string, Predicate]>([
      ['a filter', predicateOf('number', unsafe)],
      ['a list', { kind: 'oneOf', values: [1, unsafe] }],
      ['a range', { kind: 'range', from: unsafe, to: null, toIsExclusive: false }],
    ])('is refused as a JSON number, with a message that asks for text: %s', async (_, predicate) => {
      for (const column of hasDecimals ? ['big', 'exact'] : ['big']) {
        expect(await refusalOf(() => of(whole).idsBy(column, predicate))).toMatchObject({
          code: 'METRIC_QUERY_ERROR',
          message: expect.stringContaining('must be sent as text'),
        });
      }
    });

    it('is refused as a JSON number in a drill, a HAVING condition and an indicator', async () => {
      const asking = of(whole);
      const indicator = { kind: 'compare', operator: '=', value: unsafe } as const;
      const total = { name: 'm', aggregate: 'SUM', column: columnRef('whole.big') } as const;
      const refused = [
        () => asking.drilled(asking.dimension('big'), unsafe),
        () => asking.ask({ measures: [total], having: { measure: 'm', predicate: indicator } }),
        () => asking.ask({ measures: [{ ...total, indicator }] }),
      ];
      for (const work of refused) expect((await refusalOf(work)).message).toContain('must be sent as text');
      const having = { measure: 'm', predicate: { ...indicator, value: '18014398509481983' } };
      expect((await asking.ask({ measures: [total], having })).rows).toEqual([{ m: '18014398509481983' }]);
    });
  });

  describe.runIf(hasNaN).each(['ratio', 'small'])('NaN, the infinities and NULL of %s', (column) => {
    const last = column === 'ratio' ? 1e300 : Math.fround(0.1);
    const ascending: readonly Cell[] =
      column === 'ratio'
        ? ['-Infinity', 1.5, last, 'Infinity', 'NaN', null]
        : ['-Infinity', last, 1.5, 'Infinity', 'NaN', null];
    const sorted = (direction: 'ASC' | 'DESC') => ({ sort: [{ name: 'd', direction }] });

    it('are separate groups, in a fixed order', async () => {
      const asking = of(floats);
      const up = await asking.groups(asking.dimension(column), sorted('ASC'));
      expect(up.map(([cell]) => cell)).toEqual(ascending);
      expect(up.filter(([, n]) => n === 2).map(([cell]) => cell)).toEqual(['NaN', null]);
      const down = await asking.groups(asking.dimension(column), sorted('DESC'));
      expect(down.map(([cell]) => cell)).toEqual([...ascending.slice(0, -1).reverse(), null]);
    });

    it.each(['ASC', 'DESC'] as const)('are on the same page each time, %s', async (direction) => {
      const asking = of(floats);
      const all = await asking.groups(asking.dimension(column), sorted(direction));
      for (const offset of all.keys()) {
        const page = await asking.groups(asking.dimension(column), { ...sorted(direction), limit: 1, offset });
        expect(page).toEqual([all[offset]]);
      }
    });

    it('are found by the value that was answered', async () => {
      const asking = of(floats);
      const expected = new Map<Cell, number[]>([
        ['NaN', [1, 6]],
        [null, [2, 7]],
        ['Infinity', [3]],
        ['-Infinity', [4]],
        [1.5, [5]],
        [last, [8]],
      ]);
      expect(new Set(await asking.options(column))).toEqual(
        new Set([...expected.keys()].filter((key) => key !== null)),
      );
      for (const [value, ids] of expected) {
        expect(await asking.drilled(asking.dimension(column), value)).toEqual(ids);
        const bucket = typeof value === 'number' ? Math.floor(value / 0.5) * 0.5 : value;
        expect(await asking.drilled(asking.dimension(column, { bucketWidth: 0.5 }), bucket)).toEqual(ids);
        if (value === null) continue;
        expect(await asking.idsBy(column, predicateOf('number', value))).toEqual(ids);
        expect(await asking.idsBy(column, { kind: 'oneOf', values: [value, 12] })).toEqual(ids);
        const others = [1, 3, 4, 5, 6, 8].filter((id) => !ids.includes(id));
        expect(await asking.idsBy(column, { kind: 'noneOf', values: [value, 12] })).toEqual(others);
        expect(await asking.idsBy(column, { kind: 'compare', operator: '<>', value })).toEqual(others);
      }
    });

    it('are compared in the order in which they are sorted', async () => {
      const by = (operator: '<' | '<=' | '>' | '>=', value: Scalar) =>
        of(floats).idsBy(column, { kind: 'compare', operator, value });
      expect(await by('>', 'Infinity')).toEqual([1, 6]);
      expect(await by('>=', 'NaN')).toEqual([1, 6]);
      expect(await by('>', 'NaN')).toEqual([]);
      expect(await by('<', 'NaN')).toEqual([3, 4, 5, 8]);
      expect(await by('<=', 'NaN')).toEqual([1, 3, 4, 5, 6, 8]);
      expect(await by('>=', 1.5)).toEqual(column === 'ratio' ? [1, 3, 5, 6, 8] : [1, 3, 5, 6]);
    });

    it('do not widen buckets, and are in buckets of their own', async () => {
      const asking = of(floats);
      const dimension = asking.dimension(column, { bucketCount: 4 });
      const cells = (await asking.groups(dimension, sorted('ASC'))).map(([cell]) => cell);
      expect(cells.filter((cell) => typeof cell !== 'number')).toEqual(['-Infinity', 'Infinity', 'NaN', null]);
      expect(cells.filter((cell) => typeof cell === 'number')).toHaveLength(2);
    });
  });

  it.runIf(kind === 'POSTGRES')('NaN and the infinities are numbers of NUMERIC too', async () => {
    const asking = of(unbounded);
    const cells = ['-Infinity', '9007199254740993.5', 'Infinity', 'NaN', null];
    expect((await asking.groups(asking.dimension('n'))).map(([cell]) => cell)).toEqual(cells);
    for (const [index, value] of cells.entries()) {
      expect(await asking.drilled(asking.dimension('n'), value ?? null)).toEqual([[4, 5, 3, 1, 2][index]]);
    }
    expect(await asking.idsBy('n', { kind: 'oneOf', values: ['NaN', '9007199254740993.5'] })).toEqual([1, 5]);
  });

  it.runIf(kind === 'MYSQL')('NaN and the infinities are refused if no column can hold them', async () => {
    for (const value of ['NaN', 'Infinity', '-Infinity']) {
      const refused = () => of(denormal).idsBy('apart', predicateOf('number', value));
      expect(await refusalOf(refused)).toMatchObject({ reason: 'value-out-of-range' });
    }
  });

  it('numbers near zero and at the ends of their type have buckets', async () => {
    const asking = of(denormal);
    for (const column of ['tiny', 'apart', 'ends']) {
      for (const bucketCount of [1, 7, 1000]) {
        const groups = await asking.groups(asking.dimension(column, { bucketCount }));
        expect(groups.reduce((sum, [, n]) => sum + Number(n), 0)).toBe(4);
        expect(groups.length).toBeGreaterThan(1);
        expect(groups.length).toBeLessThanOrEqual(5);
      }
    }
    const apart = await asking.groups(asking.dimension('apart', { bucketWidth: 1e300 }));
    expect(apart.slice(0, 2)).toEqual([
      [-1e300, 1],
      [0, 1],
    ]);
  });

  it('the first and the last dates come back as filters', async () => {
    const asking = of(dates);
    for (const column of ['day', 'at']) {
      for (const [value, id] of (await asking.options(column)).map((one, index) => [one, [3, 1, 2][index]] as const)) {
        expect(await asking.idsBy(column, predicateOf('date', value))).toEqual([id]);
        expect(await asking.drilled(asking.dimension(column), value)).toEqual([id]);
      }
      for (const [start] of await asking.groups(asking.dimension(column, { grain: 'year' }))) {
        expect(await asking.drilled(asking.dimension(column, { grain: 'year' }), start ?? null)).toHaveLength(1);
      }
    }
  });

  it.runIf(!hasEras)('dates before Christ and infinite dates are refused', async () => {
    for (const value of ['-000043-03-15', 'Infinity', '-Infinity']) {
      expect((await refusalOf(() => of(dates).idsBy('day', predicateOf('date', value)))).reason).toBe(
        'value-out-of-range',
      );
    }
  });

  describe.runIf(hasEras)('dates with years beyond four digits, and infinite dates', () => {
    const data = eras(kind === 'DUCKDB');
    const cells = {
      day: [
        '-Infinity',
        '-000043-03-15',
        '0000-12-31',
        '0012-05-01',
        '2024-01-01',
        '2024-01-03',
        '+012024-02-29',
        'Infinity',
        null,
      ],
      at: [
        '-Infinity',
        '-000043-03-15T10:30:00',
        '0000-12-31T23:59:59.5',
        '0012-05-01T00:00:00',
        '2024-01-01T00:00:00',
        '2024-01-03T00:00:00',
        '+012024-02-29T01:02:03',
        'Infinity',
        null,
      ],
    } as const;
    const ids = [5, 1, 2, 9, 7, 8, 3, 4, 6];

    it.each(['day', 'at'] as const)(
      '%s is answered in ISO 8601, sorted correctly, and accepted as a filter',
      async (column) => {
        const asking = of(data);
        expect((await asking.groups(asking.dimension(column))).map(([cell]) => cell)).toEqual(cells[column]);
        expect(await asking.options(column)).toEqual(cells[column].slice(0, -1));
        for (const [index, value] of cells[column].entries()) {
          expect(await asking.drilled(asking.dimension(column), value)).toEqual([ids[index]]);
          if (value === null) continue;
          expect(await asking.idsBy(column, predicateOf('date', value))).toEqual([ids[index]]);
          expect(await asking.idsBy(column, { kind: 'oneOf', values: [value, '1500-01-01'] })).toEqual([ids[index]]);
        }
      },
    );

    it.each([
      ['day', ['-000043-03-15', '0000-12-31', '+012024-02-29']],
      ['week', ['-000043-03-11', '0000-12-25', '+012024-02-26']],
      ['month', ['-000043-03-01', '0000-12-01', '+012024-02-01']],
      ['quarter', ['-000043-01-01', '0000-10-01', '+012024-01-01']],
      ['year', ['-000043-01-01', '0000-01-01', '+012024-01-01']],
    ] as const)('a %s of such dates is a group that can be drilled into', async (grain, starts) => {
      const asking = of(data);
      for (const column of ['day', 'at']) {
        const dimension = asking.dimension(column, { grain });
        const found = (await asking.groups(dimension)).map(([cell]) => cell);
        expect(found).toEqual(expect.arrayContaining([...starts, 'Infinity', '-Infinity', null]));
        for (const [index, start] of starts.entries()) {
          expect(await asking.drilled(dimension, start)).toEqual([index + 1]);
        }
        expect(await asking.drilled(dimension, 'Infinity')).toEqual([4]);
      }
    });

    it.each([
      ['0000-01-01', 43, { n: 1, p: 1 }],
      ['0012-01-01', 12, { n: 1, p: 1 }],
    ])('years are counted across 1 BC, which is year 0: from %s, %i back', async (year, periods, expected) => {
      const asking = of(data);
      const answer = await asking.ask(
        {
          dimensions: [asking.dimension('day', { grain: 'year' })],
          measures: [{ name: 'n', aggregate: 'COUNT' }],
          calculations: [{ kind: 'previousPeriod', name: 'p', of: 'n', periods }],
        },
        {},
      );
      expect(answer.rows.find(({ d }) => d === year)).toMatchObject(expected);
    });

    it.each([
      ['MEDIAN', [7, 8], undefined, '2024-01-02T00:00:00'],
      ['MEDIAN', [7, 4], undefined, '2024-01-01T00:00:00'],
      ['MEDIAN', [5, 7, 4], undefined, '2024-01-01T00:00:00'],
      ['MEDIAN', [5, 7, 8, 4], undefined, '2024-01-01T00:00:00'],
      ['MEDIAN', [4, 6], undefined, 'Infinity'],
      ['MEDIAN', [5, 4], undefined, '-Infinity'],
      ['MEDIAN', [6], undefined, null],
      ['PERCENTILE', [5, 7, 8, 4], 1, 'Infinity'],
      ['PERCENTILE', [5, 7, 8, 4], 0, '-Infinity'],
      ['PERCENTILE', [1, 2, 6], 0, '-000043-03-15'],
    ] as const)('%s of %j at %s is %s', async (aggregate, among, percentile, expected) => {
      for (const column of ['day', 'at']) {
        const time =
          expected === '-000043-03-15' ? `${expected}T${column === 'day' ? '00:00:00' : '10:30:00'}` : expected;
        expect(await of(data).measured(aggregate, column, among, percentile)).toBe(time);
      }
    });
  });

  it.each(Object.entries(generated.columns).slice(1))(
    'every option of a column %s (%s) is accepted as a filter, and finds its own rows',
    async (column) => {
      const asking = of(generated);
      const options = await asking.options(column);
      const groups = new Map((await asking.groups(asking.dimension(column))).map(([cell, n]) => [cell, n]));
      expect(options.length).toBeGreaterThan(1);
      for (const option of options) {
        const json: Scalar = JSON.parse(JSON.stringify(option));
        const found = await asking.idsBy(column, predicateOf(dataTypes[column] ?? 'string', json));
        expect([option, found.length]).toEqual([option, groups.get(option)]);
      }
    },
  );
});

const generated: TableData = {
  name: 'generated',
  columns: {
    id: 'BIGINT',
    big: 'BIGINT',
    exact: 'DECIMAL(38,10)',
    huge: 'DECIMAL(38,0)',
    ratio: 'DOUBLE',
    day: 'DATE',
    at: 'TIMESTAMP',
    flag: 'BOOLEAN',
    note: 'VARCHAR',
  },
  rows: [],
};

const dataTypes: Readonly<Record<string, FilterDataType>> = {
  big: 'number',
  exact: 'number',
  huge: 'number',
  ratio: 'number',
  day: 'date',
  at: 'date',
  flag: 'boolean',
  note: 'string',
};

/** Days that all four databases can represent. */
const dayText = fc
  .date({ min: new Date('1900-01-01'), max: new Date('2299-12-31'), noInvalidDate: true })
  .map((value) => value.toISOString().slice(0, 10));
const timeText = fc.tuple(dayText, fc.nat(86_399), fc.nat(999_999)).map(([day, second, micro]) => {
  const time = new Date(second * 1000).toISOString().slice(11, 19);
  return `${day} ${time}.${String(micro).padStart(6, '0')}`;
});
const digits = (most: bigint) => fc.bigInt({ min: -most, max: most });
const withPoint = digits(10n ** 38n - 1n).map((units) => {
  const text = String(units < 0n ? -units : units).padStart(11, '0');
  return `${units < 0n ? '-' : ''}${text.slice(0, -10)}.${text.slice(-10)}`;
});
const note = fc
  .array(
    fc.constantFrom(' ', 'a', 'A', 'ä', 'é', '%', '_', "'", '"', '\\', '1', 'NaN', 'Infinity', '2024-01-01', '💥'),
    {
      maxLength: 6,
    },
  )
  .map((parts) => parts.join(''));

const rowsOf = (kind: Kind): readonly (readonly Value[])[] =>
  fc
    .sample(
      fc.tuple(
        fc.oneof(digits(2n ** 63n - 1n), fc.constantFrom(2n ** 53n, 2n ** 53n + 1n)).map(String),
        withPoint,
        digits(10n ** 38n - 1n).map(String),
        fc.double({ noNaN: true, noDefaultInfinity: true, ...(kind === 'MYSQL' ? { min: -1e300, max: 1e300 } : {}) }),
        dayText,
        timeText,
        fc.boolean(),
        note,
      ),
      { numRuns: 60, seed: 12 },
    )
    .map((values, index) => [index, ...values]);
