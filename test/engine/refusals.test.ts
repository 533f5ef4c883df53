import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MetricDefinition } from '../../src/model/dashboard/metric.js';
import type { Predicate } from '../../src/model/filter/filter.js';
import type { Engine, MetricQuestion } from '../../src/model/query/engine.js';
import { type Builder, createBuilder, findKinds, type Kind } from './test-databases.js';
import {
  at,
  columnRef,
  condition,
  createFolder,
  createLoggedEngine,
  datamart,
  type LogLine,
  metric,
  type Place,
  question,
  refusalOf,
  relationship,
  table,
} from './world.js';

const types = {
  big: 'BIGINT',
  tiny: 'TINYINT',
  huge: 'HUGEINT',
  price: 'DECIMAL(10,2)',
  real: 'FLOAT',
  ratio: 'DOUBLE',
  name: 'VARCHAR',
  flag: 'BOOLEAN',
  day: 'DATE',
  at: 'TIMESTAMP',
  uid: 'UUID',
  raw: 'BLOB',
};
const count = { name: 'n', aggregate: 'COUNT' } as const;
const mart = datamart({
  tenancy: null,
  tables: [
    table('t', types),
    table('u', { big: 'BIGINT', gone: 'BIGINT' }),
    table('lost', { id: 'BIGINT' }),
    table('island', { id: 'BIGINT' }),
    table('notes', { text: 'VARCHAR' }),
  ],
  relationships: [relationship('t.big', 'u.big', 'LEFT JOIN', null)],
});

/** A view that fails on a value of another tenant's row. The driver's error would contain the value. */
const failing: Readonly<Record<Kind, string>> = {
  DUCKDB: 'CAST(CAST(text AS INTEGER) AS VARCHAR)',
  POSTGRES: 'CAST(CAST(text AS INTEGER) AS VARCHAR)',
  MYSQL: 'fail(text)',
  CLICKHOUSE: 'toString(toInt64(assumeNotNull(text)))',
  SQLITE: "CAST(json_extract('{}', text) AS TEXT)",
};
const failure = `CREATE FUNCTION fail(t VARCHAR(190)) RETURNS VARCHAR(190) DETERMINISTIC
  BEGIN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = t; RETURN t; END`;
/** Types that only DuckDB refuses; other databases can hold these values. */
const ownTypes: ReadonlySet<string> = new Set(['t.tiny', 't.huge']);

describe.each(await findKinds())('on %s', (kind) => {
  let builder: Builder;
  let path: Place;
  let engine: Engine;
  let lines: LogLine[];

  beforeAll(async () => {
    builder = await createBuilder(kind);
    path = await builder.build('refusals', [
      { name: 't', columns: { ...types, hidden: 'VARCHAR' }, rows: [] },
      { name: 'u', columns: { big: 'BIGINT' }, rows: [] },
      { name: 'island', columns: { id: 'BIGINT' }, rows: [] },
      { name: 'raw_notes', columns: { text: 'VARCHAR' }, rows: [['top secret of another tenant']] },
      ...(kind === 'MYSQL' ? [failure] : []),
      `CREATE VIEW notes AS SELECT ${failing[kind]} AS text FROM raw_notes`,
    ]);
    ({ engine, lines } = createLoggedEngine());
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  const counted = metric('t', { measures: [count] });
  const refused = async (definition: MetricDefinition, parts: Partial<MetricQuestion> = {}) => {
    const refusal = await refusalOf(() => engine.query(question(path, mart, 'None', definition, parts)));
    expect(refusal.code).toBe('METRIC_QUERY_ERROR');
    return refusal;
  };
  const equal = (value: string | number | boolean): Predicate => ({ kind: 'compare', operator: '=', value });

  describe('a name outside of the datamart', () => {
    it.each([
      ['a table', metric('elsewhere', { measures: [count] }), 'table-not-in-datamart'],
      ['a table in another case', metric('T', { measures: [count] }), 'table-not-in-datamart'],
      [
        'a system table',
        { ...counted, from: { schemaName: 'information_schema', tableName: 'tables' } },
        'table-not-in-datamart',
      ],
      ['a table that the datasource lost', metric('lost', { measures: [count] }), 'table-not-in-datasource'],
      [
        'a dimension',
        metric('t', { dimensions: [{ name: 'd', column: columnRef('t.hidden') }] }),
        'column-not-in-datamart',
      ],
      [
        'a dimension in another case',
        metric('t', { dimensions: [{ name: 'd', column: columnRef('t.Name') }] }),
        'column-not-in-datamart',
      ],
      ['a measure', metric('t', { measures: [{ ...count, column: columnRef('t.rowid') }] }), 'column-not-in-datamart'],
      [
        'a column that the datasource lost',
        metric('u', { measures: [{ ...count, column: columnRef('u.gone') }] }),
        'column-not-in-datasource',
      ],
      ['a sort', { ...counted, sort: [{ name: 'big', direction: 'ASC' }] }, 'sort-unknown'],
      [
        'a table that nothing joins',
        metric('t', { dimensions: [{ name: 'd', column: columnRef('island.id') }] }),
        'path-missing',
      ],
    ] as const)('a name outside of the datamart is refused: %s', async (_, definition, reason) => {
      expect((await refused(definition)).reason).toBe(reason);
    });

    it('in a condition, a sort, options and underlying rows', async () => {
      expect((await refused(counted, { conditions: [condition('t.hidden', equal('x'))] })).reason).toBe(
        'column-not-in-datamart',
      );
      expect((await refused(counted, { conditions: [condition('island.id', equal(1))] })).reason).toBe('path-missing');
      expect((await refused(counted, { sort: [{ name: '1; DROP', direction: 'ASC' }] })).reason).toBe('sort-unknown');
      const asked = question(path, mart, 'None', counted);
      const options = () => engine.options({ ...asked, column: at(path, columnRef('t.hidden')), search: null });
      expect((await refusalOf(options)).reason).toBe('column-not-in-datamart');
      const underlying = { ...asked, definition: at(path, { ...counted, underlying: [columnRef('t.hidden')] }) };
      expect((await refusalOf(() => engine.underlying(underlying))).reason).toBe('column-not-in-datamart');
      expect((await refusalOf(() => engine.underlying(asked))).reason).toBe('underlying-empty');
    });
  });

  describe('a value that does not fit its column', () => {
    it.each([
      ['t.big', equal('abc')],
      ['t.big', equal('1e0')],
      ['t.big', equal('01')],
      ['t.big', equal(Number.NaN)],
      ['t.big', equal(Number.POSITIVE_INFINITY)],
      ['t.big', equal('9223372036854775808')],
      ['t.big', equal(1e30)],
      ['t.big', equal(true)],
      ['t.tiny', equal(128)],
      ['t.tiny', { kind: 'oneOf', values: [1, 128] }],
      ['t.huge', { kind: 'oneOf', values: [1, 1.5] }],
      ['t.price', equal('1,50')],
      ['t.price', equal('1'.repeat(1001))],
      ['t.real', equal(1e39)],
      ['t.ratio', equal('5e-1')],
      ['t.price', equal(9007199254740992)],
      ['t.big', { kind: 'oneOf', values: [1, -9007199254740992] }],
      ['t.big', { kind: 'range', from: 0, to: 9007199254740994, toIsExclusive: false }],
      ['t.ratio', equal(Number.NaN)],
      ['t.name', equal(42)],
      ['t.name', equal('half\ud800')],
      ['t.flag', equal('true')],
      ['t.flag', equal(1)],
      ['t.day', equal('yesterday')],
      ['t.day', equal('2023-02-29')],
      ['t.day', equal(20240101)],
      ['t.at', equal('2024-01-01T25:00')],
      ['t.at', equal('2024-01-01T10:00:00Z')],
      ['t.at', equal('-000000-01-01')],
      ['t.at', equal('+294247-01-01')],
      ['t.at', equal('-005000-01-01')],
      ['t.uid', equal('acme')],
      ['t.big', { kind: 'like', pattern: '1%' }],
      ['t.name', { kind: 'like', pattern: 'abc\\' }],
      ['t.name', { kind: 'oneOf', values: [] }],
      ['t.name', { kind: 'noneOf', values: [] }],
      ['t.big', { kind: 'range', from: null, to: null, toIsExclusive: true }],
      ['t.big', { kind: 'range', from: 'a', to: null, toIsExclusive: true }],
    ] as const)('a value that does not fit its column is refused: %s %o', async (column, predicate) => {
      if (kind !== 'DUCKDB' && ownTypes.has(column)) return;
      // SQLite has floats of 64 bits.
      if (kind === 'SQLITE' && column === 't.real') return;
      const before = lines.length;
      const refusal = await refused(counted, { conditions: [condition(column, predicate)] });
      expect(refusal).toMatchObject({ reason: 'value-of-wrong-type' });
      expect(refusal.message).toContain(`${path.schemaName}.${column}`);
      expect(lines).toHaveLength(before);
    });

    it('an unknown kind of predicate or operator', async () => {
      const unknown = JSON.parse('{"kind":"matches","pattern":".*"}');
      expect((await refused(counted, { conditions: [condition('t.name', unknown)] })).reason).toBe('unknown-kind');
      const operator = JSON.parse('{"kind":"compare","operator":"= 1 OR 1","value":1}');
      expect((await refused(counted, { conditions: [condition('t.big', operator)] })).reason).toBe(
        'value-of-wrong-type',
      );
    });
  });

  describe('an ambiguous metric', () => {
    const dimension = (parts: object) =>
      metric('t', { dimensions: [{ name: 'd', column: columnRef('t.name'), ...parts }], measures: [count] });
    const measure = (parts: object) => metric('t', { measures: [{ ...count, ...parts }] });

    it.each([
      ['neither dimensions nor measures', metric('t'), 'metric-empty'],
      ['two columns of one name', metric('t', { measures: [count, count] }), 'name-twice'],
      ['a time grain on text', dimension({ grain: 'day' }), 'grain-without-date'],
      ['an unknown time grain', dimension({ column: columnRef('t.at'), grain: "day', now()) --" }), 'unknown-kind'],
      ['buckets on text', dimension({ bucketWidth: 1 }), 'bucket-invalid'],
      ['buckets of no width', dimension({ column: columnRef('t.big'), bucketWidth: 0 }), 'bucket-invalid'],
      ['a sum of nothing', measure({ aggregate: 'SUM' }), 'measure-without-column'],
      ['an indicator of nothing', measure({ indicator: { kind: 'isNull' } }), 'measure-without-column'],
      [
        'an indicator of NULL',
        measure({ column: columnRef('t.big'), indicator: { kind: 'isNull' } }),
        'indicator-of-null',
      ],
      ['a sum of text', measure({ aggregate: 'SUM', column: columnRef('t.name') }), 'measure-type'],
      ['an unknown aggregate', measure({ aggregate: 'count(*), sum', column: columnRef('t.big') }), 'unknown-kind'],
      ['a broken limit', { ...counted, limit: -1 }, 'count-invalid'],
    ] as const)('a metric that means nothing certain is refused: %s', async (_, definition, reason) => {
      expect((await refused(definition as MetricDefinition)).reason).toBe(reason);
    });

    it.each([{ limit: 1.5 }, { offset: -1 }, { limit: Number.NaN }])('a page of %o', async (page) => {
      expect((await refused(counted, page)).reason).toBe('count-invalid');
    });

    it.each(['Mars/Olympus', '+05:00', "UTC' --", ''])('an unknown timezone is refused: %j', async (timezone) => {
      expect((await refused(counted, { timezone })).reason).toBe('timezone-unknown');
    });
  });

  it("a driver's failure is reported without its text, which only the log has", async () => {
    const definition = metric('notes', { dimensions: [{ name: 'd', column: columnRef('notes.text') }] });
    const before = lines.length;
    const refusal = await refused(definition);
    expect(refusal).toMatchObject({ reason: 'datasource-failed' });
    expect(refusal.message).not.toMatch(/secret|INTEGER|Conversion|notes|integer|XPATH|~/);
    expect(lines.slice(before)).toHaveLength(1);
    expect(String(Object(lines.at(-1)?.details).err)).toContain('top secret');
    expect(lines.at(-1)).toMatchObject({
      level: 'error',
      details: { err: expect.any(Error), datasource: 'warehouse' },
    });
  });
});

it('a datasource whose file is missing is refused and logged, and the next question tries again', async () => {
  const folder = await createFolder();
  const { engine, lines } = createLoggedEngine();
  const ask = () => engine.query(question(folder.path('later'), mart, 'None', metric('t', { measures: [count] })));
  expect(await refusalOf(ask)).toMatchObject({ code: 'METRIC_QUERY_ERROR', reason: 'datasource-unavailable' });
  expect(lines).toHaveLength(1);
  await folder.build('later', ['CREATE TABLE t (big BIGINT)', 'INSERT INTO t VALUES (1)']);
  expect((await ask()).rows).toEqual([{ n: 1 }]);
  await engine.close();
  await folder.remove();
});
