/** The datamart of an embed that names none, and the joins of its metrics. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AccessSettings } from '../../src/model/dashboard/embed.js';
import type { Workspace } from '../../src/model/organization.js';
import type { Engine, MetricQuestion } from '../../src/model/query/engine.js';
import { createEmbed } from '../../src/service/embeds/embeds.js';
import { queryMetric } from '../../src/service/embeds/query.js';
import { queryGuestMetric } from '../../src/service/guest/reads.js';
import { byClients, refusalOf, stays } from '../engine/world.js';
import { createWorld, settings, type World } from './world.js';

let world: World;
let bare: string;
beforeAll(async () => {
  world = await createWorld();
  await world.template('board');
  const embed = { embedType: 'metric', dashboardId: 'board', metricId: 'board-count', workspaceName: 'space' } as const;
  const workspaceName = (await world.store.workspaces.findById('w'))?.name ?? '';
  bare = (await createEmbed(world.deps)(world.api(), { ...embed, workspaceName })).embedId;
});
afterAll(() => world.close());

/** Returns the engine's question for a guest's query. */
const asked = async (
  fields: Parameters<World['mint']>[1],
  embedId = bare,
  dashboardId?: string,
): Promise<MetricQuestion> => {
  const questions: MetricQuestion[] = [];
  const { engine } = world.deps;
  const query: Engine['query'] = (question) => {
    questions.push(question);
    return engine.query(question);
  };
  const watched = { until: () => ({ ...engine, query }) };
  const metricId = dashboardId === undefined ? embedId : 'board-count';
  await queryGuestMetric({ ...world.deps, engine: watched })(
    await world.mint({}, fields),
    { metricId, dashboardId },
    stays,
  );
  const [question] = questions;
  if (question === undefined) throw new Error('the engine was not asked');
  return question;
};

describe('an embed without datamartName, in a workspace of several sources', () => {
  test.each(['MULTI_DATAMART', 'MULTI_DATASOURCE'] as const)(
    '%s: reads the datamart that the token names',
    async (connectionType) => {
      const workspace = await world.store.workspaces.findById('w');
      if (workspace === undefined) throw new Error('there is no workspace');
      await world.store.workspaces.update({ ...workspace, connectionType });
      for (const datamartName of ['sales', 'sales2'])
        expect((await asked({ datamartName })).datamart.name).toBe(datamartName);
      expect((await asked({ datasourceName: 'warehouse-sales2' })).datamart.name).toBe('sales2');
      expect((await asked({ datasourceName: 'warehouse-sales', datamartName: 'sales' })).datasource.name).toBe(
        'warehouse-sales',
      );
      await world.store.workspaces.update(workspace);
    },
  );

  test('a token that names neither, or a datasource of two datamarts, is refused', async () => {
    expect(await refusalOf(() => asked({}))).toMatchObject({
      code: 'METRIC_QUERY_ERROR',
      message: expect.stringContaining('token'),
    });
    const sales = await world.store.datamarts.findByName('sales');
    if (sales === undefined) throw new Error('there is no datamart');
    await world.store.datamarts.insert({ ...sales, id: 'mart-third', name: 'third' });
    const fields = { datasourceName: 'warehouse-sales' };
    expect((await refusalOf(() => asked(fields))).code).toBe('UNAUTHORIZED');
    expect((await asked({ ...fields, datamartName: 'third' })).datamart.name).toBe('third');
    await world.store.datamarts.remove('mart-third');
  });

  test('the client is checked at mint against the datamart that will be read', async () => {
    const mint = world.mint({ allowedEmbeds: [bare] }, { clientId: 'None', datamartName: 'sales' });
    expect((await refusalOf(() => mint)).code).toBe('CLIENT_ID_ERROR');
    const bySource = world.mint({ allowedEmbeds: [bare] }, { clientId: 'None', datasourceName: 'warehouse-sales' });
    expect((await refusalOf(() => bySource)).code).toBe('CLIENT_ID_ERROR');
  });

  test('the host’s backend names it with its question', async () => {
    const ask = (names: object) =>
      queryMetric(world.deps)(world.api(), { embedId: bare, metricId: 'board-count', clientId: 'a', ...names }, stays);
    expect((await ask({ datamartName: 'sales2' })).answer.rows).toEqual([{ Sales: 5 }]);
    expect((await ask({ datasourceName: 'warehouse-sales2' })).answer.rows).toEqual([{ Sales: 5 }]);
    expect((await refusalOf(() => ask({}))).code).toBe('METRIC_QUERY_ERROR');
    expect((await refusalOf(() => ask({ datamartName: 'nowhere' }))).code).toBe('METRIC_QUERY_ERROR');
    const mixed = { datamartName: 'sales2', datasourceName: 'warehouse-sales' };
    expect((await refusalOf(() => ask(mixed))).code).toBe('EMBED_PARAM_ERROR');
  });
});

describe('an embed that names its datamart', () => {
  const change = async (fields: Partial<Workspace>, work: () => Promise<void>): Promise<void> => {
    const workspace = await world.store.workspaces.findById('w');
    if (workspace === undefined) throw new Error('there is no workspace');
    await world.store.workspaces.update({ ...workspace, ...fields });
    try {
      await work();
    } finally {
      await world.store.workspaces.update(workspace);
    }
  };
  const oneSource = [
    { connectionType: 'DATAMART', datamartId: 'mart-sales' },
    { connectionType: 'DATASOURCE', datasourceId: 'source-sales' },
  ] as const;
  let embed: string;
  beforeAll(async () => {
    embed = await world.embed('board');
  });

  test.each(['MULTI_DATAMART', 'MULTI_DATASOURCE'] as const)(
    '%s: reads what the token names, and its own where the token names nothing',
    (connectionType) =>
      change({ connectionType }, async () => {
        const read = async (fields: Parameters<typeof asked>[0]) => (await asked(fields, embed, embed)).datamart.name;
        expect(await read({})).toBe('sales');
        expect(await read({ datamartName: 'sales2' })).toBe('sales2');
        expect(await read({ datasourceName: 'warehouse-sales2' })).toBe('sales2');
        expect(await read({ datasourceName: 'warehouse-sales2', datamartName: 'sales2' })).toBe('sales2');
      }),
  );

  test.each(oneSource)(
    '$connectionType: a token that names another source is refused at mint and at each read',
    (type) =>
      change(type, async () => {
        const own = { datamartName: 'sales', datasourceName: 'warehouse-sales' };
        expect((await asked(own, embed, embed)).datamart.name).toBe('sales');
        expect((await world.mint({ allowedEmbeds: [embed] }, own)).grant.datamartId).toBe('mart-sales');
        for (const names of [{ datamartName: 'sales2' }, { datasourceName: 'warehouse-sales2' }]) {
          expect(await refusalOf(() => world.mint({ allowedEmbeds: [embed] }, names))).toMatchObject({
            code: 'DATASOURCE_NAME_ERROR',
            message: expect.stringContaining('MULTI_DATASOURCE or MULTI_DATAMART'),
          });
          expect((await refusalOf(() => asked(names, embed, embed))).code).toBe('UNAUTHORIZED');
        }
      }),
  );

  test('a token of before is refused once the workspace has one source, and once its datamart is gone', async () => {
    const guest = await world.mint({ allowedEmbeds: [embed] }, { datamartName: 'sales2' });
    expect(await world.count(guest, 'board-count', embed)).toBe(5);
    await change(oneSource[0], async () => {
      expect((await refusalOf(() => world.count(guest, 'board-count', embed))).code).toBe('UNAUTHORIZED');
    });
    const gone = await world.store.datamarts.findByName('sales2');
    if (gone === undefined) throw new Error('there is no datamart');
    await world.store.datamarts.remove(gone.id);
    expect((await refusalOf(() => world.count(guest, 'board-count', embed))).code).toBe('UNAUTHORIZED');
    // Another datamart of that name, and of that datasource, is not the one that the token names.
    await world.store.datamarts.insert({ ...gone, id: 'mart-anew' });
    expect((await refusalOf(() => world.count(guest, 'board-count', embed))).code).toBe('UNAUTHORIZED');
    await world.store.datamarts.remove('mart-anew');
    await world.store.datamarts.insert(gone);
  });

  test('of a datasource with several datamarts, the token reads the embed’s own, or names one', async () => {
    const sales = await world.store.datamarts.findByName('sales');
    if (sales === undefined) throw new Error('there is no datamart');
    for (const datasourceId of ['source-sales', 'source-sales2'])
      await world.store.datamarts.insert({
        ...sales,
        id: `more-${datasourceId}`,
        name: `more ${datasourceId}`,
        datasourceId,
      });
    const mint = (names: object) => world.mint({ allowedEmbeds: [embed] }, names);
    expect((await asked({ datasourceName: 'warehouse-sales' }, embed, embed)).datamart.name).toBe('sales');
    expect((await refusalOf(() => mint({ datasourceName: 'warehouse-sales2' }))).code).toBe('DATASOURCE_NAME_ERROR');
    const named = { datasourceName: 'warehouse-sales2', datamartName: 'more source-sales2' };
    expect((await asked(named, embed, embed)).datamart.name).toBe('more source-sales2');
    for (const datasourceId of ['source-sales', 'source-sales2'])
      await world.store.datamarts.remove(`more-${datasourceId}`);
  });

  test('the client is checked at mint and at each read against the datamart that the token names', async () => {
    const sales2 = await world.store.datamarts.findByName('sales2');
    if (sales2 === undefined) throw new Error('there is no datamart');
    const guest = await world.mint({ allowedEmbeds: [embed] }, { datamartName: 'sales2' });
    await world.store.datamarts.update({ ...sales2, tenancy: byClients('NUMBER') });
    for (const names of [{ datamartName: 'sales2' }, { datasourceName: 'warehouse-sales2' }])
      expect((await refusalOf(() => world.mint({ allowedEmbeds: [embed] }, names))).code).toBe('CLIENT_ID_ERROR');
    expect((await refusalOf(() => world.count(guest, 'board-count', embed))).code).toBe('CLIENT_ID_ERROR');
    expect((await world.mint({ allowedEmbeds: [embed] }, {})).grant.datamartId).toBeNull();
    await world.store.datamarts.update(sales2);
  });

  test('the host’s backend may name another source too', async () => {
    const ask = (names: object) =>
      queryMetric(world.deps)(world.api(), { embedId: embed, metricId: 'board-count', clientId: 'a', ...names }, stays);
    expect((await ask({ datamartName: 'sales2' })).answer.rows).toEqual([{ Sales: 5 }]);
    await change(oneSource[0], async () => {
      expect((await refusalOf(() => ask({ datamartName: 'sales2' }))).code).toBe('EMBED_PARAM_ERROR');
    });
  });
});

test.each([
  ['joinModel single', { joinModel: 'single' }, 'single'],
  ['joinModel multi', { joinModel: 'multi', isIncrementalJoin: false }, 'multi'],
  ['joinModel left out', {}, 'multi'],
  ['isIncrementalJoin true', { isIncrementalJoin: true }, 'multi'],
  ['the legacy isIncrementalJoin false', { isIncrementalJoin: false }, 'single'],
] as const)('%s: the metric is asked so', async (_, parts: Partial<AccessSettings>, joinModel) => {
  const embed = await world.embed('board', undefined, { ...settings, ...parts });
  expect((await asked({}, embed, embed)).joinModel).toBe(joinModel);
});

test('a rule for a column that the token’s own source lacks is refused, since it would hide nothing there', async () => {
  const sales = await world.store.datamarts.findByName('sales');
  const [table] = sales?.tables ?? [];
  const [column] = table?.columns ?? [];
  if (sales === undefined || table === undefined || column === undefined) throw new Error('there is no column');
  await world.store.datamarts.insert({ ...sales, id: 'mart-bare', name: 'bare', tables: [] });
  const hideColumns = [`${table.schemaName}.${table.tableName}.${column.columnName}`];
  await world.mint({ hideColumns }, { datamartName: 'sales' });
  const refusal = await refusalOf(() => world.mint({ hideColumns }, { datamartName: 'bare' }));
  expect(refusal).toMatchObject({ code: 'INVALID_REQUEST_BODY', reason: 'column-rule-unknown' });
  await world.store.datamarts.remove('mart-bare');
});
