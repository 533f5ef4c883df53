/** Rows of a table that several tenants share, read through a bridge. The random cases: test/isolation/bridges.test.ts. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MetricDefinition, VisualDefinition } from '../../src/model/dashboard/metric.js';
import { withColumnRules } from '../../src/model/datamart/column-rules.js';
import type { Datamart, DatamartTable } from '../../src/model/datamart/datamart.js';
import type { Condition } from '../../src/model/filter/filter.js';
import type { Engine, MetricQuestion } from '../../src/model/query/engine.js';
import { type Builder, createBuilder, findKinds, hasSql } from './test-databases.js';
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

const users = { id: 'BIGINT', name: 'VARCHAR', email: 'VARCHAR', created_at: 'DATE' };
const memberships = { id: 'BIGINT', user_id: 'BIGINT', org: 'VARCHAR', team: 'VARCHAR', ended: 'DATE' };
const tasks = { id: 'BIGINT', org: 'VARCHAR', assignee: 'BIGINT', title: 'VARCHAR', created_at: 'DATE' };
const logins = { id: 'BIGINT', user_id: 'BIGINT' };

const asBridged = (made: DatamartTable, columns: readonly string[] = ['id', 'name']): DatamartTable => ({
  ...made,
  through: { relationship: 'memberships.user_id-users.id', columns },
});
const martOf = (columns?: readonly string[], parts: Partial<Datamart> = {}): Datamart =>
  datamart({
    tenancy: byClients(),
    tables: [
      table('clients', { id: 'VARCHAR', name: 'VARCHAR' }),
      asBridged(table('users', users), columns),
      table('memberships', memberships, 'org'),
      table('tasks', tasks, 'org'),
      table('logins', logins),
    ],
    relationships: [
      relationship('memberships.user_id', 'users.id'),
      relationship('tasks.assignee', 'users.id'),
      relationship('logins.user_id', 'users.id'),
    ],
    ...parts,
  });
const mart = martOf();
const day = '2024-01-01';
const data = {
  users: [
    [1, 'Ann', 'ann@a', day],
    [2, 'Bob', 'bob@b', day],
    [3, 'Cy', 'cy@c', day],
    [4, 'Dee', 'dee@d', day],
  ],
  // Ann is in both, twice in a. Cy is in none. Dee is in a by a membership that ended.
  memberships: [
    [1, 1, 'a', 't1', null],
    [2, 1, 'a', 't2', null],
    [3, 1, 'b', 't3', null],
    [4, 2, 'b', 't3', null],
    [5, 4, 'a', 't2', day],
  ],
  tasks: [
    [1, 'a', 1, 'One', day],
    [2, 'a', 2, 'Two', day],
    [3, 'b', 2, 'Three', day],
    [4, 'a', null, 'Four', day],
  ],
  logins: [
    [1, 1],
    [2, 2],
  ],
};
const listOf = (t: string, c: string, parts: Partial<VisualDefinition> = {}): VisualDefinition =>
  metric(t, { dimensions: [{ name: 'k', column: columnRef(`${t}.${c}`) }], ...parts });
const counted = (t: string, dimension: string): VisualDefinition =>
  metric(t, {
    dimensions: [{ name: 'k', column: columnRef(dimension) }],
    measures: [{ name: 'n', aggregate: 'COUNT' }],
  });
const inSql = (sql: string): MetricDefinition => ({
  ...{ kind: 'sql', chart: { type: 'table' }, sql, dimensions: [{ name: 'k' }], measures: [], filters: [] },
  ...{ rlsVariables: [], sort: [], limit: null },
});
const token = (
  path: string,
  predicate: Condition['predicate'],
  restriction: 'always' | 'whereRead' = 'always',
): Condition => ({ ...condition(path, predicate), ...{ restriction, isHidden: true, isOfToken: true } });

describe.each(await findKinds())('on %s', (kind) => {
  let builder: Builder;
  let place: Place;
  let engine: Engine;
  beforeAll(async () => {
    builder = await createBuilder(kind);
    place = await builder.build('bridges', [
      { name: 'clients', columns: { id: 'VARCHAR', name: 'VARCHAR' }, rows: [['a', 'A']] },
      { name: 'users', columns: users, rows: data.users },
      { name: 'memberships', columns: memberships, rows: data.memberships },
      { name: 'tasks', columns: tasks, rows: data.tasks },
      { name: 'logins', columns: logins, rows: data.logins },
    ]);
    ({ engine } = createLoggedEngine());
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });
  const rowsOf = async (
    definition: MetricDefinition,
    parts: Partial<MetricQuestion> = {},
    of: Datamart = mart,
    clientId = 'a',
  ) => {
    const { rows } = await engine.query(question(place, of, clientId, definition, parts));
    return rows.map((row) => Object.values(row).map((value) => (value === null ? null : String(value)))).sort();
  };

  it.runIf(hasSql(kind))('a tenant reads the users that its memberships name, each once', async () => {
    expect(await rowsOf(counted('users', 'users.name'))).toEqual([
      ['Ann', '1'],
      ['Dee', '1'],
    ]);
    expect(await rowsOf(counted('users', 'users.name'), {}, mart, 'b')).toEqual([
      ['Ann', '1'],
      ['Bob', '1'],
    ]);
    expect(await rowsOf(counted('users', 'users.name'), {}, mart, 'c')).toEqual([]);
    expect(await rowsOf(inSql('SELECT name AS k FROM users'))).toEqual([['Ann'], ['Dee']]);
    const options = { ...question(place, mart, 'a', counted('users', 'users.name')), search: null };
    expect(
      await engine.options({ ...options, column: { ...columnRef('users.name'), schemaName: place.schemaName } }),
    ).toEqual(['Ann', 'Dee']);
  });

  it('a joined user of another tenant is like one who does not exist', async () => {
    expect(await rowsOf(counted('tasks', 'users.name'))).toEqual([
      [null, '2'],
      ['Ann', '1'],
    ]);
  });

  it('a join uses a key that no question may read', async () => {
    expect(await rowsOf(counted('tasks', 'users.name'), {}, martOf(['name']))).toEqual([
      [null, '2'],
      ['Ann', '1'],
    ]);
    expect(await refusalOf(() => rowsOf(listOf('users', 'id'), {}, martOf(['name'])))).toMatchObject({
      reason: 'column-not-in-datamart',
    });
  });

  it.runIf(hasSql(kind))('a column that through does not name is refused everywhere', async () => {
    const refused = await refusalOf(() => rowsOf(listOf('users', 'email')));
    expect(refused.message).toContain('is not among the columns that may be read through memberships.user_id-users.id');
    for (const definition of [
      counted('tasks', 'users.email'),
      metric('users', { measures: [{ name: 'n', aggregate: 'MAX', column: columnRef('users.email') }] }),
      metric('users', { measures: [{ name: 'n', expression: 'max(users.email)' }] }),
      metric('users', {
        measures: [{ name: 'n', aggregate: 'COUNT' }],
        where: condition('users.email', { kind: 'like', pattern: 'a%' }),
      }),
      inSql('SELECT email AS k FROM users'),
      inSql('SELECT u.email AS k FROM users u'),
      inSql('SELECT * FROM (SELECT email AS k FROM users) s'),
    ] as const) {
      await refusalOf(() => rowsOf(definition));
    }
    const filtered = { conditions: [condition('users.email', { kind: 'isNotNull' })] };
    await refusalOf(() => rowsOf(counted('users', 'users.name'), filtered));
    expect(await refusalOf(() => rowsOf(inSql('SELECT * FROM users')))).toMatchObject({ reason: 'sql-columns-differ' });
  });

  it.runIf(hasSql(kind))('a statement of the host that names an own column like a hidden one is answered', async () => {
    const sql = 'SELECT u.name AS k FROM tasks t JOIN users u ON u.id = t.assignee WHERE t.created_at IS NOT NULL';
    expect(await rowsOf(inSql(sql))).toEqual([['Ann']]);
  });

  it.runIf(hasSql(kind))('a restriction of the bridge hides the users whose memberships it hides', async () => {
    for (const restriction of ['always', 'whereRead'] as const) {
      const only = (team: string) => ({
        conditions: [token('memberships.team', { kind: 'oneOf', values: [team] }, restriction)],
      });
      expect(await rowsOf(listOf('users', 'name'), only('t1'))).toEqual([['Ann']]);
      expect(await rowsOf(listOf('users', 'name'), only('t2'))).toEqual([['Ann'], ['Dee']]);
      expect(await rowsOf(listOf('users', 'name'), only('t3'))).toEqual([]);
      expect(await rowsOf(inSql('SELECT name AS k FROM users'), only('t1'))).toEqual([['Ann']]);
    }
    const whereRead = { conditions: [token('memberships.team', { kind: 'oneOf', values: ['t3'] }, 'whereRead')] };
    expect(await rowsOf(counted('tasks', 'users.name'), whereRead)).toEqual([[null, '3']]);
  });

  it('the token compares the stored values of a column that is not named', async () => {
    const conditions = [token('users.email', { kind: 'like', pattern: 'd%' })];
    expect(await rowsOf(listOf('users', 'name'), { conditions })).toEqual([['Dee']]);
  });

  it('rules of a token hold beside through', async () => {
    const masked = withColumnRules(mart, { hideColumns: [], maskColumns: { 'main.users.name': 'first' } });
    expect(await rowsOf(listOf('users', 'name'), {}, masked)).toEqual([['A'], ['D']]);
    await refusalOf(() => rowsOf(listOf('users', 'email'), {}, masked));
  });

  it('a base filter of the bridge ends what an ended membership showed, also in metrics without it', async () => {
    const ended = martOf(undefined, {
      tables: mart.tables.map((one) =>
        one.tableName === 'memberships'
          ? { ...one, baseFilters: [{ columnName: 'ended', predicate: { kind: 'isNull' } }] }
          : one,
      ),
    });
    expect(await rowsOf(listOf('users', 'name'), {}, ended)).toEqual([['Ann']]);
    const open = { withoutBaseFilters: [{ schemaName: 'main', tableName: 'memberships' }] };
    expect(await rowsOf(listOf('users', 'name', open), {}, ended)).toEqual([['Ann']]);
    expect(await rowsOf(counted('memberships', 'memberships.team'), {}, ended)).toHaveLength(2);
    expect(await rowsOf({ ...counted('memberships', 'memberships.id'), ...open }, {}, ended)).toHaveLength(3);
    const conditions = [token('memberships.team', { kind: 'oneOf', values: ['t2'] })];
    expect(await rowsOf(listOf('users', 'name', open), { conditions }, ended)).toEqual([['Ann']]);
  });

  it('a table whose only way leads to a bridged one is not readable', async () => {
    expect(await refusalOf(() => rowsOf(listOf('logins', 'id')))).toMatchObject({ reason: 'table-belongs-to-several' });
  });

  it.runIf(hasSql(kind))('a condition of a token in SQL on the bridge holds for the users', async () => {
    const sql = "SELECT team FROM memberships WHERE team = 't1'";
    const conditions = [token('memberships.team', { kind: 'inQuery', sql, columnName: 'team' }, 'whereRead')];
    expect(await rowsOf(listOf('users', 'name'), { conditions })).toEqual([['Ann']]);
  });
});
