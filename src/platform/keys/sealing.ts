/**
 * Encrypts secrets at rest with AES-256-GCM and a random nonce. A sealed text is bound to its context and carries a
 * mark of its key.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import type { Sealed } from '../../model/brand.js';

const version = 'v1';
const nonceBytes = 12;
const tagBytes = 16;

/** Reads a key of 32 bytes written in base64 or base64url; undefined where it is not one. */
const readSealingKey = (text: string): Buffer | undefined => {
  const key = Buffer.from(text, 'base64');
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(text) && key.length === 32 ? key : undefined;
};

/** The keys of an installation: the first one seals, and every one opens. */
export type KeyRing = readonly [Buffer, ...Buffer[]];

/** Reads one or more keys, separated by spaces or commas; undefined where one of them is none. */
export const readKeyRing = (text: string): KeyRing | undefined => {
  const keys = text.split(/[\s,]+/).flatMap((part) => (part === '' ? [] : [readSealingKey(part)]));
  const [first, ...others] = keys.filter((key) => key !== undefined);
  return first === undefined || others.length + 1 < keys.length ? undefined : [first, ...others];
};

/** The text that `readKeyRing` reads. */
export const textOfRing = (ring: KeyRing): string => ring.map((key) => key.toString('base64')).join(',');

export const createSealingKey = (): string => randomBytes(32).toString('base64');

/** Returns a short hash of the key, which tells nothing about it. Each sealed text carries it, so that a text of another key is recognised. */
export const markOf = (key: Buffer): string =>
  createHash('sha256').update('guestlist').update(key).digest('hex').slice(0, 8);

const decipher = (key: Buffer, bytes: Buffer, context: string): string => {
  const opening = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
    .setAAD(Buffer.from(context, 'utf8'))
    .setAuthTag(bytes.subarray(-tagBytes));
  return Buffer.concat([opening.update(bytes.subarray(nonceBytes, -tagBytes)), opening.final()]).toString('utf8');
};

/** The text of a sealed value, for what stores it outside of the metadata. */
export const textOfSealed = (sealed: Sealed): string => sealed as unknown as string;

/** How each text begins that this key sealed. */
export const prefixOf = (key: Buffer): string => `${version}.${markOf(key)}.`;

/** The mark of the key that sealed this text. */
export const sealerMarkOf = (sealed: Sealed): string => textOfSealed(sealed).split('.')[1] ?? '';

/**
 * Creates a sealer with the first key (32 bytes) that opens what any of these keys sealed. Opening throws if another key
 * sealed the text, or if the text was changed or moved to another context.
 */
export const createSealer = (...ring: KeyRing) => {
  const [first] = ring;
  const keys = new Map(ring.map((key) => [markOf(key), key]));
  return {
    seal: (text: string, context: string): Sealed => {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', first, nonce).setAAD(Buffer.from(context, 'utf8'));
      const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return `${prefixOf(first)}${sealed.toString('base64url')}` as unknown as Sealed;
    },
    open: (sealed: Sealed | string, context: string): string => {
      const [given, sealedBy = '', data = ''] = String(sealed).split('.');
      if (given !== version) throw new Error('a sealed text is of an unknown version');
      const key = keys.get(sealedBy);
      if (key === undefined) {
        throw new Error(
          `a stored credential was sealed with another key (${sealedBy}; given: ${[...keys.keys()].join(', ')}): set GUESTLIST_ENCRYPTION_KEY to the one it was stored with, the same for all replicas`,
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

/** Encrypts secrets for storage. `context` names the owner of the text (a record's id). */
export type Sealer = ReturnType<typeof createSealer>;
