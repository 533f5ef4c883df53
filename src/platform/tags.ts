/** Tags of answers: HMAC-SHA-256 under a key of this installation, the same in all replicas. */
import { createHmac, hkdfSync } from 'node:crypto';
import type { Tag } from '../domain/ports.js';
import { breathe } from './breathe.js';

/** The tags' own key comes from the installation's encryption key, so that a tag says nothing about sealed texts. */
export const createTag = (encryptionKey: Buffer): Tag => {
  const key = Buffer.from(hkdfSync('sha256', encryptionKey, '', 'guestlist answer tags', 32));
  return async (parts) => {
    const hmac = createHmac('sha256', key);
    for (const part of parts) {
      await breathe();
      // A line feed never occurs in JSON without spaces, so no two lists of parts have the same text.
      hmac.update(`${JSON.stringify(part)}\n`);
    }
    return hmac.digest('base64url');
  };
};
