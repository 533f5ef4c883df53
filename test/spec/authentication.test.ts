/** Rules 3 to 5 of "Authentication" in the interface, for every operation. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Credential, Operation } from '../../src/platform/http/interface/operation.js';
import { operations } from '../../src/service/operations.js';
import { request } from '../product/guest.js';
import { call, cloneBoard, type House, mint, noon, ok, openHouse, refused, setNow } from './house.js';

let house: House;
let guestToken: string;
beforeAll(async () => {
  house = await openHouse();
  await cloneBoard(house, 'acme-board', 'acme');
  guestToken = await mint(house, 'acme');
});
afterAll(() => house.close());

type Name = keyof typeof operations;
const names = Object.keys(operations) as readonly Name[];
const operationOf = (name: Name): Operation => operations[name];
const exampleOf = (name: Name): Record<string, unknown> => ({ ...operations[name].example?.input });

const messages: Readonly<Record<Credential, string>> = {
  apiKey: 'API key is invalid or expired',
  serviceToken: 'invalid service token',
  guestToken: 'guest token is invalid or was revoked; ask the host application for a new one',
};

const kinds: readonly Credential[] = ['apiKey', 'serviceToken', 'guestToken'];
const own: Readonly<Record<Credential, string>> = {
  apiKey: 'an API key of a data app',
  serviceToken: 'a service token',
  guestToken: 'a guest token of a page',
};
/** The known message, and then one sentence that names what came. */
const named = (known: string, kind: Credential): RegExp => new RegExp(`^${known}\\. This is ${own[kind]}, not .*\\.$`);

describe.each(names)('%s', (name) => {
  const { credentials, authenticationCode = 'AUTHENTICATION_ERROR', errors, bindings } = operationOf(name);

  test('3. A missing or invalid credential yields the declared code, on every path', async () => {
    const given = { apiKey: house.apiKey, serviceToken: house.serviceToken, guestToken } as const;
    const wrong = kinds.filter((kind) => !credentials.includes(kind)).map((kind) => [given[kind], kind] as const);
    const unknown = [null, '00000000-0000-4000-8000-000000000000', 'x', house.endedKey].map(
      (bearer) => [bearer, null] as const,
    );
    for (const { path } of bindings) {
      for (const [bearer, kind] of [...unknown, ...wrong]) {
        const answer = await call(house, name, exampleOf(name), { bearer, path });
        const known = credentials.map((each) => messages[each]).join('; or ');
        expect([answer.status, answer.body], `${path} with ${bearer}`).toEqual([
          errors[authenticationCode],
          {
            error: {
              code: authenticationCode,
              message: kind === null ? known : expect.stringMatching(named(known, kind)),
              status: errors[authenticationCode],
            },
          },
        ]);
      }
    }
  });

  test('the credential is checked before the body, so an invalid one learns nothing about what exists', async () => {
    const answer = await call(
      house,
      name,
      { dashboardId: 'x', metricId: 'x', filter: 'x', unknown: true },
      { bearer: 'x' },
    );
    expect(answer.status).toBe(errors[authenticationCode]);
  });
});

describe('the Authorization header', () => {
  const dataApp = (authorization: string) =>
    request(`${house.url()}/api/v2/workspace/dashboards`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ workspaceName: 'empty' }),
    });

  test('Bearer <token>; the scheme ignores case', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER'])
      expect((await dataApp(`${scheme} ${house.apiKey}`)).status).toBe(200);
  });

  test('any other form is not a credential', async () => {
    const basic = Buffer.from(`x:${house.apiKey}`).toString('base64');
    for (const value of [
      house.apiKey,
      `Token ${house.apiKey}`,
      `Basic ${basic}`,
      'Bearer',
      `Bearer ${house.apiKey} x`,
      `Bearer ${house.apiKey.toUpperCase()}`,
    ]) {
      const answer = await dataApp(value);
      expect([answer.status, answer.headers.get('www-authenticate')], value).toEqual([401, 'Bearer']);
    }
  });

  test('a token in the query or the body is not a credential', async () => {
    const url = `${house.url()}/api/v2/guest/dashboards/acme-board`;
    expect((await request(`${url}?token=${guestToken}`)).status).toBe(401);
    expect((await request(url, { headers: { cookie: `token=${guestToken}` } })).status).toBe(401);
  });
});

describe('a credential of another kind is named, and nothing else is', () => {
  const messageOf = async (bearer: string): Promise<string> =>
    refused('createDataApp AUTHENTICATION_ERROR', house, { name: 'never' }, { bearer });

  test('a session says where it belongs, by its form alone', async () => {
    expect(await messageOf('eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbmEifQ.c2lnbmF0dXJl')).toBe(
      'invalid service token. This is a session (a JWT): send it to POST /embed-token, which answers a guest token. It is not a service token.',
    );
  });

  test('a credential that was revoked or has expired is like one that never was', async () => {
    const { token } = await ok(house, 'createGuestToken', { clientId: 'acme', dataAppName: 'shop', expiryTime: 1000 });
    const revoked = await mint(house, 'acme');
    expect(await messageOf(revoked)).toContain('This is a guest token');
    await ok(house, 'revokeGuestTokens', { token: revoked });
    const { key } = await ok(house, 'createApiKey', { dataAppName: 'shop', name: 'short' });
    expect(await messageOf(key)).toContain('This is an API key');
    await ok(house, 'deleteApiKey', { dataAppName: 'shop', name: 'short' });
    setNow(new Date(noon.getTime() + 60_000));
    for (const bearer of [token, revoked, key, house.endedKey]) {
      expect(await messageOf(bearer)).toBe('invalid service token');
    }
    setNow(noon);
  });
});

describe('4. credentials of another data app', () => {
  test("another data app's key opens nothing of this data app", async () => {
    await refused(
      'createGuestToken AUTHENTICATION_ERROR',
      house,
      { clientId: 'acme', dataAppName: 'shop' },
      { bearer: house.otherKey },
    );
    await refused(
      'queryMetric INVALID_EMBED_ID',
      house,
      { embedId: 'acme-board', metricId: 'x', clientId: 'acme' },
      { bearer: house.otherKey },
    );
    expect((await ok(house, 'listEmbeds', {}, { bearer: house.otherKey })).data).toEqual([]);
  });

  test("another data app's guest token opens nothing of this data app", async () => {
    const { token } = await ok(
      house,
      'createGuestToken',
      { clientId: 'acme', dataAppName: 'other' },
      { bearer: house.otherKey },
    );
    await refused('getGuestDashboard UNAUTHORIZED', house, { dashboardId: 'acme-board' }, { bearer: token });
  });

  test('a new data app has no key, and its name alone mints nothing', async () => {
    await ok(house, 'createDataApp', { name: 'keyless' });
    await refused('createGuestToken AUTHENTICATION_ERROR', house, { clientId: 'acme', dataAppName: 'keyless' });
  });
});

test('5. A guest token restricts loading to allowedEmbeds when that list was given', async () => {
  await cloneBoard(house, 'acme-other', 'acme');
  const bearer = await mint(house, 'acme', { allowedEmbeds: ['acme-other'] });
  expect((await call(house, 'getGuestDashboard', { dashboardId: 'acme-other' }, { bearer })).status).toBe(200);
  await refused('getGuestDashboard UNAUTHORIZED', house, { dashboardId: 'acme-board' }, { bearer });
});
