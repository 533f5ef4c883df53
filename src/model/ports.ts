/**
 * What the machine provides: clock, random ids, hashes and secrets. They are injected so that tests can replace them.
 */
import type { HashedToken } from './brand.js';

export type Clock = { readonly now: () => Date };

/** Random UUIDs (version 4). */
export type Ids = { readonly uuid: () => string };

/** SHA-256 in hexadecimal. */
export type Digest = (text: string) => string;

/**
 * A keyed digest of parts that JSON can hold. The same parts give the same tag in every replica; nobody without the key
 * can compute one.
 */
export type Tag = (parts: Iterable<unknown>) => Promise<string>;

/** The tag of a few short parts, at once. */
export type ShortTag = (parts: readonly unknown[]) => string;

/**
 * `create` returns an unguessable credential (a random UUID, 122 bits). Only its `hash` is stored. `isSame` takes the
 * same time for any two hashes.
 */
export type Tokens = {
  readonly create: () => string;
  readonly hash: (token: string) => HashedToken;
  readonly isSame: (a: HashedToken, b: HashedToken) => boolean;
};
