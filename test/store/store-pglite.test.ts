import { openDatabase } from '../../src/platform/database.js';
import { storeSuite } from '../suites/store.js';

storeSuite('PGlite', () => openDatabase({ databaseUrl: null, folder: null }));
