import { sql } from 'kysely';
import { expect } from 'vitest';
import type { Database } from '../../src/platform/databases/database.js';
import type { Tables } from '../../src/service/store/tables.js';

/** Returns every row of every table of the schema as text. */
export const dump = async (database: Database): Promise<string> => {
  const db = database.connect<Tables>();
  const tables = await sql<{ table_name: string }>`
    select table_name from information_schema.tables where table_schema = 'guestlist'`.execute(db);
  expect(tables.rows.length).toBeGreaterThan(10);
  const texts = await Promise.all(
    tables.rows.map(async ({ table_name }) => {
      const { rows } = await sql<{
        row: string;
      }>`select t::text as row from ${sql.id('guestlist', table_name)} t`.execute(db);
      return rows.map(({ row }) => row).join('\n');
    }),
  );
  return texts.join('\n');
};
