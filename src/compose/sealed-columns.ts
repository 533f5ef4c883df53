/** All columns of the product that the encryption key seals. */
import { sealedColumns as ofLedger } from '../gateway/ledger/sealed-columns.js';
import type { SealedColumn } from '../platform/keys/reseal.js';
import { sealedColumns as ofStore } from '../service/store/sealed-columns.js';

export const sealedColumns: readonly SealedColumn[] = [...ofLedger, ...ofStore];
