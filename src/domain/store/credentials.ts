/** Stores of API keys, service tokens and guest tokens, and of the time each was last used. */
import type { ContentRevision, Epoch, HashedToken } from '../brand.js';
import type { GuestGrant } from '../guest/grant.js';
import type { Slices } from '../slices.js';
import type { IssuerToken, Person, StudioSession } from '../studio/person.js';
import type { Page } from './page.js';

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

type Optional<T, Names extends keyof T> = Omit<T, Names> & Partial<Pick<T, Names>>;

export type NewKey = Optional<Omit<StoredKey, 'lastUsedAt'>, 'keyHint'>;

export type NewApiKey = Optional<Omit<StoredApiKey, 'lastUsedAt'>, 'keyHint' | 'description'>;

/**
 * Stores API keys. A key is current until it is revoked or replaced; names are unique among current keys. Revoked and
 * expired keys stay as tombstones, found by their hash, so that no start of the service creates them again.
 */
export type ApiKeyStore = {
  /** Returns false if a current key of the data app has the name, or if the hash was ever stored. */
  readonly insert: (key: NewApiKey) => Promise<boolean>;
  /** Whether a key with this hash exists or existed. */
  readonly isKnown: (hash: HashedToken) => Promise<boolean>;
  /**
   * Returns the key unless it is revoked. An expired key is returned too: the caller compares `expiresAt` with its own
   * clock.
   */
  readonly findByHash: (hash: HashedToken) => Promise<(StoredApiKey & { readonly dataAppName: string }) | undefined>;
  /** Returns the current keys, ordered by name. */
  readonly listByDataApp: (dataAppId: string, page: Page | null) => Slices<StoredApiKey>;
  /**
   * Sets the end of a current key to `expiresAt`, and makes its name available for the successor. Returns the key, or
   * undefined if it is not current.
   */
  readonly replace: (
    key: { readonly dataAppId: string; readonly id: string },
    when: { readonly now: Date; readonly expiresAt: Date },
  ) => Promise<StoredApiKey | undefined>;
  /**
   * Revokes the current key of that name and every key that it replaced. Returns false if there is no current key of
   * that name.
   */
  readonly revoke: (dataAppId: string, name: string, now: Date) => Promise<boolean>;
};

/** As `ApiKeyStore`, for the tokens of the organization. */
export type ServiceTokenStore = {
  readonly insert: (key: NewKey) => Promise<boolean>;
  readonly isKnown: (hash: HashedToken) => Promise<boolean>;
  readonly findByHash: (hash: HashedToken) => Promise<StoredKey | undefined>;
  readonly list: (page: Page | null) => Slices<StoredKey>;
  readonly replace: (
    id: string,
    when: { readonly now: Date; readonly expiresAt: Date },
  ) => Promise<StoredKey | undefined>;
  /**
   * Returns `last`, and revokes nothing, if it is the only current token. One token is left even if several are revoked
   * at the same time.
   */
  readonly revoke: (name: string, now: Date) => Promise<'revoked' | 'unknown' | 'last'>;
};

/** The data app, client and user of a guest token, as revocations name them. */
export type TokenSubject = Pick<GuestGrant, 'dataAppId' | 'clientId' | 'userIdentifier'>;

/**
 * Which guest tokens of one data app a revocation ends. `userIdentifier` null: those of every user of the client.
 * `gateway`: only those that this gateway minted, or that name no gateway; mints in progress are then its own affair.
 */
export type Revocation =
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'token'; readonly hash: HashedToken }
  | {
      readonly kind: 'client';
      readonly clientId: string;
      readonly userIdentifier: string | null;
      readonly gateway?: string | undefined;
    }
  | { readonly kind: 'all'; readonly gateway?: string | undefined };

export type ListedGuestToken = Pick<GuestGrant, 'id' | 'clientId' | 'createdAt' | 'expiresAt'> & {
  readonly lastUsedAt: Date | null;
};

export type GuestTokenStore = {
  /** Returns the epoch of the data app, the client and the user together. */
  readonly currentEpoch: (subject: TokenSubject) => Promise<Epoch>;
  /**
   * Stores a token. `epoch` is the result of `currentEpoch` from before any other read of the mint. Returns false if
   * its data app, its datamart or one of its embeds was deleted, or its client was erased since then. `gateway`: the
   * gateway that mints it.
   */
  readonly insert: (hash: HashedToken, grant: GuestGrant, epoch: Epoch, gateway?: string | null) => Promise<boolean>;
  /** Whether the token is still stored: neither revoked nor erased. */
  readonly isGood: (id: string) => Promise<boolean>;
  /**
   * Returns the token unless it is revoked. An expired token is returned too: the caller compares `expiresAt` with its
   * own clock. `epoch` is the current epoch of the token's client, for all users. `revision` is the content's revision
   * at the same moment.
   */
  readonly findByHash: (
    hash: HashedToken,
  ) => Promise<
    (GuestGrant & { readonly hash: HashedToken; readonly epoch: Epoch; readonly revision: ContentRevision }) | undefined
  >;
  /** Returns the tokens that are valid at `now`, oldest first. */
  readonly listLive: (
    wanted: {
      readonly dataAppId: string;
      readonly clientId?: string | undefined;
      readonly userIdentifier?: string | undefined;
      /** The SHA-256 of one token. */
      readonly tokenDigest?: string | undefined;
      readonly now: Date;
    },
    page: Page | null,
  ) => Slices<ListedGuestToken>;
  /** Revokes the tokens, including those of mints in progress. Returns how many were valid at `now`. */
  readonly revoke: (dataAppId: string, which: Revocation, now: Date) => Promise<number>;
  /** Deletes tokens that expired before `before`, at most ten thousand. Returns how many. */
  readonly purge: (before: Date) => Promise<number>;
};

/** The time at which a credential was used. */
export type LastUse = {
  readonly kind: 'apiKey' | 'serviceToken' | 'guestToken';
  readonly id: string;
  readonly at: Date;
};

/**
 * Writes the uses in one statement. A later stored time is kept. A row that another transaction is writing is skipped.
 */
export type LastUseStore = { readonly write: (uses: readonly LastUse[]) => Promise<void> };

/** Stores logins to Studio. Expired ones are returned too: the caller compares them with its own clock. */
export type StudioSessionStore = {
  readonly insert: (session: StudioSession, issuerToken: IssuerToken | null) => Promise<void>;
  readonly findByHash: (hash: HashedToken) => Promise<StudioSession | undefined>;
  readonly findById: (id: string) => Promise<StudioSession | undefined>;
  readonly noteUse: (id: string, now: Date) => Promise<void>;
  readonly end: (id: string) => Promise<void>;
  /** Returns the sessions of everybody for whom the issuer vouched, ordered by subject. */
  readonly listOf: (issuer: string) => Promise<readonly StudioSession[]>;
  /** Returns the sessions of everybody that expire after `moment`, ordered by issuer and subject. */
  readonly listLive: (moment: Date) => Promise<readonly StudioSession[]>;
  /** Undefined: the session has ended, or nobody can be asked again. */
  readonly findIssuerToken: (id: string) => Promise<IssuerToken | undefined>;
  /** Notes that the issuer is asked now. Returns false if another process noted that since `before`. */
  readonly beginRecheck: (id: string, before: Date | null, now: Date) => Promise<boolean>;
  /** Keeps what the issuer answered; `vouched` only if it vouched. Returns false if the session has ended meanwhile. */
  readonly noteRecheck: (
    id: string,
    issuerToken: IssuerToken,
    vouched: { readonly person: Person; readonly at: Date } | null,
  ) => Promise<boolean>;
  /** Ends every session of the person. Returns how many there were. */
  readonly endAllOf: (person: Pick<Person, 'issuer' | 'subject'>) => Promise<number>;
  /** Removes the sessions that expired before `moment`. */
  readonly removeExpired: (moment: Date) => Promise<void>;
};
