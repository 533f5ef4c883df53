import { attachLedger, type Ledger, type LedgerTables } from '../../src/gateway/ledger/ledger.js';
import { openTestDatabase } from '../suites/metadata.js';

/** Returns a function that closes the database of its earlier call, and returns a ledger in an empty one. */
const createLedgers = (): (() => Promise<Ledger>) => {
  let close = async (): Promise<void> => {};
  return async () => {
    await close();
    const database = await openTestDatabase();
    close = database.close;
    return attachLedger(database.connect<LedgerTables>(), false);
  };
};

/**
 * Returns an empty ledger, and ends all earlier ones of the process: they share its database. If two gateways of a test
 * share a ledger, set `isShared`, since each gateway caches the epochs.
 */
export const openTestLedger = createLedgers();

/** As `openTestLedger`, in a second database, for a gateway that is compared with another one. */
export const openSecondLedger = createLedgers();
