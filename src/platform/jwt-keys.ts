/** The keys that a token may be signed with: which fits which algorithm, how they are read, and which of them a `kid` means. */
import { createPublicKey, createSecretKey, type KeyObject } from 'node:crypto';

/** A file of keys that cannot be used. The message quotes nothing of the file. */
export class KeyFault extends Error {
  override readonly name = 'KeyFault';
}

/** What an issuer may be configured for. HS256 takes a secret, all others a public key. */
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
] as const;
export type JwtAlgorithm = (typeof jwtAlgorithms)[number];

/** The keys of one issuer. */
export type JwtKeys = {
  /** Those that a token of this `kid` (null: it names none) and algorithm may be signed with; none: it is refused. */
  readonly find: (kid: string | null, algorithm: JwtAlgorithm) => readonly KeyObject[] | Promise<readonly KeyObject[]>;
  /** Whether a key that was found before still counts. Asked at every request. */
  readonly holds: (key: KeyObject) => boolean;
};

/** A key with the names that it came with; null where it came without. */
export type NamedKey = { readonly kid: string | null; readonly algorithm: string | null; readonly key: KeyObject };

/** Bits of the shortest RSA key that counts (RFC 7518, 3.3). */
export const minimumRsaBits = 2048;
/** Characters of the shortest secret that counts; RFC 7518, 3.2 wants 32 bytes. */
export const minimumSecretLength = 32;

const curves: Readonly<Record<string, string>> = { ES256: 'prime256v1', ES384: 'secp384r1', ES512: 'secp521r1' };

/** Whether a key is of the kind that the algorithm takes: never a public key for HS256. */
export const isKeyFor = (key: KeyObject, algorithm: JwtAlgorithm): boolean => {
  if (algorithm === 'HS256') return key.type === 'secret';
  if (key.type !== 'public') return false;
  const curve = curves[algorithm];
  if (curve === undefined) return key.asymmetricKeyType === 'rsa';
  return key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === curve;
};

/** Whether it is an RSA key too short to count. */
export const isWeak = (key: KeyObject): boolean =>
  key.asymmetricKeyType === 'rsa' && (key.asymmetricKeyDetails?.modulusLength ?? 0) < minimumRsaBits;

const isUsable = ({ key, algorithm: named }: NamedKey, algorithm: JwtAlgorithm): boolean =>
  (named === null || named === algorithm) && isKeyFor(key, algorithm);

/** Those of the keys that fit the algorithm, as a token of it may be signed with them. */
export const keysFor = (keys: readonly NamedKey[], algorithm: JwtAlgorithm): readonly KeyObject[] =>
  keys.filter((named) => isUsable(named, algorithm)).map(({ key }) => key);

/**
 * The keys that a `kid` means: those of that name, otherwise those without a name. A token without one means the keys
 * without a name, or the only key there is. It is compared and nothing else: never a path, a query or a member's name.
 */
export const keysNamed = (keys: readonly NamedKey[], kid: string | null): readonly NamedKey[] => {
  const named = kid === null ? [] : keys.filter((key) => key.kid === kid);
  if (named.length > 0) return named;
  const nameless = keys.filter((key) => key.kid === null);
  return nameless.length === 0 && kid === null && keys.length === 1 ? keys : nameless;
};

/** Keys that never change while the process runs. */
export const fixedKeys = (keys: readonly NamedKey[]): JwtKeys => ({
  find: (kid, algorithm) => keysFor(keysNamed(keys, kid), algorithm),
  holds: () => true,
});

/** A shared secret, as its text's UTF-8 bytes. A KeyObject made once: a secret passed as text costs forty times as much on every call. */
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

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

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

/** Reads public keys: PEM (keys or certificates, one after another), a JWK or a JWKS. Throws where there is none, and for private ones. */
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
