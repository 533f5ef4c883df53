/** Tags of answers: HMAC-SHA-256 under a key of this installation, the same in all replicas. */
import { createHmac, type Hmac, hkdfSync } from 'node:crypto';
import type { ShortTag, Tag } from '../../model/ports.js';
import { breathe } from '../work/breathe.js';

/**
 * Derives the tags' own key from the installation's first encryption key, so that a tag says nothing about sealed texts.
 * Tags are stored, so their key outlives that encryption key: service/store/key-canary.ts keeps it.
 */
export const tagKeyOf = (encryptionKey: Buffer): Buffer =>
  Buffer.from(hkdfSync('sha256', encryptionKey, '', 'guestlist answer tags', 32));

/** A line feed never occurs in JSON without spaces, so no two lists of parts have the same text. */
const take = (hmac: Hmac, part: unknown): Hmac => hmac.update(`${JSON.stringify(part)}\n`);

/** Creates tags under this key. */
export const createTag =
  (key: Buffer): Tag =>
  async (parts) => {
    const hmac = createHmac('sha256', key);
    for (const part of parts) {
      await breathe();
      take(hmac, part);
    }
    return hmac.digest('base64url');
  };

/** Creates the same tags as `createTag`, without pauses in between. */
export const createShortTag =
  (key: Buffer): ShortTag =>
  (parts) =>
    parts.reduce<Hmac>(take, createHmac('sha256', key)).digest('base64url');
