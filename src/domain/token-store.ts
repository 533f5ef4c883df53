/** The part of `stores.ts` that is about guest tokens. */
import type { Brand, HashedToken } from './brand.js';
import type { ContentRevision } from './content-store.js';
import type { GuestGrant } from './guest.js';
import type { Page } from './stores.js';

/** Whom a guest token is for, as revocations name it. */
export type TokenSubject = Pick<GuestGrant, 'dataAppId' | 'clientId' | 'userIdentifier'>;

/** How often the tokens of a subject have been revoked: a token is good only while this is what it was when its mint began. */
export type Epoch = Brand<string, 'Epoch'>;

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
