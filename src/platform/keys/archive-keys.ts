/**
 * The keys that sign archived segments of the audit: Ed25519, derived from the keys of the ring, so that there is no other
 * key to keep. A reader verifies with the public key alone.
 */
import { createPrivateKey, createPublicKey, hkdfSync, type KeyObject, sign, verify } from 'node:crypto';
import { KeyFault, thumbprintOf } from './jwt-keys.js';
import type { KeyRing } from './sealing.js';

/** Public keys by their thumbprint (RFC 7638). */
export type ArchiveVerifier = ReadonlyMap<string, KeyObject>;

export type ArchiveKeys = {
  /** The thumbprint of the key that signs. */
  readonly id: string;
  /** Returns the signature in base64url. The same text always has the same signature. */
  readonly sign: (text: string) => string;
  /** The keys of the whole ring, so that an earlier key still verifies while it is in the ring. */
  readonly verifier: ArchiveVerifier;
};

/** What stands before the 32 bytes of an Ed25519 key in PKCS #8 (RFC 8410). */
const pkcs8Start = Buffer.from('302e020100300506032b657004220420', 'hex');

const privateKeyOf = (sealingKey: Buffer): KeyObject => {
  const seed = Buffer.from(hkdfSync('sha256', sealingKey, '', 'guestlist audit archive', 32));
  return createPrivateKey({ key: Buffer.concat([pkcs8Start, seed]), format: 'der', type: 'pkcs8' });
};

const named = (key: KeyObject): readonly [string, KeyObject] => {
  const id = key.asymmetricKeyType === 'ed25519' ? thumbprintOf(key) : null;
  if (id === null) throw new KeyFault('the key is no Ed25519 key');
  return [id, key];
};

export const archiveKeysOf = (ring: KeyRing): ArchiveKeys => {
  const [first] = ring;
  const own = privateKeyOf(first);
  const [id] = named(createPublicKey(own));
  return {
    id,
    sign: (text) => sign(null, Buffer.from(text, 'utf8'), own).toString('base64url'),
    verifier: new Map(ring.map((key) => named(createPublicKey(privateKeyOf(key))))),
  };
};

/** Returns false for another text, another key and an unknown key. */
export const isArchiveSignature = (verifier: ArchiveVerifier, id: string, text: string, signature: string): boolean => {
  const key = verifier.get(id);
  return key !== undefined && verify(null, Buffer.from(text, 'utf8'), key, Buffer.from(signature, 'base64url'));
};

export const pemOf = (key: KeyObject): string => key.export({ format: 'pem', type: 'spki' }).toString();

/** Reads public keys in PEM, one after the other. Throws KeyFault. */
export const readArchiveKeys = (text: string): ArchiveVerifier => {
  const parts = text.match(/-----BEGIN PUBLIC KEY-----[\s\S]*?-----END PUBLIC KEY-----/g) ?? [];
  if (parts.length === 0) throw new KeyFault('there is no public key in PEM');
  return new Map(
    parts.map((part) => {
      try {
        return named(createPublicKey(part));
      } catch (cause) {
        throw cause instanceof KeyFault ? cause : new KeyFault('a public key cannot be read');
      }
    }),
  );
};
