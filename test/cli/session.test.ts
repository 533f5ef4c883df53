/** `guestlist session check`: real tokens against a real key set, and a real host that answers questions. */
import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listenTo } from '../gateway/listen.js';
import { ecPair, jwkOf, type Pair, signWith, startJwks } from '../gateway/signers.js';
import { runCli } from './in-process.js';

const policies = new URL('../../config/policies/flights.yaml', import.meta.url).pathname;
const secret = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
let folder: string;
let ec: Pair;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'guestlist-session-'));
  ec = ecPair();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const analyst = { iss: 'https://login.example', sub: 'ann', org_id: 'LAX', roles: ['analyst'], aud: 'guestlist' };
const hour = (from: number) => ({ iat: from, exp: from + 3_600 });
const nowSeconds = (): number => Math.floor(Date.now() / 1000);
const tokenOf = (claims: object, header: object = {}, pair = ec): string =>
  signWith(pair, { alg: 'ES256', kid: 'e1', ...header }, { ...analyst, ...hour(nowSeconds()), ...claims });

/** Checks a token in a folder whose configuration has one issuer. */
const check = async (token: string, issuer: object = {}) => {
  const published = await startJwks([jwkOf(ec, { kid: 'e1' })]);
  const one = {
    ...{ issuer: 'https://login.example', algorithms: ['ES256'], audience: 'guestlist', jwksUrl: published.url },
    ...issuer,
  };
  const file = join(folder, 'guestlist.yaml');
  writeFileSync(file, JSON.stringify({ gateway: { policies, session: { issuers: [one] } } }));
  return runCli(['session', 'check', token], { cwd: folder, env: { GUESTLIST_CONFIG: file } });
};

describe('guestlist session check TOKEN', () => {
  it('says issuer, key, claims, tenant, roles and decision of a session that is accepted', async () => {
    const { code, out } = await check(`Bearer ${tokenOf({})}`);
    expect([code, out]).toEqual([0, expect.stringMatching(/^VERIFIED\nissuer: https:\/\/login.example\n/)]);
    expect(out).toContain('signed with ES256, key e1');
    expect(out).toContain('"org_id": "LAX"');
    expect(out).toMatch(/GRANTED: user ann, tenant LAX .*, roles: analyst/);
  });

  it.each<[string, () => string, object, RegExp]>([
    [
      'of an issuer that is not listed',
      () => tokenOf({ iss: 'https://login.example/' }),
      {},
      /unknown-issuer.*"https:\/\/login.example\/", and the configuration accepts "https:\/\/login.example"/,
    ],
    [
      'with another algorithm',
      () => tokenOf({}),
      { algorithms: ['RS256'] },
      /algorithm-not-allowed.*signed with ES256.*"RS256"/,
    ],
    ['of a key that is not published', () => tokenOf({}, { kid: 'e2' }), {}, /unknown-key.*no key "e2" for ES256/],
    [
      'of another key',
      () => tokenOf({}, {}, ecPair()),
      {},
      /not-verified.*the signature.* does not fit the issuer "https:\/\/login.example", by ES256 with the key id "e1": invalid signature/,
    ],
    [
      'for another audience',
      () => tokenOf({ aud: 'elsewhere' }),
      {},
      /not-verified.*"aud" is "elsewhere", and "guestlist" is required/,
    ],
    ['that has ended', () => tokenOf(hour(1_700_000_000)), {}, /expired.*ended at 2023-11-14T23:13:20.000Z/],
    ['that begins later', () => tokenOf({ nbf: nowSeconds() + 3_000 }), {}, /not-yet-valid.*compare the clocks/],
    [
      'whose keys cannot be read',
      () => tokenOf({}),
      { jwksUrl: 'http://127.0.0.1:1/keys' },
      /keys-unavailable.*cannot be read/,
    ],
    ['that is no JWT', () => 'opaque', {}, /malformed.*an opaque session needs an issuer with "ask"/],
  ])('says what is wrong with a session %s', async (_, token, issuer, expected) => {
    const { code, out, err } = await check(token(), issuer);
    expect([code, err]).toEqual([1, '']);
    expect(out).toMatch(expected);
  });

  it('ends with 1 for a session that is verified and denied, and says why', async () => {
    const { code, out } = await check(tokenOf({ org_id: undefined }));
    expect([code, out]).toEqual([1, expect.stringMatching(/^VERIFIED/)]);
    expect(out).toMatch(/DENIED with NO_TENANT/);
  });

  it('wants a token or an address', async () => {
    expect(await runCli(['session', 'check'], { cwd: folder })).toMatchObject({ code: 2 });
  });
});

type Host = (request: IncomingMessage) => { readonly status: number; readonly body?: object };

const isSigned = ({ headers }: IncomingMessage): boolean => {
  const [id, at, given] = ['id', 'timestamp', 'signature'].map((name) => String(headers[`webhook-${name}`]));
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const expected = `v1,${createHmac('sha256', key).update(`${id}.${at}.{}`).digest('base64')}`;
  return given === expected && Math.abs(nowSeconds() - Number(at)) < 300;
};

const honest: Host = (request) => {
  if (!isSigned(request)) return { status: 403 };
  if (request.headers.cookie !== 'app_session=one') return { status: 401 };
  return { status: 200, body: { sub: 'ann', org_id: 'LAX' } };
};

const ask = async (host: Host, args: readonly string[] = ['--cookie', 'app_session=one']) => {
  const url = await listenTo((request, response) => {
    const { status, body } = host(request);
    response.writeHead(status, { location: '/login' }).end(body === undefined ? '' : JSON.stringify(body));
  });
  const given = ['--ask', `${url}/session`, '--secret-variable', 'ASK_SECRET', ...args];
  return runCli(['session', 'check', ...given], { cwd: folder, env: { ASK_SECRET: secret } });
};

describe('guestlist session check --ask URL', () => {
  it('accepts a host that does all that the gateway needs', async () => {
    const { code, out } = await ask(honest);
    expect([code, out.match(/^ok/gm)]).toEqual([0, Array.from({ length: 5 }, () => 'ok')]);
    expect(out).toContain('"org_id": "LAX"');
  });

  it.each<[string, Host, RegExp]>([
    [
      'names a user without a session',
      (request) => (isSigned(request) ? { status: 200, body: { sub: 'x' } } : { status: 403 }),
      /FAULT {3}who is logged in without a session: must be 401; the host named a user/,
    ],
    [
      'redirects to its login',
      (request) => (honest(request).status === 401 ? { status: 302 } : honest(request)),
      /FAULT {3}who is logged in without a session: must be 401; .*status 302/,
    ],
    [
      'answers without a signature',
      (request) => (request.headers.cookie === undefined ? { status: 401 } : { status: 200, body: { sub: 'ann' } }),
      /FAULT {3}the first question without a signature.*FAULT {3}the first question with the signature of another secret.*FAULT {3}the first question, signed an hour ago/s,
    ],
    [
      'names nobody',
      (request) => (isSigned(request) ? { status: 401 } : { status: 403 }),
      /FAULT {3}who is logged in with this session: must be 200 with claims; the host answered 401/,
    ],
    [
      'gives no sub',
      (request) => (honest(request).status === 200 ? { status: 200, body: { org_id: 'LAX' } } : honest(request)),
      /"sub" as text/,
    ],
  ])('finds the fault of a host that %s', async (_, host, expected) => {
    const { code, out } = await ask(host);
    expect([code, out]).toEqual([1, expect.stringMatching(expected)]);
  });

  it('wants the session of a logged-in user, and a secret', async () => {
    expect(await ask(honest, [])).toMatchObject({ code: 2, err: expect.stringMatching(/--cookie NAME=VALUE/) });
    expect(await ask(honest, ['--cookie', 'app_session'])).toMatchObject({ code: 2 });
    expect(await runCli(['session', 'check', '--ask', 'http://127.0.0.1:1', '--cookie', 'a=b'])).toMatchObject({
      code: 2,
    });
  });
});
