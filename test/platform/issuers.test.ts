import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createIssuers } from '../../src/compose/session-issuers.js';
import { ConfigError, loadConfig } from '../../src/platform/config/config.js';
import { captureLog, createMovableClock } from '../gateway/harness.js';
import { ecPair, edPair, jwkOf, type Pair, pemOf, rsaPair } from '../gateway/signers.js';

let folder: string;
let rsa: Pair;
let ec: Pair;
let ed: Pair;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'guestlist-issuers-'));
  [rsa, ec, ed] = [rsaPair(), ecPair(), edPair()];
  const write = (name: string, content: unknown) =>
    writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
  write('rsa.pem', pemOf(rsa));
  write('both.pem', `${pemOf(rsa)}\n${pemOf(rsaPair())}`);
  write('ed.pem', pemOf(ed));
  write('ed.jwk', jwkOf(ed, { kid: 'd1', alg: 'EdDSA' }));
  write('ed448.pem', pemOf(edPair('ed448')));
  write('one.jwk', jwkOf(ec, { kid: 'e1' }));
  write('set.json', {
    keys: [jwkOf(rsa, { kid: 'r1', alg: 'RS256' }), jwkOf(ec, { kid: 'e1' }), jwkOf(rsa, { use: 'enc' })],
  });
  write('private.pem', rsa.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  write('private.jwk', ec.privateKey.export({ format: 'jwk' }));
  write('secret.jwk', { kty: 'oct', k: 'AAAA' });
  write(
    'short.pem',
    generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ type: 'spki', format: 'pem' }),
  );
  write('text.pem', 'very private words');
  write('damaged.json', { keys: [{ kty: 'RSA', n: 'very private', e: 7 }] });
  write('empty.json', { keys: [] });
  write('large.pem', ' '.repeat(1024 * 1024 + 1));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const askSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const env = {
  ASK_SECRET: askSecret,
  HOST_SECRET: 's'.repeat(32),
  SHORT_SECRET: 's'.repeat(31),
  TWO_SECRETS: `${'s'.repeat(32)} ${'t'.repeat(32)}`,
  PASSPHRASE: `${'s'.repeat(32)} and words`,
  GUESTLIST_API_KEY: 'key',
};

const load = (gateway: object, more: Record<string, string> = {}, runsGateway = true) => {
  const file = join(folder, 'guestlist.yaml');
  writeFileSync(file, JSON.stringify({ gateway }));
  return loadConfig({ ...env, GUESTLIST_CONFIG: file, ...more }, file, { runsGateway, runsService: true });
};

const faultsOf = (gateway: object, more: Record<string, string> = {}): readonly string[] => {
  try {
    load(gateway, more);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults.map(({ path, mend }) => `${path}: ${mend}`);
    throw error;
  }
  return [];
};

const issuer = 'https://login.example';
const withIssuers = (...issuers: object[]) => ({ session: { issuers } });

describe('an issuer', () => {
  it.each<[string, object, number]>([
    ['a PEM file', { algorithms: ['RS256'], publicKeyFile: 'rsa.pem' }, 1],
    ['a PEM file of two keys', { algorithms: ['RS256', 'PS256'], publicKeyFile: './both.pem' }, 2],
    ['a JWK file', { algorithms: ['ES256'], publicKeyFile: 'one.jwk' }, 1],
    ['a JWKS file', { algorithms: ['ES256', 'RS256'], publicKeyFile: 'set.json' }, 2],
    ['a PEM file of Ed25519', { algorithms: ['EdDSA'], publicKeyFile: 'ed.pem' }, 1],
    ['a JWK file of Ed25519', { algorithms: ['EdDSA'], publicKeyFile: 'ed.jwk' }, 1],
    ['a variable', { algorithms: ['HS256'], secretVariable: 'HOST_SECRET' }, 1],
    ['a variable of two secrets', { algorithms: ['HS256'], secretVariable: 'TWO_SECRETS' }, 2],
    ['a variable of a passphrase', { algorithms: ['HS256'], secretVariable: 'PASSPHRASE' }, 1],
  ])('takes its key from %s', (_, fields, count) => {
    const { issuers } = load(withIssuers({ issuer, ...fields }));
    expect(issuers).toEqual([expect.objectContaining({ issuer, audience: null, clockToleranceSeconds: 5 })]);
    expect(issuers[0]?.keys).toHaveLength(count);
  });

  it('takes its key from PEM text, and from a URL', () => {
    const { issuers } = load(
      withIssuers(
        { issuer: 'a', algorithms: ['ES256'], publicKey: pemOf(ec), audience: ['x', 'y'], clockToleranceSeconds: 0 },
        { issuer: 'b', algorithms: ['RS256'], jwksUrl: 'https://login.example/jwks.json' },
        { issuer: 'c', algorithms: ['RS256'], jwksUrl: 'http://127.0.0.1:8080/jwks.json' },
        { issuer: 'd', algorithms: ['RS256'], jwksUrl: 'http://[::1]/jwks.json' },
      ),
    );
    expect(issuers[0]).toMatchObject({ audience: ['x', 'y'], clockToleranceSeconds: 0 });
    expect(issuers[1]?.keys).toEqual({ jwksUrl: 'https://login.example/jwks.json' });
    expect(issuers).toHaveLength(4);
  });

  it('takes its keys from where its own document says, or asks the host in place of keys', () => {
    const ask = { url: 'https://app.example/session', forward: ['_app', 'header:X-App'], secretVariable: 'ASK_SECRET' };
    const { issuers, askedIssuers } = load(
      withIssuers({ issuer, algorithms: ['EdDSA'], discover: true }, { issuer: 'our-app', ask }),
    );
    expect(issuers).toEqual([expect.objectContaining({ issuer, keys: { discover: issuer } })]);
    expect(askedIssuers).toEqual([
      {
        issuer: 'our-app',
        ask: {
          ...{ url: ask.url, cookies: ['_app'], headers: ['x-app'], secret: askSecret, secretVariable: 'ASK_SECRET' },
          ...{ cacheSeconds: 10, staleSeconds: 0, timeoutMs: 2_000 },
        },
      },
    ]);
  });

  it('takes algorithms and keys from a preset, and what it says itself stays', () => {
    const { issuers } = load(
      withIssuers(
        { preset: 'auth0', issuer: 'https://acme.auth0.com/', audience: 'https://api.acme.example' },
        { preset: 'clerk', issuer: 'https://clerk.acme.example' },
        { preset: 'better-auth', issuer: 'https://app.acme.example/', audience: 'https://app.acme.example' },
        { preset: 'workos', issuer: 'https://api.workos.com', jwksUrl: 'https://api.workos.com/sso/jwks/client_1' },
        { preset: 'clerk', issuer: 'https://other.example', algorithms: ['ES256'], publicKeyFile: 'one.jwk' },
      ),
    );
    expect(issuers.map(({ algorithms, keys }) => [algorithms, Array.isArray(keys) ? keys.length : keys])).toEqual([
      [['RS256'], { discover: 'https://acme.auth0.com/' }],
      [['RS256'], { jwksUrl: 'https://clerk.acme.example/.well-known/jwks.json' }],
      [['EdDSA'], { jwksUrl: 'https://app.acme.example/api/auth/jwks' }],
      [['RS256'], { jwksUrl: 'https://api.workos.com/sso/jwks/client_1' }],
      [['ES256'], 1],
    ]);
  });

  const askWith = (fields: object) => ({
    ask: { url: 'https://app.example/session', forward: ['_app'], secretVariable: 'ASK_SECRET', ...fields },
  });
  const faulty: Record<string, [fields: object, field: string, mend: RegExp]> = {
    'without algorithms': [{ publicKeyFile: 'rsa.pem' }, '.algorithms', /is missing: name those that the issuer signs/],
    'that asks the host and signs': [
      { algorithms: ['RS256'], ...askWith({}) },
      '.algorithms',
      /an issuer with `ask` has none: leave it out/,
    ],
    'with an audience of opaque sessions': [{ audience: 'guestlist', ...askWith({}) }, '.audience', /leave it out/],
    'with keys and a question': [
      { algorithms: ['RS256'], publicKeyFile: 'rsa.pem', ...askWith({}) },
      '',
      /has publicKeyFile and ask: keep exactly one/,
    ],
    'that asks over plain http': [askWith({ url: 'http://app.example/session' }), '.ask.url', /must begin with https/],
    'that asks with a password in the address': [
      askWith({ url: 'https://a:very%20private@b.example/' }),
      '.ask.url',
      /leave both out/,
    ],
    'that asks without a secret': [
      askWith({ secretVariable: 'NOT_SET' }),
      '.ask.secretVariable',
      /is not set: make one by/,
    ],
    'that asks with a secret of another form': [
      askWith({ secretVariable: 'HOST_SECRET' }),
      '.ask.secretVariable',
      /is no secret of Standard Webhooks/,
    ],
    'of a preset whose sessions need an audience': [
      { preset: 'auth0', issuer: 'https://acme.auth0.com/' },
      '.audience',
      /is missing, which sessions of Auth0.* need: The identifier of your API/,
    ],
    'of a preset whose keys are at an address of the customer': [
      { preset: 'workos', issuer: 'https://api.workos.com' },
      '.jwksUrl',
      /is missing: for WorkOS.* it is https:\/\/api.workos.com\/sso\/jwks\/\{your client id\}/,
    ],
    'of a preset that asks the host': [{ preset: 'clerk', ...askWith({}) }, '.preset', /keep one/],
    'of a preset over plain http': [
      { preset: 'clerk', issuer: 'http://clerk.acme.example' },
      '.jwksUrl',
      /must begin with https/,
    ],
    'that discovers at no address': [
      { issuer: 'our-app', algorithms: ['RS256'], discover: true },
      '.discover',
      /looks for keys at the address of the issuer, and `issuer` is no URL/,
    ],
    'that discovers over plain http': [
      { issuer: 'http://login.example', algorithms: ['RS256'], discover: true },
      '.discover',
      /must begin with https/,
    ],
    'that discovers and shares a secret': [{ algorithms: ['HS256'], discover: true }, '.algorithms', /leave HS256 out/],
    'without a key': [{ algorithms: ['RS256'] }, '', /has no key: give one of discover, jwksUrl, publicKeyFile/],
    'with two keys': [
      { algorithms: ['RS256'], publicKeyFile: 'rsa.pem', jwksUrl: 'https://a.example' },
      '',
      /has jwksUrl and publicKeyFile: keep exactly one/,
    ],
    'with a key of another kind': [
      { algorithms: ['ES256'], publicKeyFile: 'rsa.pem' },
      '.publicKeyFile',
      /no key for ES256/,
    ],
    'with a key of another curve': [
      { algorithms: ['ES384'], publicKeyFile: 'one.jwk' },
      '.publicKeyFile',
      /no key for ES384/,
    ],
    'with an Ed448 key': [{ algorithms: ['EdDSA'], publicKeyFile: 'ed448.pem' }, '.publicKeyFile', /no key for EdDSA/],
    'with HS256 and an Ed25519 key': [
      { algorithms: ['HS256'], publicKeyFile: 'ed.pem' },
      '.algorithms',
      /with which anybody could sign/,
    ],
    'with a key named for another algorithm': [
      { algorithms: ['RS512'], publicKeyFile: 'set.json' },
      '.publicKeyFile',
      /no key for RS512/,
    ],
    'with one algorithm too many': [
      { algorithms: ['RS256', 'ES256'], publicKeyFile: 'rsa.pem' },
      '.publicKeyFile',
      /no key for ES256: give one, or take ES256 out/,
    ],
    'with HS256 and a public key': [
      { algorithms: ['HS256'], publicKeyFile: 'rsa.pem' },
      '.algorithms',
      /with which anybody could sign/,
    ],
    'with HS256 beside RS256': [
      { algorithms: ['RS256', 'HS256'], jwksUrl: 'https://a.example' },
      '.algorithms',
      /leave HS256 out/,
    ],
    'with RS256 and a secret': [
      { algorithms: ['RS256'], secretVariable: 'HOST_SECRET' },
      '.algorithms',
      /\[HS256\] alone/,
    ],
    'with a short RSA key': [
      { algorithms: ['RS256'], publicKeyFile: 'short.pem' },
      '.publicKeyFile',
      /under 2048 bits/,
    ],
    'with a private key': [
      { algorithms: ['RS256'], publicKeyFile: 'private.pem' },
      '.publicKeyFile',
      /holds a private key/,
    ],
    'with a private JWK': [
      { algorithms: ['ES256'], publicKeyFile: 'private.jwk' },
      '.publicKeyFile',
      /holds a private key/,
    ],
    'with a secret in a file': [
      { algorithms: ['RS256'], publicKeyFile: 'secret.jwk' },
      '.publicKeyFile',
      /or a secret/,
    ],
    'with no key in its file': [{ algorithms: ['RS256'], publicKeyFile: 'text.pem' }, '.publicKeyFile', /holds no PEM/],
    'with a damaged key in its file': [
      { algorithms: ['RS256'], publicKeyFile: 'damaged.json' },
      '.publicKeyFile',
      /cannot be read as PEM, JWK or JWKS/,
    ],
    'with an empty set': [{ algorithms: ['RS256'], publicKeyFile: 'empty.json' }, '.publicKeyFile', /holds no key/],
    'with a file that is not there': [{ algorithms: ['RS256'], publicKeyFile: 'none.pem' }, '.publicKeyFile', /ENOENT/],
    'with a folder as file': [{ algorithms: ['RS256'], publicKeyFile: '.' }, '.publicKeyFile', /EISDIR/],
    'with a large file': [{ algorithms: ['RS256'], publicKeyFile: 'large.pem' }, '.publicKeyFile', /larger than 1 MiB/],
    'with text for a key': [{ algorithms: ['RS256'], publicKey: 'very private words' }, '.publicKey', /holds no PEM/],
    'with a variable that is not set': [
      { algorithms: ['HS256'], secretVariable: 'NONE' },
      '.secretVariable',
      /NONE, which is not set/,
    ],
    'with a short secret': [
      { algorithms: ['HS256'], secretVariable: 'SHORT_SECRET' },
      '.secretVariable',
      /at least 32 characters/,
    ],
    'with a key set over http': [{ algorithms: ['RS256'], jwksUrl: 'http://login.example' }, '.jwksUrl', /https:\/\//],
    'with a key set over http on a host named like this machine': [
      { algorithms: ['RS256'], jwksUrl: 'http://localhost.example' },
      '.jwksUrl',
      /https:\/\//,
    ],
    'with a key set in a file': [{ algorithms: ['RS256'], jwksUrl: 'file:///etc/passwd' }, '.jwksUrl', /https:\/\//],
    'with a key set nowhere': [{ algorithms: ['RS256'], jwksUrl: 'login.example' }, '.jwksUrl', /is no URL/],
    'with a password in its URL': [
      { algorithms: ['RS256'], jwksUrl: 'https://a:b@c.example' },
      '.jwksUrl',
      /leave both out/,
    ],
    'with no algorithm': [{ algorithms: [], jwksUrl: 'https://a.example' }, '.algorithms', /./],
    'with the algorithm none': [{ algorithms: ['none'], jwksUrl: 'https://a.example' }, '.algorithms.0', /RS256/],
    'with a tolerance of an hour': [
      { algorithms: ['RS256'], jwksUrl: 'https://a.example', clockToleranceSeconds: 3600 },
      '.clockToleranceSeconds',
      /300/,
    ],
    'with an empty audience': [{ algorithms: ['RS256'], jwksUrl: 'https://a.example', audience: [] }, '.audience', /./],
  };
  it.each(Object.keys(faulty))('%s is refused by path and mend', (name) => {
    const [fields, field, mend] = faulty[name] ?? [{}, '', /never/];
    const faults = faultsOf(withIssuers({ issuer, ...fields }));
    expect(faults).toHaveLength(1);
    expect(faults[0]?.startsWith(`gateway.session.issuers.0${field}: `), faults[0]).toBe(true);
    expect(faults[0]).toMatch(mend);
    expect(faults[0]).not.toMatch(/very private|ssss|PRIVATE/);
  });

  it.each(['', 'a name', 'a:b', 'header:', 'header:cookie', 'header:host', 'header:webhook-signature', 7])(
    'an issuer forwards nothing by the name %j',
    (name) => {
      const [fault, ...others] = faultsOf(withIssuers({ issuer, ...askWith({ forward: [name] }) }));
      expect(others).toEqual([]);
      expect(fault).toMatch(/^gateway.session.issuers.0.ask.forward.0: /);
    },
  );

  it('is there once, the simple settings counted', () => {
    const one = { issuer, algorithms: ['RS256'], publicKeyFile: 'rsa.pem' };
    expect(faultsOf(withIssuers(one, one))).toEqual([
      expect.stringMatching(/^gateway.session.issuers.1.issuer: .*issuers\.0/),
    ]);
    const both = { session: { issuer, issuers: [one] } };
    expect(faultsOf(both)).toEqual([]);
    expect(faultsOf(both, { GUESTLIST_HOST_JWT_SECRET: 's'.repeat(32) })).toEqual([
      expect.stringMatching(/^gateway.session.issuers.0.issuer: is that of gateway.session.issuer too/),
    ]);
  });
});

describe('the faults of a configuration', () => {
  it('come all at once, those of issuers among them', () => {
    const faults = faultsOf({
      nonsense: 1,
      allowedOrigins: ['https://app.example.com/', '*', 'null', 'https://app.example.com'],
      publicOrigin: 'numbers.example.com',
      session: {
        issuers: [
          { issuer: 'a', algorithms: ['RS256'], jwksUrl: 'http://a.example', colour: 'red' },
          { issuer: 'a', algorithms: ['HS256'], secretVariable: 'SHORT_SECRET', clockToleranceSeconds: -1 },
          7,
        ],
      },
    });
    for (const path of [
      'gateway.nonsense:',
      'gateway.allowedOrigins.0:',
      'gateway.allowedOrigins.1:',
      'gateway.allowedOrigins.2:',
      'gateway.publicOrigin:',
      'gateway.session.issuers.0.colour:',
      'gateway.session.issuers.0.jwksUrl:',
      'gateway.session.issuers.1.issuer:',
      'gateway.session.issuers.1.secretVariable:',
      'gateway.session.issuers.1.clockToleranceSeconds:',
      'gateway.session.issuers.2:',
    ]) {
      expect(
        faults.filter((fault) => fault.startsWith(path)),
        path,
      ).not.toEqual([]);
    }
    expect(faults.filter((fault) => fault.startsWith('gateway.allowedOrigins.3'))).toEqual([]);
  });

  it('have a word for no issuer at all, and none about issuers where the gateway does not run', () => {
    expect(faultsOf({})).toEqual([expect.stringMatching(/^GUESTLIST_HOST_JWT_SECRET: .*gateway.session.issuers/)]);
    expect(faultsOf({ session: { issuers: [] } })).toHaveLength(1);
    const { issuers } = load(withIssuers({ issuer, algorithms: ['HS256'], secretVariable: 'NONE' }), {}, false);
    expect(issuers).toEqual([]);
  });
});

describe('the issuers of an installation', () => {
  it("are the demo's, the simple settings' and those of the list, each with its own", () => {
    const config = load(
      {
        session: {
          audience: 'guestlist',
          clockToleranceSeconds: 7,
          issuers: [
            { issuer, algorithms: ['RS256'], publicKeyFile: 'rsa.pem', clockToleranceSeconds: 0 },
            { issuer: 'published', algorithms: ['ES256'], jwksUrl: 'https://a.example/keys', audience: 'it' },
          ],
        },
      },
      { GUESTLIST_HOST_JWT_SECRET: 's'.repeat(32) },
    );
    const { log } = captureLog();
    const issuers = createIssuers(
      { ...config, isDemo: true },
      { demoJwtSecret: 'd'.repeat(32) },
      { clock: createMovableClock(), log },
    );
    expect(issuers.map(({ keys: _, source: __, read: ___, ...rest }) => rest)).toEqual([
      { issuer: 'guestlist-demo', algorithms: ['HS256'], clockToleranceSeconds: 7 },
      { issuer: null, algorithms: ['HS256'], clockToleranceSeconds: 7, audience: 'guestlist' },
      { issuer, algorithms: ['RS256'], clockToleranceSeconds: 0, audience: undefined },
      { issuer: 'published', algorithms: ['ES256'], clockToleranceSeconds: 5, audience: 'it' },
    ]);
    expect(
      createIssuers(
        { ...config, isDemo: false },
        { demoJwtSecret: 'd'.repeat(32) },
        { clock: createMovableClock(), log },
      ),
    ).toHaveLength(3);
  });
});
