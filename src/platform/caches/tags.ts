/** Tags of answers: HMAC-SHA-256 under a key of this installation, the same in all replicas. */
import { createHmac, hkdfSync } from 'node:crypto';
import type { Tag } from '../../model/ports.js';
import { breathe } from '../work/breathe.js';

/**
 * Derives the tags' own key from the installation's first encryption key, so that a tag says nothing about sealed texts.
 * Tags are stored, so their key outlives that encryption key: service/store/key-canary.ts keeps it.
 */
export const tagKeyOf = (encryptionKey: Buffer): Buffer =>
  Buffer.from(hkdfSync('sha256', encryptionKey, '', 'guestlist answer tags', 32));

/** Creates tags under this key. */
export const createTag =
  (key: Buffer): Tag =>
  async (parts) => {
    const hmac = createHmac('sha256', key);
    for (const part of parts) {
      await breathe();
      // A line feed never occurs in JSON without spaces, so no two lists of parts have the same text.
      hmac.update(`${JSON.stringify(part)}\n`);
    }
    return hmac.digest('base64url');
  };
