/** Dashboards are exported and imported repeatedly without any loss. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DashboardContent } from '../../src/model/dashboard/dashboard.js';
import type { DatamartTable } from '../../src/model/datamart/datamart.js';
import { dashboardExport, encodeExport } from '../../src/service/dashboards/contract/export.js';
import { importedData } from '../../src/service/dashboards/contract/versions.js';
import { createDashboardEmbed } from '../../src/service/dashboards/embeds.js';
import { exportDashboard, exportEmbed, importDashboard } from '../../src/service/dashboards/transfer.js';
import { byClients, datamart, metric, stays } from '../engine/world.js';
import { createWorld, settings, type World } from './world.js';

let world: World;
beforeAll(async () => {
  world = await createWorld();
  const { store } = world;
  const there = await store.datamarts.findByName('sales');
  const abroad = (table: DatamartTable): DatamartTable => ({ ...table, schemaName: 'abroad' });
  const parts = { id: 'mart-abroad', name: 'abroad', datasourceId: 'source-sales', tenancy: byClients() };
  const relationships = (there?.relationships ?? []).map((one) => ({
    ...one,
    parent: { ...one.parent, schemaName: 'abroad' },
    child: { ...one.child, schemaName: 'abroad' },
  }));
  await store.datamarts.insert(datamart({ ...parts, tables: there?.tables.map(abroad) ?? [], relationships }));
  const workspace = { id: 'w-abroad', name: 'abroad', connectionType: 'DATAMART', datasourceId: null } as const;
  await store.workspaces.insert({ ...workspace, datamartId: 'mart-abroad' });
});
afterAll(() => world.close());

const service = { kind: 'serviceToken', tokenId: 't' } as const;
const columns = ['sales.id', 'sales.client', 'sales.shop', 'shops.code', 'shops.state'].map((path) => {
  const [tableName = '', columnName = ''] = path.split('.');
  return { schemaName: 'main', tableName, columnName };
});
const column = fc.constantFrom(...columns);
const name = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
  .filter((text) => /^[^\p{Cc}\p{Cs}]+$/u.test(text));
const plain = (text: string) => text.toLowerCase();
const names = (max: number) => fc.uniqueArray(name, { maxLength: max, selector: plain });
const sqlValue = { sql: 'SELECT state FROM main.shops', columnName: 'state' };
const defaultValue = fc.constantFrom(undefined, 'CA', ['CA', 'NV'], sqlValue);

const filters = names(3).chain((labels) =>
  fc.tuple(...labels.map((label) => fc.tuple(fc.constant(label), column, defaultValue))),
);
const definition = fc
  .record({
    labels: fc.uniqueArray(name, { minLength: 1, maxLength: 3, selector: plain }),
    used: column,
    filters,
    limit: fc.option(fc.integer({ min: 1, max: 100 })),
  })
  .map(({ labels, used, filters: own, limit }) =>
    metric('sales', {
      dimensions: labels.map((label) => ({ name: label, column: used })),
      measures: [{ name: `${labels.join('')}#`, aggregate: 'COUNT' }],
      filters: own.map(([label, ref, value]) => ({
        name: label,
        label,
        column: ref,
        dataType: 'string',
        ...(value === undefined ? {} : { defaultValue: value }),
      })),
      rlsVariables: [{ name: 'v', column: used, isOptional: true }],
      underlying: [used],
      limit,
    }),
  );
const content: fc.Arbitrary<DashboardContent> = fc
  .record({
    metrics: fc.uniqueArray(
      fc.record({
        metricId: name,
        name,
        definition,
        lineage: fc.uniqueArray(fc.uuid(), { maxLength: 3 }),
        placement: fc.constantFrom('METRIC' as const, 'GALLERY' as const),
      }),
      { maxLength: 3, selector: ({ metricId }) => metricId },
    ),
    filters,
    gridMargin: fc.array(fc.integer({ min: 0, max: 100 }), { maxLength: 4 }),
    isAllowPrivateMetricsByDefault: fc.boolean(),
    metadata: fc.option(fc.dictionary(name, fc.jsonValue({ maxDepth: 1, noUnicodeString: false }), { maxKeys: 2 })),
  })
  .map(({ filters: own, ...rest }) => ({
    ...rest,
    filters: own.map(([label, ref, value]) => ({
      name: label,
      dataType: 'string' as const,
      applyOnTables: [{ ...ref, dataType: 'string' }],
      ...(value === undefined ? {} : { defaultValue: value }),
    })),
    layout: rest.metrics
      .filter(({ placement }) => placement === 'METRIC')
      .map(({ metricId }, index) => ({ metricId, x: 0, y: index * 4, w: 12, h: 4 })),
  }))
  // Text that no database can store is refused earlier; other tests check that.
  .filter((made) => !/\\u0000|\\ud[89a-f]/i.test(JSON.stringify(made)));

/** Removes ids, so that metrics are compared by position. Lineages are checked separately. */
const withoutIds = (given: DashboardContent) => {
  const at = (metricId: string) => given.metrics.findIndex((one) => one.metricId === metricId);
  return JSON.parse(
    JSON.stringify({
      ...given,
      layout: given.layout.map((card) => ({ ...card, metricId: at(card.metricId) })),
      metrics: given.metrics.map(({ metricId: _, lineage: __, ...rest }) => rest),
    }),
  );
};
/** Encodes and decodes an export, as when it is saved as a file. */
const wired = (exported: Parameters<typeof encodeExport>[0]): DashboardContent =>
  importedData.parse(JSON.parse(JSON.stringify(dashboardExport.parse(encodeExport(exported)))));

const travel = async (data: DashboardContent, workspaceName: string, pairs: readonly [string, string][] = []) => {
  const { dashboard } = await importDashboard(world.deps)(
    service,
    {
      workspaceName,
      importDashboardData: data,
      schemaPairs: pairs.map(([replaceSchema, targetSchema]) => ({ replaceSchema, targetSchema })),
    },
    stays,
  );
  return wired(
    await exportDashboard(world.deps)(service, { dashboardId: dashboard.externalDashboardId, workspaceName }),
  );
};

describe('export, import elsewhere, export', () => {
  test('equal but for ids: another workspace with another schema, and back', async () => {
    await fc.assert(
      fc.asyncProperty(content, async (given) => {
        const original = importedData.parse(JSON.parse(JSON.stringify(given)));
        const first = await travel(original, 'space');
        const second = await travel(first, 'abroad', [['main', 'abroad']]);
        const third = await travel(second, 'space', [['abroad', 'main']]);
        expect(withoutIds(first)).toEqual(withoutIds(original));
        expect(withoutIds(third)).toEqual(withoutIds(original));
        expect(JSON.stringify(second)).not.toMatch(/"schemaName":"main"|FROM main\./);
        // Each metric still has its origins, nearest first.
        for (const [index, { lineage }] of third.metrics.entries()) {
          const came = [second, first, original].flatMap((one) => one.metrics[index]?.metricId ?? []);
          expect(lineage).toEqual([...came, ...(original.metrics[index]?.lineage ?? [])]);
        }
      }),
      { numRuns: 15 },
    );
  }, 60_000);

  test('equal but for ids: a client of another data app', async () => {
    await fc.assert(
      fc.asyncProperty(content, fc.uuid(), async (given, dashboardId) => {
        const original = importedData.parse(JSON.parse(JSON.stringify(given)));
        const command = { dashboardId, clientId: 'a', workspaceName: 'space', accessSettings: settings };
        const parts = { ...command, importDashboardData: original, isImportMetrics: false, isRenameDashboard: false };
        await createDashboardEmbed(world.deps)(world.api('other'), parts, stays);
        const exported = wired(await exportEmbed(world.deps)(world.api('other'), { embedId: dashboardId }));
        expect(withoutIds(exported)).toEqual(withoutIds(original));
      }),
      { numRuns: 10 },
    );
  }, 60_000);
});

test('a lineage is bounded: what was copied a hundred times is refused, and never cut', async () => {
  const made = (length: number): DashboardContent => ({
    layout: [],
    filters: [],
    gridMargin: [],
    metrics: [
      {
        metricId: 'm',
        name: 'M',
        placement: 'GALLERY',
        lineage: Array.from({ length }, (_, index) => `old-${index}`),
        definition: metric('sales', { measures: [{ name: 'n', aggregate: 'COUNT' }] }),
      },
    ],
  });
  const [kept] = (await travel(made(99), 'space')).metrics;
  expect(kept?.lineage).toHaveLength(100);
  expect(kept?.lineage.at(-1)).toBe('old-98');
  await expect(travel(made(100), 'space')).rejects.toMatchObject({ code: 'INVALID_DASHBOARD_DATA' });
});

test('of two simultaneous imports under one id, and a client’s dashboard of that id, exactly one succeeds', async () => {
  const empty: DashboardContent = { layout: [], filters: [], metrics: [], gridMargin: [] };
  const organization = () =>
    importDashboard(world.deps)(
      service,
      {
        workspaceName: 'space',
        importDashboardData: empty,
        dashboardId: 'contested',
      },
      stays,
    );
  const clients = (app: 'app' | 'other') =>
    createDashboardEmbed(world.deps)(
      world.api(app),
      {
        dashboardId: 'contested',
        clientId: 'a',
        workspaceName: 'space',
        accessSettings: settings,
        isImportMetrics: false,
        isRenameDashboard: false,
      },
      stays,
    );
  const settled = await Promise.allSettled([organization(), organization(), clients('app')]);
  expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const one of settled) {
    if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'INVALID_DASHBOARD_ID' });
  }
});
