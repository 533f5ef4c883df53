/** What the machine provides: the clock, random ids, hashes and secrets. Injected, so that tests can replace them. */
import type { HashedToken } from './brand.js';

export type Clock = { readonly now: () => Date };

/**
 * Keeps secrets at rest. `context` is what the text belongs to (a record's id): opened under another one, or changed, it throws.
 */
export type Sealer = {
  readonly seal: (text: string, context: string) => string;
  readonly open: (sealed: string, context: string) => string;
};

/** Random UUIDs (version 4). */
export type Ids = { readonly uuid: () => string };

/** SHA-256 in hexadecimal. */
export type Digest = (text: string) => string;

/**
 * `create` makes an unguessable credential (a random UUID, 122 bits); only its `hash` is ever stored. `isSame` takes as long for
 * any two hashes.
 */
export type Tokens = {
  readonly create: () => string;
  readonly hash: (token: string) => HashedToken;
  readonly isSame: (a: HashedToken, b: HashedToken) => boolean;
};
