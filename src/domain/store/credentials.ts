/** Stores of credentials: API keys, service tokens, guest tokens, and when each was last used. */
import type { ContentRevision, Epoch, HashedToken } from '../brand.js';
import type { GuestGrant } from '../guest/grant.js';
import type { Page } from './page.js';

/** A credential at rest: its hash, a name, and when it ends (null: never). */
export type StoredKey = {
  readonly id: string;
  readonly name: string;
  readonly hash: HashedToken;
  /** Its last characters; null: those of earlier releases, and what is too short to tell any. */
  readonly keyHint: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly lastUsedAt: Date | null;
};

export type StoredApiKey = StoredKey & { readonly dataAppId: string; readonly description: string | null };

type Optional<T, Names extends keyof T> = Omit<T, Names> & Partial<Pick<T, Names>>;

export type NewKey = Optional<Omit<StoredKey, 'lastUsedAt'>, 'keyHint'>;

export type NewApiKey = Optional<Omit<StoredApiKey, 'lastUsedAt'>, 'keyHint' | 'description'>;

/**
 * A credential is current until it is revoked or replaced; names are unique among the current ones. What was revoked, or has
 * ended, stays as a tombstone: known by its hash, so that no start brings it back.
 */
export type ApiKeyStore = {
  /** False for a name that a current key of the data app has, and for a hash that was ever there. */
  readonly insert: (key: NewApiKey) => Promise<boolean>;
  /** Whether there is or was a key of that hash. */
  readonly isKnown: (hash: HashedToken) => Promise<boolean>;
  /** Not what is revoked; what has ended is found: whoever asks compares `expiresAt` with its own clock. */
  readonly findByHash: (hash: HashedToken) => Promise<(StoredApiKey & { readonly dataAppName: string }) | undefined>;
  /** The current ones, by name. */
  readonly listByDataApp: (dataAppId: string, page: Page | null) => Promise<readonly StoredApiKey[]>;
  /** Ends a current key at `expiresAt`, and frees its name for its successor; answers it, or undefined where it is not current. */
  readonly replace: (
    key: { readonly dataAppId: string; readonly id: string },
    when: { readonly now: Date; readonly expiresAt: Date },
  ) => Promise<StoredApiKey | undefined>;
  /** Revokes the current key of that name and every earlier one that it replaced; false where there is none. */
  readonly revoke: (dataAppId: string, name: string, now: Date) => Promise<boolean>;
};

/** As for API keys, for the organization. */
export type ServiceTokenStore = {
  readonly insert: (key: NewKey) => Promise<boolean>;
  readonly isKnown: (hash: HashedToken) => Promise<boolean>;
  readonly findByHash: (hash: HashedToken) => Promise<StoredKey | undefined>;
  readonly list: (page: Page | null) => Promise<readonly StoredKey[]>;
  readonly replace: (
    id: string,
    when: { readonly now: Date; readonly expiresAt: Date },
  ) => Promise<StoredKey | undefined>;
  /** `last`: it is the only current one, and stays; however many are revoked at once, one is left. */
  readonly revoke: (name: string, now: Date) => Promise<'revoked' | 'unknown' | 'last'>;
};

/** Whom a guest token is for, as revocations name it. */
export type TokenSubject = Pick<GuestGrant, 'dataAppId' | 'clientId' | 'userIdentifier'>;

/** What a revocation ends, within one data app. `userIdentifier` null: every user of the client. */
export type Revocation =
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'token'; readonly hash: HashedToken }
  | { readonly kind: 'client'; readonly clientId: string; readonly userIdentifier: string | null }
  | { readonly kind: 'all' };

export type ListedGuestToken = Pick<GuestGrant, 'id' | 'clientId' | 'createdAt' | 'expiresAt'> & {
  readonly lastUsedAt: Date | null;
};

export type GuestTokenStore = {
  /** Of the data app, the client and the user together. */
  readonly currentEpoch: (subject: TokenSubject) => Promise<Epoch>;
  /**
   * `epoch` is what `currentEpoch` answered before anything else was read. False where its data app, its datamart or an embed that it
   * names is gone, and where its client was erased since.
   */
  readonly insert: (hash: HashedToken, grant: GuestGrant, epoch: Epoch) => Promise<boolean>;
  /** Whether it is there still, neither revoked nor erased. */
  readonly isGood: (id: string) => Promise<boolean>;
  /**
   * Not what is revoked; what has expired is found: whoever asks compares `expiresAt` with its own clock. `epoch` is `currentEpoch` of its
   * client, whoever the user is; `revision` is the content's at the same moment.
   */
  readonly findByHash: (
    hash: HashedToken,
  ) => Promise<
    (GuestGrant & { readonly hash: HashedToken; readonly epoch: Epoch; readonly revision: ContentRevision }) | undefined
  >;
  /** Those that are good at `now`, oldest first. */
  readonly listLive: (
    wanted: {
      readonly dataAppId: string;
      readonly clientId?: string | undefined;
      readonly userIdentifier?: string | undefined;
      readonly now: Date;
    },
    page: Page | null,
  ) => Promise<readonly ListedGuestToken[]>;
  /** Ends them, mints under way included; answers how many were good at `now`. */
  readonly revoke: (dataAppId: string, which: Revocation, now: Date) => Promise<number>;
  /** Removes what expired before `before`, ten thousand at most; answers how many. */
  readonly purge: (before: Date) => Promise<number>;
};

/** That a credential was used, and when. */
export type LastUse = {
  readonly kind: 'apiKey' | 'serviceToken' | 'guestToken';
  readonly id: string;
  readonly at: Date;
};

/** Writes them in one statement; a later time that is there stays. A row that is being written at the moment is passed over. */
export type LastUseStore = { readonly write: (uses: readonly LastUse[]) => Promise<void> };
