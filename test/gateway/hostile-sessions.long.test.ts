/**
 * Hostile sessions and bodies in all combinations: each forged session in every place of a session, with every kind of
 * body; each wrong type in every claim and field; and other tenants' names in every place of a name. Each request must
 * be refused with the right code, never with 500, and no token may be requested from the service. Headers of tokens are
 * tested in issuers.test.ts.
 */
import { createHmac } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import { dashboardIdOf } from '../../src/gateway/common/dashboard-id.js';
import {
  analyst,
  demoSecret,
  type ErrorBody,
  manager,
  regional,
  secretKeys,
  sign,
  startGateway,
  startSeconds,
} from './harness.js';
import { basePolicy, policyOf } from './policies.js';
import {
  ecPair,
  encode,
  hmacWith,
  issuerWith,
  jwkOf,
  namedKey,
  type Pair,
  pemOf,
  rsaPair,
  signWith,
  times,
} from './signers.js';

let rsa: Pair;
let twin: Pair;
let ec: Pair;
let thief: Pair;
beforeAll(() => {
  [rsa, twin, ec, thief] = [rsaPair(), rsaPair(), ecPair(), rsaPair()];
});

const person = { sub: 'max', org_id: 'LAX', roles: ['manager'] };
const byRsa = { ...person, iss: 'https://rsa.example' };
const byTwin = { ...person, iss: 'https://twin.example' };
const byEc = { ...person, iss: 'https://ec.example' };
const rs = (header: object = {}, claims: object = byRsa, pair = rsa): string =>
  signWith(pair, { alg: 'RS256', kid: 'shared', ...header }, claims);
const es = (): string => signWith(ec, { alg: 'ES256' }, byEc);

/** Starts a gateway with issuers of every kind of key and that of the demo. Two issuers use the same key id. */
const start = () =>
  startGateway({
    issuers: [
      issuerWith('guestlist-demo', [], { algorithms: ['HS256'], keys: secretKeys(demoSecret) }),
      issuerWith('https://rsa.example', [namedKey(rsa, 'shared')]),
      issuerWith('https://twin.example', [namedKey(twin, 'shared')]),
      issuerWith('https://ec.example', [namedKey(ec)], { algorithms: ['ES256'] }),
    ],
  });
type Gateway = Awaited<ReturnType<typeof start>>;

const origin = 'https://app.example.com';
type Sent = { readonly status: number; readonly text: string; readonly code: string | undefined };

/** Sends headers unchanged, also several of one name. */
const send = ({ url }: Gateway, headers: readonly [string, string][], body?: string | Buffer): Promise<Sent> =>
  new Promise((resolve, reject) => {
    const length: [string, string][] = body === undefined ? [] : [['content-length', String(Buffer.byteLength(body))]];
    const request = httpRequest(`${url}/embed-token`, { method: 'POST', agent: false }, async (response) => {
      const text = Buffer.concat(await response.toArray()).toString('utf8');
      const isJson = String(response.headers['content-type']).startsWith('application/json');
      const { error } = isJson ? (JSON.parse(text) as Partial<ErrorBody>) : {};
      resolve({ status: response.statusCode ?? 0, text, code: error?.code });
    });
    request.on('error', reject);
    const all = [...headers, ...length];
    for (const name of new Set(all.map(([given]) => given))) {
      request.setHeader(
        name,
        all.filter(([given]) => given === name).map(([, value]) => value),
      );
    }
    request.end(body);
  });

/** The status of a body that cannot be decoded: 413 if it is larger than 4 KiB. */
const badBodyStatus = (text: string | Buffer): number => (Buffer.byteLength(text) > 4096 ? 413 : 400);

const expectRefused = (sent: Sent, status: number, code: string, label = ''): void => {
  expect([sent.status, sent.code], `${label} ${sent.text}`).toEqual([status, code]);
  expect(sent.text).not.toContain('"token"');
};

const bearer = (token: string): [string, string] => ['authorization', `Bearer ${token}`];
const cookie = (value: string): [string, string] => ['cookie', value];
const json: [string, string] = ['content-type', 'application/json'];

const forged: Record<string, () => string> = {
  'an RS256 public key as HMAC secret': () => hmacWith(pemOf(rsa), { alg: 'HS256', kid: 'shared' }, byRsa),
  'an ES256 public key as HMAC secret': () => hmacWith(pemOf(ec), { alg: 'HS256' }, byEc),
  'alg none': () => `${encode({ alg: 'none' })}.${encode({ ...times, ...byRsa })}.`,
  'kid as a path': () => hmacWith('', { alg: 'HS256', kid: '../../../../dev/null' }, analyst),
  'kid as SQL': () => rs({ kid: "' union select 'secret" }, byRsa, thief),
  'kid as a URL': () => rs({ kid: 'http://127.0.0.1/keys' }, byRsa, thief),
  "another issuer's kid": () => rs({}, byTwin),
  'jku, x5u and jwk of its own': () =>
    rs({ jku: 'http://127.0.0.1/keys', x5u: 'http://127.0.0.1/cert', jwk: jwkOf(thief) }, byRsa, thief),
  'the issuer of another key': () => rs({}, { ...person, iss: 'guestlist-demo' }),
  'an issuer that looks alike': () => sign({ ...analyst, iss: 'guestlist-d\u0435mo' }),
  'an issuer in another case': () => sign({ ...analyst, iss: 'Guestlist-Demo' }),
  expired: () => sign({ ...analyst, exp: startSeconds - 1 }),
  'not valid yet': () => sign({ ...analyst, nbf: startSeconds + 1 }),
  'issued in the future': () => sign({ ...analyst, iat: startSeconds + 1 }),
  'without end': () => hmacWith(demoSecret, { alg: 'HS256' }, { ...analyst, exp: undefined }),
  oversized: () => sign({ ...analyst, padding: 'x'.repeat(8_192) }),
  'other claims under the signature': () => {
    const [head, , signature] = sign(analyst).split('.');
    return `${head}.${encode({ ...times, ...analyst, org_id: 'ATL' })}.${signature}`;
  },
  'sub by its prototype alone': () =>
    hmacWith(demoSecret, { alg: 'HS256' }, { ...analyst, sub: undefined, ['__proto__']: { sub: 'ann' } }),
  'no token at all': () => 'null',
};

const bodies: Record<string, string | undefined> = {
  none: undefined,
  "another tenant's": '{"tenant":"ATL","embeds":["delays--ATL"]}',
  'too large': `{"tenant":"${'x'.repeat(5_000)}"}`,
};

describe('a forged session', () => {
  /** Every place of a session, also beside a valid session if two places exist. */
  const places: Record<string, (token: string) => [string, string][]> = {
    'as Bearer': (token) => [bearer(token)],
    'as cookie': (token) => [cookie(`host_session=${token}`), ['origin', origin]],
    'as Bearer beside a good cookie': (token) => [
      bearer(token),
      cookie(`host_session=${sign(analyst)}`),
      ['origin', origin],
    ],
    'as cookie before a good one': (token) => [
      cookie(`host_session=${token}; host_session=${sign(analyst)}`),
      ['origin', origin],
    ],
    'as cookie after a good one': (token) => [
      cookie(`host_session=${sign(analyst)}; host_session=${token}`),
      ['origin', origin],
    ],
    'as Bearer before a good one': (token) => [bearer(token), bearer(sign(analyst))],
    'as Bearer after a good one': (token) => [bearer(sign(analyst)), bearer(token)],
    'as Bearer with a good one in one header': (token) => [bearer(`${sign(analyst)}, Bearer ${token}`)],
  };

  it.each(Object.keys(forged))('%s: 401 in every place, with any body', async (name) => {
    const gateway = await start();
    const token = forged[name]?.() ?? '';
    for (const [place, headersOf] of Object.entries(places)) {
      for (const [kind, body] of Object.entries(bodies)) {
        const sent = await send(gateway, [...headersOf(token), ...(body === undefined ? [] : [json])], body);
        expectRefused(sent, 401, 'SESSION_INVALID', `${place}, body ${kind}`);
      }
    }
    expect(gateway.upstream.calls).toEqual([]);
  });

  it('is the reason of these refusals: a valid session is accepted in each place', async () => {
    const gateway = await start();
    for (const token of [sign(analyst), rs(), rs({}, byTwin, twin), es()]) {
      expect((await send(gateway, [bearer(token)])).status).toBe(200);
      expect((await send(gateway, [cookie(`host_session=${token}`), ['origin', origin]])).status).toBe(200);
      expect(
        (await send(gateway, [cookie(`host_session=${token}; host_session=${token}`), ['origin', origin]])).status,
      ).toBe(200);
    }
    expectRefused(await send(gateway, [bearer(sign(analyst)), bearer(sign(analyst))]), 401, 'SESSION_INVALID');
  });

  it.each([8, 20, 64, 1_000])('in headers of %i KiB is refused before anything is read', async (kibibytes) => {
    const gateway = await start();
    const large = 'x'.repeat(kibibytes * 1024);
    for (const header of [
      bearer(large),
      cookie(`host_session=${large}`),
      cookie(`theme=${large}`),
      ['x-padding', large],
    ] as const) {
      // Node itself answers 431 and closes the connection, possibly before everything was sent.
      const sent = await send(gateway, [[...header], ['origin', origin]]).catch((error: unknown) => {
        expect(error).toMatchObject({ code: expect.stringMatching(/ECONNRESET|EPIPE/) });
        return { status: 431, text: '' };
      });
      expect([401, 431]).toContain(sent.status);
      expect(sent.text).not.toContain('"token"');
    }
    expect(gateway.upstream.calls).toEqual([]);
  });
});

const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;

/** A session with a valid signature, so that only the claim is wrong. `raw` is the claim's value as JSON. */
const signedRaw = (claims: object, name: string, raw: string): string => {
  const others = JSON.stringify({ ...times, ...claims, [name]: undefined });
  const input = `${encode({ alg: 'HS256' })}.${encode(`${others.slice(0, -1)},"${name}":${raw}}`)}`;
  return `${input}.${createHmac('sha256', demoSecret).update(input).digest('base64url')}`;
};

const wrong: Record<string, string> = {
  null: 'null',
  'a number': '7',
  'a number beyond all': '1e999',
  true: 'true',
  'an empty list': '[]',
  'an empty object': '{}',
  'an empty text': '""',
  'a list in a list': '[["LAX"]]',
  'a list with null': '["LAX",null]',
  'an object like a text': '{"length":3,"0":"L","1":"A","2":"X","toString":"LAX"}',
  'an object with __proto__': '{"__proto__":"LAX","constructor":{"prototype":"LAX"}}',
  'a control character': '"LAX\\u0000"',
  'a line feed': '"LAX\\nATL"',
  'half a character': '"LAX\\ud800"',
  'a text without end': `"${'L'.repeat(3_000)}"`,
  'nesting without end': nested(2_500),
  'a list without end': `[${Array.from({ length: 257 }, () => '"analyst"').join(',')}]`,
};

describe('a wrong value', () => {
  const policy = policyOf({
    rules: [
      {
        name: 'all',
        when: 'user.roles.exists(role, role == "analyst") && user.claims.level >= 0',
        grant: { templates: ['delays'] },
      },
    ],
    restrictions: [
      { name: 'region', when: '"regional" in user.roles', restrict: { rls: { region: 'user.claims.region' } } },
      { name: 'states', when: '"regional" in user.roles', restrict: { appFilters: { state: 'user.claims.states' } } },
    ],
  });
  const good = { ...regional, states: ['CA'], level: 1 };
  /** Values that are valid for this claim, although they are not for the others. */
  const fitting: Record<string, readonly string[]> = {
    level: ['a number'],
    region: ['a text without end', 'a line feed', 'a control character', 'half a character'],
  };
  const codes: Record<string, readonly string[]> = {
    org_id: ['NO_TENANT'],
    roles: ['POLICY_UNDECIDED', 'NO_POLICY'],
    region: ['POLICY_UNDECIDED'],
    states: ['POLICY_UNDECIDED'],
    level: ['POLICY_UNDECIDED'],
    sub: ['SESSION_INVALID'],
    iss: ['SESSION_INVALID'],
    exp: ['SESSION_INVALID'],
  };

  it.each(Object.keys(codes))('a wrong value of the claim %s gives no token and the right code', async (claim) => {
    const gateway = await startGateway({ policy });
    await gateway.granted(good);
    const calls = gateway.upstream.calls.length;
    const wrongForIt = Object.keys(wrong).filter((name) => !(fitting[claim] ?? []).includes(name));
    // A number is an expiry in the distant past; a number that is too large is not a valid one.
    for (const name of wrongForIt) {
      const sent = await send(gateway, [bearer(signedRaw(good, claim, wrong[name] ?? ''))]);
      expect(codes[claim], `${name}: ${sent.text}`).toContain(sent.code);
      expect([401, 403]).toContain(sent.status);
    }
    expect(gateway.upstream.calls).toHaveLength(calls);
  });

  it('a wrong value of a claim that the policy does not read changes nothing', async () => {
    const gateway = await startGateway({ policy });
    await gateway.granted(good);
    const [first] = gateway.upstream.mints();
    for (const claim of [
      '__proto__',
      'constructor',
      'toString',
      'clientId',
      'tenant',
      'permissions',
      'rls',
      'allowedEmbeds',
    ]) {
      for (const raw of Object.values(wrong)) {
        const sent = await send(gateway, [bearer(signedRaw(good, claim, raw))]);
        expect([sent.status, claim, raw]).toEqual([200, claim, raw]);
      }
    }
    expect(gateway.upstream.mints()).toEqual([first]);
  });

  it.each(['tenant', 'embeds', 'timezone'])(
    'a wrong value of the field %s is INVALID_REQUEST_BODY, and the service is not called',
    async (field) => {
      const gateway = await start();
      for (const [name, raw] of Object.entries(wrong)) {
        if (field === 'embeds' && name === 'a list without end') continue;
        const text = `{"${field}":${raw}}`;
        const sent = await send(gateway, [bearer(sign(manager)), json], text);
        expectRefused(sent, badBodyStatus(text), 'INVALID_REQUEST_BODY', name);
      }
      expect(gateway.upstream.calls).toEqual([]);
    },
  );

  it('a wrong value as the complete body is INVALID_REQUEST_BODY', async () => {
    const gateway = await start();
    const texts: (string | Buffer)[] = [
      ...Object.values(wrong).filter((raw) => raw !== '{}'),
      nested(2_000),
      `{"tenant":${'{"tenant":'.repeat(300)}0${'}'.repeat(301)}`,
      '{"__proto__":{"tenant":"ATL"},"tenant":"LAX"}',
      '{"constructor":{"prototype":{"tenant":"ATL"}}}',
      '{"Tenant":"LAX"}',
      '{"tenant ":"LAX"}',
      '{"tenant":"LAX",}',
      "{'tenant':'LAX'}",
      '{"tenant":"LAX"}{"tenant":"ATL"}',
      '\ufeff{"tenant":"LAX"}x',
      Buffer.from('{"tenant":"LAX"}', 'utf16le'),
      Buffer.from([0x1f, 0x8b, 8, 0]),
    ];
    for (const text of texts) {
      const sent = await send(gateway, [bearer(sign(manager)), json], text);
      expectRefused(sent, badBodyStatus(text), 'INVALID_REQUEST_BODY', text.toString('utf8').slice(0, 60));
    }
    expect(gateway.upstream.calls).toEqual([]);
  });
});

/** Names that look like LAX, or like several tenants, but are not LAX. */
const lookalikes = [
  ...[
    'ATL',
    'lax',
    'Lax',
    'LAX ',
    ' LAX',
    'LAX\u00a0',
    'LAX\u200b',
    'LA\u00adX',
    '\ufeffLAX',
    'LAX\u0301',
    'L\u0410X',
    '\uff2c\uff21\uff38',
    '\u029f\u1d00x',
  ],
  ...[
    'LAX,ATL',
    'LAX|ATL',
    'LAX/ATL',
    '../ATL',
    'LAX--ATL',
    'LAX~20',
    '~41TL',
    '%41TL',
    'LAX%00',
    '*',
    '%',
    '_AX',
    '%LAX%',
  ],
  ...[
    "LAX' OR '1'='1",
    'LAX"',
    'LAX\\',
    '$LAX',
    '#{LAX}',
    '{{LAX}}',
    'LAX;ATL',
    'null',
    'None',
    'undefined',
    'true',
    '0',
    '[LAX]',
  ],
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty'],
];

describe("another tenant's name", () => {
  it("another tenant's name as tenant in the body is refused, however it is written", async () => {
    const gateway = await start();
    for (const tenant of lookalikes) {
      const sent = await send(gateway, [bearer(sign(manager)), json], JSON.stringify({ tenant }));
      expectRefused(sent, 403, 'NO_TENANT', tenant);
      expect(sent.text).not.toContain('LAX');
    }
    // If a field occurs twice, JSON.parse uses the last one.
    expectRefused(
      await send(gateway, [bearer(sign(manager)), json], '{"tenant":"LAX","tenant":"ATL"}'),
      403,
      'NO_TENANT',
    );
    expect(gateway.upstream.calls).toEqual([]);
  });

  it('in an embed of the body is refused, however it is written', async () => {
    const gateway = await start();
    const written = lookalikes.flatMap((name) => [
      `delays--${name}`,
      dashboardIdOf('delays', name),
      `${name}--delays`,
      name,
    ]);
    for (const embed of [
      ...written,
      'delays--',
      '--LAX',
      'delays-LAX',
      'delays --LAX',
      'DELAYS--LAX',
      'delays--LAX--LAX',
      '',
    ]) {
      for (const embeds of [[embed], ['delays--LAX', embed]]) {
        const sent = await send(gateway, [bearer(sign(manager)), json], JSON.stringify({ embeds }));
        if (embed === '') expectRefused(sent, 400, 'INVALID_REQUEST_BODY');
        else expectRefused(sent, 403, 'EMBED_NOT_GRANTED', embed);
      }
    }
    expect(gateway.upstream.calls).toEqual([]);
  });

  it('in a session selects exactly that tenant: each has its own dashboards and tokens', async () => {
    const { granted, upstream } = await start();
    const composed = [
      'caf\u00e9',
      'cafe\u0301',
      '\u00c5',
      'A\u030a',
      '\u212b',
      '\ufb01n',
      'fin',
      '\u00df',
      'ss',
      '\u1e9e',
      '\u0130',
      'i\u0307',
      '\u{1d40b}\u{1d400}\u{1d417}',
      '\u0661',
      '1',
      '01',
      '\uff11',
    ];
    const tenants = ['LAX', ...lookalikes, ...composed];
    const tokens = new Set<string>();
    const ids = new Set<string>();
    for (const org_id of tenants) {
      const answer = await granted({ ...analyst, org_id });
      tokens.add(answer.token);
      for (const { id } of answer.embeds) ids.add(id);
      expect(upstream.lastMint()).toMatchObject({ clientId: org_id });
    }
    expect(new Set(tenants).size).toBe(tenants.length);
    expect([tokens.size, ids.size]).toEqual([tenants.length, tenants.length]);
    expect([...ids].every((id) => /^[\x21-\x7e]+$/.test(id))).toBe(true);
  });

  it('in a list of tenants must be selected exactly', async () => {
    const policy = policyOf({ session: { ...basePolicy.session, tenant: 'claims.orgs' } });
    const { granted, refused, upstream } = await startGateway({ policy });
    const orgs = ['LAX', 'lax', 'caf\u00e9', 'cafe\u0301', '__proto__'];
    for (const tenant of orgs) {
      await granted({ ...analyst, orgs }, { tenant });
      expect(upstream.lastMint()).toMatchObject({ clientId: tenant });
    }
    const mints = upstream.mints().length;
    for (const tenant of ['Lax', 'CAF\u00c9', 'cafe', 'constructor', 'LAX,lax', '0']) {
      expect(await refused({ ...analyst, orgs }, { tenant }), tenant).toMatchObject({ status: 403, code: 'NO_TENANT' });
    }
    expect(await refused({ ...analyst, orgs })).toMatchObject({ status: 403, code: 'NO_TENANT' });
    expect(upstream.mints()).toHaveLength(mints);
  });

  it("another tenant's name as a user is a separate user, who never shares a token", async () => {
    const { granted, upstream } = await start();
    const users = [
      'ann',
      'Ann',
      'ann ',
      'ann\u200b',
      '\u0430nn',
      '\u00e1nn',
      'a\u0301nn',
      'a|n',
      'a%7Cn',
      'guestlist-demo|ann',
      '__proto__',
      'LAX',
    ];
    const tokens = new Set<string>();
    for (const sub of users) tokens.add((await granted({ ...analyst, sub })).token);
    tokens.add((await granted(rs({}, { ...byRsa, sub: 'ann', roles: ['analyst'] }))).token);
    const identifiers = upstream.mints().map(({ body }) => Object(body).params.userIdentifier);
    expect([tokens.size, new Set(identifiers).size]).toEqual([users.length + 1, users.length + 1]);
  });
});
