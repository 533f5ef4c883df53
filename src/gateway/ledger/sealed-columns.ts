/** The ledger's columns that the encryption key seals. Explanations are not among them: a key of their tenant seals those. */
import { sealedColumnsOf } from '../../platform/keys/reseal.js';
import { type LedgerTables, schemaName } from './tables.js';

export const sealedColumns = sealedColumnsOf<LedgerTables>(schemaName, {
  'recipients.sealed': { key: ['tenant_ref', 'user_ref'], contextOf: (_, user = '') => user },
});
