/** What `guestlist init` asks and proposes where names do not say who the tenants are, and where several keys lead to them. */

import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { choosePort } from '../../src/cli/init/port.js';
import { type Asking, askShared, askTenantTable } from '../../src/cli/init/questions.js';
import { askWays, readPaths } from '../../src/cli/init/ways.js';
import { draftDatamart } from '../../src/model/datamart/model-draft.js';
import { proposeFor } from '../../src/model/datamart/source-proposals.js';
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
    ...{ paths, shared },
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

test('a port that is taken is not chosen, unless it is named', async () => {
  const first = await choosePort(undefined);
  const server = createServer().listen(first, '127.0.0.1');
  await once(server, 'listening');
  expect(await choosePort(undefined)).toBeGreaterThan(first);
  expect(await choosePort(first)).toBe(first);
  server.close();
});
