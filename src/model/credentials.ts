/** Credentials as they are stored and listed. */
import type { HashedToken } from './brand.js';

/** A credential as stored: its hash, its name, and its end (null: never). */
export type StoredKey = {
  readonly id: string;
  readonly name: string;
  readonly hash: HashedToken;
  /**
   * Last characters of the credential. Null for credentials of earlier releases and for credentials that are too short
   * for a hint.
   */
  readonly keyHint: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly lastUsedAt: Date | null;
};

export type StoredApiKey = StoredKey & { readonly dataAppId: string; readonly description: string | null };

export type ListedGuestToken = Omit<StoredKey, 'name' | 'hash' | 'keyHint'> & { readonly clientId: string };
