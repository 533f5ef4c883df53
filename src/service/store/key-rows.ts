/** Columns that the tables of API keys and service tokens have in common. */
import type { Insertable, Selectable } from 'kysely';
import type { StoredKey } from '../../model/credentials.js';
import type { Tables } from './tables.js';

export type NewKey = Omit<StoredKey, 'lastUsedAt' | 'keyHint'> & Partial<Pick<StoredKey, 'keyHint'>>;

type Row = Selectable<Tables['service_tokens']>;

export const decodeKey = (row: Row): StoredKey => ({
  id: row.id,
  name: row.name,
  hash: row.hash,
  keyHint: row.key_hint,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  lastUsedAt: row.last_used_at,
});

export const encodeKey = (key: NewKey): Insertable<Tables['service_tokens']> => ({
  id: key.id,
  name: key.name,
  hash: key.hash,
  key_hint: key.keyHint ?? null,
  created_at: key.createdAt,
  expires_at: key.expiresAt,
});

/** Returns the earlier of two ends. Replacing a key must never extend its life. */
export const earlier = (a: Date | null, b: Date): Date => (a === null || a > b ? b : a);
