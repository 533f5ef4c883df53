import { describe } from 'vitest';
import { openDatabase } from '../../src/platform/database.js';
import { createOwnDatabase, isPostgresThere } from '../suites/postgres.js';
import { storeSuite } from '../suites/store.js';

describe.skipIf(!(await isPostgresThere()))('a real server', () => {
  storeSuite('PostgreSQL', async () => {
    const { url, drop } = await createOwnDatabase();
    const database = await openDatabase({ databaseUrl: url, folder: null });
    return {
      ...database,
      close: async () => {
        await database.close();
        await drop();
      },
    };
  });
});
