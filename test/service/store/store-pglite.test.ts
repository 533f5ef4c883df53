/** All suites of the store on PGlite: in one file, since opening one takes seconds. */
import { credentialSuite } from '../../suites/credentials.js';
import { openTestDatabase } from '../../suites/metadata.js';
import { storeSuite } from '../../suites/store.js';
import { listSuite } from '../../suites/store-lists.js';

storeSuite('PGlite', () => openTestDatabase('pglite'));
credentialSuite('PGlite', async () => {
  const database = await openTestDatabase('pglite');
  return { databases: [database, database], close: database.close };
});
listSuite('PGlite', () => openTestDatabase('pglite'));
