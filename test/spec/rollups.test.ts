/** Operations of this project: rollups of a datamart, listed and built. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runOnFile } from '../suites/duckdb-file.js';
import { boardOver, createSales, rowsOf } from './datamarts.js';
import { call, type House, ok, openHouse, refused } from './house.js';
import { definition } from './organization.js';

let house: House;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guestlist-rollups-'));
  house = await openHouse(JSON.stringify({ rollups: { folder } }));
});
afterAll(async () => {
  await house.close();
  await rm(folder, { recursive: true, force: true });
});

const rollup = {
  ...{ name: 'by day', from: 'main.sales', dimensions: ['region', 'product'], grain: 'day' },
  measures: [{ aggregate: 'SUM', column: 'amount' }],
  partition: { column: 'sold', by: 'month' },
};

test('a rollup is listed, built, answers with its age, and is without an erased client', async () => {
  await createSales(house, 'kept', { rollups: [rollup] });
  const input = { datamartName: 'kept', rollupName: 'by day' };
  expect((await ok(house, 'listRollups', { datamartName: 'kept' })).data).toMatchObject([
    { name: 'by day', state: 'none' },
  ]);
  const { data } = await ok(house, 'buildRollup', input);
  expect(data).toMatchObject({ state: 'current', closedUntil: '2024-04-01' });
  expect((await ok(house, 'listRollups', { datamartName: 'kept' })).data).toEqual([data]);
  const { id: embedId } = await boardOver(house, 'kept', 'kept-board', 'acme', definition({ rlsVariables: [] }));
  const ask = async () => {
    const [metric] = (await ok(house, 'listEmbedMetrics', { embedId, clientId: 'acme' })).data;
    return ok(house, 'queryMetric', { metricId: metric?.metricId, embedId, clientId: 'acme' });
  };
  const before = await ask();
  expect(before).toMatchObject({ asOf: '2024-04-20T12:00:00.000Z' });
  await ok(house, 'updateDatamart', { datamartName: 'kept', rollups: [] });
  expect(await rowsOf(house, embedId, 'acme')).toEqual(before.data);
  await ok(house, 'updateDatamart', { datamartName: 'kept', rollups: [rollup] });
  expect(await ask()).toMatchObject({ asOf: expect.any(String), data: before.data });
  await ok(house, 'eraseClient', { clientId: 'acme' });
  const again = await boardOver(house, 'kept', 'kept-again', 'acme', definition({ rlsVariables: [] }));
  const [metric] = (await ok(house, 'listEmbedMetrics', { embedId: again.id, clientId: 'acme' })).data;
  const after = await ok(house, 'queryMetric', {
    metricId: metric?.metricId,
    embedId: again.id,
    clientId: 'acme',
  });
  expect(after.asOf).toBeUndefined();
  expect(after.data).toEqual(before.data);
});

test('listRollups and buildRollup refuse unknown names, a faulty body, other credentials and a source that is away', async () => {
  const input = { datamartName: 'shop', rollupName: 'by day' };
  for (const bearer of [null, 'wrong', house.apiKey]) {
    await refused('listRollups AUTHENTICATION_ERROR', house, { datamartName: 'shop' }, { bearer });
    await refused('buildRollup AUTHENTICATION_ERROR', house, input, { bearer });
  }
  await refused('listRollups INVALID_DATAMART', house, { datamartName: 'Shop' });
  await refused('buildRollup INVALID_DATAMART', house, { ...input, datamartName: 'Shop' });
  await refused('listRollups INVALID_REQUEST_BODY', house, {});
  expect(await refused('buildRollup INVALID_REQUEST_BODY', house, input)).toContain('there are: none');
  const path = join(house.sources, 'away.duckdb');
  await runOnFile(path, ['CREATE TABLE sales (region VARCHAR, amount BIGINT, sold DATE, product INTEGER)']);
  await ok(house, 'createDatasource', { datasourceType: 'DUCKDB', credentials: { name: 'away', path } });
  const { from: _, ...of } = rollup;
  await ok(house, 'createDatamart', {
    ...{ name: 'away', datasourceName: 'away', rollups: [{ ...of, from: 'sales' }] },
    tableList: [{ name: 'sales', columns: ['region', 'amount', 'sold', 'product'].map((name) => ({ name })) }],
  });
  await ok(house, 'syncDatasource', { name: 'away' });
  await rm(path);
  await refused('listRollups METRIC_QUERY_ERROR', house, { datamartName: 'away' });
  await refused('buildRollup METRIC_QUERY_ERROR', house, { datamartName: 'away', rollupName: 'by day' });
});

test('rollups are proposed out of what was asked, with what to add to the datamart, and nothing of rows', async () => {
  await createSales(house, 'asked', {});
  const { id: embedId } = await boardOver(house, 'asked', 'asked-board', 'globex', definition({ rlsVariables: [] }));
  const [metric] = (await ok(house, 'listEmbedMetrics', { embedId, clientId: 'globex' })).data;
  const ask = () => ok(house, 'queryMetric', { metricId: metric?.metricId, embedId, clientId: 'globex' });
  const before = await ask();
  const of = { datamartName: 'asked' };
  // What was used is stored each second.
  const propose = async () => (await ok(house, 'proposeRollups', of)).data;
  await expect.poll(async () => (await propose()).proposed.length, { timeout: 20_000 }).toBe(1);
  const { proposed, left } = await propose();
  expect(left).toEqual([]);
  expect(proposed[0]).toMatchObject({
    rollup: { from: 'sales', partition: { column: 'sold', by: 'month' } },
    reason: expect.stringContaining('In 28 days, 1 query'),
    queries: 1,
  });
  for (const row of before.data)
    for (const cell of Object.values(row)) expect(JSON.stringify(proposed)).not.toContain(JSON.stringify(cell));
  await ok(house, 'updateDatamart', { ...of, rollups: proposed.map((one) => one.rollup) });
  expect(await propose()).toMatchObject({ proposed: [], left: [{ why: expect.stringContaining('has its columns') }] });
  await ok(house, 'buildRollup', { ...of, rollupName: proposed[0]?.rollup.name });
  expect(await ask()).toMatchObject({ asOf: expect.any(String), data: before.data });
});

test('proposeRollups refuses unknown names, other credentials, and a faulty body', async () => {
  for (const bearer of [null, 'wrong', house.apiKey])
    await refused('proposeRollups AUTHENTICATION_ERROR', house, { datamartName: 'shop' }, { bearer });
  await refused('proposeRollups INVALID_DATAMART', house, { datamartName: 'Shop' });
  await refused('proposeRollups INVALID_REQUEST_BODY', house, { datamartName: 'shop', days: 0 });
});

test('without a folder, rollups are off, and the message says which setting turns them on', async () => {
  const off = await openHouse();
  try {
    expect((await call(off, 'listRollups', { datamartName: 'shop' })).status).toBe(400);
    expect(await refused('listRollups INVALID_REQUEST_BODY', off, { datamartName: 'shop' })).toContain(
      'rollups.folder',
    );
  } finally {
    await off.close();
  }
});
