/** The interface's "Authentication", rules 3 to 5, over every operation of the table. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operations } from '../../src/compose/operations.js';
import type { Credential, Operation } from '../../src/contract/operation.js';
import { request } from '../product/guest.js';
import { call, cloneBoard, type House, mint, ok, openHouse, refused } from './house.js';

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

describe.each(names)('%s', (name) => {
  const { credentials, authenticationCode = 'AUTHENTICATION_ERROR', errors, bindings } = operationOf(name);

  test('3. A missing or invalid credential yields the declared code, on every path', async () => {
    const given = { apiKey: house.apiKey, serviceToken: house.serviceToken, guestToken };
    const wrong = Object.entries(given).flatMap(([kind, bearer]) =>
      credentials.some((taken) => taken === kind) ? [] : [bearer],
    );
    for (const { path } of bindings) {
      for (const bearer of [null, '00000000-0000-4000-8000-000000000000', 'x', house.endedKey, ...wrong]) {
        const answer = await call(house, name, exampleOf(name), { bearer, path });
        expect([answer.status, answer.body], `${path} with ${bearer}`).toEqual([
          errors[authenticationCode],
          {
            error: {
              code: authenticationCode,
              message: credentials.map((kind) => messages[kind]).join('; or '),
              status: errors[authenticationCode],
            },
          },
        ]);
      }
    }
  });

  test('a credential is looked at before the body: the wrong one learns nothing of what is there', async () => {
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

  test('Bearer <token>; the scheme in any case', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER'])
      expect((await dataApp(`${scheme} ${house.apiKey}`)).status).toBe(200);
  });

  test('nothing else is a credential', async () => {
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

  test('a token in the query or the body is none', async () => {
    const url = `${house.url()}/api/v2/guest/dashboards/acme-board`;
    expect((await request(`${url}?token=${guestToken}`)).status).toBe(401);
    expect((await request(url, { headers: { cookie: `token=${guestToken}` } })).status).toBe(401);
  });
});

describe('4. credentials of another kind', () => {
  test("a key of another data app opens nothing of this one's", async () => {
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

  test("a guest token of another data app opens nothing of this one's", async () => {
    const { token } = await ok(
      house,
      'createGuestToken',
      { clientId: 'acme', dataAppName: 'other' },
      { bearer: house.otherKey },
    );
    await refused('getGuestDashboard UNAUTHORIZED', house, { dashboardId: 'acme-board' }, { bearer: token });
  });

  test('a data app just created has no key: its name mints nothing', async () => {
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
