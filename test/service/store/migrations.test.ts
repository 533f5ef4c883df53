import { type KyselyPlugin, type Migration, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../../src/platform/databases/database.js';
import { hideMigrations, listDone, statementsOf } from '../../../src/platform/databases/migrate.js';
import { migrate, migrations } from '../../../src/service/store/migrations.js';
import type { Tables } from '../../../src/service/store/tables.js';
import { createOwnDatabase, isPostgresThere, type OwnDatabase } from '../../suites/postgres.js';

const tableNames = async (database: Database): Promise<readonly string[]> => {
  const { rows } = await sql<{ name: string }>`
    select table_schema || '.' || table_name as name from information_schema.tables
    where table_schema not in ('pg_catalog', 'information_schema') order by 1`.execute(database.connect());
  return rows.map(({ name }) => name);
};

const executed = async (database: Database): Promise<readonly string[]> => {
  const { rows } = await sql<{ name: string }>`
    select name from guestlist.kysely_migration order by 1`.execute(database.connect());
  return rows.map(({ name }) => name);
};

/** Changes data and then fails; all changes must be undone. */
const failing: Migration = {
  up: async (db) => {
    await sql`create table guestlist.halfway (id text)`.execute(db);
    await sql`alter table guestlist.data_apps drop column name cascade`.execute(db);
    await sql`insert into guestlist.nowhere values (1)`.execute(db);
  },
};

const failureTests = (name: string, open: () => Promise<Database>): void => {
  describe(`migrations on ${name}`, () => {
    let database: Database;
    beforeAll(async () => {
      database = await open();
      await migrate(database.connect<Tables>());
    }, 60_000);
    afterAll(async () => database.close());

    it('make tables in the schema guestlist alone', async () => {
      const names = await tableNames(database);
      expect(names).toContain('guestlist.guest_tokens');
      expect(names.filter((table) => !table.startsWith('guestlist.'))).toEqual([]);
    });

    it('migrations are done only once', async () => {
      await migrate(database.connect<Tables>());
      expect(await executed(database)).toEqual(Object.keys(migrations));
    });

    it('ask whether they are done, and nothing else, where they are', async () => {
      let asked = 0;
      const count: KyselyPlugin = {
        transformQuery: ({ node }) => {
          asked += 1;
          return node;
        },
        transformResult: async ({ result }) => result,
      };
      await migrate(database.connect<Tables>().withPlugin(count));
      expect(asked).toBe(2);
    });

    it('leave the tables as they were where one fails', async () => {
      const before = await tableNames(database);
      const list = { ...migrations, '9998-works': { up: async () => {} }, '9999-fails': failing };
      await expect(migrate(database.connect<Tables>(), list)).rejects.toThrow(/Migration 9999-fails .* rolled back/);
      expect(await tableNames(database)).toEqual(before);
      expect(await executed(database)).toEqual(Object.keys(migrations));
      const db = database.connect<Tables>().withSchema('guestlist');
      expect(await db.selectFrom('data_apps').select('name').execute()).toEqual([]);
      await migrate(database.connect<Tables>());
    });

    it('are hidden from an older version, which starts then, and taken back without being run again', async () => {
      const names = Object.keys(migrations);
      const older = Object.fromEntries(Object.entries(migrations).slice(0, 1));
      await expect(migrate(database.connect<Tables>(), older)).rejects.toThrow(/step-down/);
      const hide = () => hideMigrations(database.connect(), 'guestlist', '0001-first-release');
      expect(await hide()).toEqual(names.slice(1));
      expect(await executed(database)).toEqual(names.slice(0, 1));
      expect(await listDone(database.connect(), 'guestlist')).toEqual(names);
      expect(await hide()).toEqual(names.slice(1));
      let runs = 0;
      const up = async (): Promise<void> => {
        runs += 1;
      };
      const counting = Object.fromEntries(names.map((name) => [name, { up }]));
      await migrate(database.connect<Tables>(), counting);
      expect(runs).toBe(0);
      expect(await executed(database)).toEqual(names);
      expect(await hide()).toEqual(names.slice(1));
      await migrate(database.connect<Tables>(), { ...counting, '9999-next': { up } });
      expect(runs).toBe(1);
      expect(await executed(database)).toEqual([...names, '9999-next']);
      await sql`delete from guestlist.kysely_migration where name = '9999-next'`.execute(database.connect());
    });

    it('refuse a database that a newer version migrated', async () => {
      const newer = { ...migrations, '9999-newer': { up: async () => {} } };
      await migrate(database.connect<Tables>(), newer);
      await expect(migrate(database.connect<Tables>())).rejects.toThrow(/newer version/);
      expect(await executed(database)).toEqual(Object.keys(newer));
    });
  });
};

failureTests('PGlite', () => openDatabase({ databaseUrl: null, folder: null }));

describe.skipIf(!(await isPostgresThere()))('a real server', () => {
  failureTests('PostgreSQL', async () => {
    const { url, drop } = await createOwnDatabase();
    const database = await openDatabase({ databaseUrl: url, folder: null });
    return { ...database, close: () => database.close().then(drop) };
  });

  it('a migration does not wait for a lock while others wait behind it', async () => {
    const own = await createOwnDatabase();
    const [serving, starting] = [
      await openDatabase({ databaseUrl: own.url, folder: null }),
      await openDatabase({ databaseUrl: own.url, folder: null }),
    ];
    try {
      await migrate(serving.connect<Tables>());
      const altering = statementsOf(['alter table guestlist.guest_tokens add column later text']);
      const list = { ...migrations, '9999-altering': altering };
      await serving
        .connect<Tables>()
        .withSchema('guestlist')
        .transaction()
        .execute(async (db) => {
          await db.selectFrom('guest_tokens').select('id').execute();
          await expect(migrate(starting.connect<Tables>(), list)).rejects.toThrow(/9999-altering .* rolled back/);
        });
      expect(await executed(starting)).toEqual(Object.keys(migrations));
      await migrate(starting.connect<Tables>(), list);
      expect(await executed(starting)).toEqual(Object.keys(list));
    } finally {
      await Promise.all([serving.close(), starting.close()]);
      await own.drop();
    }
  }, 60_000);

  it('the tokens of a deleted embed are found by an index', async () => {
    const own = await createOwnDatabase();
    const database = await openDatabase({ databaseUrl: own.url, folder: null });
    try {
      const db = database.connect<Tables>();
      await migrate(db);
      await sql`insert into guestlist.data_apps (id, name, created_at, updated_at) values ('app', 'app', now(), now())`.execute(
        db,
      );
      await sql`insert into guestlist.guest_tokens (id, hash, data_app_id, client_id, grants, created_at)
        select n::text, encode(sha256(n::text::bytea), 'hex'), 'app', 'client', jsonb_build_object('allowedEmbeds',
          case when n % 2 = 0 then jsonb_build_array('e' || n) else jsonb_build_array('e' || n, 'e' || n - 1) end), now()
        from generate_series(1, 20000) as n`.execute(db);
      await sql`analyze guestlist.guest_tokens`.execute(db);
      const { rows } = await sql<{ source: string }>`select prosrc as source from pg_proc
        where oid = 'guestlist.forget_embed'::regproc`.execute(db);
      const statements = (rows[0]?.source ?? '').split(';').filter((text) => text.includes('guest_tokens'));
      expect(statements).toHaveLength(2);
      for (const text of statements) {
        const statement = text
          .replace(/^\s*begin/, '')
          .replaceAll('old.data_app_id', "'app'")
          .replaceAll('old.embed_id', "'e4'");
        const plan = await sql<{ 'QUERY PLAN': string }>`explain ${sql.raw(statement)}`.execute(db);
        expect(plan.rows.map((row) => row['QUERY PLAN']).join('\n')).toContain('guest_tokens_of_embeds');
      }
    } finally {
      await database.close();
      await own.drop();
    }
  });

  describe('several processes that start at once', () => {
    let own: OwnDatabase;
    const databases: Database[] = [];
    beforeAll(async () => {
      own = await createOwnDatabase();
      for (let count = 0; count < 4; count += 1) {
        databases.push(await openDatabase({ databaseUrl: own.url, folder: null }));
      }
    });
    afterAll(async () => {
      await Promise.all(databases.map((database) => database.close()));
      await own.drop();
    });

    it('several processes that start at once migrate once', async () => {
      let runs = 0;
      const counting: Migration = {
        up: async () => {
          runs += 1;
        },
      };
      const list = { ...migrations, '9999-counting': counting };
      await Promise.all(databases.map((database) => migrate(database.connect<Tables>(), list)));
      expect(runs).toBe(1);
      for (const database of databases) expect(await executed(database)).toEqual(Object.keys(list));
    });
  });
});
