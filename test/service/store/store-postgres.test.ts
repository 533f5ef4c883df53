import { describe } from 'vitest';
import { openTestDatabase } from '../../suites/metadata.js';
import { isPostgresThere } from '../../suites/postgres.js';
import { storeSuite } from '../../suites/store.js';

describe.skipIf(!(await isPostgresThere()))('a real server', () => {
  storeSuite('PostgreSQL', () => openTestDatabase('postgres'));
});
