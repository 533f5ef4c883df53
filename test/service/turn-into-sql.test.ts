/** A metric that an author turns into SQL: the text is one that the author could have typed, and holds nothing of the viewer. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DashboardFilter } from '../../src/model/dashboard/dashboard.js';
import type { MetricDefinition, VisualDefinition } from '../../src/model/dashboard/metric.js';
import type { AuthorCaller } from '../../src/model/guest/caller.js';
import { describeAuthoredMetric, previewAuthoredMetric } from '../../src/service/dashboards/author-preview.js';
import { turnIntoSql } from '../../src/service/dashboards/turn-into-sql.js';
import { columnRef, condition, metric, stays } from '../engine/world.js';
import { createWorld, stateFilter, type World } from './world.js';

const twoColumns: DashboardFilter = {
  name: 'Shop',
  dataType: 'string',
  applyOnTables: ['sales.shop', 'shops.code'].map((path) => ({ ...columnRef(path), dataType: 'string' })),
};

let world: World;
beforeAll(async () => {
  world = await createWorld();
  await world.template('board');
  await world.clone('board', 'one');
  await world.clone('board', 'theirs', 'b');
  await world.template('filtered', { filters: [twoColumns] });
  await world.clone('filtered', 'by-shop');
});
afterAll(() => world.close());

const author = { issuer: 'link', subject: 'ann', name: 'Ann', roles: ['author'], seesData: false } as const;
const asAuthor = async (...given: Parameters<World['mint']>): Promise<AuthorCaller> => ({
  ...(await world.mint(...given)),
  author,
});
const onlyIn = (state: string, dashboardId = 'one') => ({
  dashboardAppFilters: [{ dashboardId, values: { [stateFilter.name]: state }, isShowOnUrl: true }],
});
const turn = async (caller: AuthorCaller, definition: MetricDefinition, dashboardId = 'one') =>
  turnIntoSql(world.deps)(caller, { dashboardId, definition }, stays);
const rowsOf = async (caller: AuthorCaller, definition: MetricDefinition, dashboardId = 'one') =>
  (await previewAuthoredMetric(world.deps)(caller, { dashboardId, definition }, stays)).answer.rows;

const shop = { name: 'Shop', column: columnRef('sales.shop') };
const state = { name: 'State', column: columnRef('shops.state') };
const sales = { name: 'Sales', aggregate: 'COUNT' } as const;
const byState: VisualDefinition = metric('sales', {
  dimensions: [state],
  measures: [sales],
  where: condition('sales.id', { kind: 'compare', operator: '>', value: 1 }),
  filters: [{ name: 'shop', label: 'Shop', column: columnRef('sales.shop'), dataType: 'string' }],
  sort: [{ name: 'Sales', direction: 'DESC' }],
  limit: 3,
});

test('two tenants and a restricted user read the same rows before and after, from one text', async () => {
  const viewers = [
    [await asAuthor(), 'one'],
    [await asAuthor({}, { clientId: 'b' }), 'theirs'],
    [await asAuthor(onlyIn('CA')), 'one'],
  ] as const;
  const answers = [];
  for (const [caller, dashboard] of viewers) {
    const { definition, columns } = await turn(caller, byState, dashboard);
    answers.push(definition);
    expect(columns.map(({ name, use }) => [name, use])).toEqual([
      ['State', 'dimension'],
      ['Sales', 'measure'],
    ]);
    expect(await rowsOf(caller, definition, dashboard)).toEqual(await rowsOf(caller, byState, dashboard));
  }
  expect(answers[1]).toEqual(answers[0]);
  expect(answers[2]).toEqual(answers[0]);
  expect(await rowsOf(viewers[2][0], answers[0] as MetricDefinition)).toEqual([{ State: 'CA', Sales: 1 }]);
});

test('the text names tables and the author’s own values; filters, sort and limit stay beside it', async () => {
  const { definition } = await turn(await asAuthor(onlyIn('CA')), byState);
  expect(definition.sql).toBe(
    [
      'SELECT',
      '  "shops"."state" AS "State",',
      '  count(*) AS "Sales"',
      'FROM "main"."sales" AS "sales"',
      'LEFT JOIN "main"."shops" AS "shops" ON "sales"."shop" = "shops"."code"',
      `WHERE ("sales"."id" > CAST('1' AS BIGINT))`,
      'GROUP BY 1',
    ].join('\n'),
  );
  const { filters, sort, limit, chart, rlsVariables } = byState;
  expect(definition).toMatchObject({ kind: 'sql', filters, sort, limit, chart, rlsVariables });
});

test('a column that the viewed user may not see is refused, and stays hidden in SQL that another view wrote', async () => {
  const { definition } = await turn(await asAuthor(), metric('sales', { dimensions: [shop], measures: [sales] }));
  const hiding = await asAuthor({ hideColumns: ['main.sales.shop'] });
  await expect(rowsOf(hiding, definition)).rejects.toMatchObject({ code: 'METRIC_QUERY_ERROR' });
  await expect(turn(hiding, metric('sales', { dimensions: [shop] }))).rejects.toMatchObject({
    code: expect.stringMatching(/INVALID_REQUEST_BODY|METRIC_QUERY_ERROR/),
  });
  const masking = await asAuthor({ maskColumns: { 'main.sales.shop': 'first' } });
  await expect(turn(masking, metric('sales', { dimensions: [shop] }))).rejects.toMatchObject({
    reason: 'metric-not-in-sql',
    message: expect.stringMatching(/masked or hidden/),
  });
  expect(await rowsOf(masking, definition)).toEqual(
    await rowsOf(masking, metric('sales', { dimensions: [shop], measures: [sales] })),
  );
});

test('nobody turns a metric of a dashboard that the view does not open, nor by a token that binds metrics by name', async () => {
  await expect(turn(await asAuthor(), byState, 'theirs')).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  const caller = await asAuthor();
  const named = { ...caller, grant: { ...caller.grant, rlsSettings: [{ metricId: 'm', values: { State: 'CA' } }] } };
  await expect(turn(named, byState)).rejects.toMatchObject({ reason: 'restricted-token-defines' });
});

test('what was written is read as an author’s own text, and a refusal of it says why the metric stays', async () => {
  const variable = metric('sales', {
    dimensions: [shop],
    where: condition('sales.shop', { kind: 'oneOf', values: ['client_id_variable'] }),
  });
  await expect(turn(await asAuthor(), variable)).rejects.toMatchObject({
    code: 'METRIC_QUERY_ERROR',
    reason: 'metric-not-in-sql',
    message:
      'This metric can’t be turned into SQL: The SQL holds a variable in quotes (write it without them, it is a bound value); take it out or write it in another way.',
  });
});

test('a filter of the dashboard that would then be on other columns is named', async () => {
  const joined = metric('sales', { dimensions: [state], measures: [sales] });
  await expect(turn(await asAuthor(), joined, 'by-shop')).rejects.toMatchObject({
    message: 'This metric can’t be turned into SQL: the filter Shop of the dashboard would then be on other columns.',
  });
  const alone = metric('sales', { dimensions: [shop], measures: [sales] });
  const { definition } = await turn(await asAuthor(), alone, 'by-shop');
  expect(definition.sql).not.toContain('shops');
});

test('a filter that the SQL cannot take is noticed before a reader sets it', async () => {
  const hasState = metric('sales', {
    measures: [sales],
    where: condition('shops.state', { kind: 'oneOf', values: ['CA', 'NV'] }),
  });
  await expect(turn(await asAuthor(), hasState)).rejects.toMatchObject({
    reason: 'metric-not-in-sql',
    message: expect.stringMatching(/condition on main\.shops cannot be applied/),
  });
});

test('a metric in SQL and one with faults are refused, the second with the place of the fault', async () => {
  const { definition } = await turn(await asAuthor(), byState);
  await expect(turn(await asAuthor(), definition)).rejects.toMatchObject({ reason: 'metric-not-in-sql' });
  const faulty = metric('sales', { dimensions: [{ ...shop, column: columnRef('sales.gone') }] });
  await expect(turn(await asAuthor(), faulty)).rejects.toMatchObject({
    code: 'INVALID_REQUEST_BODY',
    message: expect.stringMatching(/^definition\.dimensions/),
  });
});

test('the statement of the turned metric is that of the same text typed by hand', async () => {
  const caller = await asAuthor();
  const { definition } = await turn(caller, byState);
  const typed = { ...definition, dimensions: [], measures: [], sort: [] };
  const describe = describeAuthoredMetric(world.deps);
  const [one, other] = await Promise.all(
    [definition, typed].map((each) => describe(caller, { dashboardId: 'one', definition: each }, stays)),
  );
  expect(one?.columns).toEqual(other?.columns);
});
