/** Logins by OpenID Connect, against a certified provider on this machine. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSealer } from '../../src/platform/sealing.js';
import { createOpenId, openIdPath } from '../../src/studio/openid.js';
import { type StudioServer, startStudioServer } from './studio-server.js';

/** What the provider says of each of its users. */
const people: Readonly<Record<string, object>> = {
  ann: { name: 'Ann Author', roles: ['builders'] },
  olga: { name: 'Olga Owner', roles: ['admins', 'data-readers'] },
  nobody: { name: 'No Body', roles: ['others', '__proto__'] },
};

let nowMs = Date.now();
const clock = { now: () => new Date(nowMs) };
let issuer: Server;
let studio: StudioServer;
let settings: Parameters<typeof createOpenId>[0]['settings'];

const listen = async (server: Server): Promise<string> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

beforeAll(async () => {
  issuer = createServer();
  const issuerUrl = await listen(issuer);
  settings = {
    issuer: issuerUrl,
    clientId: 'studio',
    scopes: ['openid', 'profile'],
    rolesClaim: 'roles',
    nameClaim: 'name',
    roles: { builders: ['author'], admins: ['owner'] },
    dataAccess: ['data-readers'],
  };
  let openId: ReturnType<typeof createOpenId> | undefined;
  // The address of Studio is known once it listens.
  const late = {
    begin: () => openId?.begin(),
    finish: (query: string, cookie: string | null) => openId?.finish(query, cookie),
  };
  studio = await startStudioServer(clock, late as never);
  const sealer = createSealer(Buffer.alloc(32, 3));
  openId = createOpenId({ settings, clientSecret: 'the-secret-of-studio', origin: studio.url, sealer, clock });
  const provider = new Provider(issuerUrl, {
    clients: [
      { client_id: 'studio', client_secret: 'the-secret-of-studio', redirect_uris: [`${studio.url}${openIdPath}`] },
    ],
    claims: { openid: ['sub'], profile: ['name', 'roles'] },
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    findAccount: (_, id) => ({ accountId: id, claims: async () => ({ sub: id, ...people[id] }) }),
  });
  issuer.on('request', provider.callback());
});
afterAll(() => {
  studio.close();
  issuer.close();
});

type Jar = Map<string, string>;

/** Follows redirects as a browser does, and fills in the provider's forms. Returns the last address and the cookies of Studio. */
const logIn = async (user: string, jar: Jar = new Map(), from = `${studio.url}/studio/login`) => {
  let url = from;
  let form: Record<string, string> | undefined;
  for (let step = 0; step < 20; step += 1) {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const body = form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) };
    const answer = await fetch(url, { redirect: 'manual', headers: { cookie }, ...body });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') jar.delete(name);
      else jar.set(name, value);
    }
    form = undefined;
    const location = answer.headers.get('location');
    const page = await answer.text();
    if (location !== null) url = new URL(location, url).href;
    else if (page.includes('name="login"')) {
      form = { prompt: 'login', login: user, password: 'any' };
      url = new URL(/action="([^"]+)"/.exec(page)?.[1] ?? '', url).href;
    } else if (page.includes('value="consent"')) {
      form = { prompt: 'consent' };
      url = new URL(/action="([^"]+)"/.exec(page)?.[1] ?? '', url).href;
    } else return { url, jar, status: answer.status };
    if (url.startsWith(`${studio.url}/studio#`) || url === `${studio.url}/studio`) return { url, jar, status: 302 };
  }
  throw new Error('too many redirects');
};
const personOf = async (jar: Jar) => {
  const headers = { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') };
  const answer = await fetch(`${studio.url}/studio/session`, { headers });
  return answer.status === 200 ? ((await answer.json()) as { data: { person: object } }).data.person : answer.status;
};

test('a person who logged in at the issuer has the roles that the configuration maps, and data where it says so', async () => {
  const ann = await logIn('ann');
  expect(ann.url).toBe(`${studio.url}/studio`);
  const { issuer: iss } = settings;
  expect(await personOf(ann.jar)).toEqual({
    issuer: iss,
    subject: 'ann',
    name: 'Ann Author',
    roles: ['author'],
    seesData: false,
  });
  const olga = await logIn('olga');
  expect(await personOf(olga.jar)).toMatchObject({ subject: 'olga', roles: ['owner'], seesData: true });
  expect(ann.jar.has('guestlist_studio_login')).toBe(false);
  expect(studio.audited.at(-1)).toMatchObject({ detail: { command: 'studio-login', operator: `${iss} olga` } });
});

test('a person without a role is told so, and has no session', async () => {
  const nobody = await logIn('nobody');
  expect(nobody.url).toBe(`${studio.url}/studio#login=no-role`);
  expect(await personOf(nobody.jar)).toBe(401);
});

test('an answer of the issuer works only in the browser that began the login, once, and in time', async () => {
  const begin = async () => {
    const answer = await fetch(`${studio.url}/studio/login`, { redirect: 'manual' });
    const cookie = /guestlist_studio_login=([^;]*)/.exec(answer.headers.get('set-cookie') ?? '')?.[1] ?? '';
    return { address: answer.headers.get('location') ?? '', cookie, header: answer.headers.get('set-cookie') ?? '' };
  };
  const { header } = await begin();
  expect(header).toMatch(/HttpOnly; SameSite=Lax$/);
  const ends = async (query: string, cookie: string) =>
    (await fetch(`${studio.url}${openIdPath}${query}`, { redirect: 'manual', headers: { cookie } })).headers.get(
      'location',
    );
  const { cookie, address } = await begin();
  const state = new URL(address).searchParams.get('state') ?? '';
  expect(new URL(address).searchParams.get('code_challenge_method')).toBe('S256');
  const own = `guestlist_studio_login=${cookie}`;
  for (const [query, sent] of [
    [`?code=stolen&state=${state}`, ''],
    [`?code=stolen&state=${state}`, own],
    ['?code=stolen&state=guessed', own],
    [`?error=access_denied&state=${state}`, own],
    ['', own],
  ] as const) {
    expect([query, await ends(query, sent)]).toEqual([query, '/studio#login=failed']);
  }
  nowMs += 600_001;
  expect(await ends(`?code=any&state=${state}`, own)).toBe('/studio#login=failed');
});

test('an issuer that cannot be reached is said, and asked again at the next login', async () => {
  const away = createOpenId({
    settings: { ...settings, issuer: 'http://127.0.0.1:9' },
    clientSecret: null,
    origin: studio.url,
    sealer: createSealer(Buffer.alloc(32, 3)),
    clock,
  });
  for (let attempt = 0; attempt < 2; attempt += 1) {
    await expect(away.begin()).rejects.toMatchObject({ reason: 'studio-issuer-away' });
  }
});
