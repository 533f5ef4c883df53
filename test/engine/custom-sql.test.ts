/** A metric in the host's own SQL reads only this tenant's rows, whatever the SQL says. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SqlDefinition } from '../../src/model/dashboard/metric.js';
import type { MetricQuestion } from '../../src/model/query/engine.js';
import { type Builder, createBuilder, findSqlKinds, type Kind, type TableData } from './test-databases.js';
import {
  at,
  byClients,
  columnRef,
  condition,
  createLoggedEngine,
  datamart,
  metric,
  type Place,
  question,
  refusalOf,
  relationship,
  table,
} from './world.js';

/** Notes of tenant b are not numbers, so a cast of one would fail. */
const tables: readonly TableData[] = [
  {
    name: 'flights',
    columns: { id: 'BIGINT', origin: 'VARCHAR', dest: 'VARCHAR', delay: 'BIGINT', note: 'VARCHAR', day: 'DATE' },
    rows: [
      [1, 'a', 'x', 10, '1', '2024-01-01'],
      [2, 'a', 'y', 20, '2', '2024-01-02'],
      [3, 'a', 'y', 40, '3', '2024-02-01'],
      [4, 'b', 'x', 100, 'secret-of-b', '2024-01-01'],
      [5, 'b', 'z', 0, 'other-of-b', '2024-01-01'],
    ],
  },
  {
    name: 'airports',
    columns: { iata: 'VARCHAR', state: 'VARCHAR' },
    rows: [
      ['x', 'CA'],
      ['y', 'NY'],
      ['z', 'CA'],
    ],
  },
  {
    name: 'clients',
    columns: { id: 'VARCHAR', name: 'VARCHAR' },
    rows: [
      ['a', 'A'],
      ['b', 'B'],
    ],
  },
  { name: 'hidden', columns: { id: 'VARCHAR' }, rows: [['never']] },
];

const mart = datamart({
  tenancy: byClients(),
  sharedTables: ['airports'],
  tables: [
    table(
      'flights',
      { id: 'BIGINT', origin: 'VARCHAR', dest: 'VARCHAR', delay: 'BIGINT', note: 'VARCHAR', day: 'DATE' },
      'origin',
    ),
    table('airports', { iata: 'VARCHAR', state: 'VARCHAR' }),
    table('clients', { id: 'VARCHAR', name: 'VARCHAR' }),
  ],
  relationships: [relationship('flights.dest', 'airports.iata', 'LEFT JOIN', 'ManyToOne')],
});

const definition = (sql: string, parts: Partial<SqlDefinition> = {}): SqlDefinition => ({
  kind: 'sql',
  chart: { type: 'table' },
  sql,
  dimensions: [],
  measures: [{ name: 'n' }],
  filters: [],
  rlsVariables: [],
  sort: [],
  limit: null,
  ...parts,
});

/** The same SQL in the dialect of each database. */
const said = (kind: Kind, schemaName: string, sql: string): string => {
  const integer = { DUCKDB: 'int', POSTGRES: 'int', MYSQL: 'signed', CLICKHOUSE: 'Int64', SQLITE: '' }[kind];
  const own = sql.replaceAll('main.', `${schemaName}.`).replaceAll('as int)', `as ${integer})`);
  return kind === 'MYSQL' ? own.replaceAll('"', '`').replace(/(\S+) \|\| '-' \|\| (\S+)/, "concat($1, '-', $2)") : own;
};

/** Databases that use the grammar of this project, which refuses what it does not know. */
const isOwnGrammar = (kind: Kind): boolean => kind === 'MYSQL' || kind === 'CLICKHOUSE';

describe.each(await findSqlKinds())('%s', (kind) => {
  const { engine, lines } = createLoggedEngine();
  let builder: Builder;
  let place: Place;

  beforeAll(async () => {
    builder = await createBuilder(kind);
    place = await builder.build('customsql', tables);
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  const ask = (sql: string, parts: Partial<SqlDefinition> = {}, more: Partial<MetricQuestion> = {}, client = 'a') =>
    engine.query(question(place, mart, client, definition(own(sql), parts), more));
  const own = (sql: string): string => said(kind, place.schemaName, sql);
  const n = async (sql: string, more: Partial<MetricQuestion> = {}, parts: Partial<SqlDefinition> = {}) => {
    const { rows } = await ask(sql, parts, more);
    return rows.length === 1 ? Number(rows[0]?.n) : rows.map((row) => Number(row.n));
  };

  test.each([
    ['select count(*) as n from flights', 3],
    ['select count(*) as n from main.flights', 3],
    ['with flights as (select * from flights) select count(*) as n from main.flights', 3],
    ['with flights as (select 1 as x) select count(*) as n from main.flights, flights c', 3],
    ['with x as (select * from main.flights) select count(*) as n from x', 3],
    ['select (select count(*) from main.flights) as n', 3],
    ['select count(*) as n from airports a where exists (select 1 from flights f where f.dest = a.iata)', 2],
    ['select count(*) as n from (select * from flights union all select * from main.flights) u', 6],
    ['select count(*) as n from flights right join airports on dest = iata', 4],
    ['select sum(cast(note as int)) as n from flights', 6],
    ['select count(*) as n from flights where cast(note as int) > 1', 2],
    ['select count(*) as n from clients', 1],
    ['select count(*) as n from flights where origin = client_id_variable', 3],
    ["select count(*) as n from flights where origin in (client_id_variable, 'b')", 3],
    ["select count(*) as n from flights where origin = 'b'", 0],
    ["select count(*) as n from flights where day >= '2024-01-02' and day < date '2024-02-01'", 1],
  ])("custom SQL sees only the client's rows: %s", async (sql, expected) => {
    expect(await n(sql)).toEqual(expected);
  });

  test.runIf(kind !== 'MYSQL').each([
    ['select count(*) as n from airports full join flights on true = false', 6],
    ['select count(*) filter (where delay > 15) as n from flights', 2],
    [
      'select count(*) as n from flights f, lateral (select main.airports.state from main.airports where iata = f.dest) s',
      3,
    ],
  ])("custom SQL in PostgreSQL's words sees only the client's rows: %s", async (sql, expected) => {
    if (isOwnGrammar(kind) && /lateral|filter \(|true = false/.test(sql)) {
      const known = kind === 'CLICKHOUSE' && sql.includes('full join');
      if (!known) expect(await refusalOf(() => ask(sql))).toMatchObject({ reason: 'sql-syntax' });
      return;
    }
    expect(await n(sql)).toEqual(expected);
  });

  test('columns and tables outside of the datamart cannot be read', async () => {
    for (const sql of [
      'select count(*) as n from hidden',
      'select count(*) as n from main.hidden',
      'select count(*) as n from other.flights',
    ])
      expect(await refusalOf(() => ask(sql))).toMatchObject({
        code: 'METRIC_QUERY_ERROR',
        reason: 'sql-table-unknown',
      });
    // ClickHouse reads the only name in such a list as a table.
    for (const list of ['hidden', 'id, hidden', '(hidden)'])
      expect(await refusalOf(() => ask(`select count(*) as n from flights where dest in (${list})`))).toMatchObject({
        reason: kind === 'CLICKHOUSE' ? 'sql-syntax' : 'statement-refused',
      });
    const narrow = {
      ...mart,
      tables: mart.tables.map((one) => ({
        ...one,
        columns: one.columns.filter(({ columnName }) => columnName !== 'note'),
      })),
    };
    const { rows } = await engine.query(
      question(
        place,
        narrow,
        'a',
        definition('select * from flights', {
          measures: ['id', 'origin', 'dest', 'delay', 'day'].map((name) => ({ name })),
        }),
      ),
    );
    expect(Object.keys(rows[0] ?? {})).not.toContain('note');
  });

  test('dimensions, sort, limit, offset and the total work as in any metric', async () => {
    const sql = 'select dest as "To", count(*) as n from flights group by dest';
    const parts = { dimensions: [{ name: 'To' }] };
    const whole = await ask(sql, parts, { sort: [{ name: 'n', direction: 'DESC' }] });
    expect(whole).toEqual({
      rows: [
        { To: 'y', n: 2 },
        { To: 'x', n: 1 },
      ],
      columns: [
        { name: 'To', dataType: 'string' },
        { name: 'n', dataType: 'number' },
      ],
      groupbyColumnList: ['To'],
      totalRecords: 2,
    });
    const page = await ask(sql, parts, { limit: 1, offset: 1 });
    expect(page).toMatchObject({ rows: [{ To: 'y', n: 2 }], totalRecords: 2 });
  });

  test("declared columns that differ from the answer's columns are named", async () => {
    const refusal = await refusalOf(() => ask('select count(*) as m from flights'));
    expect(refusal).toMatchObject({ code: 'METRIC_QUERY_ERROR', reason: 'sql-columns-differ' });
  });

  test('of two columns with one name neither is guessed', async () => {
    for (const parts of [{}, { dimensions: [], measures: [] }]) {
      const asked = () => ask('select 1 as n, 2 as n', parts);
      // DuckDB gives the second one a name of its own.
      if (kind === 'DUCKDB') expect((await asked()).columns[0]).toMatchObject({ name: 'n' });
      else expect(await refusalOf(asked)).toMatchObject({ code: 'METRIC_QUERY_ERROR' });
    }
  });

  test('columns of the SQL that are neither dimensions nor measures are left out', async () => {
    const { rows, columns } = await ask('select count(*) as n, 1 as m from flights');
    expect([Object.keys(rows[0] ?? {}), columns.map(({ name }) => name)]).toEqual([['n'], ['n']]);
  });

  test('SQL that declares no column answers all of its columns', async () => {
    const none = { dimensions: [], measures: [] };
    const answer = await ask('select dest, count(*) as flights from flights group by dest order by 1 limit 1', none);
    expect(answer).toMatchObject({ columns: [{ dataType: 'string' }, { dataType: 'number' }], groupbyColumnList: [] });
    expect(Object.keys(answer.rows[0] ?? {}).map((name) => name.toLowerCase())).toEqual(['dest', 'flights']);
  });

  describe('variables', () => {
    const declared = { rlsVariables: [{ name: 'State', isOptional: false }] };
    const valued = (...values: (string | number | boolean)[]) => ({ variables: new Map([['State', values]]) });
    const sql = 'select count(*) as n from flights join airports on dest = iata where state in (state_variable)';

    test('are bound, one value or several in IN', async () => {
      expect(await n(sql, valued('NY'), declared)).toBe(2);
      expect(await n(sql, valued('NY', 'CA'), declared)).toBe(3);
      expect(await n(sql, valued("NY') or ('1' = '1"), declared)).toBe(0);
      expect(await n(sql.replace('in (state_variable)', '= state_variable'), valued('CA'), declared)).toBe(1);
      expect(await n(sql.replace('state in (state_variable)', 'delay > state_variable'), valued(15), declared)).toBe(2);
      expect(
        await n(sql.replace('state in (state_variable)', 'day >= state_variable'), valued('2024-02-01'), declared),
      ).toBe(1);
      expect(
        await n(sql.replace('state in (state_variable)', '(delay > 15) = state_variable'), valued(false), declared),
      ).toBe(1);
    });

    test('variables with several values outside of IN, with none, or undeclared are refused', async () => {
      const equal = sql.replace('in (state_variable)', '= state_variable');
      expect(await refusalOf(() => ask(equal, declared, valued('CA', 'NY')))).toMatchObject({
        reason: 'sql-variable-of-several',
      });
      expect(await refusalOf(() => ask(sql, declared))).toMatchObject({ reason: 'sql-variable-without-value' });
      expect(await refusalOf(() => ask(sql, {}, valued('CA')))).toMatchObject({ reason: 'sql-variable-unknown' });
      expect(
        await refusalOf(() => ask("select count(*) as n from flights where origin = 'client_id_variable'")),
      ).toMatchObject({
        reason: expect.stringMatching(/sql-not-allowed|sql-variable/),
      });
    });

    test('an optional one without a value is NULL', async () => {
      const optional = { rlsVariables: [{ name: 'State', isOptional: true }] };
      expect(await n(sql, {}, optional)).toBe(0);
      const open = sql.replace('state in (state_variable)', '(state_variable is null or state = state_variable)');
      expect(await n(open, {}, optional)).toBe(3);
      expect(await n(open, valued('NY'), optional)).toBe(2);
    });

    test("the client is the question's, even if a variable has that name", async () => {
      const named = { rlsVariables: [{ name: 'client_id', isOptional: false }] };
      const own = 'select count(*) as n from flights where origin = client_id_variable';
      expect(await n(own, { variables: new Map([['client_id', ['b']]]) }, named)).toBe(3);
    });

    test('the client of an untenanted datamart is refused', async () => {
      const open = datamart({ tenancy: null, tables: [mart.tables[0] as (typeof mart.tables)[0]] });
      const asked = question(
        place,
        open,
        'None',
        definition('select count(*) as n from flights where origin = client_id_variable'),
      );
      expect(await refusalOf(() => engine.query(asked))).toMatchObject({ reason: 'sql-untenanted-client' });
    });
  });

  test.runIf(kind === 'POSTGRES')('columns of subqueries are known by their names', async () => {
    for (const text of [
      'select max(d.delay) as n from (select * from flights) d',
      'select max(d.x) as n from (select f.*, delay as x from flights f) d',
      'with d as (select * from flights), e as (select d.* from d) select max(e.delay) as n from e',
      'with d(x) as (select delay from flights) select max(d.x) as n from d',
      'select max(d.y) as n from (select id, delay as y from flights) d(x)',
      'select max(d.x) as n from (select delay as x from flights union all select 1) d',
      'select max(d.column1) as n from (values (40)) d',
      'select max(d.max) as n from (select max(delay) from flights) d',
      'select max(d.delay) as n from (select delay::int8 from flights) d',
      'select max(d.d + u.u) as n from generate_series(40, 40) d, unnest(array[0]) u',
      'select max(l.x) as n from flights f, lateral (select f.delay as x) l',
      'select max(d.x) as n from flights f join (select id, delay as x from flights) d on d.id = f.id',
    ])
      expect(await n(text), text).toBe(40);
  });

  test.runIf(kind === 'POSTGRES')("operators and casts that the database's owner defined are refused", async () => {
    const body = `LANGUAGE sql AS 'SELECT string_agg(note, '','') FROM main.flights'`;
    const made = await builder.build('operators', [
      ...tables,
      `CREATE FUNCTION public.all_notes(text, text) RETURNS text ${body}`,
      'CREATE OPERATOR public.- (LEFTARG = text, RIGHTARG = text, FUNCTION = public.all_notes)',
      `CREATE FUNCTION public.notes_of(text) RETURNS int4 LANGUAGE sql AS 'SELECT count(*)::int4 FROM main.flights'`,
      'CREATE CAST (text AS int4) WITH FUNCTION public.notes_of(text)',
    ]);
    const asked = (text: string) => engine.query(question(made, mart, 'a', definition(text)));
    const reason = 'sql-operator-own';
    for (const value of ['note - note', "'a'::text - 'b'::text", 'note::int4', 'cast(note as int)'])
      expect(await refusalOf(() => asked(`select ${value} as n from flights`)), value).toMatchObject({ reason });
    const measured = metric('flights', { measures: [{ name: 'n', expression: 'max(note - note)' }] });
    expect(await refusalOf(() => engine.query(question(made, mart, 'a', measured)))).toMatchObject({ reason });
    expect((await asked("select sum(delay) + 1 as n from flights where note like '1' or note in ('2')")).rows).toEqual([
      { n: 31 },
    ]);
  });

  describe('conditions', () => {
    const sql = 'select count(*) as n from flights f join airports a on f.dest = a.iata where f.delay > 5 or 1 = 1';
    const on = (path: string, ...values: (string | number)[]) => ({
      conditions: [condition(path, { kind: 'oneOf', values })],
    });

    test('are ANDed to the outermost block, never ORed', async () => {
      expect(await n(sql, on('airports.state', 'NY'))).toBe(2);
      expect(await n(sql, on('flights.delay', 10, 20))).toBe(2);
      expect(await n(sql, on('flights.delay', 10, 0, 100))).toBe(1);
      expect(await n('select count(*) as n from flights', on('flights.dest', 'y'))).toBe(2);
    });

    test('conditions on a table that is not read become a semi-join', async () => {
      expect(await n('select count(*) as n from flights', on('airports.state', 'NY'))).toBe(2);
      expect(
        await n(
          'select sum(delay) as n from main.flights group by dest having sum(delay) > 1',
          on('airports.state', 'NY'),
        ),
      ).toBe(60);
    });

    test.each([
      ['with f as (select * from flights) select count(*) as n from f', 'flights.delay'],
      ['select count(*) as n from (select * from flights) f', 'flights.delay'],
      ['select count(*) as n from flights f, flights g', 'flights.delay'],
      ['select count(*) as n from flights f, main.flights g', 'flights.delay'],
      ['select count(*) as n from flights union all select 1 from airports', 'flights.delay'],
      ['select count(*) as n from flights f where id in (select id from flights)', 'flights.delay'],
      ['select count(*) as n from airports where iata in (select dest from flights)', 'flights.delay'],
      ['select (select count(*) from clients) as n from flights', 'airports.state'],
      ['select count(*) as n from clients', 'airports.state'],
      ['select 1 as n', 'flights.delay'],
    ])('conditions that cannot be applied are refused: %s', async (text, path) => {
      const values = path === 'flights.delay' ? [10] : ['NY'];
      expect(await refusalOf(() => ask(text, {}, on(path, ...values)))).toMatchObject({ reason: 'sql-condition' });
    });

    test('are refused if the SQL also shows a table that they would not restrict', async () => {
      const beside = (inner: string, outer: string) =>
        `select count(*) + (select count(*) from ${inner}) as n from ${outer}`;
      expect(await n(beside('flights', 'airports'))).toBe(6);
      const refusal = { reason: 'sql-condition', message: expect.stringContaining('flights') };
      expect(await refusalOf(() => ask(beside('flights', 'airports'), {}, on('airports.state', 'NY')))).toMatchObject(
        refusal,
      );
      const cte =
        'with f as (select count(*) as c from flights) select count(*) + (select c from f) as n from airports';
      expect(await refusalOf(() => ask(cte, {}, on('airports.state', 'NY')))).toMatchObject(refusal);
      // Conditions on airports or clients cannot be applied to flights here. The subquery only selects airports, and
      // shows no values of flights.
      expect(await n(beside('airports', 'flights'), on('flights.delay', 10))).toBe(4);
      expect(await n(beside('clients', 'airports'), on('airports.state', 'NY'))).toBe(2);
      const flown = 'select count(*) as n from airports where iata in (select dest from flights)';
      expect(await n(flown, on('airports.state', 'NY'))).toBe(1);
    });

    test('are refused if two tables of the SQL lead to their table, since it is unclear which one is meant', async () => {
      const { relationships } = mart;
      const both = { ...mart, relationships: [...relationships, relationship('clients.name', 'airports.iata')] };
      const asked = (sql: string) =>
        engine.query(question(place, both, 'a', definition(own(sql)), on('airports.state', 'NY')));
      expect(await refusalOf(() => asked('select count(*) as n from flights, clients'))).toMatchObject({
        reason: 'sql-condition',
      });
      expect((await asked('select count(*) as n from flights')).rows).toEqual([{ n: 2 }]);
    });

    test('are never passed by NULL', async () => {
      const outer = 'select count(*) as n from airports a left join flights f on f.dest = a.iata';
      expect(await n(outer)).toBe(4);
      expect(await n(outer, { conditions: [condition('flights.delay', { kind: 'noneOf', values: [10] })] })).toBe(2);
    });
  });

  describe('values from a query', () => {
    const counted = metric('flights', { measures: [{ name: 'n', aggregate: 'COUNT' }] });
    const inQuery = (path: string, sql: string, columnName: string) => ({
      conditions: [condition(path, { kind: 'inQuery', sql: own(sql), columnName })],
    });
    const visual = async (more: Partial<MetricQuestion>) =>
      Number((await engine.query(question(place, mart, 'a', counted, more))).rows[0]?.n);

    test('restrict visual metrics and metrics in SQL, in the same tenant scope', async () => {
      const ny = inQuery('flights.dest', "select iata as code from airports where state = 'NY'", 'code');
      expect(await visual(ny)).toBe(2);
      expect(await n('select count(*) as n from flights', ny)).toBe(2);
      // Both tenants have delays; only this tenant's are among the values.
      expect(await visual(inQuery('flights.delay', 'select max(delay) as d from main.flights', 'd'))).toBe(1);
      expect(
        await visual(inQuery('airports.state', 'select state from airports where iata = client_id_variable', 'state')),
      ).toBe(0);
      expect(await visual(inQuery('flights.dest', "select nullif(iata, 'x') as c from airports", 'c'))).toBe(2);
    });

    test('values from a query of another type, without the column, or of a table outside of the datamart are refused', async () => {
      expect(await refusalOf(() => visual(inQuery('flights.dest', 'select id from flights', 'id')))).toMatchObject({
        reason: 'query-column-type',
      });
      expect(await refusalOf(() => visual(inQuery('flights.dest', 'select dest from flights', 'code')))).toMatchObject({
        reason: 'query-column-unknown',
      });
      expect(await refusalOf(() => visual(inQuery('flights.dest', 'select id from hidden', 'id')))).toMatchObject({
        reason: 'sql-table-unknown',
      });
    });
  });

  describe('custom columns and expressions', () => {
    const custom = (columnName: string, sql: string, isAggregate = false) => ({
      ...{ columnName, datatype: '', alias: '', label: '', isHide: false, isApplyTimezone: false },
      ...{ isCustomColumn: true, sql: own(sql), isAggregate },
    });
    const withColumns = (...more: readonly ReturnType<typeof custom>[]) => ({
      ...mart,
      tables: mart.tables.map((one) =>
        one.tableName === 'flights' ? { ...one, columns: [...one.columns, ...more] } : one,
      ),
    });
    const wide = () =>
      withColumns(
        custom('hours', 'delay / 10.0'),
        custom('number', 'cast(note as decimal(10,0))'),
        custom('way', "concat(flights.origin, '-', flights.dest)"),
        custom('mean', 'sum(delay) / count(*)', true),
        custom('outer', 'airports.state'),
        custom('other', 'clients.id'),
      );
    const visual = async (parts: Parameters<typeof metric>[1], more: Partial<MetricQuestion> = {}) =>
      (await engine.query(question(place, wide(), 'a', metric('flights', parts), more))).rows;
    const count = { name: 'n', aggregate: 'COUNT' } as const;

    test('a custom column can be a dimension, an argument and a filter', async () => {
      expect(
        await visual({ dimensions: [{ name: 'way', column: columnRef('flights.way') }], measures: [count] }),
      ).toEqual([
        { way: 'a-x', n: 1 },
        { way: 'a-y', n: 2 },
      ]);
      expect(await visual({ measures: [{ name: 'h', aggregate: 'SUM', column: columnRef('flights.hours') }] })).toEqual(
        [{ h: 7 }],
      );
      expect(
        await visual({ measures: [{ name: 'h', aggregate: 'MAX', column: columnRef('flights.number') }] }),
      ).toEqual([{ h: 3 }]);
      const filtered = {
        conditions: [condition('flights.number', { kind: 'range', from: 2, to: null, toIsExclusive: false })],
      };
      expect(await visual({ measures: [count] }, filtered)).toEqual([{ n: 2 }]);
      expect(await n('select count(*) as n from flights', { ...filtered, datamart: at(place, wide()) })).toBe(2);
    });

    test('a measure of the datamart is taken as it is, beside others, and follows the tenant and its conditions', async () => {
      const mean = { name: 'mean', aggregate: 'AGGREGATE', column: columnRef('flights.mean') } as const;
      const spelt = { name: 'mean', expression: own('sum(delay) / count(*)') };
      for (const more of [{}, { conditions: [condition('flights.dest', { kind: 'oneOf', values: ['y'] })] }]) {
        const split = { dimensions: [{ name: 'to', column: columnRef('flights.dest') }] };
        expect(await visual({ ...split, measures: [mean, count] }, more)).toEqual(
          await visual({ ...split, measures: [spelt, count] }, more),
        );
        expect(await visual({ measures: [mean] }, more)).toEqual(await visual({ measures: [spelt] }, more));
      }
      const having = { measure: 'mean', predicate: { kind: 'compare', operator: '>', value: 1e6 } } as const;
      expect(await visual({ measures: [mean], having })).toEqual([]);
    });

    test('a measure of the datamart must be one, and counts rows of its own table only', async () => {
      const take = (name: string, parts: Parameters<typeof metric>[1] = {}) =>
        refusalOf(() =>
          visual({ measures: [{ name: 'm', aggregate: 'AGGREGATE', column: columnRef(`flights.${name}`) }], ...parts }),
        );
      expect(await take('delay')).toMatchObject({ reason: 'measure-without-column' });
      expect(await take('hours')).toMatchObject({ reason: 'measure-without-column' });
      const all = withColumns(custom('rows', 'count(*)', true));
      const rows = { name: 'rows', aggregate: 'AGGREGATE', column: columnRef('flights.rows') } as const;
      const ask = (from: string) => engine.query(question(place, all, 'a', metric(from, { measures: [rows] })));
      expect((await ask('flights')).rows).toEqual([{ rows: 3 }]);
      expect(await refusalOf(() => ask('airports'))).toMatchObject({ reason: 'measure-without-column' });
    });

    test('a custom column can be used like any column: as a float, a long decimal or a date', async () => {
      const real =
        { MYSQL: 'delay / 16e0', CLICKHOUSE: 'delay / 16' }[kind as string] ?? 'cast(delay as double precision) / 16';
      const of = (columnName: string) => columnRef(`flights.${columnName}`);
      const datamart = withColumns(
        custom('real', real),
        custom('tenth', real.replace('16', '100')),
        custom('long', "cast('12345678901234567890123.5' as decimal(30,1)) + delay"),
        custom('price', "cast('0.7' as decimal(10,2)) * delay"),
        custom('sold', 'day'),
        custom('maybe', kind === 'CLICKHOUSE' ? "nullIf(day, toDate('2024-01-01'))" : "nullif(day, date '2024-01-01')"),
        custom('way', "concat(flights.origin, '-', flights.dest)"),
      );
      const asks = async (parts: Parameters<typeof metric>[1], more: Partial<MetricQuestion> = {}) =>
        (await engine.query(question(place, datamart, 'a', metric('flights', parts), more))).rows.map(Object.values);
      const counted = (parts: Parameters<typeof metric>[1]) => asks({ ...parts, measures: [count] });
      const passing = (columnName: string, operator: '<' | '=' | '>', value: number | string) =>
        counted({ where: { any: [{ column: of(columnName), predicate: { kind: 'compare', operator, value } }] } });
      for (const [operator, n] of [
        ['<', 2],
        ['=', 0],
        ['>', 1],
      ] as const) {
        expect(await passing('real', operator, 2.4)).toEqual([[n]]);
        expect(await passing('long', operator, '12345678901234567890154')).toEqual([[n]]);
      }
      expect(await passing('real', '=', 1.25)).toEqual([[1]]);
      expect(await passing('long', '=', '12345678901234567890143.5')).toEqual([[1]]);
      const buckets = (columnName: string, bucketWidth: number) =>
        counted({ dimensions: [{ name: 'b', column: of(columnName), bucketWidth }] });
      expect(await buckets('real', 0.5)).toEqual([
        [0.5, 1],
        [1, 1],
        [2.5, 1],
      ]);
      expect(await buckets('tenth', 0.1)).toEqual([
        [0.1, 1],
        [0.2, 1],
        [0.4, 1],
      ]);
      expect(await buckets('price', 2.5)).toEqual([
        [5, 1],
        [12.5, 1],
        [27.5, 1],
      ]);
      expect(await counted({ dimensions: [{ name: 'm', column: of('sold'), grain: 'month' }] })).toEqual([
        ['2024-01-01', 2],
        ['2024-02-01', 1],
      ]);
      expect(await counted({ dimensions: [{ name: 'm', column: of('maybe') }] })).toEqual([
        ['2024-01-02T00:00:00', 1],
        ['2024-02-01T00:00:00', 1],
        [null, 1],
      ]);
      const january = { kind: 'range', from: '2024-01-02', to: '2024-01-31', toIsExclusive: false } as const;
      expect(await counted({ where: { any: [{ column: of('sold'), predicate: january }] } })).toEqual([[1]]);
      expect(await asks({ measures: [{ name: 's', aggregate: 'SUM', column: of('long') }] })).toEqual([
        ['37037036703703703670440.5'],
      ]);
      const dated = metric('flights', { underlying: [of('way'), of('sold')], drillPath: [] });
      expect((await engine.underlying(question(place, datamart, 'a', dated))).rows.map(Object.values)).toEqual([
        ['a-x', '2024-01-01T00:00:00'],
        ['a-y', '2024-01-02T00:00:00'],
        ['a-y', '2024-02-01T00:00:00'],
      ]);
      const { schemaName } = place;
      const options = { ...question(place, datamart, 'a', metric('flights', { measures: [count] })), search: 'X' };
      expect(await engine.options({ ...options, column: { ...of('way'), schemaName } })).toEqual(['a-x']);
    });

    test('an expression measure can name columns with or without their table, and aggregating custom columns', async () => {
      const rows = await visual({
        dimensions: [{ name: 'state', column: columnRef('airports.state') }],
        measures: [
          { name: 'mean', expression: 'sum(flights.delay) / count(*)' },
          { name: 'most', expression: 'max(delay) - min(delay)' },
          { name: 'own', expression: 'flights.mean' },
          { name: 'number', expression: 'sum(number)' },
        ],
      });
      expect(rows.map((row) => ({ ...row, mean: Number(row.mean), own: Number(row.own) }))).toEqual([
        { state: 'CA', mean: 10, most: 0, own: 10, number: 1 },
        { state: 'NY', mean: 30, most: 20, own: 30, number: 5 },
      ]);
    });

    test.each([
      ['delay', 'expression-not-aggregate'],
      ['1', 'expression-not-aggregate'],
      ['sum(flights.missing)', 'expression-column-unknown'],
      ['sum(hidden.id)', 'expression-column-unknown'],
      ['sum(state)', 'expression-column-unknown'],
      ['sum(airports.iata) + sum(flights.delay)', 'expression-fan-out'],
      ['count(airports.iata)', 'expression-fan-out'],
      ['1=1) or (1=1', 'sql-syntax'],
      ['(select count(*) from flights)', expect.stringMatching(/sql-not-allowed|sql-syntax/)],
    ])('an expression is refused: %s', async (expression, reason) => {
      expect(await refusalOf(() => visual({ measures: [{ name: 'm', expression }] }))).toMatchObject({ reason });
    });

    test('a custom column that aggregates inside an aggregate, or names another table, is refused', async () => {
      const sum = (path: string) => visual({ measures: [{ name: 'm', aggregate: 'SUM', column: columnRef(path) }] });
      expect(await refusalOf(() => sum('flights.mean'))).toMatchObject({ reason: 'custom-column-aggregates' });
      for (const name of ['outer', 'other'])
        expect(await refusalOf(() => sum(`flights.${name}`))).toMatchObject({ reason: 'expression-column-unknown' });
    });
  });

  test('underlying rows and options of a metric in SQL are refused', async () => {
    const asked = question(place, mart, 'a', definition('select count(*) as n from flights'));
    expect(await refusalOf(() => engine.underlying(asked))).toMatchObject({ reason: 'sql-without-rows' });
  });

  test('an error contains no value of any tenant', async () => {
    const cast = 'select sum(cast(note as int)) as n from flights';
    // On databases where a wrong cast gives NULL or 0, another expression fails.
    const failing = {
      DUCKDB: cast,
      SQLITE: cast,
      POSTGRES: cast,
      MYSQL: 'select exp(1000 * delay) as n from flights',
      CLICKHOUSE: 'select sum(cast(assumeNotNull(note) as int)) as n from flights',
    };
    const failed = await refusalOf(() => ask(failing[kind], {}, {}, 'b'));
    expect(failed).toMatchObject({ code: 'METRIC_QUERY_ERROR', reason: 'datasource-failed' });
    expect(failed.message).not.toContain('of-b');
    expect(lines.length).toBeGreaterThan(0);
  });
});
