/** What `guestlist init` asks and proposes where names do not say who the tenants are, and where several keys lead to them. */

import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test, vi } from 'vitest';
import { askAmounts, takenAmounts } from '../../src/cli/init/amounts.js';
import { askBaseFilters, takenBaseFilters } from '../../src/cli/init/base-filters.js';
import { askBridges, readBridges } from '../../src/cli/init/bridges.js';
import { choosePort } from '../../src/cli/init/port.js';
import { type Asking, askDatabase, askShared, askTenantTable } from '../../src/cli/init/questions.js';
import { draftReport } from '../../src/cli/init/report.js';
import { readDatabaseUrl } from '../../src/cli/init/source.js';
import { askCharts, askTables } from '../../src/cli/init/wanted.js';
import { askWays, readPaths } from '../../src/cli/init/ways.js';
import { metricOf } from '../../src/model/dashboard/first/first-dashboard.js';
import { type Choices, draftDatamart } from '../../src/model/datamart/model-draft.js';
import { proposeBridges, proposeFor } from '../../src/model/datamart/source-proposals.js';
import type { SourceTable } from '../../src/model/datamart/source-schema.js';

/** A table with the primary key `id`, and foreign keys `<name>_id` to the tables of `references`. */
const table = (tableName: string, references: Readonly<Record<string, string>> = {}): SourceTable => ({
  schemaName: 'public',
  tableName,
  columns: ['id', ...Object.keys(references)].map((columnName) => ({
    columnName,
    datatype: 'integer',
    isNullable: false,
  })),
  primaryKey: ['id'],
  uniqueKeys: [],
  foreignKeys: Object.entries(references).map(([column, other]) => ({
    columns: [column],
    references: { schemaName: 'public', tableName: other },
    referencedColumns: ['id'],
  })),
});

const studios = table('studios');
const tables = [
  table('bookings', { class_id: 'classes', member_id: 'members' }),
  table('booking_notes', { booking_id: 'bookings' }),
  table('class_types'),
  table('classes', { studio_id: 'studios', class_type_id: 'class_types' }),
  table('members', { studio_id: 'studios' }),
  studios,
];
const proposals = proposeFor(tables);
const draftFor = (paths: ReadonlyMap<string, string> = new Map(), shared: readonly string[] = []) =>
  draftDatamart(tables, proposals.relationships, {
    ...{ name: 'studio', tenantTable: studios, keyColumn: 'id', clientColumn: undefined },
    ...{ paths, shared, bridges: [], baseFilters: [], amounts: [] },
  });
const namesOf = (left: ReturnType<typeof draftFor>['leftOut']) => left.map((one) => one.table.tableName);

type Asked = {
  readonly message: string;
  readonly options: readonly { readonly value: string; readonly label: string }[];
};

/** A terminal at which somebody chooses each time the option at this place. */
const terminal = (...places: readonly number[]) => {
  const asked: Asked[] = [];
  const choose = async (question: Asked) => {
    const { value } = question.options[places[asked.length] ?? 0] ?? {};
    asked.push(question);
    return value;
  };
  const many = async (question: Asked) => {
    asked.push(question);
    return [];
  };
  return {
    asked,
    asking: { select: choose, multiselect: many, isCancel: () => false } as unknown as NonNullable<Asking>,
  };
};

test('without a name for tenants, the table that most others lead to is proposed first', async () => {
  const { asked, asking } = terminal(0);
  expect((await askTenantTable(asking, {}, tables, proposals)).table.tableName).toBe('studios');
  expect(asked[0]?.options[0]).toMatchObject({ label: 'public.studios', hint: '4 other tables lead to it' });
  expect(asked[0]?.options).toHaveLength(tables.length);
  await expect(askTenantTable(null, {}, tables, proposals)).rejects.toThrow(
    'name it by --tenant-table (by its keys perhaps public.studios: 4 other tables lead to it)',
  );
});

test('without a terminal, the one table that half of the others lead to is taken, and people never are', async () => {
  const keyed = [
    ...[table('practices'), table('users'), table('visits', { practice_id: 'practices', user_id: 'users' })],
    ...[table('rooms', { practice_id: 'practices', user_id: 'users' }), table('codes')],
  ];
  expect((await askTenantTable(null, {}, keyed, proposeFor(keyed))).table.tableName).toBe('practices');
  const several = [...keyed, table('regions'), table('sites_in', { region_id: 'regions', practice_id: 'practices' })];
  const both = [...several, table('shifts', { region_id: 'regions', practice_id: 'practices' })];
  const regions = both.map((one) =>
    one.tableName === 'visits' ? table('visits', { practice_id: 'practices', region_id: 'regions' }) : one,
  );
  const left = regions.filter(({ tableName }) => !['users', 'codes', 'rooms'].includes(tableName));
  await expect(askTenantTable(null, {}, left, proposeFor(left))).rejects.toThrow('name it by --tenant-table');
});

test('a password that the URL lacks is asked for where nobody sees it', async () => {
  const asked: string[] = [];
  const asking = (url: string) =>
    ({
      ...{ text: async () => url, isCancel: () => false },
      password: async ({ message }: { readonly message: string }) => {
        asked.push(message);
        return 'p%/@';
      },
    }) as unknown as NonNullable<Asking>;
  const given = await askDatabase(asking('postgres://reader@db:5432/shop?sslmode=require'), {});
  expect(readDatabaseUrl(given)).toMatchObject({ username: 'reader', password: 'p%/@', database: 'shop', isSsl: true });
  expect(asked).toEqual(['Password of reader (empty if there is none)']);
  for (const url of ['postgres://reader:known@db/shop', 'shop.duckdb'])
    expect(await askDatabase(asking(url), {})).toBe(url);
  expect(asked).toHaveLength(1);
});

test('a table from which several keys lead to a tenant is asked about, and the tables behind it follow', async () => {
  expect(namesOf(draftFor().leftOut)).toEqual(['bookings', 'booking_notes', 'class_types']);
  const { asked, asking } = terminal(1);
  const paths = await askWays(asking, draftFor);
  expect(asked.map(({ options }) => options.map(({ label }) => label))).toEqual([
    ['class_id → classes', 'member_id → members', 'none: leave the table out'],
  ]);
  expect([...paths]).toEqual([['public.bookings', 'bookings.member_id']]);
  const { datamart, leftOut } = draftFor(paths);
  expect(namesOf(leftOut)).toEqual(['class_types']);
  expect(datamart.tables.find(({ tableName }) => tableName === 'bookings')?.tenancyPath).toBe('bookings.member_id');
  // The keys of the tenants make no second way from bookings to classes.
  expect(datamart.relationships.map(({ relationshipName }) => relationshipName)).toEqual([
    ...['bookings.class_id', 'bookings.member_id', 'booking_notes.booking_id', 'classes.studio_id'],
    'members.studio_id',
  ]);
});

test("init asks once for a table's tenant, and the table stays out if nobody knows", async () => {
  const { asked, asking } = terminal(2);
  expect(await askWays(asking, draftFor)).toEqual(new Map());
  expect(asked).toHaveLength(1);
});

test('nothing is asked about a table whose way was named, and a wrong name is told with the right ones', async () => {
  const { asked, asking } = terminal();
  const given = readPaths(['bookings=class_id'], tables, proposals.relationships);
  expect([...(await askWays(asking, draftFor, given))]).toEqual([['public.bookings', 'bookings.class_id']]);
  expect(asked).toHaveLength(0);
  expect(() => readPaths(['bookings=studio'], tables, proposals.relationships)).toThrow(
    'the relationships of public.bookings are: bookings.class_id, bookings.member_id',
  );
  expect(() => readPaths(['bookings'], tables, proposals.relationships)).toThrow('there is no table ""');
});

test('a table that may hold the rows of tenants is not offered to be shared with all', async () => {
  const { asked, asking } = terminal();
  await askShared(asking, {}, tables, draftFor().leftOut);
  expect(asked[0]?.options.map(({ value }) => value)).toEqual(['public.class_types']);
  const { leftOut } = draftFor(new Map(), ['public.class_types']);
  expect(await askShared(asking, {}, tables, leftOut)).toEqual([]);
  expect(asked).toHaveLength(1);
});

/** People who belong to several studios, with rows that are deleted or only a test. */
const people: readonly SourceTable[] = [
  ...tables,
  {
    ...table('users'),
    columns: [
      { columnName: 'id', datatype: 'integer', isNullable: false },
      ...['full_name', 'department', 'email', 'password_hash'].map((columnName) => ({
        ...{ columnName, datatype: 'text', isNullable: false },
      })),
      { columnName: 'deleted_at', datatype: 'timestamp', isNullable: true },
      { columnName: 'is_test', datatype: 'boolean', isNullable: true },
    ],
  },
  { ...table('memberships', { studio_id: 'studios', user_id: 'users' }), uniqueKeys: [['studio_id', 'user_id']] },
];
const named = proposeFor(people);
const found = { ...named, bridges: proposeBridges(people, named.relationships, studios) };
type More = Partial<Pick<Choices, 'bridges' | 'baseFilters'>>;
const draftOfPeople = (more: More = {}, wanted = people) =>
  draftDatamart(wanted, found.relationships, {
    ...{ name: 'studio', tenantTable: studios, keyColumn: 'id', clientColumn: undefined },
    ...{ paths: new Map(), shared: [], bridges: [], baseFilters: [], amounts: [], ...more },
  });
const reportOf = (more: More) =>
  draftReport(draftOfPeople(more), { chosen: new Map(), given: new Map(), isAsked: false, ...found });

test('a terminal is not told before what it asks next, with the reasons', () => {
  const plan = { chosen: new Map(), given: new Map(), ...found };
  const told = draftReport(draftOfPeople({}), { ...plan, isAsked: true });
  expect(told).not.toContain('Not taken.');
  expect(draftReport(draftOfPeople({}), { ...plan, isAsked: false })).toContain('Not taken.');
  expect(told).toContain('WHOSE ROWS');
});

const usersIn = ({ datamart }: ReturnType<typeof draftOfPeople>) =>
  datamart.tables.find(({ tableName }) => tableName === 'users');

test('a terminal proposes the names of shared people, and asks for their e-mail addresses', async () => {
  const { asked, asking } = terminal();
  const answering = (values: readonly string[]) =>
    Object.assign({}, asking, {
      multiselect: async (one: Asked) => {
        asked.push(one);
        return values;
      },
    });
  const [first] = await askBridges(answering(['full_name', 'email']), found.bridges, []);
  expect(asked[0]).toMatchObject({
    message: expect.stringContaining('each row pairs one with studios'),
    initialValues: ['full_name', 'department'],
    options: [{ value: 'full_name' }, { value: 'department' }, { value: 'email', hint: 'tells of a person' }],
  });
  expect(first?.through.columns).toEqual(['id', 'full_name', 'email']);
  expect(await askBridges(answering([]), found.bridges, [])).toEqual([]);
  expect(await askBridges(answering([]), found.bridges, found.bridges)).toHaveLength(1);
  expect(asked).toHaveLength(2);
});

test('without a terminal no bridge is taken unless a flag names it, and the report says what the flag gives', async () => {
  const taken = readBridges(['users'], people, found.bridges);
  expect(await askBridges(null, found.bridges, [])).toEqual([]);
  expect(taken.map(({ through }) => through.columns)).toEqual([['id', 'full_name', 'department']]);
  expect(reportOf({})).toMatch(/Not taken\.[\s\S]*--through public\.users=full_name,department; it also has email/);
  const report = reportOf({ bridges: taken });
  expect(report).toMatch(/public\.users +several tenants each, by memberships/);
  expect(report).toContain('  public.users: id, full_name, department');
  expect(report).not.toContain('--through');
});

test('a flag names the columns of shared people, and a wrong table or column is told with the right ones', () => {
  const read = (text: string) => readBridges([text], people, found.bridges);
  expect(read('public.users=email').map(({ through }) => through.columns)).toEqual([['id', 'email']]);
  expect(() => read('users=password_hash')).toThrow('"password_hash" cannot be read (named like a secret)');
  expect(() => read('users=nickname')).toThrow('there is no such column');
  expect(() => read('members')).toThrow('tables with shared rows are: public.users');
  expect(() => read('people')).toThrow('there is no table "people"');
});

test('the draft has no column of shared people that tenants do not read', () => {
  const users = usersIn(draftOfPeople({ bridges: readBridges(['users=full_name'], people, found.bridges) }));
  expect(users?.columns.map(({ columnName }) => columnName)).toEqual(['id', 'full_name']);
  expect(usersIn(draftOfPeople())).toBeUndefined();
});

test('deleted rows are left out unless a flag wants them, and a mark that may be empty is not taken without one', () => {
  const wordsOf = (flags: Parameters<typeof takenBaseFilters>[0]) =>
    takenBaseFilters(flags, people, found.baseFilters).map(({ filter }) => filter.columnName);
  expect(wordsOf({})).toEqual(['deleted_at']);
  expect(wordsOf({ baseFilter: ['users'] })).toEqual(['deleted_at', 'is_test']);
  expect(wordsOf({ withoutBaseFilter: ['users'] })).toEqual([]);
  expect(() => wordsOf({ withoutBaseFilter: ['classes'] })).toThrow('tables with one are: public.users');
  const baseFilters = takenBaseFilters({}, people, found.baseFilters);
  const report = reportOf({ bridges: found.bridges, baseFilters });
  expect(report).toContain(
    'public.users: deleted_at is empty (deleted_at is empty while a row is in use); all rows: --w',
  );
  expect(report).toMatch(/is_test = false \(.*rows without a value are left out too\); to take it: --base-filter/);
  const users = usersIn(draftOfPeople({ bridges: found.bridges, baseFilters }));
  expect(users?.baseFilters).toEqual([{ columnName: 'deleted_at', predicate: { kind: 'isNull' } }]);
});

test('a terminal asks for each base filter, and has the certain ones selected', async () => {
  const asked: object[] = [];
  const multiselect = async (question: object) => {
    asked.push(question);
    return [1];
  };
  const asking = { multiselect, isCancel: () => false } as unknown as NonNullable<Asking>;
  const taken = takenBaseFilters({}, people, found.baseFilters);
  const chosen = await askBaseFilters(asking, found.baseFilters, taken);
  expect(asked).toMatchObject([{ initialValues: [0] }]);
  expect(chosen.map(({ filter }) => filter.columnName)).toEqual(['is_test']);
});

test('amounts are taken unless a flag leaves out their table, and the report says how to', async () => {
  const money = [
    studios,
    {
      ...table('payments', { studio_id: 'studios' }),
      columns: ['id', 'studio_id', 'paid_cents', 'fee_cents'].map((columnName) => ({
        ...{ columnName, datatype: 'integer', isNullable: false },
      })),
    },
  ];
  const { relationships, amounts } = proposeFor(money);
  expect(takenAmounts({}, money, amounts)).toEqual(amounts);
  expect(takenAmounts({ withoutAmounts: ['payments'] }, money, amounts)).toEqual([]);
  expect(() => takenAmounts({ withoutAmounts: ['paid'] }, money, amounts)).toThrow('there is no table "paid"');
  const asked: object[] = [];
  const multiselect = async (question: object) => {
    asked.push(question);
    return [1];
  };
  const asking = { multiselect, isCancel: () => false } as unknown as NonNullable<Asking>;
  const chosen = await askAmounts(asking, amounts, takenAmounts({}, money, amounts));
  expect(asked).toMatchObject([{ initialValues: [0, 1] }]);
  expect(chosen.map(({ columnName }) => columnName)).toEqual(['fee_cents']);
  const draft = draftDatamart(money, relationships, {
    ...{ name: 'studio', tenantTable: studios, keyColumn: 'id', clientColumn: undefined },
    ...{ paths: new Map(), shared: [], bridges: [], baseFilters: [], amounts: chosen },
  });
  const report = draftReport(draft, {
    chosen: new Map(),
    given: new Map(),
    isAsked: false,
    bridges: [],
    baseFilters: [],
  });
  expect(report).toContain(
    'public.payments.fee_cents: stored with 2 decimal places, currency not known; as stored: --without-amounts public.p',
  );
  expect(report).not.toContain('paid_cents');
});

/** A terminal at which somebody leaves out what is named. */
const deselecting = (...names: readonly string[]): NonNullable<Asking> =>
  ({
    multiselect: async ({ options }: Asked) => options.map(({ value }) => value).filter((one) => !names.includes(one)),
    isCancel: () => false,
  }) as unknown as NonNullable<Asking>;

test('tables that are deselected in a terminal are not in the model, nor are those that got their tenant by them', async () => {
  const drafting = {
    tables: people,
    draftFor: (wanted: readonly SourceTable[]) => draftOfPeople({ bridges: found.bridges }, wanted),
  };
  const namesAfter = async (asking: Asking) =>
    (await askTables(asking, drafting)).datamart.tables.map(({ tableName }) => tableName);
  expect(await namesAfter(null)).toEqual(['classes', 'members', 'studios', 'users', 'memberships']);
  expect(await namesAfter(deselecting('public.members'))).toEqual(['classes', 'studios', 'users', 'memberships']);
  const told = vi.spyOn(console, 'log').mockReturnValue();
  expect(await namesAfter(deselecting('public.memberships'))).toEqual(['classes', 'members', 'studios']);
  expect(told.mock.calls.join()).toContain('Left out too, since no table says whose their rows are: public.users');
  told.mockRestore();
});

test('charts that are deselected in a terminal are not made, and one is needed', async () => {
  const metrics = ['Bookings', 'Members'].map((name) => ({
    ...{ metricId: name, name, shape: 'value' as const, definition: metricOf({ from: studios }) },
  }));
  const namesAfter = async (asking: Asking, without: readonly string[] = []) =>
    (await askCharts(asking, { without }, { metrics, filters: [] })).metrics.map(({ name }) => name);
  expect(await namesAfter(null)).toEqual(['Bookings', 'Members']);
  expect(await namesAfter(deselecting('Bookings'))).toEqual(['Members']);
  await expect(namesAfter(deselecting('Members'), ['Bookings'])).rejects.toThrow('a dashboard needs at least one');
  await expect(namesAfter(null, ['Rooms'])).rejects.toThrow('The charts are: Bookings; Members');
});

test('a port that is taken is not chosen, unless it is named', async () => {
  const first = await choosePort(undefined);
  const server = createServer().listen(first, '127.0.0.1');
  await once(server, 'listening');
  expect(await choosePort(undefined)).toBeGreaterThan(first);
  expect(await choosePort(first)).toBe(first);
  server.close();
});

test('no name of the database writes to the terminal, wherever the report has it', () => {
  const hostile = 'a\u001b[2J\nb';
  const end = { schemaName: 'public', tableName: hostile, columnName: 'id' };
  const [one] = proposals.relationships;
  if (one === undefined) throw new Error('the tables have relationships');
  const secondWays = [{ ...one, relationshipName: hostile, child: end }];
  const plan = { chosen: new Map(), given: new Map(), bridges: [], baseFilters: [], amounts: [], isAsked: false };
  expect(draftReport({ ...draftFor(), secondWays }, plan)).toContain('  a\uFFFD[2J\uFFFDb → a\uFFFD[2J\uFFFDb');
});
