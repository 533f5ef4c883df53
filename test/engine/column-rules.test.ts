/** Masked and hidden columns in custom columns, expressions, SQL and conditions. The random cases: test/isolation/columns.test.ts. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MetricDefinition, VisualDefinition } from '../../src/model/dashboard/metric.js';
import { type ColumnRules, namesHidden, withColumnRules } from '../../src/model/datamart/column-rules.js';
import type { Datamart } from '../../src/model/datamart/datamart.js';
import type { Condition } from '../../src/model/filter/filter.js';
import type { Engine, MetricQuestion } from '../../src/model/query/engine.js';
import { systemClock } from '../../src/platform/work/time.js';
import { type Builder, createBuilder, findSqlKinds } from './test-databases.js';
import {
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

const people = {
  id: 'BIGINT',
  client: 'VARCHAR',
  name: 'VARCHAR',
  zip: 'VARCHAR',
  salary: 'BIGINT',
  team: 'VARCHAR',
};
const teams = { id: 'VARCHAR', client: 'VARCHAR', title: 'VARCHAR' };
const computed = (columnName: string, sql: string, isAggregate = false) => ({
  ...{ columnName, sql, isAggregate, isCustomColumn: true },
  ...{ datatype: '', alias: columnName, label: '', isHide: false, isApplyTimezone: false },
});
const own = table('people', people, 'client');
const mart = datamart({
  tenancy: byClients(),
  tables: [
    table('clients', { id: 'VARCHAR', name: 'VARCHAR' }),
    {
      ...own,
      columns: [
        ...own.columns,
        computed('doubled', 'salary * 2'),
        computed('coded', "concat('<', zip, '>')"),
        computed('payroll', 'sum(salary)', true),
      ],
    },
    table('teams', teams, 'client'),
  ],
  relationships: [relationship('people.team', 'teams.id')],
});
const rows = {
  people: [
    [1, 'a', 'Ann', '12345', 1700, 't1'],
    [2, 'a', 'Bob', '67890', 2300, 't2'],
    [3, 'a', 'Cy', 'oops', 9999, 't2'],
    [4, 'b', 'Dee', '12345', 1700, 't1'],
  ],
  teams: [
    ['t1', 'a', 'One'],
    ['t2', 'a', 'Two'],
  ],
};
const token = (path: string, predicate: Condition['predicate']): Condition => ({
  ...condition(path, predicate),
  ...{ restriction: 'always', isHidden: true, isOfToken: true },
});
const listOf = (t: string, c: string, parts: Partial<VisualDefinition> = {}): VisualDefinition =>
  metric(t, { dimensions: [{ name: 'k', column: columnRef(`${t}.${c}`) }], ...parts });
const inSql = (sql: string): MetricDefinition => ({
  ...{ kind: 'sql', chart: { type: 'table' }, sql, dimensions: [{ name: 'k' }], measures: [], filters: [] },
  ...{ rlsVariables: [], sort: [], limit: null },
});
const mask = (maskColumns: ColumnRules['maskColumns'], hideColumns: readonly string[] = []): Datamart =>
  withColumnRules(mart, { hideColumns, maskColumns });
const [zip, salary, team] = ['main.people.zip', 'main.people.salary', 'main.people.team'];
const maskSecret = Buffer.alloc(32, 1);

describe.each(await findSqlKinds())('on %s', (kind) => {
  let builder: Builder;
  let place: Place;
  let engine: Engine;
  beforeAll(async () => {
    builder = await createBuilder(kind);
    place = await builder.build('people', [
      { name: 'clients', columns: { id: 'VARCHAR', name: 'VARCHAR' }, rows: [['a', 'A']] },
      { name: 'people', columns: people, rows: rows.people },
      { name: 'teams', columns: teams, rows: rows.teams },
    ]);
    const cache = { secret: maskSecret, clock: systemClock, ttlSeconds: 60, maxBytes: 1_000_000, shared: null };
    ({ engine } = createLoggedEngine({ maskSecret, cache }));
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });
  const ask = (m: Datamart, definition: MetricDefinition, parts: Partial<MetricQuestion> = {}) =>
    engine.query(question(place, m, 'a', definition, parts));
  const keys = async (m: Datamart, definition: MetricDefinition, conditions: readonly Condition[] = []) =>
    (await ask(m, definition, { conditions })).rows.map(({ k }) => (k === null ? null : String(k))).sort();

  it('custom columns are computed from masked values', async () => {
    expect(await keys(mart, listOf('people', 'doubled'))).toEqual(['19998', '3400', '4600']);
    expect(await keys(mask({ [salary]: 'bucket(1000)' }), listOf('people', 'doubled'))).toEqual([
      '18000',
      '2000',
      '4000',
    ]);
    expect(await keys(mask({ [zip]: 'first' }), listOf('people', 'coded'))).toEqual(['<1>', '<6>', '<o>']);
  });

  it('measures and expressions of aggregates read masked values', async () => {
    const shown = mask({ [salary]: 'bucket(1000)' });
    for (const measure of [
      { name: 'k', aggregate: 'AGGREGATE', column: columnRef('people.payroll') },
      { name: 'k', expression: 'sum(people.salary)' },
      { name: 'k', aggregate: 'SUM', column: columnRef('people.salary') },
    ] as const) {
      expect(await keys(mart, metric('people', { measures: [measure] }))).toEqual(['13999']);
      expect(await keys(shown, metric('people', { measures: [measure] }))).toEqual(['12000']);
    }
  });

  it('what reads a hidden column is refused', async () => {
    const hidden = mask({}, [salary]);
    for (const definition of [
      listOf('people', 'salary'),
      listOf('people', 'doubled'),
      metric('people', { measures: [{ name: 'k', aggregate: 'AGGREGATE', column: columnRef('people.payroll') }] }),
      metric('people', { measures: [{ name: 'k', expression: 'sum(people.salary)' }] }),
      listOf('people', 'name', { where: condition('people.salary', { kind: 'isNotNull' }) }),
      listOf('people', 'name', { underlying: [columnRef('people.salary')] }),
      inSql('select p.salary as k from people p'),
      inSql('select p.name as k from people p where p.salary > 0'),
      inSql('select p.name as k from people p order by p.salary'),
    ]) {
      const refused = definition.kind === 'visual' && definition.underlying.length > 0;
      const work = () =>
        refused ? engine.underlying(question(place, hidden, 'a', definition)) : ask(hidden, definition);
      expect((await refusalOf(work)).code).toBe('METRIC_QUERY_ERROR');
    }
  });

  it('SQL reads what is shown, also by a star', async () => {
    const all = inSql('select x.k from (select p.zip as k from people p) x');
    expect(await keys(mask({ [zip]: 'first' }), all)).toEqual(['1', '6', 'o']);
    const narrow = datamart({
      ...mart,
      tables: mart.tables.map((one) =>
        one.tableName === 'teams'
          ? table('teams', { id: 'VARCHAR', title: 'VARCHAR', client: 'VARCHAR' }, 'client')
          : one,
      ),
    });
    const shown = withColumnRules(narrow, { hideColumns: ['main.teams.title', 'main.teams.client'], maskColumns: {} });
    const star: MetricDefinition = {
      ...inSql('select * from teams'),
      dimensions: [{ name: 'id' }],
    } as MetricDefinition;
    expect((await ask(shown, star)).columns.map(({ name }) => name)).toEqual(['id']);
  });

  it("the token's conditions compare stored values, also in SQL", async () => {
    const rules = mask({ [zip]: 'null', [team]: 'hash' }, [salary]);
    const high = token('people.salary', { kind: 'compare', operator: '>', value: 2000 });
    const coded = token('people.zip', { kind: 'oneOf', values: ['67890', 'oops'] });
    for (const one of [high, coded]) {
      expect(await keys(rules, listOf('people', 'name'), [one])).toEqual(['Bob', 'Cy']);
      expect(await keys(rules, inSql('select p.name as k from people p'), [one])).toEqual(['Bob', 'Cy']);
      // The team of a hidden person is there without that person.
      expect(await keys(rules, listOf('teams', 'title'), [one])).toEqual(['Two']);
      const beside = inSql('select t.title as k from teams t left join people p on p.name = t.title');
      expect(await keys(rules, beside, [one])).toEqual([]);
    }
    const asked = condition('people.zip', { kind: 'oneOf', values: ['67890'] });
    expect(await keys(rules, listOf('people', 'name'), [asked])).toEqual([]);
  });

  it('an SQL value of the token reads stored rows, and that of an author masked ones', async () => {
    const inQuery = {
      kind: 'inQuery',
      sql: "select p.id as c from people p where p.zip = '12345'",
      columnName: 'c',
    } as const;
    const rules = mask({ [zip]: 'first' });
    expect(await keys(rules, listOf('people', 'name'), [token('people.id', inQuery)])).toEqual(['Ann']);
    expect(await keys(rules, listOf('people', 'name'), [condition('people.id', inQuery)])).toEqual([]);
    expect(await keys(mart, listOf('people', 'name'), [condition('people.id', inQuery)])).toEqual(['Ann']);
  });

  it("a token's condition on a custom column that reads a masked one is refused", async () => {
    const one = token('people.doubled', { kind: 'compare', operator: '>', value: 4000 });
    expect(await keys(mart, listOf('people', 'name'), [one])).toEqual(['Bob', 'Cy']);
    for (const definition of [listOf('people', 'name'), inSql('select p.name as k from people p')]) {
      const work = () => keys(mask({ [salary]: 'bucket(1000)' }), definition, [one]);
      expect((await refusalOf(work)).message).not.toContain('salary');
      await refusalOf(() => keys(mask({}, [salary]), definition, [one]));
    }
  });

  it('relationships join by stored values', async () => {
    const shown = mask({ [team]: 'null', 'main.teams.id': 'hash' });
    const byTeam = listOf('people', 'name', {
      dimensions: [{ name: 'k', column: columnRef('teams.title') }],
      measures: [{ name: 'n', aggregate: 'COUNT' }],
    });
    expect((await ask(shown, byTeam)).rows).toEqual((await ask(mart, byTeam)).rows);
  });

  it('options, rows and their order are those of masked values', async () => {
    const shown = mask({ [zip]: 'last4' });
    const asked = question(place, shown, 'a', listOf('people', 'zip', { underlying: [columnRef('people.zip')] }));
    const column = question(place, shown, 'a', listOf('people', 'zip'), {}).definition;
    const [dimension] = column.kind === 'visual' ? column.dimensions : [];
    if (dimension === undefined) throw new Error('a visual metric');
    expect(await engine.options({ ...asked, column: dimension.column, search: null })).toEqual(['', '2345', '7890']);
    expect(await engine.options({ ...asked, column: dimension.column, search: '123' })).toEqual([]);
    const sort = [{ name: 'zip', direction: 'DESC' as const }];
    const beneath = await engine.underlying({ ...asked, sort });
    expect(beneath.rows.map((row) => row.zip)).toEqual(['7890', '2345', '']);
    const sorted = await engine.query({ ...asked, sort: [{ name: 'k', direction: 'DESC' }] });
    expect(sorted.rows.map(({ k }) => k)).toEqual(['7890', '2345', '']);
  });

  it('masks are part of what an answer is cached by', async () => {
    const definition = listOf('people', 'zip');
    const seen = [
      await keys(mart, definition),
      await keys(mask({ [zip]: 'first' }), definition),
      await keys(mask({ [zip]: 'null' }), definition),
      await keys(mask({ [zip]: 'hash' }), definition),
      await keys(mart, definition),
    ];
    expect(new Set(seen.map((one) => JSON.stringify(one))).size).toBe(4);
    expect(seen.at(-1)).toEqual(seen[0]);
  });

  it('a hash without a key, and a mask for another type than the datasource has, hide the column', async () => {
    const { engine: keyless } = createLoggedEngine();
    const hashed = question(place, mask({ [zip]: 'hash' }), 'a', listOf('people', 'zip'));
    expect((await refusalOf(() => keyless.query(hashed))).code).toBe('METRIC_QUERY_ERROR');
    const star = { ...inSql('select * from teams'), dimensions: [{ name: 'id' }, { name: 'client' }] };
    const titled = question(place, mask({ 'main.teams.title': 'hash' }), 'a', star as MetricDefinition);
    expect((await keyless.query(titled)).columns.map(({ name }) => name)).toEqual(['id', 'client']);
    await keyless.close();
    // The datamart says text, the datasource whole numbers.
    const wrong = datamart({
      ...mart,
      tables: mart.tables.map((one) =>
        one.tableName === 'people' ? table('people', { ...people, salary: 'VARCHAR' }, 'client') : one,
      ),
    });
    const rules = { hideColumns: [], maskColumns: { [salary]: 'last4' } };
    const work = () => ask(withColumnRules(wrong, rules), listOf('people', 'salary'));
    expect((await refusalOf(work)).code).toBe('METRIC_QUERY_ERROR');
  });

  it('a failing expression over masked values tells no stored value', async () => {
    const cast = kind === 'CLICKHOUSE' ? 'toInt64(p.zip)' : kind === 'MYSQL' ? 'p.zip + 0' : 'cast(p.zip as bigint)';
    const work = () => keys(mask({ [zip]: 'first' }), inSql(`select ${cast} as k from people p where p.name <> 'Cy'`));
    // Cy's text is no number: the masked one neither.
    const answered = await work().catch((error: Error) => error.message);
    expect(JSON.stringify(answered)).not.toMatch(/12345|67890|oops/);
  });
});

it('a statement whose inner name would become that of an outer table names the hidden column', () => {
  // Without teams.client, the inner name is people.client, and the condition holds for every row.
  const sql = 'select name as k from people where client in (select client from teams)';
  expect(namesHidden(mask({}, ['main.teams.client']), sql, [])).toBe(true);
  expect(namesHidden(mask({}, ['main.teams.title']), sql, [])).toBe(false);
});
