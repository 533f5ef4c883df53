/**
 * Encrypts secrets at rest with AES-256-GCM and a random nonce. A sealed text is bound to its context and carries a
 * mark of its key.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import type { Sealer } from '../domain/ports.js';

const version = 'v1';
const nonceBytes = 12;
const tagBytes = 16;

/** Reads a key of 32 bytes written in base64 or base64url; undefined where it is not one. */
export const readSealingKey = (text: string): Buffer | undefined => {
  const key = Buffer.from(text, 'base64');
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(text) && key.length === 32 ? key : undefined;
};

export const createSealingKey = (): string => randomBytes(32).toString('base64');

/** Returns a short hash of the key. Each sealed text carries it, so that a text of another key is recognised. */
const markOf = (key: Buffer): string => createHash('sha256').update('guestlist').update(key).digest('hex').slice(0, 8);

const decipher = (key: Buffer, bytes: Buffer, context: string): string => {
  const opening = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
    .setAAD(Buffer.from(context, 'utf8'))
    .setAuthTag(bytes.subarray(-tagBytes));
  return Buffer.concat([opening.update(bytes.subarray(nonceBytes, -tagBytes)), opening.final()]).toString('utf8');
};

/**
 * Creates a sealer with `key` (32 bytes). Opening throws if another key sealed the text, or if the text was changed or
 * moved to another context.
 */
export const createSealer = (key: Buffer): Sealer => {
  const mark = markOf(key);
  return {
    seal: (text, context) => {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context, 'utf8'));
      const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return `${version}.${mark}.${sealed.toString('base64url')}`;
    },
    open: (sealed, context) => {
      const [given, sealedBy, data = ''] = sealed.split('.');
      if (given !== version) throw new Error('a sealed text is of an unknown version');
      if (sealedBy !== mark) {
        throw new Error(
          `a stored credential was sealed with another key (this is ${mark}): set GUESTLIST_ENCRYPTION_KEY to the one it was stored with, the same for all replicas`,
        );
      }
      try {
        return decipher(key, Buffer.from(data, 'base64url'), context);
      } catch (cause) {
        throw new Error('a stored credential was changed, or moved to another record: enter it again', { cause });
      }
    },
  };
};
