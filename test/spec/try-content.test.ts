/** `POST /data-app/dashboards/content/try`: metrics are run for the client of a dashboard before they are written to it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exampleSettings } from '../../src/service/common/contract/access-settings.js';
import { columnRef } from '../engine/world.js';
import { cloneBoard, type House, type Input, ok, openHouse, refused } from './house.js';
import { definition } from './organization.js';

let house: House;
beforeAll(async () => {
  house = await openHouse();
  await cloneBoard(house, 'acme-board', 'acme');
  await cloneBoard(house, 'globex-board', 'globex');
});
afterAll(() => house.close());

const contentOf = (...definitions: object[]) => ({
  layout: [],
  filters: [],
  gridMargin: [],
  metrics: definitions.map((one, index) => ({
    metricId: `m${index}`,
    name: `M${index}`,
    lineage: [],
    placement: 'METRIC',
    definition: one,
  })),
});
const inputOf = (dashboardId: string, ...definitions: object[]): Input => ({
  dashboardId,
  workspaceName: 'shop',
  content: contentOf(...definitions),
});
const outcomes = async (input: Input) =>
  (await ok(house, 'tryDashboardContent', input)).data.map(({ outcome, message }) => [outcome, message]);

const sql = (text: string, parts: Input = {}) => ({
  kind: 'sql',
  chart: { type: 'table' },
  dimensions: [{ name: 'n' }],
  measures: [],
  sql: text,
  ...parts,
});
/** Fails on a row of region east, which only globex has. */
const failsInTheEast = sql("SELECT CAST(CASE WHEN region = 'east' THEN 'x' ELSE '1' END AS INTEGER) AS n FROM sales");
const region = columnRef('sales.region');
/** Fits the datamart, and no query answers it. */
const halfEscape = definition({ where: { column: region, predicate: { kind: 'like', pattern: 'x\\' } } });

test('each metric is answered or fails with its reason, and no rows are in the answer', async () => {
  const { data } = await ok(house, 'tryDashboardContent', inputOf('acme-board', definition(), halfEscape));
  expect(data).toEqual([
    { metricId: 'm0', name: 'M0', outcome: 'answered', message: null },
    { metricId: 'm1', name: 'M1', outcome: 'failed', message: expect.stringContaining('backslash') },
  ]);
});

test("a metric is run over the rows of the dashboard's client alone", async () => {
  expect(await outcomes(inputOf('acme-board', failsInTheEast))).toEqual([['answered', null]]);
  expect((await outcomes(inputOf('globex-board', failsInTheEast)))[0]?.[0]).toBe('failed');
});

test('the client cannot be chosen by the caller', async () => {
  const input = { ...inputOf('acme-board', definition()), clientId: 'globex' };
  await refused('tryDashboardContent INVALID_REQUEST_BODY', house, input);
});

test('an RLS variable of a column has no value here; SQL that compares with one is not tried', async () => {
  const ofColumn = definition({ rlsVariables: [{ name: 'region', column: region, isOptional: false }] });
  const ofSql = sql('SELECT region AS n FROM sales WHERE region IN (region_variable)', {
    rlsVariables: [{ name: 'region' }],
  });
  expect(await outcomes(inputOf('acme-board', ofColumn, ofSql))).toEqual([
    ['answered', null],
    ['untried', expect.stringContaining('RLS variable')],
  ]);
});

test('a content that is tried is not written', async () => {
  const target = { dashboardId: 'acme-board', workspaceName: 'shop' };
  const { digest } = await ok(house, 'getDashboardContent', target);
  await outcomes(inputOf('acme-board', definition()));
  expect((await ok(house, 'getDashboardContent', target)).digest).toBe(digest);
});

test('dashboards of the organization, of other data apps, and unknown ones are not there', async () => {
  const pair = 'tryDashboardContent INVALID_DASHBOARD_ID';
  await refused(pair, house, inputOf('board', definition()));
  await refused(pair, house, inputOf('nowhere', definition()));
  await refused(pair, house, inputOf('acme-board', definition()), { bearer: house.otherKey });
  const elsewhere = { ...inputOf('acme-board', definition()), workspaceName: 'nowhere' };
  await refused('tryDashboardContent WORKSPACE_ID_ERROR', house, elsewhere);
});

test('content that does not fit the datamart is refused as by a write; the credential is an API key', async () => {
  const sumOfText = definition({ measures: [{ name: 'S', aggregate: 'SUM', column: region }] });
  const input = inputOf('acme-board', sumOfText);
  expect(await refused('tryDashboardContent INVALID_DASHBOARD_DATA', house, input)).toContain('SUM needs numbers');
  await refused('tryDashboardContent AUTHENTICATION_ERROR', house, input, { bearer: house.serviceToken });
});

test('the source that tokens of the client name is the one that is read, or it is refused', async () => {
  const input = inputOf('acme-board', definition());
  expect(await outcomes({ ...input, datamartName: 'shop', datasourceName: 'warehouse' })).toEqual([['answered', null]]);
  for (const names of [{ datasourceName: 'nowhere' }, { datasourceName: 'lost' }, { datamartName: 'lost' }])
    await refused('tryDashboardContent DATASOURCE_NAME_ERROR', house, { ...input, ...names });
  await refused('tryDashboardContent INVALID_REQUEST_BODY', house, { ...input, datamartName: 'nowhere' });
});

test('metrics that restrictions close are listed with the cause; of other clients nothing is said', async () => {
  const target = { dashboardId: 'acme-board', workspaceName: 'shop', clientId: 'acme', restrictions: {} };
  const { data } = await ok(house, 'listRefusedMetrics', target);
  expect(data.some(({ refusal }) => refusal === null)).toBe(true);
  expect(data.filter(({ refusal }) => refusal !== null && refusal.cause !== 'definition')).toEqual([]);
  const unknown = { ...target, restrictions: { dashboardFilters: ['nothing'] } };
  const [first] = (await ok(house, 'listRefusedMetrics', unknown)).data;
  expect(first?.refusal).toMatchObject({ refuses: 'token', by: [{ field: 'dashboardFilters', name: 'nothing' }] });
  const refuses = (what: Parameters<typeof refused>[0], parts: Input) => refused(what, house, { ...target, ...parts });
  await refuses('listRefusedMetrics WORKSPACE_ID_ERROR', { dashboardId: 'board', workspaceName: 'nowhere' });
  await refuses('listRefusedMetrics INVALID_DASHBOARD_ID', { dashboardId: 'nothing' });
  await refuses('listRefusedMetrics INVALID_DASHBOARD_ID', { clientId: 'globex' });
  await refuses('listRefusedMetrics DATASOURCE_NAME_ERROR', { datasourceName: 'nowhere' });
  await refuses('listRefusedMetrics INVALID_REQUEST_BODY', { restrictions: { dashboardFilters: { State: 'CA' } } });
  await refused('listRefusedMetrics AUTHENTICATION_ERROR', house, target, { bearer: 'wrong' });
});

test('a client whose id no longer fits the tenancy of the datamart is refused', async () => {
  const tenancySettings = { tenancyLevel: 'DATABASE', primaryDatabase: null };
  await ok(house, 'updateDatamart', { datamartName: 'shop', tenancySettings });
  await refused('tryDashboardContent CLIENT_ID_ERROR', house, inputOf('acme-board', definition()));
  const ofNobody = {
    dashboardId: 'board',
    workspaceName: 'shop',
    accessSettings: { ...exampleSettings, datamartName: 'shop' },
    restrictions: {},
  };
  await refused('listRefusedMetrics CLIENT_ID_ERROR', house, ofNobody);
});

test('metrics that read a table of nobody are listed with the reason; a template that reads none has an empty list', async () => {
  const target = { dashboardId: 'acme-board', workspaceName: 'shop', datamartName: 'shop' };
  expect((await ok(house, 'listUnreadableMetrics', target)).data).toEqual([]);
  const refuses = (what: Parameters<typeof refused>[0], parts: Input) => refused(what, house, { ...target, ...parts });
  await refuses('listUnreadableMetrics WORKSPACE_ID_ERROR', { workspaceName: 'nowhere' });
  await refuses('listUnreadableMetrics INVALID_DASHBOARD_ID', { dashboardId: 'nothing' });
  await refuses('listUnreadableMetrics INVALID_DATAMART', { datamartName: 'nothing' });
  await refuses('listUnreadableMetrics INVALID_REQUEST_BODY', { clientId: 'acme' });
  await refuses('listUnreadableMetrics INVALID_REQUEST_BODY', { content: { metrics: [] } });
  await refused('listUnreadableMetrics AUTHENTICATION_ERROR', house, target, { bearer: 'wrong' });
});
