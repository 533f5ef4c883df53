import { describe, expect, it, onTestFinished } from 'vitest';
import { type LedgerTables, openLedger } from '../../src/gateway/ledger/ledger.js';
import { openDatabase } from '../../src/platform/database.js';
import { createOwnDatabase, isPostgresThere } from '../suites/postgres.js';
import { openTestLedger } from './ledgers.js';

const hasPostgres = await isPostgresThere();

describe('the ledger', () => {
  it('refers to a tenant in one way, which tells nothing of it', async () => {
    const ledger = await openTestLedger();
    expect(ledger.refOf('LAX')).toMatch(/^[0-9a-f]{64}$/);
    expect(ledger.refOf('LAX')).toBe(ledger.refOf('LAX'));
    expect(new Set(['LAX', 'lax', 'LAX ', 'LÁX'].map(ledger.refOf)).size).toBe(4);
    const another = await openTestLedger();
    expect(another.refOf('LAX')).not.toBe(ledger.refOf('LAX'));
  });

  it.skipIf(!hasPostgres)('is one for gateways that start at once on one server', async () => {
    const { url, drop } = await createOwnDatabase();
    const databases = await Promise.all([1, 2, 3].map(() => openDatabase({ databaseUrl: url, folder: null })));
    onTestFinished(async () => {
      for (const database of databases) await database.close();
      await drop();
    });
    const ledgers = await Promise.all(databases.map((database) => openLedger(database.connect<LedgerTables>())));
    expect(new Set(ledgers.map(({ refOf }) => refOf('LAX'))).size).toBe(1);
  });
});
