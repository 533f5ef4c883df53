/** The host's SQL, from saving it to a guest who reads it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DashboardContent } from '../../src/model/dashboard/dashboard.js';
import type { MetricDefinition, SqlDefinition } from '../../src/model/dashboard/metric.js';
import { importDashboard } from '../../src/service/dashboards/transfer.js';
import { updateDatamart } from '../../src/service/datamarts/datamarts.js';
import { queryMetric } from '../../src/service/embeds/query.js';
import { encodeMetric } from '../../src/service/guest/contract/reads.js';
import { listGuestFilterOptions } from '../../src/service/guest/options.js';
import { listGuestUnderlying, viewMetric } from '../../src/service/guest/reads.js';
import { columnRef, metric, refusalOf, stays } from '../engine/world.js';
import { createWorld, salesCount, stateFilter, type World } from './world.js';

/** The signal of a caller that never disconnects. */
const going = new AbortController().signal;

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

const inSql = (parts: Partial<SqlDefinition> = {}): SqlDefinition => ({
  ...{ kind: 'sql', chart: { type: 'table' }, dimensions: [], measures: [{ name: 'Sales' }], sort: [], limit: null },
  sql: 'select count(*) as "Sales" from sales s left join shops on code = shop where state in (region_variable)',
  filters: [{ name: 'shop', label: 'Shop', column: columnRef('sales.shop'), dataType: 'string' }],
  rlsVariables: [{ name: 'region', isOptional: false }],
  ...parts,
});
const plain = inSql({ sql: 'select count(*) as "Sales" from sales', rlsVariables: [] });
const values = (sql: string) => ({ sql, columnName: 'state' });
const rls = (metricId: string, ...regions: (string | string[])[]) => ({
  rlsSettings: regions.map((region) => ({ metricId, values: { region } })),
});

describe('RLS variables of custom SQL', () => {
  test('are bound, and two settings for one intersect', async () => {
    await world.template('rls', {}, inSql());
    await world.embed('rls');
    const count = async (...regions: (string | string[])[]) =>
      world.count(await world.mint(rls('rls-count', ...regions)), 'rls-count', 'rls');
    expect(await count('CA')).toBe(2);
    expect(await count(['CA', 'NV'])).toBe(3);
    expect(await count(['CA', 'NV'], ['NV', 'NY'])).toBe(1);
    expect(await refusalOf(() => count('CA', 'NV'))).toMatchObject({
      code: 'RLS_SETTINGS_PARAM_ERROR',
      reason: 'rls-values-apart',
    });
  });

  test('RLS variables of custom SQL with a value that the SQL does not compare with are refused, not ignored', async () => {
    const texts = [
      'select count(*) as "Sales" from sales -- region_variable',
      'select count(*) as "Sales" from sales s left join shops on code = shop where state in (sub_region_variable)',
    ];
    const optional = (name: string) => ({ name, isOptional: true });
    for (const [index, sql] of texts.entries()) {
      await world.template(`lost${index}`, {}, inSql({ sql, rlsVariables: ['region', 'sub_region'].map(optional) }));
      await world.embed(`lost${index}`);
      const guest = await world.mint(rls(`lost${index}-count`, 'CA'));
      expect(await refusalOf(() => world.count(guest, `lost${index}-count`, `lost${index}`))).toMatchObject({
        reason: 'sql-variable-unused',
        message: expect.not.stringMatching(/region|CA/),
      });
    }
  });

  test('have a value, also from the host`s own backend', async () => {
    await world.template('backend', {}, inSql());
    await world.embed('backend');
    expect(
      await refusalOf(() => world.mint().then((guest) => world.count(guest, 'backend-count', 'backend'))),
    ).toMatchObject({
      code: 'RLS_SETTINGS_PARAM_ERROR',
    });
    const ask = (metricFilter: Record<string, string>) =>
      queryMetric(world.deps)(
        world.api(),
        { embedId: 'backend', metricId: 'backend-count', clientId: 'a', metricFilter },
        going,
      );
    expect((await ask({ region: 'NY' })).answer.rows).toEqual([{ Sales: 1 }]);
    expect(await refusalOf(() => ask({}))).toMatchObject({ code: 'RLS_SETTINGS_PARAM_ERROR' });
  });
});

describe('filters', () => {
  test('filters of dashboard, token and guest restrict a metric in SQL, and values in SQL any metric', async () => {
    await world.template('both', {}, plain);
    await world.template('visual');
    for (const id of ['both', 'visual']) {
      await world.embed(id);
      const state = (value: string | ReturnType<typeof values>) => ({
        dashboardAppFilters: [{ dashboardId: id, values: { State: value }, isShowOnUrl: true }],
      });
      const count = async (params: object, more: object = {}) =>
        world.count(await world.mint(params), `${id}-count`, id, more);
      expect(await count({}), id).toBe(5);
      expect(await count({}, { dashboardFilter: { State: 'CA' } }), id).toBe(2);
      expect(await count({}, { metricFilter: { Shop: 's2' } }), id).toBe(1);
      expect(await count(state('CA'), { dashboardFilter: {} }), id).toBe(2);
      expect(await count(state(values("select state from shops where code <> 's1'"))), id).toBe(2);
      const own = values("select shop as state from sales where client = 'b'");
      expect(await count({ appFilters: [{ metricId: `${id}-count`, values: { shop: own } }] }), id).toBe(0);
    }
  });

  test('know no SQL of a guest`s', async () => {
    await world.template('guests');
    await world.embed('guests');
    const guest = await world.mint();
    const sql = values('select state from shops');
    for (const more of [{ dashboardFilter: { State: sql } }, { metricFilter: { Shop: sql } }]) {
      expect(await refusalOf(() => world.count(guest, 'guests-count', 'guests', more))).toMatchObject({
        code: 'INVALID_REQUEST_BODY',
      });
    }
  });

  test('filters with a default in SQL hold, and the guest never reads it', async () => {
    const secret = values("select state from shops where state = 'CA'");
    const [filter] = salesCount.filters;
    if (filter === undefined) throw new Error('the metric lost its filter');
    const shop = { ...filter, defaultValue: { sql: "select code from shops where state = 'CA'", columnName: 'code' } };
    const board = await world.template(
      'hides',
      { filters: [{ ...stateFilter, defaultValue: secret }] },
      { ...plain, filters: [shop] },
    );
    await world.embed('hides');
    const guest = await world.mint();
    expect(await world.count(guest, 'hides-count', 'hides')).toBe(2);
    const [placed] = await world.store.dashboards.listMetrics(board.id);
    if (placed === undefined) throw new Error('the dashboard lost its metric');
    const shown = JSON.stringify(encodeMetric(viewMetric(guest.grant, placed.metric)));
    expect(shown).toContain('Shop');
    expect(shown).not.toMatch(/select|CA|code/);
  });

  test('take no options from a metric in SQL, and its rows are not queried', async () => {
    const board = await world.template('options', {}, plain);
    await world.embed('options');
    const guest = await world.mint({ permissions: { isEnableUnderlyingData: true } } as object);
    const options = () => listGuestFilterOptions(world.deps)(guest, { dashboardId: 'options', filter: 'State' }, going);
    expect(await options()).toEqual([]);
    await world.template('options-visual');
    await world.store.dashboards.placeMetrics(
      board.id,
      [{ metricId: 'options-visual-count', placement: 'METRIC' }],
      new Date(0),
    );
    const later = await world.mint();
    const found = await listGuestFilterOptions(world.deps)(later, { dashboardId: 'options', filter: 'State' }, going);
    expect(found.map(({ value }) => value)).toEqual(['CA', 'NV', 'NY']);
    const rows = () =>
      listGuestUnderlying(world.deps)(guest, { metricId: 'options-count', dashboardId: 'options' }, going);
    expect((await refusalOf(rows)).code).toMatch(/METRIC_QUERY_ERROR|UNAUTHORIZED/);
  });
});

describe('when it is saved', () => {
  const service = { kind: 'serviceToken', tokenId: 't' } as const;
  let made = 0;
  const save = (definition: MetricDefinition) => {
    const content: DashboardContent = {
      ...{ layout: [], filters: [], gridMargin: [] },
      metrics: [{ metricId: 'm', name: 'm', lineage: [], placement: 'METRIC', definition }],
    };
    made += 1;
    return importDashboard(world.deps)(
      service,
      {
        workspaceName: 'space',
        importDashboardData: content,
        dashboardId: `saved-${made}`,
      },
      stays,
    );
  };

  test.each([
    ['select count(*) as "Sales" from', 'metrics[0].definition.sql: expected one SELECT'],
    ['select 1 as "é",\n count(*) frm sales', 'it fails at line 2, column 15'],
    ['select 1 as "Sales"; select 2', 'metrics[0].definition.sql: expected one SELECT'],
    ["select * from read_csv('of-a-tenant.csv')", 'a function that is not allowed: read_csv'],
    ['select count(*) as "Sales" from secrets', 'secrets is no table of the datamart'],
    ['select count(*) as "Sales" from sales where shop = other_variable', 'other_variable is not among'],
  ])('a dashboard is refused with the place: %s', async (sql, said) => {
    const refusal = await refusalOf(() => save({ ...plain, sql }));
    expect(refusal.code).toBe('INVALID_DASHBOARD_DATA');
    expect(refusal.message).toContain(said);
    expect(refusal.message).not.toContain('of-a-tenant');
  });

  test('a wrong expression is refused too, and correct SQL is accepted', async () => {
    const measure = (expression: string) => metric('sales', { measures: [{ name: 'n', expression }] });
    expect((await refusalOf(() => save(measure('1=1) or (1=1')))).message).toContain(
      'metrics[0].definition.measures[0].expression: The SQL does not parse',
    );
    await save(measure('count(*) * 2'));
    await save(plain);
    await save(inSql());
  });

  test('a custom column is refused with its place', async () => {
    const update = (sql: string) =>
      updateDatamart(world.deps)(service, {
        datamartName: 'sales2',
        relationships: [],
        tableList: [
          { name: 'clients', columns: [{ name: 'id' }, { name: 'name' }] },
          {
            name: 'sales',
            clientColumn: 'client',
            columns: [{ name: 'id' }, { name: 'shop' }, { name: 'own', isCustomColumn: true, sql }],
          },
          { name: 'shops', columns: [{ name: 'code' }, { name: 'state' }] },
        ],
      });
    for (const sql of ['id +', "getenv('HOME')", '(select 1)', 'sum(id)', 'missing + 1', 'client']) {
      const refusal = await refusalOf(() => update(sql));
      expect(refusal.code).toBe('INVALID_REQUEST_BODY');
      expect(refusal.message).toContain('tableList[1].columns[2].sql');
    }
    const updated = await update("upper(shop) || '!'");
    expect(updated.datamart.tables[1]?.columns[2]).toMatchObject({ isCustomColumn: true, sql: "upper(shop) || '!'" });
  });
});
