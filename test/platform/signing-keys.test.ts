/** The list of keys that sign and check: complete, and without anything of their material. */
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createIssuers } from '../../src/compose/session-issuers.js';
import { createReadSigningKeys } from '../../src/compose/signing-keys.js';
import type { SigningKeys } from '../../src/model/signing-keys.js';
import { loadConfig } from '../../src/platform/config/config.js';
import { verifyJwt } from '../../src/platform/keys/jwt.js';
import { thumbprintOf } from '../../src/platform/keys/jwt-keys.js';
import { captureLog, createMovableClock, startSeconds } from '../gateway/harness.js';
import { ecPair, jwkOf, pemOf, rsaPair, signWith, startJwks } from '../gateway/signers.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'guestlist-signing-keys-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const secret = (letter: string) => letter.repeat(48);
const hookSecret = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`;
const mailKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;

const start = async (isDemo = false) => {
  const clock = createMovableClock();
  const [rsa, ec, published] = [rsaPair(), ecPair(), ecPair()];
  const jwks = await startJwks([jwkOf(published, { kid: 'e1' }), jwkOf(rsa, { kid: 'of-another-use', alg: 'PS512' })]);
  writeFileSync(join(folder, 'backend.pem'), pemOf(rsa));
  const file = join(folder, 'guestlist.json');
  const issuers = [
    { issuer: 'https://login.example', algorithms: ['ES256'], jwksUrl: `${jwks.url}?code=hush` },
    { issuer: 'backend', algorithms: ['RS256', 'RS512'], publicKeyFile: 'backend.pem' },
    { issuer: 'inline', algorithms: ['ES256'], publicKey: pemOf(ec) },
    { issuer: 'old', algorithms: ['HS256'], secretVariable: 'OLD_SECRET' },
  ];
  const settings = {
    gateway: {
      publicOrigin: 'https://numbers.example',
      session: { issuer: 'host', issuers },
      hooks: { providers: { clerk: { kind: 'clerk', secretVariable: 'CLERK_SECRET' } } },
    },
    channels: {
      crm: { kind: 'webhook', url: 'https://crm.example/in', secretVariable: 'CRM_SECRET' },
      team: { kind: 'slack', urlVariable: 'TEAM_URL' },
    },
    mail: { from: 'a@numbers.example', dkim: { domain: 'numbers.example', selector: 'mail2026' } },
  };
  writeFileSync(file, JSON.stringify(settings));
  const env = {
    ...{ GUESTLIST_CONFIG: file, GUESTLIST_API_KEY: 'key', GUESTLIST_SMTP_URL: 'smtp://mail.example' },
    ...{ GUESTLIST_HOST_JWT_SECRET: secret('h'), OLD_SECRET: secret('o'), CRM_SECRET: hookSecret(1) },
    CLERK_SECRET: hookSecret(4),
    GUESTLIST_HOOK_SECRETS: `${hookSecret(2)},${hookSecret(3)}`,
    GUESTLIST_DKIM_KEY: mailKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    TEAM_URL: 'https://hooks.example/very/secret',
  };
  const config = loadConfig(env, file, { runsGateway: true, runsService: true });
  const { log } = captureLog();
  const all = createIssuers({ ...config, isDemo }, { demoJwtSecret: secret('d') }, { clock, log });
  const read = createReadSigningKeys({ config, issuers: all, startedAt: clock.now() });
  const logIn = () =>
    verifyJwt(
      signWith(published, { alg: 'ES256', kid: 'e1' }, { sub: 'ann', iss: 'https://login.example' }),
      all,
      startSeconds,
    );
  return { read, logIn, env, clock, url: jwks.url, keys: { rsa, ec, published } };
};

const lines = ({ keys }: SigningKeys) =>
  keys.map(({ purpose, of, kid, algorithms, use, source }) =>
    [purpose, of, kid, algorithms.join(' '), use, source.kind, source.name].join(' | '),
  );

describe('the keys in force', () => {
  it('are all of them, with what each is for and where it is kept', async () => {
    const { read, logIn, url } = await start();
    expect(read().sets).toEqual([{ of: 'https://login.example', url, readAt: null, isFailing: false }]);
    expect(lines(read())).toEqual([
      'sessions | host |  | HS256 | checks | variable | GUESTLIST_HOST_JWT_SECRET',
      'sessions | backend |  | RS256 RS512 | checks | file | backend.pem',
      'sessions | inline |  | ES256 | checks | setting | ',
      'sessions | old |  | HS256 | checks | variable | OLD_SECRET',
      'hooks |  |  | HMAC-SHA256 | checks | variable | GUESTLIST_HOOK_SECRETS',
      'hooks |  |  | HMAC-SHA256 | checks | variable | GUESTLIST_HOOK_SECRETS',
      'webhooks | crm |  | HMAC-SHA256 | signs | variable | CRM_SECRET',
      'mail | numbers.example | mail2026 | RSA-SHA256 | signs | variable | GUESTLIST_DKIM_KEY',
      'hooks | clerk |  | HMAC-SHA256 | checks | variable | CLERK_SECRET',
    ]);
    await logIn();
    expect(read().sets).toMatchObject([{ readAt: new Date(startSeconds * 1000), isFailing: false }]);
    // A published key that fits no algorithm of the issuer checks nothing.
    expect(lines(read()).filter((line) => line.includes('jwks'))).toEqual([
      `sessions | https://login.example | e1 | ES256 | checks | jwks | ${url}`,
    ]);
  });

  it('are in use since the start, and published ones since they were first read', async () => {
    const { read, logIn, clock } = await start();
    const startedAt = clock.now();
    clock.advance(5000);
    await logIn();
    const since = new Map(read().keys.map(({ of, since: at }) => [of, at]));
    expect(since.get('backend')).toEqual(startedAt);
    expect(since.get('https://login.example')).toEqual(clock.now());
  });

  it('show nothing of a secret or of a private key, and a query of an address neither', async () => {
    const { read, logIn, env, keys } = await start(true);
    await logIn();
    const text = JSON.stringify(read());
    for (const value of [env.GUESTLIST_HOST_JWT_SECRET, env.OLD_SECRET, env.CRM_SECRET, secret('d'), 'hush'])
      expect(text).not.toContain(value);
    for (const value of env.GUESTLIST_HOOK_SECRETS.split(',')) expect(text).not.toContain(value.slice(6));
    expect(text).not.toContain('very/secret');
    expect(text).not.toContain(String(mailKey.export({ format: 'jwk' }).d));
    // Only a public key has a thumbprint: that of a secret would let anybody test guesses.
    const printed = read().keys.filter(({ thumbprint }) => thumbprint !== null);
    expect(new Set(printed.map(({ of }) => of))).toEqual(new Set(['https://login.example', 'backend', 'inline']));
    expect(printed.find(({ of }) => of === 'inline')?.thumbprint).toBe(thumbprintOf(keys.ec.publicKey));
    expect(lines(read())[0]).toBe('sessions | guestlist-demo |  | HS256 | checks | demo | ');
  });
});

it('the thumbprint of an Ed25519 key is that of RFC 8037', () => {
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' };
  expect(thumbprintOf(createPublicKey({ key: jwk, format: 'jwk' }))).toBe(
    'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
  );
});

it('the thumbprint is that of RFC 7638', () => {
  const jwk = {
    kty: 'RSA',
    n: '0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw',
    e: 'AQAB',
  };
  expect(thumbprintOf(createPublicKey({ key: jwk, format: 'jwk' }))).toBe(
    'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs',
  );
});
