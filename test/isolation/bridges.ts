/**
 * Bridges and base filters: an answer equals that of a database without the rows and columns that they leave out. There,
 * the users are those of one tenant, and a table for all; each task and note has its tenant in a column.
 */
import fc from 'fast-check';
import type { MetricDefinition } from '../../src/model/dashboard/metric.js';
import type { BaseFilter, Datamart, DatamartTable, JoinKind } from '../../src/model/datamart/datamart.js';
import type { Condition, Predicate } from '../../src/model/filter/filter.js';
import type { Engine } from '../../src/model/query/engine.js';
import { createBuilder, type Kind, type TableData, type Value } from '../engine/test-databases.js';
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
  relationship,
  table,
  tableRef,
} from '../engine/world.js';
import { outcomeOf } from './judge.js';

const tenants = ['a', 'b', 'none'] as const;
type Row = Readonly<Record<string, Value>>;

const types = {
  users: { id: 'BIGINT', name: 'VARCHAR', email: 'VARCHAR', gone: 'DATE', raw_id: 'BIGINT' },
  memberships: { id: 'BIGINT', user_id: 'BIGINT', org: 'VARCHAR', team: 'VARCHAR', ended: 'DATE' },
  tasks: { id: 'BIGINT', org: 'VARCHAR', assignee: 'BIGINT', hours: 'BIGINT', is_test: 'BOOLEAN' },
  notes: { id: 'BIGINT', task_id: 'BIGINT', body: 'VARCHAR', gone: 'DATE', owner: 'VARCHAR' },
} as const;
type TableName = keyof typeof types;
const tableNames = Object.keys(types) as readonly TableName[];
const shown = {
  users: ['id', 'name', 'email', 'gone'],
  memberships: ['id', 'user_id', 'org', 'team', 'ended'],
  tasks: ['id', 'org', 'assignee', 'hours', 'is_test'],
  notes: ['id', 'task_id', 'body', 'gone'],
} as const satisfies Record<TableName, readonly string[]>;

export type World = Readonly<Record<TableName, readonly Row[]>>;

const anId = fc.integer({ min: 1, max: 6 });
const aKey = fc.option(anId, { nil: null, freq: 6 });
const anOrg = fc.constantFrom('a', 'b');
const aDay = fc.constantFrom('2024-02-03', null, null, null);
const rowsOf = (one: fc.Arbitrary<Row>, most: number): fc.Arbitrary<readonly Row[]> =>
  fc
    .array(one, { minLength: most - 2, maxLength: most, size: 'max' })
    .map((rows) => rows.map((row, index) => ({ ...row, id: index + 1 })));

/** Users in several tenants and in none, memberships of users who do not exist, and tasks of other tenants' users. */
const aWorld: fc.Arbitrary<World> = fc.record({
  users: rowsOf(
    fc.record({ name: fc.constantFrom('Ann', 'Bob', 'Cy'), email: fc.constantFrom('x@a', 'y@b', null), gone: aDay }),
    7,
  ),
  memberships: rowsOf(
    fc.record({ user_id: aKey, org: anOrg, team: fc.constantFrom('t1', 't2', null), ended: aDay }),
    14,
  ),
  tasks: rowsOf(
    fc.record({
      org: anOrg,
      assignee: aKey,
      hours: fc.integer({ min: 1, max: 9 }),
      is_test: fc.constantFrom(true, false, false, false, null),
    }),
    14,
  ),
  notes: rowsOf(fc.record({ task_id: aKey, body: fc.constantFrom('p', 'q', null), gone: aDay }), 14),
});

const filtersOf = {
  users: { columnName: 'gone', predicate: { kind: 'isNull' } },
  memberships: { columnName: 'ended', predicate: { kind: 'isNull' } },
  tasks: { columnName: 'is_test', predicate: { kind: 'compare', operator: '=', value: false } },
  notes: { columnName: 'gone', predicate: { kind: 'isNull' } },
} as const satisfies Record<TableName, BaseFilter>;

const passes = (name: TableName, row: Row): boolean =>
  name === 'tasks' ? row.is_test === false : row[filtersOf[name].columnName] === null;

type ATest = readonly [path: string, predicate: Predicate];
const aTest = fc.constantFrom<ATest>(
  ['memberships.team', { kind: 'oneOf', values: ['t1'] }],
  ['memberships.ended', { kind: 'isNull' }],
  ['tasks.hours', { kind: 'compare', operator: '>', value: 4 }],
  ['users.name', { kind: 'noneOf', values: ['Bob'] }],
  ['notes.body', { kind: 'isNotNull' }],
  ['users.id', { kind: 'compare', operator: '<', value: 4 }],
);
const aField = fc.constantFrom(...tableNames.flatMap((name) => shown[name].map((column) => `${name}.${column}`)));
const join = fc.constantFrom<JoinKind>('LEFT JOIN', 'INNER JOIN', 'RIGHT JOIN');
const some = fc.uniqueArray(fc.constantFrom(...tableNames), { maxLength: 4 });

const statements = [
  'SELECT name AS k, count(*) AS n FROM users GROUP BY name',
  'SELECT u.name AS k, count(t.id) AS n FROM tasks t LEFT JOIN users u ON u.id = t.assignee GROUP BY u.name',
  'SELECT email AS k, count(*) AS n FROM users GROUP BY email',
  'SELECT t.org AS k, count(*) AS n FROM tasks t WHERE t.assignee IN (SELECT u.id FROM users u) GROUP BY t.org',
  'SELECT m.team AS k, count(*) AS n FROM memberships m JOIN users u ON u.id = m.user_id GROUP BY m.team',
  'SELECT n.body AS k, count(*) AS n FROM notes n JOIN tasks t ON t.id = n.task_id GROUP BY n.body',
];

const aCase = fc.record({
  tenant: fc.constantFrom<(typeof tenants)[number]>('a', 'a', 'a', 'b', 'b', 'none'),
  named: fc.oneof(
    fc.constant(['id', 'name']),
    fc.uniqueArray(fc.constantFrom('id', 'name', 'email', 'gone'), { minLength: 1, maxLength: 4 }),
  ),
  joins: fc.tuple(join, join, join),
  filtered: some,
  open: fc.oneof(some, fc.constant<TableName[]>([...tableNames])),
  token: fc.option(
    fc.record({ team: fc.constantFrom('t1', 't2'), kind: fc.constantFrom('always', 'whereRead') } as const),
    {
      nil: null,
    },
  ),
  from: fc.constantFrom(...tableNames),
  dimensions: fc.uniqueArray(aField, { minLength: 1, maxLength: 2 }),
  tests: fc.oneof(
    { weight: 2, arbitrary: fc.constant<ATest[]>([]) },
    { weight: 1, arbitrary: fc.array<ATest>(aTest, { maxLength: 2 }) },
  ),
  isWhere: fc.boolean(),
  ask: fc.constantFrom('answer', 'answer', 'answer', 'options', 'underlying', 'sql', 'sql'),
  statement: fc.constantFrom(...statements),
});
export type ACase = typeof aCase extends fc.Arbitrary<infer One> ? One : never;

const named = (columns: Readonly<Record<string, string>>, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, columns[name] ?? '']));

const relationshipsOf = ({ joins }: ACase, key: string): Datamart['relationships'] => [
  relationship('memberships.user_id', `users.${key}`, joins[0]),
  relationship('tasks.assignee', `users.${key}`, joins[1]),
  relationship('notes.task_id', 'tasks.id', joins[2]),
];

const martOf = (of: ACase): Datamart => {
  const withFilter = (name: TableName, made: DatamartTable): DatamartTable =>
    of.filtered.includes(name) ? { ...made, baseFilters: [filtersOf[name]] } : made;
  return datamart({
    tenancy: byClients(),
    tables: [
      table('clients', { id: 'VARCHAR', name: 'VARCHAR' }),
      withFilter('users', {
        ...table('users', named(types.users, shown.users)),
        through: { relationship: 'memberships.user_id-users.id', columns: of.named },
      }),
      withFilter('memberships', table('memberships', types.memberships, 'org')),
      withFilter('tasks', table('tasks', types.tasks, 'org')),
      withFilter('notes', table('notes', named(types.notes, shown.notes))),
    ],
    relationships: relationshipsOf(of, 'id'),
  });
};

/** The datamart of the other database: no bridge, no filter, no path. */
const plainMartOf = (of: ACase): Datamart =>
  datamart({
    id: 'plain',
    tenancy: byClients(),
    tables: [
      table('clients', { id: 'VARCHAR', name: 'VARCHAR' }),
      table('users', named(types.users, [...of.named, 'raw_id'])),
      table('memberships', types.memberships, 'org'),
      table('tasks', types.tasks, 'org'),
      table('notes', types.notes, 'owner'),
    ],
    relationships: relationshipsOf(of, 'raw_id'),
    sharedTables: ['main.users'],
  });

/**
 * What is left of the world for the case. A row that only the metric reads, since it is without base filters, is there for
 * itself: other rows need a row that passes.
 */
const leftOf = (world: World, of: ACase): World => {
  const { tenant, filtered, open, token } = of;
  const isFiltered = (name: TableName, row: Row): boolean => !filtered.includes(name) || passes(name, row);
  const isRead = (name: TableName, row: Row): boolean => open.includes(name) || isFiltered(name, row);
  const isOfTeam = (row: Row): boolean => token === null || row.team === token.team;
  const isBridge = (row: Row): boolean => row.org === tenant && isFiltered('memberships', row) && isOfTeam(row);
  const bridges = world.memberships.filter(isBridge);
  const hasBridge = (row: Row): boolean => bridges.some(({ user_id }) => user_id !== null && user_id === row.id);
  const users = world.users.filter(hasBridge);
  // The token's condition reaches tasks and notes by rows that pass their base filters.
  const isReached = token?.kind === 'always';
  const isShown = (row: Row): boolean =>
    !isReached || users.some((user) => user.id === row.assignee && isFiltered('users', user));
  const tasks = world.tasks.filter((row) => row.org === tenant && isShown(row));
  const isOfTask = (row: Row): boolean =>
    !isReached || tasks.some((task) => task.id === row.task_id && isFiltered('tasks', task));
  return {
    users: users.filter((row) => isRead('users', row)),
    memberships: world.memberships.filter((row) => isRead('memberships', row) && (!isReached || isOfTeam(row))),
    tasks: (isReached ? tasks : world.tasks).filter((row) => isRead('tasks', row)),
    notes: world.notes.filter((row) => isRead('notes', row) && isOfTask(row)),
  };
};

const dataOf = (world: World, owners: World['tasks']): readonly TableData[] => [
  { name: 'clients', columns: { id: 'VARCHAR', name: 'VARCHAR' }, rows: [['a', 'A']] },
  ...tableNames.map((name) => ({
    name,
    columns: types[name],
    rows: world[name].map((row) => {
      const owner = owners.find(({ id }) => id === row.task_id)?.org ?? null;
      const whole: Row = { ...row, raw_id: row.id ?? null, owner };
      return Object.keys(types[name]).map((column) => whole[column] ?? null);
    }),
  })),
];

const definitionOf = (of: ACase): MetricDefinition => {
  const withoutBaseFilters = of.open.map(tableRef);
  if (of.ask === 'sql') {
    return {
      ...{ kind: 'sql', chart: { type: 'table' }, sql: of.statement, dimensions: [{ name: 'k' }] },
      ...{ measures: [{ name: 'n' }], filters: [], rlsVariables: [], sort: [], limit: null, withoutBaseFilters },
    };
  }
  const [first] = of.tests;
  return metric(of.from, {
    dimensions: of.dimensions.map((path, index) => ({ name: `k${index}`, column: columnRef(path) })),
    measures: [{ name: 'n', aggregate: 'COUNT' }],
    underlying: of.dimensions.map(columnRef),
    ...(of.isWhere && first !== undefined ? { where: condition(...first) } : {}),
    withoutBaseFilters,
  });
};

const conditionsOf = ({ tests, isWhere, token }: ACase): readonly Condition[] => [
  ...(isWhere ? tests.slice(1) : tests).map((test) => condition(...test)),
  ...(token === null
    ? []
    : [
        {
          ...condition('memberships.team', { kind: 'oneOf', values: [token.team] }),
          ...{ restriction: token.kind, isHidden: true, isOfToken: true as const },
        },
      ]),
];

export type BridgeTally = { asked: number; answered: number; several: number; readonly refused: Map<string, number> };

const ask = async (engine: Engine, place: Place, mart: Datamart, of: ACase) => {
  const definition = definitionOf(of);
  const asked = question(place, mart, of.tenant, definition, { conditions: conditionsOf(of) });
  if (of.ask === 'options') {
    const column = at(place, columnRef(of.dimensions[0] ?? 'tasks.id'));
    return (await engine.options({ ...asked, column, search: null })).map(String).sort();
  }
  const { rows } = of.ask === 'underlying' ? await engine.underlying(asked) : await engine.query(asked);
  return rows
    .map((row) => JSON.stringify(Object.values(row).map((cell) => (cell === null ? null : String(cell)))))
    .sort();
};

/** Throws if the answers, or the reasons of refusals, differ. */
export const judgeBridges = async (
  { engine, stored, left }: { readonly engine: Engine; readonly stored: Place; readonly left: Place },
  of: ACase,
  tally: BridgeTally,
): Promise<void> => {
  const [under, on] = await Promise.all([
    outcomeOf(() => ask(engine, stored, martOf(of), of)),
    outcomeOf(() => ask(engine, left, plainMartOf(of), { ...of, open: [] })),
  ]);
  tally.asked += 1;
  if ('refused' in under) tally.refused.set(under.refused, (tally.refused.get(under.refused) ?? 0) + 1);
  else {
    tally.answered += 1;
    if (under.answer.length > 1) tally.several += 1;
  }
  // SQL cannot join by a column that is not named, and the other database joins by a copy of it.
  if ('refused' in under && under.refused === 'restriction-sql-condition' && !of.named.includes('id')) return;
  const [a, b] = [JSON.stringify(under), JSON.stringify(on)];
  if (a !== b)
    throw new Error(`a bridge or base filter shows something else than a database without the rest\n  ${a}\n  ${b}`);
};

/** The two databases for one world and all cases that leave the same rows. */
export const withBridgeStage = async (
  kind: Kind,
  world: World,
  of: ACase,
  work: (stage: { readonly engine: Engine; readonly stored: Place; readonly left: Place }) => Promise<void>,
): Promise<void> => {
  const builder = await createBuilder(kind);
  const { engine } = createLoggedEngine();
  try {
    const stored = await builder.build('stored', dataOf(world, world.tasks));
    const left = await builder.build('left', dataOf(leftOf(world, of), world.tasks));
    await work({ engine, stored, left });
  } finally {
    await engine.close();
    await builder.remove();
  }
};

/** What decides which rows are left, with new questions. */
export const aScene = fc.record({ world: aWorld, scene: aCase });
export const inScene = ({ tenant, named: columns, filtered, open, token }: ACase): fc.Arbitrary<ACase> =>
  aCase.map((drawn): ACase => ({ ...drawn, tenant, named: columns, filtered, open, token }));
