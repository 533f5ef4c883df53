/** The thumbprint of a public key (RFC 7638): the same for everybody who has the key. */
import { hash, type KeyObject } from 'node:crypto';

const required: Readonly<Record<string, readonly string[]>> = { RSA: ['e', 'kty', 'n'], EC: ['crv', 'kty', 'x', 'y'] };

/** Returns the SHA-256 thumbprint in base64url. Null for a secret, and for a kind of key that signs no session. */
export const thumbprintOf = (key: KeyObject): string | null => {
  if (key.type !== 'public') return null;
  const jwk = key.export({ format: 'jwk' });
  const members = required[String(jwk.kty)];
  if (members === undefined) return null;
  // The members in the order of their names, without spaces, as the standard wants.
  return hash('sha256', JSON.stringify(Object.fromEntries(members.map((name) => [name, jwk[name]]))), 'base64url');
};
