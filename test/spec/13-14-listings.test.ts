/** Sections 13 and 14 of the interface, "List dashboards of a workspace" and "List metrics of a workspace". */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call, cloneBoard, type House, type Input, ok, openHouse, refused } from './house.js';

let house: House;
beforeAll(async () => {
  house = await openHouse();
  await cloneBoard(house, 'acme-board', 'acme', { name: 'Own', isRenameDashboard: true });
});
afterAll(() => house.close());

const numbers = Array.from({ length: 12 }, (_, index) => String(index + 1).padStart(2, '0'));

describe.each([
  [
    'listDashboards',
    numbers.map((number) => ({ name: `Dashboard long-${number}`, externalDashboardId: `long-${number}` })),
  ],
  [
    'listMetrics',
    numbers.map((number) => ({ name: `Metric long-metric-${number}`, metricId: `long-metric-${number}` })),
  ],
] as const)('%s', (operation, all) => {
  const list = async (input: Input, bearer = house.apiKey) =>
    (await ok(house, operation, { workspaceName: 'long', ...input }, { bearer })).data;

  test('Response: {data: array of items, error: null}', async () => {
    const answer = await call(house, operation, { workspaceName: 'long' });
    expect([answer.status, answer.body]).toEqual([200, { data: all, error: null }]);
  });

  test('an empty array if there are none', async () => {
    const answer = await call(house, operation, { workspaceName: 'empty' });
    expect([answer.status, answer.body]).toEqual([200, { data: [], error: null }]);
  });

  test('isPagination (boolean, optional), pageNumber (number, optional): ten per page, starting at 1', async () => {
    expect(await list({ isPagination: true })).toEqual(all.slice(0, 10));
    expect(await list({ isPagination: true, pageNumber: 2 })).toEqual(all.slice(10));
    expect(await list({ isPagination: true, pageNumber: 3 })).toEqual([]);
    expect(await list({ isPagination: false, pageNumber: 2 })).toEqual(all);
    expect(await list({ pageNumber: 2 })).toEqual(all);
  });

  test('API key and service token are both accepted', async () => {
    expect(await list({}, house.serviceToken)).toEqual(all);
  });

  test("a data app's key also sees the data app's own items; a service token and another data app's key do not", async () => {
    const count = async (bearer: string) => (await list({ workspaceName: 'shop' }, bearer)).length;
    const [own, other, organization] = [
      await count(house.apiKey),
      await count(house.otherKey),
      await count(house.serviceToken),
    ];
    expect([own - other, other]).toEqual([operation === 'listDashboards' ? 1 : 6, organization]);
  });
});

test("a client's dashboard is listed by its display name", async () => {
  const { data } = await ok(house, 'listDashboards', { workspaceName: 'shop' });
  expect(data).toContainEqual({ name: 'Own', externalDashboardId: 'acme-board' });
});

test.each([
  {},
  { workspaceName: '' },
  { workspaceName: 'long', pageNumber: '2' },
  { workspaceName: 'long', isPagination: 'true' },
  { workspaceName: 'long', isPagination: true, pageNumber: 0 },
  { workspaceName: 'long', clientId: 'acme' },
])('%j is not valid', async (input) => {
  await refused('listDashboards INVALID_REQUEST_BODY', house, input);
  await refused('listMetrics INVALID_REQUEST_BODY', house, input);
});

test('WORKSPACE_ID_ERROR: workspace does not exist', async () => {
  const input = { workspaceName: 'nowhere' };
  expect(await refused('listDashboards WORKSPACE_ID_ERROR', house, input)).toContain('"nowhere"');
  expect(await refused('listMetrics WORKSPACE_ID_ERROR', house, input)).toContain('"nowhere"');
});

test('a missing or invalid credential: 401 AUTHENTICATION_ERROR', async () => {
  for (const bearer of [null, 'wrong', house.endedKey]) {
    const input = { workspaceName: 'long' };
    const message = 'API key is invalid or expired; or invalid service token';
    expect(await refused('listDashboards AUTHENTICATION_ERROR', house, input, { bearer })).toBe(message);
    expect(await refused('listMetrics AUTHENTICATION_ERROR', house, input, { bearer })).toBe(message);
  }
});
