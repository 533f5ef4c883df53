import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { createJwks } from '../../src/platform/calls/jwks.js';
import { type JwtIssuer, verifyJwt } from '../../src/platform/keys/jwt.js';
import { fixedKeys, type NamedKey, readPublicKeys } from '../../src/platform/keys/jwt-keys.js';
import { captureLog, createMovableClock, hostSecret, secretKeys, startGateway, startSeconds } from './harness.js';
import {
  ecPair,
  edPair,
  encode,
  hmacWith,
  issuerWith,
  jwkOf,
  namedKey,
  type Pair,
  pemOf,
  rsaPair,
  signWith,
  startJwks,
  times,
} from './signers.js';

const person = { sub: 'ann', org_id: 'LAX', roles: ['analyst'] };
const byRsa = { ...person, iss: 'https://rsa.example' };
const byEc = { ...person, iss: 'https://ec.example', aud: ['other', 'guestlist'] };
const bySecret = { ...person, iss: 'https://secret.example' };
const byEd = { ...person, iss: 'https://ed.example', aud: 'guestlist' };
const byTwin = { ...person, iss: 'https://twin.example' };

let rsa: Pair;
let ec: Pair;
let twin: Pair;
let thief: Pair;
let thiefEc: Pair;
let ed: Pair;
let thiefEd: Pair;
beforeAll(() => {
  [rsa, ec, twin, thief, thiefEc] = [rsaPair(), ecPair(), rsaPair(), rsaPair(), ecPair()];
  [ed, thiefEd] = [edPair(), edPair()];
});

const rs = (header: object = {}, claims: object = byRsa, pair = rsa): string =>
  signWith(pair, { alg: 'RS256', ...header }, claims);
const es = (header: object = {}, claims: object = byEc, pair = ec): string =>
  signWith(pair, { alg: 'ES256', kid: 'e1', ...header }, claims);
const eds = (header: object = {}, claims: object = byEd, pair = ed): string =>
  signWith(pair, { alg: 'EdDSA', kid: 'd1', ...header }, claims);
const unsigned = (header: object, claims: object, signature = ''): string =>
  `${encode(header)}.${encode({ ...times, ...claims })}.${signature}`;
const without = (claims: Record<string, unknown>, name: string) => ({ ...claims, [name]: undefined });

/**
 * Starts one issuer of each kind. The RSA issuer and its twin use the same key id; the elliptic one publishes its keys
 * at a URL.
 */
const startIssuers = async () => {
  const clock = createMovableClock();
  const published = await startJwks([jwkOf(ec, { kid: 'e1' }), jwkOf(ed, { kid: 'd1' })]);
  const stolen = await startJwks([
    jwkOf(thief, { kid: 'shared' }),
    jwkOf(thiefEc, { kid: 'e1' }),
    jwkOf(thiefEd, { kid: 'd1' }),
  ]);
  const { log, lines } = captureLog();
  const issuers: readonly JwtIssuer[] = [
    issuerWith('https://rsa.example', [namedKey(rsa, 'shared')]),
    issuerWith('https://twin.example', [namedKey(twin, 'shared')], { clockToleranceSeconds: 30 }),
    issuerWith('https://secret.example', [], { algorithms: ['HS256'], keys: secretKeys(hostSecret) }),
    issuerWith('https://ec.example', [], {
      algorithms: ['ES256'],
      audience: ['guestlist', 'guestlist-next'],
      keys: createJwks({ url: published.url, clock, log, timeoutMs: 2_000 }),
    }),
    issuerWith('https://ed.example', [], {
      algorithms: ['EdDSA'],
      audience: 'guestlist',
      keys: createJwks({ url: published.url, clock, log, timeoutMs: 2_000 }),
    }),
    issuerWith('https://ed-file.example', [...readPublicKeys(pemOf(ed)), namedKey(edPair('ed448'), 'goldilocks')], {
      algorithms: ['EdDSA'],
    }),
  ];
  return { ...(await startGateway({ issuers, clock, log })), published, stolen, lines };
};

const publicForms = (): Record<string, string | Buffer> => ({
  PEM: pemOf(rsa),
  'PEM without its last line feed': pemOf(rsa).trimEnd(),
  'PEM with CR LF': pemOf(rsa).replaceAll('\n', '\r\n'),
  DER: rsa.publicKey.export({ type: 'spki', format: 'der' }),
  'PKCS 1': rsa.publicKey.export({ type: 'pkcs1', format: 'pem' }),
  JWK: JSON.stringify(jwkOf(rsa)),
  modulus: Buffer.from(String(jwkOf(rsa).n), 'base64url'),
  nothing: '',
});

const hostile: Record<string, (thiefUrl: string) => string> = {
  ...Object.fromEntries(
    ['PEM', 'PEM without its last line feed', 'PEM with CR LF', 'DER', 'PKCS 1', 'JWK', 'modulus', 'nothing'].map(
      (form) => [
        `the RS256 public key as HMAC secret (${form})`,
        () => hmacWith(publicForms()[form] ?? '', { alg: 'HS256', kid: 'shared' }, byRsa),
      ],
    ),
  ),
  'the ES256 public key as HMAC secret': () => hmacWith(pemOf(ec), { alg: 'HS256', kid: 'e1' }, byEc),
  'the Ed25519 public key as HMAC secret': () => hmacWith(pemOf(ed), { alg: 'HS256', kid: 'd1' }, byEd),
  'an HMAC that calls itself EdDSA': () => hmacWith(pemOf(ed), { alg: 'EdDSA', kid: 'd1' }, byEd),
  'EdDSA at an ES256 issuer': () => eds({ kid: 'e1' }, byEc),
  'EdDSA at an ES256 issuer, with a key of its set': () => eds({}, byEc),
  'ES256 at an EdDSA issuer, with a key of its set': () => es({}, byEd),
  'Ed448 with a key of the issuer': () =>
    eds({ kid: 'goldilocks' }, { ...byEd, iss: 'https://ed-file.example' }, edPair('ed448')),
  'another Ed25519 key': () => eds({}, byEd, thiefEd),
  'its own Ed25519 key as jwk': () => eds({ jwk: jwkOf(thiefEd), kid: undefined }, byEd, thiefEd),
  'an Ed25519 signature of zeros': () =>
    unsigned({ alg: 'EdDSA', kid: 'd1' }, byEd, Buffer.alloc(64).toString('base64url')),
  'an Ed25519 signature of other claims': () =>
    `${eds({}, { ...byEd, org_id: 'ATL' }).replace(/[^.]*$/, '')}${eds().split('.')[2]}`,
  'EdDSA for another audience': () => eds({}, { ...byEd, aud: 'elsewhere' }),
  'EdDSA without audience': () => eds({}, without(byEd, 'aud')),
  'EdDSA without exp': () => eds({}, { ...byEd, exp: undefined }),
  'EdDSA with exp now': () => eds({}, { ...byEd, exp: startSeconds }),
  'EdDSA with exp as text': () => eds({}, { ...byEd, exp: String(times.exp) }),
  'EdDSA with nbf to come': () => eds({}, { ...byEd, nbf: startSeconds + 1 }),
  'EdDSA with nbf as text': () => eds({}, { ...byEd, nbf: '0' }),
  'EdDSA with iat to come': () => eds({}, { ...byEd, iat: startSeconds + 1 }),
  'EdDSA of another issuer': () => eds({}, { ...byEd, iss: 'https://ed.example/' }),
  'an HMAC that calls itself RS256': () => hmacWith(pemOf(rsa), { alg: 'RS256' }, byRsa),
  'alg none at an RS256 issuer': () => unsigned({ alg: 'none' }, byRsa),
  'alg nOnE with a signature': () => unsigned({ alg: 'nOnE' }, byRsa, 'AAAA'),
  'alg none at an ES256 issuer': () => unsigned({ alg: 'none', kid: 'e1' }, byEc),
  'alg as a list': () => rs({ alg: ['RS256'] }),
  'alg in lower case': () => rs({ alg: 'rs256' }),
  'no alg': () => rs({ alg: undefined }),
  'RS512 where RS256 alone is listed': () => rs({ alg: 'RS512' }),
  'PS256 where RS256 alone is listed': () => rs({ alg: 'PS256' }),
  'RS256 at an ES256 issuer': () => rs({ kid: 'e1' }, byEc),
  'ES256 at an RS256 issuer': () => es({ kid: 'shared' }, byRsa),
  'HS256 with the secret of another issuer': () => hmacWith(hostSecret, { alg: 'HS256' }, byRsa),
  'RS256 at an HS256 issuer': () => rs({}, bySecret),
  'the secret as text of a public key': () => hmacWith(pemOf(rsa), { alg: 'HS256' }, bySecret),
  "another issuer's key of the same kid": () => rs({ kid: 'shared' }, byTwin),
  "the twin's key at the first": () => rs({ kid: 'shared' }, byRsa, twin),
  'a key of nobody': () => rs({ kid: 'shared' }, byRsa, thief),
  'jku to a key set of its own': (url) => rs({ kid: 'shared', jku: url }, byRsa, thief),
  'jku to a key set of its own at a published issuer': (url) => es({ jku: url }, byEc, thiefEc),
  'x5u to a place of its own': (url) => rs({ kid: 'shared', x5u: url }, byRsa, thief),
  'its own key as jwk': () => rs({ jwk: jwkOf(thief), kid: 'shared' }, byRsa, thief),
  'its own key as jwk and no kid': () => es({ jwk: jwkOf(thiefEc), kid: undefined }, byEc, thiefEc),
  'its own certificate as x5c': () => rs({ x5c: [pemOf(thief)] }, byRsa, thief),
  'kid as a path': () => rs({ kid: '../../../../dev/null' }),
  'kid as a path to an empty file, signed with it': () => hmacWith('', { alg: 'HS256', kid: '/dev/null' }, byRsa),
  'kid as a URL': (url) => rs({ kid: url }, byRsa, thief),
  'kid as SQL': () => rs({ kid: "x' union select 'key" }),
  'kid as __proto__': () => rs({ kid: '__proto__' }),
  'kid as constructor': () => rs({ kid: 'constructor' }),
  'kid of another case': () => rs({ kid: 'SHARED' }),
  'kid with a NUL': () => rs({ kid: 'shared\u0000' }),
  'kid of 256 characters': () => rs({ kid: 'x'.repeat(256) }),
  'kid of 5,000 characters': () => rs({ kid: 'x'.repeat(5_000) }),
  'an empty kid': () => rs({ kid: '' }),
  'kid as a number': () => rs({ kid: 7 }),
  'kid as a list': () => rs({ kid: ['shared'] }),
  'kid as an object': () => rs({ kid: { toString: 'shared' } }),
  'a kid that nobody publishes': () => es({ kid: 'e2' }),
  'a critical extension': () => rs({ crit: ['exp'], exp: times.exp }),
  'an empty list of critical extensions': () => rs({ crit: [] }),
  'critical extensions that are null': () => rs({ crit: null }),
  'an unencoded payload': () => rs({ b64: false, crit: ['b64'] }),
  'an ES256 signature of zeros': () =>
    unsigned({ alg: 'ES256', kid: 'e1' }, byEc, Buffer.alloc(64).toString('base64url')),
  'an ES256 signature in DER': () => {
    const token = es();
    const at = token.lastIndexOf('.');
    return `${token.slice(0, at)}.${Buffer.from([0x30, 6, 2, 1, 1, 2, 1, 1]).toString('base64url')}`;
  },
  'an empty signature': () => rs().replace(/[^.]*$/, ''),
  'the signature of other claims': () =>
    `${rs({}, { ...byRsa, org_id: 'ATL' }).replace(/[^.]*$/, '')}${rs().split('.')[2]}`,
  'the header of another token': () =>
    `${encode({ alg: 'RS256', kid: 'other' })}.${rs().split('.').slice(1).join('.')}`,
  'five parts, as of an encrypted token': () => `${rs()}.AAAA.AAAA`,
  'an issuer with a slash more': () => rs({}, { ...byRsa, iss: 'https://rsa.example/' }),
  'an issuer in another case': () => rs({}, { ...byRsa, iss: 'https://RSA.example' }),
  'an issuer named __proto__': () => rs({}, { ...byRsa, iss: '__proto__' }),
  'two issuers': () => rs({}, { ...byRsa, iss: ['https://rsa.example'] }),
  'no issuer': () => rs({}, person),
  'another audience': () => es({}, { ...byEc, aud: 'elsewhere' }),
  'an audience that begins alike': () => es({}, { ...byEc, aud: 'guestlist-' }),
  'an audience as an object': () => es({}, { ...byEc, aud: { 0: 'guestlist' } }),
  'no audience': () => es({}, without(byEc, 'aud')),
  'no exp': () => rs({}, { ...byRsa, exp: undefined }),
  'exp as text': () => rs({}, { ...byRsa, exp: String(times.exp) }),
  'exp now': () => rs({}, { ...byRsa, exp: startSeconds }),
  'exp beyond the tolerance': () => rs({ kid: 'shared' }, { ...byTwin, exp: startSeconds - 30 }, twin),
  'a tolerance of another issuer': () => rs({}, { ...byRsa, exp: startSeconds - 1 }),
  'nbf to come': () => rs({}, { ...byRsa, nbf: startSeconds + 1 }),
  'nbf as text': () => rs({}, { ...byRsa, nbf: '0' }),
  'iat to come': () => rs({}, { ...byRsa, iat: startSeconds + 1 }),
  'iat as text': () => rs({}, { ...byRsa, iat: 'now' }),
  'no sub': () => rs({}, without(byRsa, 'sub')),
  'sub as a list': () => rs({}, { ...byRsa, sub: ['ann'] }),
  'sub of 256 characters': () => rs({}, { ...byRsa, sub: 'x'.repeat(256) }),
  'more than 8 KiB': () => rs({}, { ...byRsa, padding: 'x'.repeat(8_192) }),
};

describe('several issuers side by side', () => {
  it('each accept their own sessions with their own algorithm', async () => {
    const { granted, upstream, published } = await startIssuers();
    for (const token of [
      rs({ kid: 'shared' }),
      rs(),
      rs({ kid: 'shared' }, byTwin, twin),
      rs({ kid: 'shared' }, { ...byTwin, exp: startSeconds - 29 }, twin),
      hmacWith(hostSecret, { alg: 'HS256' }, bySecret),
      hmacWith(hostSecret, { alg: 'HS256', kid: 'whatever' }, bySecret),
      es(),
      es({}, { ...byEc, aud: 'guestlist-next', nbf: startSeconds }),
      eds(),
      eds({}, { ...byEd, aud: ['other', 'guestlist'], nbf: startSeconds }),
      eds({ kid: undefined }, { ...byEd, iss: 'https://ed-file.example' }),
    ]) {
      await granted(token);
      await granted(token);
    }
    const identifiers = upstream.mints().map(({ body }) => Object(body).params.userIdentifier);
    expect(identifiers).toEqual(
      ['rsa', 'twin', 'secret', 'ec', 'ed', 'ed-file'].map((name) => `https%3A%2F%2F${name}.example|ann`),
    );
    // Once for each issuer that reads the set.
    expect(published.state.hits).toBe(2);
  });

  it('are refused at start if two have one name, there is none, or one has no algorithm', async () => {
    const one = issuerWith('https://rsa.example', [namedKey(rsa)]);
    await expect(startGateway({ issuers: [one, one] })).rejects.toThrow(/rsa.example is there twice/);
    await expect(startGateway({ issuers: [] })).rejects.toThrow(TypeError);
    await expect(startGateway({ issuers: [{ ...one, algorithms: [] }] })).rejects.toThrow(TypeError);
    const odd = { ...one, algorithms: ['none'] } as unknown as JwtIssuer;
    await expect(startGateway({ issuers: [odd] })).rejects.toThrow(TypeError);
  });
});

describe('hostile sessions', () => {
  it.each(Object.keys(hostile))('%s: 401, the service is not called, and no secret is revealed', async (name) => {
    const { refused, upstream, stolen, lines } = await startIssuers();
    const token = hostile[name]?.(stolen.url) ?? '';
    const answer = await refused(token);
    expect(answer).toMatchObject({ status: 401, code: 'SESSION_INVALID' });
    expect(answer.message).not.toMatch(/key|algorithm|https?:/i);
    expect([upstream.calls, stolen.state.hits]).toEqual([[], 0]);
    expect(lines.at(-1)).toMatchObject({
      code: 'SESSION_INVALID',
      reason: expect.stringMatching(/^(session-|no-subject)/),
    });
    expect(JSON.stringify(lines)).not.toContain(token);
  });
});

describe('a session whose key is withdrawn', () => {
  it('ends with its key, however long it was cached', async () => {
    const { granted, refused, published, clock } = await startIssuers();
    const session = es({}, { ...byEc, exp: startSeconds + 100_000 });
    await granted(session);
    const newer = ecPair();
    published.state.keys = [jwkOf(newer, { kid: 'e2' })];
    await granted(es({ kid: 'e2' }, byEc, newer));
    expect(await refused(session)).toMatchObject({ status: 401, code: 'SESSION_INVALID' });
    published.state.keys = [jwkOf(ec, { kid: 'e1' })];
    clock.advance(60_000);
    await granted(session);
  });

  it('is logged if the issuer is unreachable, and is never a 500', async () => {
    const { refused, published, lines } = await startIssuers();
    published.state.answer = (_, response) => void response.destroy();
    expect(await refused(es())).toMatchObject({ status: 401, code: 'SESSION_INVALID' });
    expect(lines.at(-1)).toMatchObject({ reason: 'session-keys-unavailable' });
    expect(lines.filter(({ level }) => level === 50)).toEqual([
      expect.objectContaining({ url: published.url, msg: expect.stringContaining('JWKS') }),
    ]);
  });
});

describe('any token at all', () => {
  const issuersNow = (keys: readonly NamedKey[]): readonly JwtIssuer[] => [
    issuerWith('https://rsa.example', [], { algorithms: ['RS256', 'PS256'], keys: fixedKeys(keys) }),
  ];
  const claimsOf = (token: string, keys: readonly NamedKey[]): Promise<unknown> =>
    verifyJwt(token, issuersNow(keys), startSeconds).then(
      ({ claims }) => claims,
      (error) => ({ refused: error.name }),
    );

  it('is refused if any character of it is changed', async () => {
    const keys = [namedKey(rsa)];
    const token = rs();
    const honest = await claimsOf(token, keys);
    expect(honest).toMatchObject(byRsa);
    await fc.assert(
      fc.asyncProperty(fc.nat(token.length - 1), fc.string({ maxLength: 2 }), async (at, text) => {
        const result = await claimsOf(token.slice(0, at) + text + token.slice(at + 1), keys);
        expect([honest, { refused: 'JwtFault' }]).toContainEqual(result);
      }),
      { numRuns: 300 },
    );
  });

  it('a token with any header and claims at all is refused by its own fault', async () => {
    const keys = [namedKey(rsa, 'shared')];
    const value = fc.jsonValue({ maxDepth: 2 });
    const header = fc.dictionary(fc.constantFrom('alg', 'kid', 'typ', 'crit', 'jku', 'jwk', 'zip', 'enc'), value);
    const alg = fc.constantFrom('HS256', 'RS256', 'PS256', 'ES256', 'none');
    const claims = fc.dictionary(fc.constantFrom('iss', 'sub', 'aud', 'exp', 'nbf', 'iat', '__proto__'), value);
    await fc.assert(
      fc.asyncProperty(header, alg, claims, fc.boolean(), async (some, algorithm, said, isNamed) => {
        const input = `${encode({ alg: algorithm, ...some })}.${encode({ ...said, ...(isNamed ? { iss: byRsa.iss } : {}) })}`;
        const signature = createHmac('sha256', pemOf(rsa)).update(input).digest('base64url');
        expect(await claimsOf(`${input}.${signature}`, keys)).toEqual({ refused: 'JwtFault' });
      }),
      { numRuns: 300 },
    );
  });
});
