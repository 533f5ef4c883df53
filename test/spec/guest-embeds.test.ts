/** What a guest token opens, and what it may call there. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { embedOf, everything, guest, openBoard, openSettings } from './guests.js';
import { cloneBoard, type House, type Input, metricOf, mint, noon, ok, openHouse, refused, setNow } from './house.js';

let house: House;
let shared: string;
let tile: string;
let revenue: string;
beforeAll(async () => {
  house = await openHouse();
  await openBoard(house, 'acme-board', 'acme');
  await openBoard(house, 'globex-board', 'globex');
  await cloneBoard(house, 'closed-board', 'acme');
  shared = await embedOf(house, 'board');
  revenue = await metricOf(house, 'acme-board', 'acme', 'revenue');
  tile = await embedOf(house, 'acme-board', { embedType: 'metric', metricId: revenue, name: 'Takings' });
});
beforeEach(() => setNow(noon));
afterAll(() => house.close());

const listed = async (bearer: string) => (await ok(house, 'listGuestEmbeds', {}, { bearer })).data;
const opened = async (bearer: string) => {
  const { dashboards, metrics } = await listed(bearer);
  return [...dashboards.map(({ dashboardId }) => dashboardId), ...metrics.map(({ metricId }) => metricId)].toSorted();
};
const operationsOf = async (params: Input, permissions: Input, dashboardId = 'acme-board') => {
  const { dashboards } = await listed(await guest(house, 'acme', params, permissions));
  return dashboards.find((one) => one.dashboardId === dashboardId)?.operations;
};

test('lists what the client’s token opens, and nothing of another client or data app', async () => {
  expect(await opened(await guest(house, 'acme'))).toEqual(['acme-board', 'closed-board', shared, tile].toSorted());
  expect(await opened(await guest(house, 'globex'))).toEqual(['globex-board', shared].toSorted());
  const { token } = await ok(
    house,
    'createGuestToken',
    { clientId: 'acme', dataAppName: 'other' },
    { bearer: house.otherKey },
  );
  expect(await opened(token)).toEqual([]);
  expect(await opened(await guest(house, 'acme', { allowedEmbeds: ['closed-board'] }))).toEqual(['closed-board']);
});

test('a metric that the token hides is not listed', async () => {
  const hidden = { hideDashboardMetrics: [{ dashboardId: 'acme-board', metricIds: [revenue] }] };
  expect(await opened(await guest(house, 'acme', hidden))).not.toContain(tile);
  expect((await listed(await guest(house, 'acme'))).metrics).toEqual([
    { metricId: tile, name: 'Metric revenue', operations: expect.arrayContaining(['listGuestUnderlying']) },
  ]);
});

test('names are in the reader’s language, as on the dashboard itself', async () => {
  const bearer = await guest(house, 'globex', { allowedEmbeds: ['globex-board'] });
  const { data, digest } = await ok(house, 'getDashboardContent', {
    workspaceName: 'shop',
    dashboardId: 'globex-board',
  });
  const translations = { de: { 'globex-board_globex': 'Umsätze' } };
  await ok(house, 'replaceDashboardContent', {
    ...{ workspaceName: 'shop', dashboardId: 'globex-board', expectedDigest: digest },
    content: { ...data, metadata: { ...data.metadata, translations } },
  });
  const namesIn = async (language: string) => {
    const headers = { authorization: `Bearer ${bearer}`, 'accept-language': language };
    const read = async (path: string) =>
      ((await (await fetch(`${house.url()}/api/v2/guest/${path}`, { headers })).json()) as { readonly data: never })
        .data;
    const { dashboards }: { readonly dashboards: readonly { readonly name: string }[] } = await read('embeds');
    const { name: shown }: { readonly name: string } = await read('dashboards/globex-board');
    return [dashboards.map(({ name }) => name), shown];
  };
  expect(await namesIn('de-DE,de;q=0.9')).toEqual([['Umsätze'], 'Umsätze']);
  expect(await namesIn('fr')).toEqual([['globex-board_globex'], 'globex-board_globex']);
});

const views = ['listGuestViews', 'createGuestView', 'updateGuestView', 'deleteGuestView'];

test('names what the token and the embed permit', async () => {
  expect(await operationsOf({}, everything)).toEqual([
    'listGuestUnderlying',
    'downloadGuestCsv',
    'downloadGuestXlsx',
    'listGuestFields',
    'previewGuestMetric',
    'createGuestMetric',
    'getGuestMetricDefinition',
    'updateGuestMetric',
    ...views,
  ]);
  expect(await operationsOf({}, { ...everything, isDisableMetricCreation: true })).not.toContain('createGuestMetric');
  expect(await operationsOf({}, { ...everything, isEnableDownloadMetrics: false })).not.toContain('downloadGuestCsv');
  expect(await operationsOf({}, { ...everything, isEnableUnderlyingData: false })).not.toContain('listGuestUnderlying');
  // The embed does not allow writes, whatever the token says.
  expect(await operationsOf({}, everything, 'closed-board')).toEqual([
    'listGuestUnderlying',
    'downloadGuestCsv',
    'downloadGuestXlsx',
  ]);
});

test('a token that restricts single metrics defines none', async () => {
  const guarded = await metricOf(house, 'acme-board', 'acme', 'guarded');
  const params = { rlsSettings: [{ metricId: guarded, values: { region: 'north' } }], allowedEmbeds: ['acme-board'] };
  expect(await operationsOf(params, everything)).toEqual([
    'listGuestUnderlying',
    'downloadGuestCsv',
    'downloadGuestXlsx',
    ...views,
  ]);
});

test('fields are listed only where metrics are made by drag and drop', async () => {
  const chat = await embedOf(house, 'board', {
    accessSettings: { ...openSettings, metricCreationMode: 'CHAT' },
  });
  const operations = await operationsOf({}, everything, chat);
  expect(operations).toContain('createGuestMetric');
  expect(operations).not.toContain('listGuestFields');
});

test('refuses a wrong and an expired token, and a field that it does not take', async () => {
  const token = await mint(house, 'acme', {}, { expiryTime: 60_000 });
  await refused('listGuestEmbeds AUTHENTICATION_ERROR', house, {}, { bearer: 'wrong' });
  await refused('listGuestEmbeds INVALID_REQUEST_BODY', house, { more: '1' }, { bearer: token });
  setNow(new Date(noon.getTime() + 3_600_000));
  await refused('listGuestEmbeds TOKEN_EXPIRED', house, {}, { bearer: token });
});
