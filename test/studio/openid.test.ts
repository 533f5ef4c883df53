/** Logins by OpenID Connect, and asking the issuer again for their people, against a certified provider on this machine. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { IssuerToken, Person } from '../../src/model/person.js';
import { createSealer } from '../../src/platform/keys/sealing.js';
import { createOpenId, openIdPath } from '../../src/studio/openid.js';
import { personWith, type StudioServer, startStudioServer } from './studio-server.js';

/** What the provider says of each of its users. */
const atFirst: Readonly<Record<string, object>> = {
  ann: { name: 'Ann Author', roles: ['builders'] },
  olga: { name: 'Olga Owner', roles: ['admins', 'data-readers'] },
  nobody: { name: 'No Body', roles: ['others', '__proto__'] },
};

let people: Record<string, object> = { ...atFirst };
/** Whether a login gets a refresh token. */
let givesRefresh = true;
/** What the issuer answers in place of the provider. Undefined: the provider answers. */
let instead: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
/** The paths that the issuer was asked for. */
const askedFor: string[] = [];

const olga = personWith(['owner'], true, 'olga');

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
    allowPrivateAddresses: false,
  };
  let openId: ReturnType<typeof createOpenId> | undefined;
  // The address of Studio is known once it listens.
  const late = {
    begin: () => openId?.begin(),
    finish: (query: string, cookie: string | null) => openId?.finish(query, cookie),
    issuer: issuerUrl,
    recheck: (person: Person, token: IssuerToken) => openId?.recheck(person, token),
  };
  studio = await startStudioServer(clock, late as never);
  const sealer = createSealer(Buffer.alloc(32, 3));
  openId = createOpenId({ settings, clientSecret: 'the-secret-of-studio', origin: studio.url, sealer, clock });
  const provider = new Provider(issuerUrl, {
    clients: [
      {
        ...{ client_id: 'studio', client_secret: 'the-secret-of-studio' },
        redirect_uris: [`${studio.url}${openIdPath}`],
        grant_types: ['authorization_code', 'refresh_token'],
      },
    ],
    issueRefreshToken: async () => givesRefresh,
    rotateRefreshToken: true,
    claims: { openid: ['sub'], profile: ['name', 'roles'] },
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    findAccount: (_, id) =>
      id in people ? { accountId: id, claims: async () => ({ sub: id, ...people[id] }) } : undefined,
  });
  const answer = provider.callback();
  issuer.on('request', (request, response) => {
    askedFor.push(new URL(request.url ?? '', issuerUrl).pathname);
    if (instead?.(request, response) !== true) void answer(request, response);
  });
});
beforeEach(() => {
  people = { ...atFirst };
  givesRefresh = true;
  instead = undefined;
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

describe('the endpoints that an issuer names', () => {
  const person: Person = { issuer: '', subject: 'ann', name: 'Ann', roles: ['author'], seesData: false };
  const held: IssuerToken = { kind: 'refresh', token: 'a-refresh-token', tellsRoles: true };
  /** An issuer whose document names other hosts. Everything that it is asked besides is refused. */
  const startNaming = async (of: (url: string) => object) => {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      const isDocument = request.url === '/.well-known/openid-configuration';
      if (!isDocument) asked.push(`${request.headers.host}${request.url}`);
      const body = isDocument ? { issuer: url, ...of(url) } : { error: 'invalid_grant' };
      response.writeHead(isDocument ? 200 : 400, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    const url = await listen(server);
    return { url, asked, close: () => server.close() };
  };
  const recheckAt = (url: string, allowPrivateAddresses: boolean) =>
    createOpenId({
      settings: { ...settings, issuer: url, allowPrivateAddresses },
      ...{ clientSecret: null, origin: studio.url, sealer: createSealer(Buffer.alloc(32, 3)), clock },
      lookup: ((_: string, __: object, done: (error: null, found: object[]) => void) =>
        done(null, [{ address: '10.1.2.3', family: 4 }])) as never,
    }).recheck({ ...person, issuer: url }, held);
  const causesOf = (error: unknown): string =>
    error instanceof Error ? `${error.name}: ${error.message}; ${causesOf(error.cause)}` : '';

  test.each([
    'http://10.1.2.3/token',
    'http://169.254.169.254/token',
    'http://metadata.internal/token',
    'http://0.0.0.0/token',
  ])('at another host are not called where that is of the operator’s own network: %s', async (token_endpoint) => {
    const naming = await startNaming(() => ({ token_endpoint }));
    const answer = await recheckAt(naming.url, false);
    expect(answer).toMatchObject({ outcome: 'away', issuerToken: held });
    expect(causesOf('cause' in answer ? answer.cause : null)).toMatch(
      /Barred: the issuer names .* set studio\.openId\.allowPrivateAddresses/,
    );
    expect(naming.asked).toEqual([]);
    naming.close();
  });

  test('are called at the host of the issuer, and at others that the configuration allows', async () => {
    const own = await startNaming((url) => ({ token_endpoint: `${url}/token` }));
    expect(await recheckAt(own.url, false)).toEqual({ outcome: 'refused' });
    expect(own.asked).toHaveLength(1);
    own.close();
    const other = await startNaming((url) => ({ token_endpoint: `${url.replace('127.0.0.1', '0.0.0.0')}/token` }));
    expect(await recheckAt(other.url, true)).toEqual({ outcome: 'refused' });
    expect(other.asked).toEqual([expect.stringMatching(/^0\.0\.0\.0:/)]);
    other.close();
  });
});

describe('a session of a person who logged in at the issuer', () => {
  const minuteMs = 60_000;
  const since = (minutes: number): void => {
    nowMs += minutes * minuteMs;
  };
  /** The questions for this work. */
  const questions = async (work: () => Promise<unknown>): Promise<readonly string[]> => {
    askedFor.length = 0;
    await work();
    return [...askedFor];
  };
  const lastAudited = () => studio.audited.at(-1)?.detail;
  const answering = (status: number, headers: Readonly<Record<string, string>> = {}) => {
    instead = (_, response) => {
      response.writeHead(status, headers).end();
      return true;
    };
  };

  test('is asked for again after five minutes of use, not before, and once for requests at the same time', async () => {
    const { jar } = await logIn('ann');
    since(4);
    expect(await questions(() => personOf(jar))).toEqual([]);
    since(1);
    expect(await questions(() => Promise.all(Array.from({ length: 8 }, () => personOf(jar))))).toEqual(['/token']);
    since(4);
    expect(await questions(() => personOf(jar))).toEqual([]);
    since(1);
    // The refresh token works once, so the second question needs the one that the first answer had.
    expect(await questions(async () => expect(await personOf(jar)).toMatchObject({ subject: 'ann' }))).toEqual([
      '/token',
    ]);
  });

  test.each([[true], [false]])(
    'has the roles and the access to data that the issuer tells now (refresh token: %s)',
    async (refresh) => {
      givesRefresh = refresh;
      const { jar } = await logIn('olga');
      people.olga = { name: 'Olga Owner', roles: ['builders'] };
      expect(await personOf(jar)).toMatchObject({ roles: ['owner'], seesData: true });
      since(5);
      expect(await personOf(jar)).toMatchObject({ roles: ['author'], seesData: false });
      const operator = `${settings.issuer} olga`;
      expect(lastAudited()).toEqual({ command: 'studio-session-changed', operator, roles: 'author', seesData: false });
    },
  );

  test.each([
    ['the person lost all roles', true, () => void Object.assign(people, { ann: { name: 'Ann Author' } })],
    ['the person lost all roles', false, () => void Object.assign(people, { ann: { name: 'Ann Author', roles: [] } })],
    ['the account is gone', true, () => void delete people.ann],
    ['the account is gone', false, () => void delete people.ann],
    ['the issuer answers 401 without a challenge', false, () => answering(401)],
    ['the issuer answers 403', false, () => answering(403)],
  ])('ends where %s (refresh token: %s)', async (_, refresh, change) => {
    givesRefresh = refresh;
    const { jar } = await logIn('ann');
    change();
    since(5);
    expect(await personOf(jar)).toBe(401);
    expect(lastAudited()).toMatchObject({ command: 'studio-session-refused', operator: `${settings.issuer} ann` });
    people = { ...atFirst };
    instead = undefined;
    expect(await personOf(jar)).toBe(401);
  });

  test.each([
    ['an error', () => answering(503)],
    ['a page', () => answering(200, { 'content-type': 'text/html' })],
    ['that this client is unknown', () => answering(401, { 'www-authenticate': 'Basic realm="issuer"' })],
    [
      'nothing',
      () => {
        instead = (request) => {
          request.socket.destroy();
          return true;
        };
      },
    ],
  ])('goes on for half an hour while the issuer answers %s, then waits for the issuer', async (_, fail) => {
    const { jar } = await logIn('ann');
    fail();
    since(5);
    expect(await questions(async () => expect(await personOf(jar)).toMatchObject({ roles: ['author'] }))).toEqual([
      '/token',
    ]);
    // It is not asked again for each request.
    expect(await questions(() => personOf(jar))).toEqual([]);
    since(29);
    expect(await personOf(jar)).toMatchObject({ roles: ['author'] });
    since(1);
    expect([await personOf(jar), await personOf(jar)]).toEqual([503, 503]);
    instead = undefined;
    expect(await personOf(jar)).toBe(503);
    since(1);
    expect(await personOf(jar)).toMatchObject({ roles: ['author'] });
  });

  test('keeps the newer refresh token where the issuer fails right after it gave one', async () => {
    const olga = await logIn('olga');
    // Without a claim with roles in the ID token, the claims are read by the new access token.
    people.olga = { name: 'Olga Owner' };
    instead = ({ url }, response) => {
      if (url !== '/me') return false;
      response.writeHead(503).end();
      return true;
    };
    since(5);
    expect(await questions(() => personOf(olga.jar))).toEqual(['/token', '/me']);
    people = { ...atFirst };
    instead = undefined;
    since(1);
    expect(await personOf(olga.jar)).toMatchObject({ subject: 'olga', roles: ['owner'] });
  });

  test('a session of a login by link is never asked for at the issuer', async () => {
    const headers = await studio.as({ ...olga, issuer: 'link' });
    since(30);
    const asked = await questions(async () => {
      expect((await fetch(`${studio.url}/studio/session`, { headers })).status).toBe(200);
    });
    expect(asked).toEqual([]);
  });

  test('is ended by an owner, with all other sessions of that person, and this is in the audit', async () => {
    await studio.sessions.endAllOf({ issuer: settings.issuer, subject: 'ann' });
    const [first, second, other] = [await logIn('ann'), await logIn('ann'), await logIn('olga')];
    const headers = await studio.as(olga);
    const listed = (await (
      await fetch(`${studio.url}/studio/commands/studio-sessions-list`, { method: 'POST', headers, body: '{}' })
    ).json()) as {
      data: { sessions: readonly { subject: string; vouchedAt: string | null }[] };
    };
    expect(listed.data.sessions.filter(({ subject }) => subject === 'ann')).toHaveLength(2);
    expect(JSON.stringify(listed)).not.toMatch(/token|hash|cookie/i);
    const body = JSON.stringify({ issuer: settings.issuer, subject: 'ann' });
    const ended = await fetch(`${studio.url}/studio/commands/studio-sessions-end`, { method: 'POST', headers, body });
    expect(await ended.json()).toMatchObject({ data: { ended: 2 } });
    expect([await personOf(first.jar), await personOf(second.jar)]).toEqual([401, 401]);
    expect(await personOf(other.jar)).toMatchObject({ subject: 'olga' });
    const person = `${settings.issuer} ann`;
    expect(lastAudited()).toMatchObject({
      command: 'studio-sessions-end',
      operator: 'https://people.example.com olga',
      person,
    });
  });
});
