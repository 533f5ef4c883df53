import { describe } from 'vitest';
import { openDatabase } from '../../src/platform/database.js';
import { credentialSuite } from '../suites/credentials.js';
import { createOwnDatabase, isPostgresThere } from '../suites/postgres.js';

credentialSuite('PGlite', async () => {
  const database = await openDatabase({ databaseUrl: null, folder: null });
  return { databases: [database, database], close: database.close };
});

describe.skipIf(!(await isPostgresThere()))('a real server', () => {
  credentialSuite('PostgreSQL', async () => {
    const { url, drop } = await createOwnDatabase();
    const open = () => openDatabase({ databaseUrl: url, folder: null });
    const [first, second] = [await open(), await open()];
    return {
      databases: [first, second],
      close: async () => {
        await Promise.all([first.close(), second.close()]);
        await drop();
      },
    };
  });
});
