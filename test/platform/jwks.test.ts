import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import { createJwks, type JwksOptions } from '../../src/platform/calls/jwks.js';
import { verifyJwt } from '../../src/platform/keys/jwt.js';
import { captureLog, createMovableClock } from '../gateway/harness.js';
import { ecPair, jwkOf, type Pair, rsaPair, signWith, startJwks } from '../gateway/signers.js';

let rsa: Pair;
let ec: Pair;
let newer: Pair;
beforeAll(() => {
  [rsa, ec, newer] = [rsaPair(), ecPair(), ecPair()];
});

const farAway = { sub: 'ann', iss: 'https://login.example', exp: 4_000_000_000 };
const byRsa = (kid: string | undefined = 'r1') =>
  signWith(rsa, { alg: 'RS256', ...(kid === '' ? {} : { kid }) }, farAway);
const byEc = (pair: Pair, kid: string) => signWith(pair, { alg: 'ES256', kid }, farAway);

/** Verifies tokens with the keys of the server, as the gateway does. */
const start = async (options: Partial<JwksOptions> = {}) => {
  const clock = createMovableClock();
  const { state, url } = await startJwks([jwkOf(rsa, { kid: 'r1', alg: 'RS256' }), jwkOf(ec, { kid: 'e1' })]);
  const { log, lines } = captureLog();
  const keys = createJwks({ url, clock, log, ...options });
  const issuers = [
    { issuer: 'https://login.example', algorithms: ['RS256', 'ES256'] as const, clockToleranceSeconds: 0, keys },
  ];
  const verify = (token: string) => verifyJwt(token, issuers, Math.floor(clock.now().getTime() / 1000));
  /** The reason of a refusal, or 'verified'. */
  const outcome = (token: string): Promise<string> =>
    verify(token).then(
      () => 'verified',
      (error) => error.reason ?? String(error),
    );
  const settled = (hits: number) => expect.poll(() => state.hits).toBe(hits);
  return { state, url, clock, lines, verify, outcome, settled, read: keys.read };
};

/** A set of this age is fetched again; the old one serves meanwhile, at most for a day. */
const freshForMs = 10 * 60_000;
const servedForMs = 24 * 3_600_000;
/** After this time without an attempt, a token waits for a fetch. */
const quietForMs = 2 * freshForMs;
const renewEveryMs = 30_000;
const fetchesPerMinute = 5;

const notFound: RequestListener = (_, response) => void response.writeHead(503).end('down');

describe('a key set', () => {
  it('is fetched once for all who ask at once, and kept', async () => {
    const { outcome, state, clock } = await start();
    const all = await Promise.all(
      Array.from({ length: 50 }, (_, index) => outcome(index % 2 ? byRsa() : byEc(ec, 'e1'))),
    );
    expect(new Set(all)).toEqual(new Set(['verified']));
    clock.advance(freshForMs - 1);
    expect(await outcome(byRsa())).toBe('verified');
    expect(state.hits).toBe(1);
  });

  it('knows a rotated key at its first token, and forgets the one that was withdrawn', async () => {
    const { outcome, verify, state } = await start();
    const { isKeyHeld } = await verify(byEc(ec, 'e1'));
    expect(isKeyHeld()).toBe(true);
    state.keys = [jwkOf(newer, { kid: 'e2' })];
    expect(await outcome(byEc(newer, 'e2'))).toBe('verified');
    expect(state.hits).toBe(2);
    expect(isKeyHeld()).toBe(false);
    expect(await outcome(byEc(ec, 'e1'))).toBe('unknown-key');
  });

  it('holds on to a key that a later set repeats, and not to another one of its name', async () => {
    const { outcome, verify, state, clock, settled } = await start();
    const { isKeyHeld } = await verify(byEc(ec, 'e1'));
    const { isKeyHeld: isRsaHeld } = await verify(byRsa());
    state.keys = [jwkOf(ec, { kid: 'e1' }), jwkOf(rsaPair(), { kid: 'r1', alg: 'RS256' })];
    clock.advance(freshForMs);
    expect(isKeyHeld()).toBe(true);
    await settled(2);
    await expect.poll(isRsaHeld).toBe(false);
    expect(isKeyHeld()).toBe(true);
    expect(await outcome(byRsa())).toBe('not-verified');
  });

  it('says which keys it has, since when, and whether the last attempt failed', async () => {
    const { outcome, state, clock, read } = await start();
    expect(read()).toEqual({ keys: [], readAt: null, isFailing: false });
    const first = clock.now();
    await outcome(byEc(ec, 'e1'));
    clock.advance(60_000);
    state.keys = [jwkOf(ec, { kid: 'e1' }), jwkOf(newer, { kid: 'e2' })];
    const second = clock.now();
    await outcome(byEc(newer, 'e2'));
    const seen = () => read().keys.map(({ kid, seenAt }) => [kid, seenAt]);
    expect(seen()).toEqual([
      ['e1', first],
      ['e2', second],
    ]);
    expect([read().readAt, read().isFailing]).toEqual([second, false]);
    clock.advance(60_000);
    state.answer = notFound;
    await outcome(byEc(newer, 'e3'));
    expect([seen().length, read().readAt, read().isFailing]).toEqual([2, second, true]);
    // Keys that are not served any more are not in force.
    clock.advance(servedForMs);
    expect(read().keys).toEqual([]);
  });

  it('is renewed beside when it is old, while the old one serves', async () => {
    const { outcome, state, clock, settled } = await start();
    await outcome(byRsa());
    clock.advance(freshForMs);
    state.answer = () => {};
    expect(await outcome(byRsa())).toBe('verified');
    await settled(2);
    expect(await outcome(byRsa())).toBe('verified');
    expect(state.hits).toBe(2);
  });

  it('is waited for after a quiet time: a key that was withdrawn meanwhile lets nobody in', async () => {
    const { outcome, verify, state, clock } = await start();
    const { isKeyHeld } = await verify(byEc(ec, 'e1'));
    state.keys = [jwkOf(newer, { kid: 'e2' })];
    clock.advance(quietForMs);
    expect(isKeyHeld()).toBe(false);
    expect(await outcome(byEc(ec, 'e1'))).toBe('unknown-key');
    expect(await outcome(byEc(newer, 'e2'))).toBe('verified');
    expect(state.hits).toBe(2);
  });

  it('means its only key where a token names none, and none where there are several', async () => {
    const { outcome, state } = await start();
    expect(await outcome(byRsa(''))).toBe('unknown-key');
    state.keys = [jwkOf(rsa)];
    expect(await outcome(byRsa('new'))).toBe('verified');
    expect(await outcome(byRsa(''))).toBe('verified');
  });

  it('gives a key for its own algorithm alone', async () => {
    const { outcome, state } = await start();
    state.keys = [
      jwkOf(rsa, { kid: 'r1', alg: 'RS512' }),
      jwkOf(ec, { kid: 'e1', use: 'enc' }),
      jwkOf(ecPair('P-384'), { kid: 'e3' }),
    ];
    expect(await outcome(byRsa())).toBe('unknown-key');
    expect(await outcome(byEc(ec, 'e1'))).toBe('unknown-key');
    expect(await outcome(byEc(ec, 'e3'))).toBe('unknown-key');
  });

  it('counts neither short RSA keys, nor private keys, nor secrets', async () => {
    const { outcome, state, lines } = await start();
    const short = generateKeyPairSync('rsa', { modulusLength: 1024 });
    const secret = {
      kty: 'oct',
      kid: 'oct',
      k: Buffer.from('a secret of 32 characters or more').toString('base64url'),
    };
    state.keys = [
      jwkOf(short, { kid: 'short' }),
      {
        ...createPrivateKey(rsa.privateKey.export({ type: 'pkcs8', format: 'pem' })).export({ format: 'jwk' }),
        kid: 'private',
      },
      secret,
      jwkOf(ec, { kid: 'e1' }),
    ];
    expect(await outcome(byEc(ec, 'e1'))).toBe('verified');
    expect(await outcome(signWith(short, { alg: 'RS256', kid: 'short' }, farAway))).toBe('unknown-key');
    expect(await outcome(byRsa('private'))).toBe('unknown-key');
    expect(await outcome(byRsa('oct'))).toBe('unknown-key');
    expect(lines).toContainEqual(
      expect.objectContaining({ event: 'jwks.key_ignored', msg: expect.stringContaining('2048 bits') }),
    );
  });
});

describe('keys that nobody knows', () => {
  it('cause so many fetches a minute and no more, and do not hinder known ones', async () => {
    const { outcome, state, clock } = await start();
    expect(await outcome(byRsa())).toBe('verified');
    for (let index = 0; index < 50; index += 1) {
      expect(await outcome(byEc(ec, `invented-${index}`))).toBe('unknown-key');
      expect(await outcome(byRsa())).toBe('verified');
    }
    expect(state.hits).toBe(fetchesPerMinute);
    clock.advance(59_999);
    await outcome(byEc(ec, 'invented'));
    expect(state.hits).toBe(fetchesPerMinute);
    clock.advance(1);
    await outcome(byEc(ec, 'invented'));
    expect(state.hits).toBe(fetchesPerMinute + 1);
  });

  it('cause none where they are longer than any key id', async () => {
    const { outcome, state } = await start();
    expect(await outcome(byEc(ec, 'x'.repeat(256)))).toBe('malformed');
    expect(state.hits).toBe(0);
  });

  it('do not use up the renewal of good ones', async () => {
    const { outcome, state, clock } = await start();
    await outcome(byRsa());
    clock.advance(freshForMs - 1_000);
    for (let index = 0; index < 20; index += 1) await outcome(byEc(ec, `invented-${index}`));
    const before = state.hits;
    state.answer = notFound;
    clock.advance(freshForMs);
    for (let index = 0; index < 20; index += 1) await outcome(byEc(ec, `invented-${index}`));
    state.answer = undefined;
    state.keys = [jwkOf(newer, { kid: 'e2' })];
    clock.advance(renewEveryMs);
    await outcome(byRsa());
    await expect.poll(() => state.hits).toBeGreaterThan(before);
    await expect.poll(() => outcome(byEc(newer, 'e2'))).toBe('verified');
  });

  it.each([
    '../../../../etc/passwd',
    "' or '1'='1",
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'x'.repeat(255),
  ])('are refused, such as %j', async (kid) => {
    const { outcome } = await start();
    expect(await outcome(byRsa(kid))).toBe('unknown-key');
  });
});

describe('an issuer that cannot be reached', () => {
  it('is served by the keys that are held, for a day; who has another key is refused', async () => {
    const { outcome, state, clock, lines } = await start();
    await outcome(byRsa());
    state.answer = notFound;
    expect(await outcome(byEc(newer, 'e2'))).toBe('keys-unavailable');
    clock.advance(servedForMs - 1);
    expect(await outcome(byRsa())).toBe('verified');
    clock.advance(1);
    expect(await outcome(byRsa())).toBe('keys-unavailable');
    expect(lines.filter(({ level }) => level === 50)).toHaveLength(1);
    state.answer = undefined;
    clock.advance(60_000);
    expect(await outcome(byRsa())).toBe('verified');
    expect(lines.at(-1)).toMatchObject({ event: 'jwks.recovered' });
  });

  it('is asked again every half minute, and not at every request', async () => {
    const { outcome, state, clock, settled, lines } = await start();
    await outcome(byRsa());
    state.answer = notFound;
    clock.advance(freshForMs);
    expect(await outcome(byRsa())).toBe('verified');
    await expect.poll(() => lines.length).toBe(1);
    for (let index = 0; index < 10; index += 1) {
      expect(await outcome(byRsa())).toBe('verified');
      await new Promise(setImmediate);
    }
    expect(state.hits).toBe(2);
    clock.advance(renewEveryMs);
    await outcome(byRsa());
    await settled(3);
  });

  const answers: Record<string, RequestListener> = {
    'refuses with 500 and good keys': (_, response) =>
      void response.writeHead(500).end(JSON.stringify({ keys: [jwkOf(rsa, { kid: 'r1' })] })),
    'never answers': () => {},
    'never ends': (_, response) => void response.writeHead(200).write('{"keys":['),
    'answers without end': (_, response) => {
      response.writeHead(200);
      const more = (): void => {
        while (response.writable && response.write('x'.repeat(65_536)));
        response.once('drain', more);
      };
      more();
    },
    'answers 300 KB': (_, response) =>
      void response.end(JSON.stringify({ keys: [jwkOf(rsa, { kid: 'r1', x5c: ['x'.repeat(300_000)] })] })),
    'answers 101 keys': (_, response) =>
      void response.end(JSON.stringify({ keys: Array.from({ length: 101 }, () => jwkOf(rsa, { kid: 'r1' })) })),
    'answers no JSON': (_, response) => void response.end('<html>'),
    'answers null': (_, response) => void response.end('null'),
    'answers no keys': (_, response) => void response.end('{"keys":[]}'),
    'answers keys that are none': (_, response) => void response.end('{"keys":[null,7,{"kty":"RSA","n":"x","e":"y"}]}'),
    'answers keys as an object': (_, response) => void response.end('{"keys":{"length":1,"0":{}}}'),
    'cuts the connection': (_, response) => void response.destroy(),
  };
  it.each(Object.keys(answers))('an issuer that cannot be reached is reported when it %s', async (name) => {
    const { outcome, state } = await start({ timeoutMs: 300 });
    state.answer = answers[name];
    expect(await outcome(byRsa())).toBe('keys-unavailable');
    state.answer = undefined;
    expect(await outcome(byRsa())).toBe('verified');
  });

  it('when it redirects, and the other place is never asked', async () => {
    const { outcome, state } = await start();
    const other = await startJwks([jwkOf(rsa, { kid: 'r1' })]);
    state.answer = (_, response) => void response.writeHead(302, { location: other.url }).end();
    expect(await outcome(byRsa())).toBe('keys-unavailable');
    expect(other.state.hits).toBe(0);
  });
});
