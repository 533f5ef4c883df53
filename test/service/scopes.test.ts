/** The scope of a token, and what an embed adds to a datamart: nothing that was named is ignored. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listGuestFilterOptions } from '../../src/service/guest/options.js';
import { getGuestDashboard, getGuestMetric } from '../../src/service/guest/reads.js';
import { metric, refusalOf, stays } from '../engine/world.js';
import { createWorld, settings, type World } from './world.js';

let world: World;
let metricEmbed: string;
beforeAll(async () => {
  world = await createWorld();
  await world.template('scoped');
  await world.embed('scoped');
  metricEmbed = await world.embed('scoped', 'scoped-count');
});
afterAll(() => world.close());

const unauthorized = expect.objectContaining({ code: 'UNAUTHORIZED' });

describe('in a workspace with one source, a token scoped to', () => {
  beforeAll(async () => {
    const workspace = await world.store.workspaces.findById('w');
    if (workspace === undefined) throw new Error('there is no workspace');
    await world.store.workspaces.update({ ...workspace, connectionType: 'DATAMART', datamartId: 'mart-sales' });
    return () => world.store.workspaces.update(workspace);
  });

  test.each([
    ['a datamart', { datamartName: 'sales' }, { datamartName: 'sales2' }],
    ['a datasource', { datasourceName: 'warehouse-sales' }, { datasourceName: 'warehouse-sales2' }],
    [
      'both',
      { datamartName: 'sales', datasourceName: 'warehouse-sales' },
      { datamartName: 'sales2', datasourceName: 'warehouse-sales2' },
    ],
  ])('%s reads nothing of another one, not even names', async (_, own, foreign) => {
    const reads = (guest: Awaited<ReturnType<World['mint']>>) => [
      () => world.count(guest, 'scoped-count', 'scoped'),
      () => world.count(guest, metricEmbed),
      () => getGuestDashboard(world.deps)(guest, { dashboardId: 'scoped' }),
      () => getGuestMetric(world.deps)(guest, { metricId: metricEmbed }),
      () => listGuestFilterOptions(world.deps)(guest, { dashboardId: 'scoped', filter: 'State' }, stays),
    ];
    for (const read of reads(await world.mint({}, foreign))) expect(await refusalOf(read)).toEqual(unauthorized);
    for (const read of reads(await world.mint({}, own))) expect(await read()).toBeTruthy();
  });
});

describe('tableTenancySettings', () => {
  const withTable = (name: string) => ({ ...settings, tableTenancySettings: [{ name, clientColumn: 'state' }] });

  test('tableTenancySettings that name no table of the datamart are refused, since they would separate no rows', async () => {
    for (const name of ['public.shops', 'Shops', 'main.nothing']) {
      expect(await refusalOf(() => world.embed('scoped', undefined, withTable(name))), name).toMatchObject({
        code: 'INVALID_REQUEST_BODY',
        message: expect.stringContaining('tableTenancySettings'),
      });
    }
    const { datamartName: _, ...nowhere } = withTable('shops');
    expect(await refusalOf(() => world.embed('scoped', 'scoped-count', nowhere))).toMatchObject({
      code: 'INVALID_REQUEST_BODY',
    });
  });

  test('tableTenancySettings that name a table are accepted', async () => {
    for (const name of ['shops', 'main.shops'])
      expect(await world.embed('scoped', undefined, withTable(name))).toBeTruthy();
  });

  test("do not change the client master table: a client whose id equals another client's name reads nothing of it", async () => {
    const clients = metric('clients', { measures: [{ name: 'Sales', aggregate: 'COUNT' }] });
    await world.template('masters', { filters: [] }, clients);
    const tableTenancySettings = [{ name: 'clients', clientColumn: 'name' }];
    await world.embed('masters', undefined, { ...settings, tableTenancySettings });
    const rows = async (clientId: string) =>
      Number(await world.count(await world.mint({}, { clientId }), 'masters-count', 'masters'));
    expect([await rows('a'), await rows('A')]).toEqual([1, 0]);
  });
});
