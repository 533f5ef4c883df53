/** `guestlist step-down` on either backing. step-down.long.test.ts starts the previous release afterwards. */
import { readFile } from 'node:fs/promises';
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
// The embedded database changes globals that modules of the command line read while they load.
import '../../src/cli/step-down.js';
import { productParts } from '../../src/compose/move/ends.js';
import { hiddenMigrations } from '../../src/compose/move/step-down.js';
import { verifyAudit } from '../../src/gateway/audit/read.js';
import type { LedgerTables } from '../../src/gateway/ledger/tables.js';
import { previousVersion } from '../../src/service/store/previous-release.js';
import { createStore } from '../../src/service/store/store.js';
import type { Tables } from '../../src/service/store/tables.js';
import { migrateAll } from '../suites/metadata.js';
import { isPostgresThere } from '../suites/postgres.js';
import { testSealer } from '../suites/sealer.js';
import { datamartSample, datasourceSample } from '../suites/store-samples.js';
import {
  fillFolder,
  type Installation,
  makeFilled,
  makeFolder,
  makeTemplate,
  placeOf,
  runAt,
} from './installations.js';
import { on } from './moving.js';

const hasServer = await isPostgresThere();
const template = 'stepped';
beforeAll(async () => {
  if (hasServer) await makeTemplate(template);
});

const backings: readonly (readonly [string, () => Promise<Installation>])[] = [
  [
    'the embedded database',
    async () => {
      const folder = await makeFolder();
      await fillFolder(folder);
      return { folder };
    },
  ],
  ...(hasServer
    ? [['PostgreSQL', async () => ({ folder: await makeFolder(), server: await makeFilled(template) })] as const]
    : []),
];

/** The migrations that the previous release finds, as it looks for them. */
const foundBefore = (where: Installation): Promise<readonly string[]> =>
  on(placeOf(where), async (database) => {
    const { rows } = await sql<{ name: string }>`select name from guestlist.kysely_migration
      union all select name from guestlist_gateway.kysely_migration order by name`.execute(database.connect());
    return rows.map(({ name }) => name);
  });

const addRuled = (where: Installation): Promise<void> =>
  on(placeOf(where), async (database) => {
    const store = createStore(database.connect<Tables>(), testSealer, null);
    const source = datasourceSample();
    const ruled = datamartSample(source.id, { name: 'orders' });
    const baseFilters = [{ columnName: 'deleted_at', predicate: { kind: 'isNull' } }] as const;
    await store.datasources.insert(source);
    await store.datamarts.insert({ ...ruled, tables: ruled.tables.map((table) => ({ ...table, baseFilters })) });
  });

const ofPrevious = ['0001-first-release', '0001-ledger', '0002-paused-rollouts'];
const all = productParts.flatMap(({ migrations }) => Object.keys(migrations)).sort();

describe.each(backings)('step-down on %s', (_, make) => {
  it('hides what the previous release does not know, says so in the audit, and a start takes it back', async () => {
    const where = await make();
    expect((await runAt(where, ['step-down', '--dry-run'])).out).toMatch(/Would hide \d+ migrations/);
    expect(await foundBefore(where)).toEqual(all);
    expect(await runAt(where, ['step-down'])).toMatchObject({ code: 0 });
    expect(await foundBefore(where)).toEqual(ofPrevious);
    expect(await runAt(where, ['step-down'])).toMatchObject({ code: 0 });
    await on(placeOf(where), async (database) => {
      const { rows } = await sql<{ content: string }>`select content from guestlist_gateway.audit_events
        where content like '%step-down%'`.execute(database.connect());
      expect(rows).toHaveLength(2);
      const ledger = database.connect<LedgerTables>().withSchema('guestlist_gateway');
      expect(await verifyAudit({ db: ledger })).toMatchObject({ fault: null });
      await migrateAll(database);
    });
    expect(await foundBefore(where)).toEqual(all);
  });

  it('changes nothing while there is content that the previous release cannot read, unless that is accepted', async () => {
    const where = await make();
    await addRuled(where);
    const refused = await runAt(where, ['step-down']);
    expect(refused.code).toBe(1);
    expect(refused.out).toContain('datamart "orders"');
    expect(refused.err).toContain('--without-them');
    expect(await foundBefore(where)).toEqual(all);
    expect(await runAt(where, ['step-down', '--without-them'])).toMatchObject({ code: 0 });
    expect(await foundBefore(where)).toEqual(ofPrevious);
  });
});

it('changes nothing while a tenant is held, since the previous release knows no holds', async () => {
  const where = await backings[0]?.[1]();
  if (where === undefined) throw new Error('no backing');
  await on(placeOf(where), async (database) => {
    await sql`insert into guestlist_gateway.holds (id, reason, placed_at) values ('h', 'a case', now())`.execute(
      database.connect(),
    );
  });
  const refused = await runAt(where, ['step-down']);
  expect(refused.code).toBe(1);
  expect(refused.out).toContain('1 holds: it deletes');
  expect(await foundBefore(where)).toEqual(all);
});

it('a migration that takes away what the previous release needs keeps it from starting', () => {
  const [part] = productParts;
  if (part === undefined) throw new Error('the product has no tables');
  const up = async (): Promise<void> => {};
  const migrations = { ...part.migrations, '9999-contracting': { up, contracts: true as const } };
  expect(() => hiddenMigrations([{ ...part, migrations }])).toThrow(/9999-contracting/);
  expect(() => hiddenMigrations(productParts)).not.toThrow();
});

it('the previous release is the one whose product the tests have', async () => {
  const readme = await readFile('test/previous-release/README.md', 'utf8');
  expect(readme).toContain(`(version ${previousVersion},`);
});

/** What takes away or narrows, in statements on tables that the previous release has. */
const narrowing = [
  /\bdrop\s+(?:column|table)\b/i,
  /\brename\b/i,
  /\balter\s+column\s+\S+\s+(?:set\s+data\s+)?type\b/i,
  /\bset\s+not\s+null\b/i,
  /\badd\s+(?:column\s+)?(?:constraint|check|unique|foreign)\b/i,
  /\badd\s+column\b(?:(?!,\s*add|\bdefault\b).)*\bnot\s+null\b(?!\s+default)/is,
];
const uniqueOfAll = /\bcreate\s+unique\s+index\b(?!.*\bwhere\b)/is;
const tableOf = (statement: string): string | undefined =>
  /\b(?:alter\s+table|drop\s+table|\bon)\s+(?:if\s+exists\s+)?([a-z_]+\.[a-z_]+)/i.exec(statement)?.[1];

/** The first statement of a migration that the previous release may not be able to work beside. */
const findNarrowing = (statements: readonly string[], known: ReadonlySet<string>): string | undefined =>
  statements.find((statement) => {
    const table = tableOf(statement) ?? '';
    // Rows of these are not read where a column that is not known holds something.
    const filling = /guest_tokens|datamarts/.test(table) ? [/\badd\s+column\b.*\bdefault\b/is] : [];
    return known.has(table) && [...narrowing, uniqueOfAll, ...filling].some((pattern) => pattern.test(statement));
  });

it('a default for a column of rows that are not read where a later column is filled is found', () => {
  const filling = 'alter table guestlist.guest_tokens add column place text default 1';
  expect(findNarrowing([filling], new Set(['guestlist.guest_tokens']))).toBe(filling);
});

describe.each(productParts)('migrations of $schema', ({ schema, migrations }) => {
  const unmarked = Object.fromEntries(Object.entries(migrations).map(([name, { up }]) => [name, { up }]));
  const later = new Set(hiddenMigrations([{ schema, migrations: unmarked }]));
  const statementsIn = (names: readonly string[]) => names.flatMap((name) => migrations[name]?.statements ?? []);
  const before = Object.keys(migrations).filter((name) => !later.has(name));
  const known = new Set(
    statementsIn(before).flatMap((statement) => /create\s+table\s+([a-z_]+\.[a-z_]+)/i.exec(statement)?.[1] ?? []),
  );

  it('after the previous release take away nothing that it needs, unless they say so', () => {
    expect(known.size).toBeGreaterThan(5);
    for (const name of later) {
      const migration = migrations[name];
      if (migration?.contracts === true) continue;
      expect(migration?.statements, name).toBeDefined();
      expect(findNarrowing(migration?.statements ?? [], known), name).toBeUndefined();
    }
  });

  it.each([
    'alter table T drop column name',
    'drop table T',
    'alter table T rename column name to title',
    'alter table T rename to old',
    'alter table T alter column name type varchar(10)',
    'alter table T alter column name set not null',
    'alter table T add column kind text not null',
    'alter table T add column kind text, add column place text not null',
    "alter table T add constraint short check (name <> '')",
    'create unique index once on T (name)',
  ])('the statement %s is found', (statement) => {
    const [table = ''] = known;
    expect(findNarrowing([statement.replace('T', () => table)], known)).toBeDefined();
  });

  it.each([
    'alter table T add column kind text',
    "alter table T add column kind text not null default ''",
    'create index some on T (name)',
    'create unique index one on T (name) where is_default',
    'alter table T drop constraint wide',
  ])('the statement %s is not found', (statement) => {
    const [table = ''] = known;
    expect(findNarrowing([statement.replace('T', () => table)], known)).toBeUndefined();
  });
});
