/**
 * What a browser must not be able to do: choose its tenant, filters or permissions, or use a session that it made
 * itself.
 */
import { createHmac, createSecretKey, generateKeyPairSync } from 'node:crypto';
import jwt from 'jsonwebtoken';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { analyst, type Failure, get, login, manager, post, request, session } from './guest.js';
import { type Product, startProduct } from './product.js';

let product: Product;
beforeAll(async () => {
  product = await startProduct();
});
afterAll(async () => {
  await product.stop();
  await product.remove();
});

const embedToken = (body: unknown, bearer?: string) => post<Failure>(`${product.url}/embed-token`, body, bearer);

describe('the body of /embed-token', () => {
  test.each([
    { clientId: 'ATL' },
    { params: { dashboardAppFilters: [] } },
    { permissions: { isEnableDownloadMetrics: true } },
    { appFilters: [] },
    { expiryTime: 1e12 },
    { dataAppName: 'flights' },
    { embeds: 'routes--LAX' },
    { tenant: 5 },
    [],
    'text',
    5,
  ])('%j is refused as the body of /embed-token', async (body) => {
    const answer = await embedToken(body, session(product, analyst('LAX')));
    expect([answer.status, answer.body.error.code]).toEqual([400, 'INVALID_REQUEST_BODY']);
  });

  test("a tenant that is not the session's is refused", async () => {
    const answer = await embedToken({ tenant: 'ATL' }, session(product, analyst('LAX')));
    expect([answer.status, answer.body.error.code]).toEqual([403, 'NO_TENANT']);
  });

  test('embeds in the body of /embed-token only narrow', async () => {
    const narrowed = await login(product, manager('LAX'), { embeds: ['routes--LAX'] });
    expect(narrowed.embeds.map(({ id }) => id)).toEqual(['routes--LAX']);
    expect((await get(`${product.url}/api/v2/guest/dashboards/delays--LAX`, narrowed.token)).status).toBe(403);
    for (const id of ['routes--ATL', 'nothing', 'routes--LAX ', 'ROUTES--LAX']) {
      const answer = await embedToken({ embeds: [id] }, session(product, manager('LAX')));
      expect([answer.status, answer.body.error.code], id).toEqual([403, 'EMBED_NOT_GRANTED']);
    }
    const beyond = await embedToken({ embeds: ['routes--LAX'] }, session(product, analyst('LAX')));
    expect([beyond.status, beyond.body.error.code]).toEqual([403, 'EMBED_NOT_GRANTED']);
  });
});

describe('sessions that are not the host’s', () => {
  const claims = () => ({ iss: 'guestlist-demo', ...analyst('LAX'), exp: Math.floor(Date.now() / 1000) + 600 });
  const key = () => createSecretKey(Buffer.from(product.credentials.demoJwtSecret));
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

  const forged: Readonly<Record<string, () => string>> = {
    'alg none': () => `${encode({ alg: 'none', typ: 'JWT' })}.${encode(claims())}.`,
    'alg None, signed': () => {
      const head = `${encode({ alg: 'None' })}.${encode(claims())}`;
      return `${head}.${createHmac('sha256', product.credentials.demoJwtSecret).update(head).digest('base64url')}`;
    },
    HS384: () => jwt.sign(claims(), key(), { algorithm: 'HS384' }),
    HS512: () => jwt.sign(claims(), key(), { algorithm: 'HS512' }),
    RS256: () =>
      jwt.sign(claims(), generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey, { algorithm: 'RS256' }),
    'another secret': () => jwt.sign(claims(), 'x'.repeat(64), { algorithm: 'HS256' }),
    expired: () => session(product, { ...analyst('LAX'), exp: Math.floor(Date.now() / 1000) - 60 }),
    'not yet valid': () => session(product, { ...analyst('LAX'), nbf: Math.floor(Date.now() / 1000) + 600 }),
    'no expiry': () => session(product, { ...analyst('LAX'), exp: undefined }),
    'another issuer': () => session(product, { ...analyst('LAX'), iss: 'somebody' }),
    'a tampered payload': () => {
      const [head, , signature] = session(product, analyst('LAX')).split('.');
      return `${head}.${encode({ ...claims(), org_id: 'ATL' })}.${signature}`;
    },
    'a tampered signature': () => session(product, analyst('LAX')).replace(/.{4}$/, 'AAAA'),
    'no JWT': () => 'LAX',
    'the API key': () => product.credentials.demoApiKey,
  };

  test.each(Object.keys(forged))('a session that is not the host’s is refused with 401: %s', async (name) => {
    const answer = await embedToken({}, forged[name]?.());
    expect([answer.status, answer.body.error.code]).toEqual([401, 'SESSION_INVALID']);
  });

  test('none at all: 401', async () => {
    expect((await embedToken({})).status).toBe(401);
  });

  test('a bad Bearer never falls back to a good cookie', async () => {
    const answer = await request<Failure>(`${product.url}/embed-token`, {
      method: 'POST',
      headers: {
        authorization: 'Bearer nonsense',
        cookie: `guestlist_session=${session(product, analyst('LAX'))}`,
        origin: product.url,
      },
    });
    expect(answer.status).toBe(401);
  });

  test('a cookie counts from the own origin alone', async () => {
    const withOrigin = (origin: string) =>
      request(`${product.url}/embed-token`, {
        method: 'POST',
        headers: { cookie: `guestlist_session=${session(product, analyst('LAX'))}`, origin },
      });
    expect((await withOrigin(product.url)).status).toBe(200);
    expect((await withOrigin('https://evil.example')).status).toBe(401);
  });
});

describe('the interface with the wrong credential', () => {
  test('a guest token is no API key, an API key no guest token, and each says so', async () => {
    const { token } = await login(product, analyst('LAX'));
    const mint = await post<Failure>(
      `${product.url}/api/v2/guest-token/create`,
      { clientId: 'ATL', dataAppName: 'flights' },
      token,
    );
    expect([mint.status, mint.body.error]).toEqual([
      401,
      expect.objectContaining({
        code: 'AUTHENTICATION_ERROR',
        message: expect.stringMatching(/^API key is invalid or expired\. This is a guest token/),
      }),
    ]);
    const read = await get<Failure>(
      `${product.url}/api/v2/guest/dashboards/delays--LAX`,
      product.credentials.demoApiKey,
    );
    expect([read.status, read.body.error.code]).toEqual([401, 'AUTHENTICATION_ERROR']);
  });

  test('what no operation has is not there: 404, and not in the document', async () => {
    const { body } = await get<{ paths: Record<string, unknown> }>(`${product.url}/openapi.json`);
    for (const path of ['/api/v2/data-app/secrets', '/api/v2/workspace/delete', '/api/v2/guest/tokens']) {
      expect((await get(`${product.url}${path}`, product.credentials.serviceToken)).status, path).toBe(404);
      expect(Object.keys(body.paths), path).not.toContain(path);
    }
  });

  test('a data app made by the service token mints nothing for the demo', async () => {
    const made = await post(`${product.url}/api/v2/data-app`, { name: 'other' }, product.credentials.serviceToken);
    expect([made.status, made.body]).toEqual([200, { name: 'other' }]);
    const mint = await post<Failure>(
      `${product.url}/api/v2/guest-token/create`,
      { clientId: 'LAX', dataAppName: 'other' },
      product.credentials.demoApiKey,
    );
    expect([mint.status, mint.body.error.code]).toEqual([401, 'AUTHENTICATION_ERROR']);
  });
});

test('no token, key or secret is in the log', async () => {
  const own = await startProduct();
  try {
    const { token } = await login(own, analyst('LAX'));
    await get(`${own.url}/api/v2/guest/dashboards/delays--LAX`, token);
    await own.stop();
    expect(own.output()).toContain('token.minted');
    for (const secret of [token, ...Object.values(own.credentials)]) expect(own.output()).not.toContain(secret);
  } finally {
    await own.stop();
    await own.remove();
  }
});

describe('text that a database would change or refuse', () => {
  const mint = (fields: object) =>
    post<Failure>(
      `${product.url}/api/v2/guest-token/create`,
      { clientId: 'LAX', dataAppName: 'flights', ...fields },
      product.credentials.demoApiKey,
    );

  test.each([
    { clientId: 'LAX\ud800' },
    { clientId: 'LAX\0' },
    { params: { userIdentifier: '\udfff' } },
    { params: { dashboardAppFilters: [{ dashboardId: 'delays', values: { 'Destination state': 'C\0A' } }] } },
    { params: { dashboardAppFilters: [{ dashboardId: 'delays', values: { 'Destination state': ['\ud800'] } }] } },
  ])('%j is refused by name, so that no two clients become one', async (fields) => {
    const answer = await mint(fields);
    expect([answer.status, answer.body.error.code]).toEqual([400, 'INVALID_REQUEST_BODY']);
    expect(answer.body.error.message).toMatch(/well-formed Unicode/);
  });
});
