import { createHmac, generateKeyPairSync } from 'node:crypto';
import jwt from 'jsonwebtoken';
import { describe, expect, it } from 'vitest';
import { analyst, demoSecret, hostSecret, sign, startGateway, startSeconds } from './harness.js';

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const hs256 = (header: unknown, payload: unknown, secret = demoSecret): string => {
  const input = `${encode(header)}.${typeof payload === 'string' ? Buffer.from(payload).toString('base64url') : encode(payload)}`;
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
};
const plain = { alg: 'HS256', typ: 'JWT' };
const times = { exp: startSeconds + 3600 };
const swap = (token: string, part: number, change: (text: string) => string): string =>
  token
    .split('.')
    .map((text, index) => (index === part ? change(text) : text))
    .join('.');
const host = { iss: 'https://host.example', aud: 'guestlist', sub: 'ann', org_id: 'LAX', roles: ['analyst'] };
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

const bad: Record<string, () => string> = {
  'alg none without signature': () => `${encode({ alg: 'none' })}.${encode({ ...analyst, ...times })}.`,
  'alg None with the good signature': () => swap(sign(analyst), 0, () => encode({ alg: 'None' })),
  HS384: () => sign(analyst, demoSecret, { algorithm: 'HS384' }),
  HS512: () => sign(analyst, demoSecret, { algorithm: 'HS512' }),
  RS256: () => jwt.sign({ ...analyst, ...times }, privateKey, { algorithm: 'RS256' }),
  'a lower-case alg': () => hs256({ alg: 'hs256' }, { ...analyst, ...times }),
  'a critical extension': () => hs256({ ...plain, crit: ['b64'], b64: false }, { ...analyst, ...times }),
  expired: () => sign({ ...analyst, exp: startSeconds }),
  'not yet valid': () => sign({ ...analyst, nbf: startSeconds + 1 }),
  'a tampered payload': () => swap(sign(analyst), 1, () => encode({ ...analyst, ...times, org_id: 'ATL' })),
  'a tampered signature': () => swap(sign(analyst), 2, (text) => (text.startsWith('A') ? 'B' : 'A') + text.slice(1)),
  'no signature': () => swap(sign(analyst), 2, () => ''),
  'another secret': () => sign(analyst, 'another-secret-of-at-least-32-bytes'),
  'an issuer that is not configured': () => sign({ ...analyst, iss: 'https://elsewhere.example' }),
  'no issuer where all are named': () => sign({ sub: 'ann', org_id: 'LAX' }),
  "one issuer with another's secret": () => sign(analyst, hostSecret),
  'an empty issuer': () => sign({ ...analyst, iss: '' }),
  'an issuer that is a list': () => hs256(plain, { ...analyst, ...times, iss: ['guestlist-demo'] }),
  'another audience': () => sign({ ...host, aud: 'elsewhere' }, hostSecret),
  'no audience where one is asked': () => sign({ ...host, aud: undefined }, hostSecret),
  'no exp': () => hs256(plain, analyst),
  'exp as text': () => hs256(plain, { ...analyst, exp: '9999999999' }),
  'an infinite exp': () => hs256(plain, `{"iss":"guestlist-demo","sub":"ann","org_id":"LAX","exp":1e999}`),
  'nbf as text': () => hs256(plain, { ...analyst, ...times, nbf: 'soon' }),
  'no sub': () => hs256(plain, { ...analyst, ...times, sub: undefined }),
  'an empty sub': () => hs256(plain, { ...analyst, ...times, sub: '' }),
  'sub as a number': () => hs256(plain, { ...analyst, ...times, sub: 7 }),
  'sub with a control character': () => hs256(plain, { ...analyst, ...times, sub: 'a\u0000b' }),
  'sub with half a character': () => hs256(plain, `{"iss":"guestlist-demo","sub":"\\ud800","exp":${times.exp}}`),
  'a huge token': () => sign({ ...analyst, padding: 'x'.repeat(9000) }),
  'an array as claims': () => hs256(plain, [analyst]),
  'a string as claims': () => hs256(plain, '"analyst"'),
  'null as claims': () => hs256(plain, 'null'),
  'an array as header': () => hs256([], { ...analyst, ...times }),
  'not a JWT': () => 'not-a-jwt',
  'four parts': () => `${sign(analyst)}.x`,
  'an empty Bearer': () => '',
};

describe('invalid sessions', () => {
  it.each(Object.keys(bad))('%s gets 401 SESSION_INVALID, and the service is not called', async (name) => {
    const { refused, upstream, lines } = await startGateway();
    const token = bad[name]?.() ?? '';
    for (let round = 0; round < 2; round += 1) {
      const answer = await refused(token);
      expect(answer).toMatchObject({ status: 401, code: 'SESSION_INVALID' });
      expect(answer.message).toMatch(/Log in|Send the host session/);
      expect(answer.message).not.toMatch(/signature|secret|algorithm|issuer/);
    }
    expect(upstream.calls).toEqual([]);
    if (token !== '') expect(JSON.stringify(lines)).not.toContain(token);
  });

  it('a request without any session is refused', async () => {
    const { url } = await startGateway();
    const response = await fetch(`${url}/embed-token`, { method: 'POST' });
    expect(response.status).toBe(401);
  });
});

describe('valid sessions', () => {
  it('valid sessions of several issuers are accepted, each with its own secret, audience and tolerance', async () => {
    const { granted, refused } = await startGateway();
    await granted(sign(host, hostSecret));
    await granted(sign({ ...host, exp: startSeconds - 4 }, hostSecret));
    expect(await refused(sign({ ...host, exp: startSeconds - 5 }, hostSecret))).toMatchObject({ status: 401 });
  });

  it('are checked for their times at every request, also if cached', async () => {
    const { granted, refused, clock } = await startGateway();
    const session = sign({ ...analyst, exp: startSeconds + 60, nbf: startSeconds });
    await granted(session);
    clock.advance(59_999);
    await granted(session);
    clock.advance(1);
    const answer = await refused(session);
    expect(answer).toMatchObject({ status: 401, code: 'SESSION_INVALID' });
    expect(answer.message).toContain('expired');
    clock.advance(-61_000);
    expect(await refused(session)).toMatchObject({ status: 401 });
  });

  it('identify a user by issuer and subject together', async () => {
    const { granted, upstream } = await startGateway();
    await granted(analyst);
    await granted(sign(host, hostSecret));
    await granted({ ...analyst, sub: 'a|b%7C' });
    const identifiers = upstream.mints().map(({ body }) => Object(body).params.userIdentifier);
    expect(identifiers).toEqual(['guestlist-demo|ann', 'https%3A%2F%2Fhost.example|ann', 'guestlist-demo|a%7Cb%257C']);
  });
});

describe('the session cookie', () => {
  const cookie = (value: string) => `theme=dark; host_session=${value}; other=1`;
  const post = async (headers: Record<string, string>) => {
    const { url } = await startGateway();
    const own = new URL(url);
    return (
      await fetch(`${url}/embed-token`, {
        method: 'POST',
        headers: Object.fromEntries(
          Object.entries(headers).map(([name, value]) => [name, value.replace('OWN', own.host)]),
        ),
      })
    ).status;
  };

  it.each([
    ['an allowed origin', { origin: 'https://app.example.com' }, 200],
    ['an allowed origin of another site', { origin: 'https://app.example.com', 'sec-fetch-site': 'cross-site' }, 200],
    ['its own origin', { origin: 'http://OWN' }, 200],
    ['its own origin by TLS in front', { origin: 'https://OWN', 'sec-fetch-site': 'same-origin' }, 200],
    ['no origin, but same-origin by Sec-Fetch-Site', { 'sec-fetch-site': 'same-origin' }, 200],
    ['no origin', {}, 401],
    ['no origin and cross-site', { 'sec-fetch-site': 'cross-site' }, 401],
    ['no origin and same-site', { 'sec-fetch-site': 'same-site' }, 401],
    ['a strange origin', { origin: 'https://evil.example' }, 401],
    [
      'a strange origin that says same-origin',
      { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
      401,
    ],
    ['its own host with another scheme', { origin: 'http://OWN', 'sec-fetch-site': 'cross-site' }, 401],
    ['an origin that begins like an allowed one', { origin: 'https://app.example.com.evil.example' }, 401],
    ['the origin null', { origin: 'null' }, 401],
  ])('the session cookie is read with %s: %j', async (_, headers, status) => {
    expect(await post({ cookie: cookie(sign(analyst)), ...headers })).toBe(status);
  });

  it('is refused if it occurs twice with two values', async () => {
    const origin = { origin: 'https://app.example.com' };
    const twice = `host_session=${sign(analyst)}; host_session=${sign({ ...analyst, sub: 'other' })}`;
    expect(await post({ cookie: twice, ...origin })).toBe(401);
  });

  it('leak 2: is not used instead of an invalid Bearer header', async () => {
    const good = { cookie: cookie(sign(analyst)), origin: 'https://app.example.com' };
    expect(await post(good)).toBe(200);
    const expired = sign({ ...analyst, exp: startSeconds - 1 });
    expect(await post({ ...good, authorization: `Bearer ${expired}` })).toBe(401);
    expect(await post({ ...good, authorization: 'Bearer ' })).toBe(401);
    expect(await post({ ...good, authorization: 'bearer x' })).toBe(401);
    expect(await post({ ...good, authorization: 'Basic dXNlcjpwYXNz' })).toBe(200);
  });

  it('is ignored if no cookie is configured', async () => {
    const { url } = await startGateway({ cookieName: null });
    const headers = { cookie: cookie(sign(analyst)), origin: 'https://app.example.com' };
    expect((await fetch(`${url}/embed-token`, { method: 'POST', headers })).status).toBe(401);
  });
});
