import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { openDatabase } from '../../src/platform/database.js';
import { migrate, migrations } from '../../src/store/migrations.js';
import { createStore } from '../../src/store/store.js';
import type { Tables } from '../../src/store/tables.js';
import { testSealer } from '../suites/sealer.js';

it('what the first release wrote is read after the migration, and its workspaces outlive their datamart', async () => {
  const database = await openDatabase({ databaseUrl: null, folder: null });
  const db = database.connect<Tables>();
  const first = Object.fromEntries(Object.entries(migrations).filter(([name]) => name < '0003'));
  await migrate(db, first);
  const column = { columnName: 'a', datatype: 'BIGINT', alias: '', label: '', isHide: false, isApplyTimezone: false };
  const tables = [
    { schemaName: 'main', tableName: 't', label: '', clientColumn: null, isHide: false, columns: [column] },
  ];
  await sql`insert into guestlist.datasources values ('s', 'source', 'DUCKDB', 'file.duckdb')`.execute(db);
  await sql`insert into guestlist.datamarts
    values ('m', 'mart', 's', null, ${JSON.stringify(tables)}::jsonb, '[]', '[]', now(), now())`.execute(db);
  await sql`insert into guestlist.workspaces values ('w', 'space', 'DATAMART', null, 'm')`.execute(db);
  await migrate(db);
  const store = createStore(db, testSealer);
  expect((await store.datamarts.findByName('mart'))?.tables).toEqual(tables);
  await store.datamarts.remove('m');
  expect(await store.workspaces.findById('w')).toMatchObject({ name: 'space', datamartId: null });
  await database.close();
});
