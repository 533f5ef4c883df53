/** Issuers for tests: key pairs, hand-made tokens, and a JWKS on a real port. */
import { createHmac, generateKeyPairSync, type KeyObject, sign as signBytes } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { JwtIssuer } from '../../src/platform/keys/jwt.js';
import { fixedKeys, type NamedKey } from '../../src/platform/keys/jwt-keys.js';
import { startSeconds } from './harness.js';

export type Pair = { readonly publicKey: KeyObject; readonly privateKey: KeyObject };

export const rsaPair = (modulusLength = 2048): Pair => generateKeyPairSync('rsa', { modulusLength });
export const ecPair = (namedCurve = 'P-256'): Pair => generateKeyPairSync('ec', { namedCurve });
export const edPair = (curve: 'ed25519' | 'ed448' = 'ed25519'): Pair =>
  curve === 'ed25519' ? generateKeyPairSync('ed25519') : generateKeyPairSync('ed448');

export const pemOf = ({ publicKey }: Pair): string => publicKey.export({ type: 'spki', format: 'pem' }).toString();
export const jwkOf = ({ publicKey }: Pair, names: object = {}): Record<string, unknown> => ({
  ...publicKey.export({ format: 'jwk' }),
  use: 'sig',
  ...names,
});
export const namedKey = ({ publicKey }: Pair, kid: string | null = null): NamedKey => ({
  kid,
  algorithm: null,
  key: publicKey,
});

export const encode = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

export const times = { iat: startSeconds, exp: startSeconds + 3600 };

/** The hash that each algorithm signs. Ed25519 signs the text itself. */
const hashes: Readonly<Record<string, string | null>> = {
  ...{ RS256: 'sha256', ES256: 'sha256', RS512: 'sha512', ES384: 'sha384' },
  EdDSA: null,
};

/**
 * Signs a token with a private key, whatever its header says. The algorithm is that of the header, unless `as` names
 * another.
 */
export const signWith = (
  { privateKey }: Pair,
  header: object,
  claims: object,
  as = String(Reflect.get(header, 'alg')),
): string => {
  const input = `${encode(header)}.${encode({ ...times, ...claims })}`;
  const key = as.startsWith('ES') ? { key: privateKey, dsaEncoding: 'ieee-p1363' as const } : privateKey;
  const hash = as in hashes ? hashes[as] : 'sha256';
  return `${input}.${signBytes(hash, Buffer.from(input), key).toString('base64url')}`;
};

/** Signs a token by HMAC with any bytes as the secret, for example a public key. */
export const hmacWith = (secret: string | Buffer, header: object, claims: object): string => {
  const input = `${encode(header)}.${encode({ ...times, ...claims })}`;
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
};

export const issuerWith = (
  issuer: string | null,
  keys: readonly NamedKey[],
  more: Partial<JwtIssuer> = {},
): JwtIssuer => ({
  issuer,
  algorithms: ['RS256'],
  clockToleranceSeconds: 0,
  keys: fixedKeys(keys),
  ...more,
});

/** A JWKS on its own port. `answer` replaces the key set. */
export const startJwks = async (keys: readonly object[] = []) => {
  const state = { keys, hits: 0, answer: undefined as RequestListener | undefined };
  const server = createServer((request, response) => {
    state.hits += 1;
    if (state.answer !== undefined) return state.answer(request, response);
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: state.keys }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { state, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys` };
};
