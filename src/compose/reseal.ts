/** Seals every stored secret of an installation with its first encryption key. */
import type { Kysely } from 'kysely';
import { sealedColumns as ofLedger } from '../gateway/ledger/tables.js';
import type { Config } from '../platform/config/config.js';
import { loadCredentials } from '../platform/config/credentials.js';
import { type Resealed, reseal, type SealedColumn } from '../platform/keys/reseal.js';
import { openCanary } from '../service/store/key-canary.js';
import { sealedColumns as ofStore } from '../service/store/store.js';
import type { Tables } from '../service/store/tables.js';
import { type MetadataOptions, openConfiguredMetadata } from './metadata.js';

/** All columns of the product that the encryption key seals. */
export const sealedColumns: readonly SealedColumn[] = [...ofLedger, ...ofStore];

export type { Resealed } from '../platform/keys/reseal.js';

const isCanary = ({ table }: { readonly table: string }): boolean => table === 'sealing_canary';

/** Throws if a key is missing from the ring, or if some process still seals with another key than the first one. */
export const resealAll = async (
  connected: Kysely<Tables>,
  keys: Parameters<typeof openCanary>[1]['ring'],
  keySource: string,
  pageSize?: number,
): Promise<Resealed> => {
  await openCanary(connected, { ring: keys, keySource, columns: sealedColumns, acceptsLoss: false });
  const db = connected as unknown as Kysely<unknown>;
  const options = { db, ring: keys, ...(pageSize === undefined ? {} : { pageSize }) };
  const values = await reseal({ ...options, columns: sealedColumns.filter((column) => !isCanary(column)) });
  // The canary is the last: while it bears the old key, no process starts without that key.
  if (values.unreadable.length > 0) return values;
  const canary = await reseal({ ...options, columns: sealedColumns.filter(isCanary) });
  return { ...values, resealed: values.resealed + canary.resealed };
};

/** Opens the metadata and reseals it. An embedded database must not be in use by a running server. */
export const resealMetadata = async (
  config: Config,
  surroundings: Pick<MetadataOptions, 'clock' | 'log'>,
): Promise<Resealed> => {
  const { keyRing, keySource } = await loadCredentials(config.settings.dataDir, config.secrets);
  const metadata = await openConfiguredMetadata(config, { service: true }, keyRing, surroundings);
  try {
    const done = await resealAll(metadata.database.connect<Tables>(), keyRing, keySource);
    metadata.startMarking();
    return done;
  } finally {
    await metadata.close();
  }
};
