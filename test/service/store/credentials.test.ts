import { describe } from 'vitest';
import { openDatabase } from '../../../src/platform/databases/database.js';
import { credentialSuite } from '../../suites/credentials.js';
import { openTestDatabase } from '../../suites/metadata.js';
import { isPostgresThere } from '../../suites/postgres.js';

describe.skipIf(!(await isPostgresThere()))('a real server', () => {
  credentialSuite('PostgreSQL', async () => {
    const first = await openTestDatabase('postgres');
    const second = await openDatabase({ databaseUrl: first.url, folder: null });
    return { databases: [first, second], close: () => second.close().then(first.close) };
  });
});
