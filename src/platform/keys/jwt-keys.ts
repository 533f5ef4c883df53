/** The keys that sign tokens: which key fits which algorithm, how keys are read, and which keys a `kid` selects. */

import { createPublicKey, createSecretKey, hash, type KeyObject } from 'node:crypto';
import { isRecord } from '../../model/is-record.js';

/** A file of keys that cannot be used. The message quotes nothing of the file. */
export class KeyFault extends Error {
  override readonly name = 'KeyFault';
}

/** The algorithms that an issuer may use. HS256 takes a secret, all others take a public key; EdDSA is Ed25519 alone. */
export const jwtAlgorithms = [
  'HS256',
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
] as const;
export type JwtAlgorithm = (typeof jwtAlgorithms)[number];

/** The keys of one issuer. */
export type JwtKeys = {
  /**
   * Returns the keys that may verify a token with this `kid` (null if absent) and algorithm. If the list is empty, the
   * token is refused.
   */
  readonly find: (kid: string | null, algorithm: JwtAlgorithm) => readonly KeyObject[] | Promise<readonly KeyObject[]>;
  /** Whether a key that was found before is still valid. Called for every request. */
  readonly holds: (key: KeyObject) => boolean;
};

/** A key with its published `kid` and algorithm, or null for each one that is not set. */
export type NamedKey = { readonly kid: string | null; readonly algorithm: string | null; readonly key: KeyObject };

/** Minimum bits of an RSA key (RFC 7518, 3.3). */
export const minimumRsaBits = 2048;
/** Minimum characters of a secret. RFC 7518, 3.2 requires 32 bytes. */
export const minimumSecretLength = 32;

const curves: Readonly<Record<string, string>> = { ES256: 'prime256v1', ES384: 'secp384r1', ES512: 'secp521r1' };

/** Whether the key has the right type for the algorithm. A public key never fits HS256. */
const isKeyFor = (key: KeyObject, algorithm: JwtAlgorithm): boolean => {
  if (algorithm === 'HS256') return key.type === 'secret';
  if (key.type !== 'public') return false;
  if (algorithm === 'EdDSA') return key.asymmetricKeyType === 'ed25519';
  const curve = curves[algorithm];
  if (curve === undefined) return key.asymmetricKeyType === 'rsa';
  return key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === curve;
};

/** Whether the key is an RSA key that is too short. */
export const isWeak = (key: KeyObject): boolean =>
  key.asymmetricKeyType === 'rsa' && (key.asymmetricKeyDetails?.modulusLength ?? 0) < minimumRsaBits;

const isUsable = ({ key, algorithm: named }: NamedKey, algorithm: JwtAlgorithm): boolean =>
  (named === null || named === algorithm) && isKeyFor(key, algorithm);

/** Returns the keys that fit the algorithm. */
export const keysFor = (keys: readonly NamedKey[], algorithm: JwtAlgorithm): readonly KeyObject[] =>
  keys.filter((named) => isUsable(named, algorithm)).map(({ key }) => key);

/**
 * Returns the keys that a `kid` selects: the keys with that name, otherwise the keys without a name. A token without
 * `kid` selects the keys without a name, or the only key. The `kid` is only compared. It is never used as a path, in a
 * query or as a property name.
 */
export const keysNamed = (keys: readonly NamedKey[], kid: string | null): readonly NamedKey[] => {
  const named = kid === null ? [] : keys.filter((key) => key.kid === kid);
  if (named.length > 0) return named;
  const nameless = keys.filter((key) => key.kid === null);
  return nameless.length === 0 && kid === null && keys.length === 1 ? keys : nameless;
};

/** Creates keys that never change while the process runs. */
export const fixedKeys = (keys: readonly NamedKey[]): JwtKeys => ({
  find: (kid, algorithm) => keysFor(keysNamed(keys, kid), algorithm),
  holds: () => true,
});

/**
 * Creates a key from a shared secret, as the UTF-8 bytes of its text. The KeyObject is created once, because a secret
 * passed as text makes every call forty times slower.
 */
export const secretKey = (secret: string): NamedKey => ({
  kid: null,
  algorithm: null,
  key: createSecretKey(Buffer.from(secret, 'utf8')),
});

const pemPattern = /-----BEGIN ([A-Z0-9 ]+)-----[\s\S]+?-----END \1-----/g;

const readPem = (text: string): readonly NamedKey[] =>
  [...text.matchAll(pemPattern)].map(([block, label = '']) => {
    if (label.includes('PRIVATE')) throw new KeyFault('holds a private key, which belongs to the issuer alone');
    return { kid: null, algorithm: null, key: createPublicKey(block) };
  });

const textOrNull = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

const readJwk = (jwk: unknown): readonly NamedKey[] => {
  if (!isRecord(jwk)) throw new KeyFault('holds something that is no JWK');
  if ('d' in jwk || 'k' in jwk)
    throw new KeyFault('holds a private key or a secret, which does not belong in a file of public keys');
  if (jwk.use !== undefined && jwk.use !== 'sig') return [];
  return [
    { kid: textOrNull(jwk.kid), algorithm: textOrNull(jwk.alg), key: createPublicKey({ key: jwk, format: 'jwk' }) },
  ];
};

/**
 * Reads public keys from PEM (one or more keys or certificates), a JWK or a JWKS. Throws if there is no key, or if a
 * key is private.
 */
export const readPublicKeys = (text: string): readonly NamedKey[] => {
  const trimmed = text.trim();
  if (!trimmed.startsWith('{')) {
    const keys = readPem(trimmed);
    if (keys.length === 0) throw new KeyFault('holds no PEM public key, no JWK and no JWKS');
    return keys;
  }
  const document: unknown = JSON.parse(trimmed);
  const keys = isRecord(document) && Array.isArray(document.keys) ? document.keys.flatMap(readJwk) : readJwk(document);
  if (keys.length === 0) throw new KeyFault('holds no key for signatures');
  return keys;
};

const thumbprintMembers: Readonly<Record<string, readonly string[]>> = {
  RSA: ['e', 'kty', 'n'],
  EC: ['crv', 'kty', 'x', 'y'],
  OKP: ['crv', 'kty', 'x'],
};

/**
 * Returns the SHA-256 thumbprint (RFC 7638) in base64url: the same for everybody who has the key. Null for a secret, and for
 * a kind of key that signs no session.
 */
export const thumbprintOf = (key: KeyObject): string | null => {
  if (key.type !== 'public') return null;
  const jwk = key.export({ format: 'jwk' });
  const members = thumbprintMembers[String(jwk.kty)];
  if (members === undefined) return null;
  // The members in the order of their names, without spaces, as the standard wants.
  return hash('sha256', JSON.stringify(Object.fromEntries(members.map((name) => [name, jwk[name]]))), 'base64url');
};
