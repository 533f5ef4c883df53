/** A metric that an author tries before it is saved: in SQL, with expressions, and always as the viewed user reads. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { MetricDefinition } from '../../src/model/dashboard/metric.js';
import type { AuthorCaller } from '../../src/model/guest/caller.js';
import { describeAuthoredMetric, previewAuthoredMetric } from '../../src/service/dashboards/author-preview.js';
import { metric, stays } from '../engine/world.js';
import { createWorld, stateFilter, type World } from './world.js';

let world: World;
beforeAll(async () => {
  world = await createWorld();
  await world.template('board');
  await world.clone('board', 'one');
  await world.clone('board', 'theirs', 'b');
});
afterAll(() => world.close());

const author = { issuer: 'link', subject: 'ann', name: 'Ann', roles: ['author'], seesData: true } as const;
const asAuthor = async (...given: Parameters<World['mint']>): Promise<AuthorCaller> => ({
  ...(await world.mint(...given)),
  author,
});
const inSql = (sql: string, ...names: readonly string[]): MetricDefinition => ({
  ...{ kind: 'sql', chart: { type: 'table' }, sql, dimensions: [] },
  measures: names.map((name) => ({ name })),
  ...{ filters: [], rlsVariables: [], sort: [], limit: null },
});
const rowsOf = async (caller: AuthorCaller, definition: MetricDefinition, dashboardId = 'one') =>
  (await previewAuthoredMetric(world.deps)(caller, { dashboardId, definition }, stays)).answer.rows;
const describeOf = async (caller: AuthorCaller, definition: MetricDefinition) =>
  describeAuthoredMetric(world.deps)(caller, { dashboardId: 'one', definition }, stays);
const statementOf = async (caller: AuthorCaller, definition: MetricDefinition) =>
  (await describeOf(caller, definition)).sql;

const ids = inSql('SELECT id, client FROM sales ORDER BY id', 'id', 'client');

test('SQL reads the rows of the viewed user’s tenant, and never those of another', async () => {
  expect((await rowsOf(await asAuthor(), ids)).map(({ id, client }) => [id, client])).toEqual(
    [1, 2, 3, 4, 5].map((id) => [id, 'a']),
  );
  expect(await rowsOf(await asAuthor({}, { clientId: 'b' }), ids, 'theirs')).toEqual([{ id: 6, client: 'b' }]);
  const escaping = [
    "SELECT id, client FROM sales WHERE client = 'b' OR 1 = 1 ORDER BY id",
    'SELECT s.id, s.client FROM sales s LEFT JOIN sales o ON true GROUP BY s.id, s.client',
    'SELECT id, client FROM (SELECT * FROM sales) AS inner_sales UNION SELECT id, client FROM sales',
  ];
  for (const sql of escaping) {
    const rows = await rowsOf(await asAuthor(), inSql(sql, 'id', 'client'));
    expect([sql, [...new Set(rows.map(({ client }) => client))]]).toEqual([sql, ['a']]);
  }
});

test('SQL that declares no columns yet runs as written, and each of its columns is proposed as what it is', async () => {
  const plain = inSql('SELECT shop, id, count(*) AS sold, 2024 AS year FROM sales GROUP BY ALL ORDER BY id LIMIT 2');
  const { columns } = await describeOf(await asAuthor(), plain);
  expect(columns.map(({ name, dataType, use }) => [name, dataType, use])).toEqual([
    ['shop', 'string', 'dimension'],
    ['id', 'number', 'dimension'],
    ['sold', 'number', 'measure'],
    ['year', 'number', 'dimension'],
  ]);
  expect((await rowsOf(await asAuthor(), plain)).map(({ shop, sold }) => [shop, sold])).toEqual([
    ['s1', 1],
    ['s1', 1],
  ]);
  const none = await describeOf(await asAuthor(), inSql("SELECT shop FROM sales WHERE shop = 'none'"));
  expect(none.columns).toEqual([{ name: 'shop', dataType: 'string', use: 'dimension' }]);
});

test('SQL that declares no columns gives nobody a row or a column that it would not give with them', async () => {
  const plain = inSql('SELECT id, client FROM sales ORDER BY id');
  for (const [caller, dashboard] of [
    [await asAuthor(), 'one'],
    [await asAuthor({}, { clientId: 'b' }), 'theirs'],
    [
      await asAuthor({
        dashboardAppFilters: [{ dashboardId: 'one', values: { [stateFilter.name]: 'CA' }, isShowOnUrl: true }],
      }),
      'one',
    ],
  ] as const) {
    expect(await rowsOf(caller, plain, dashboard)).toEqual(await rowsOf(caller, ids, dashboard));
  }
  await expect(rowsOf(await asAuthor(), plain, 'theirs')).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  const caller = await asAuthor();
  const named = { ...caller, grant: { ...caller.grant, rlsSettings: [{ metricId: 'm', values: { State: 'CA' } }] } };
  await expect(describeOf(named, plain)).rejects.toMatchObject({ reason: 'restricted-token-defines' });
  const hiding = await asAuthor({ hideColumns: ['main.sales.client'] });
  expect((await describeOf(hiding, inSql('SELECT * FROM sales'))).columns.map(({ name }) => name)).toEqual([
    'id',
    'shop',
  ]);
  for (const sql of ['SELECT client FROM sales', 'SELECT id FROM sales ORDER BY client'])
    for (const ask of [describeOf, rowsOf])
      await expect(ask(hiding, inSql(sql))).rejects.toMatchObject({
        code: expect.stringMatching(/^(METRIC_QUERY_ERROR|INVALID)/),
      });
});

test('a dashboard of another tenant is not opened', async () => {
  await expect(rowsOf(await asAuthor(), ids, 'theirs')).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  await expect(statementOf(await asAuthor({}, { clientId: 'b' }), ids)).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
});

test('a restriction of the user’s token binds SQL, and one that names metrics one by one refuses it', async () => {
  const restricted = await asAuthor({
    dashboardAppFilters: [{ dashboardId: 'one', values: { [stateFilter.name]: 'CA' }, isShowOnUrl: true }],
  });
  expect((await rowsOf(restricted, ids)).map(({ id }) => id)).toEqual([1, 2]);
  const caller = await asAuthor();
  const named = { ...caller, grant: { ...caller.grant, rlsSettings: [{ metricId: 'm', values: { State: 'CA' } }] } };
  for (const ask of [rowsOf, statementOf]) {
    await expect(ask(named, ids)).rejects.toMatchObject({ code: 'UNAUTHORIZED', reason: 'restricted-token-defines' });
  }
});

test('an expression is answered, and SQL without a value for its variable is not', async () => {
  const share = metric('sales', { measures: [{ name: 'Ids', expression: 'SUM(sales.id) * 2' }] });
  expect((await rowsOf(await asAuthor(), share)).map(({ Ids }) => Number(Ids))).toEqual([30]);
  const asked = inSql('SELECT id FROM sales WHERE shop IN (shop_variable)', 'id');
  const withVariable = { ...asked, rlsVariables: [{ name: 'shop', isOptional: false }] };
  await expect(rowsOf(await asAuthor(), withVariable)).rejects.toMatchObject({ code: 'RLS_SETTINGS_PARAM_ERROR' });
});

test('the statement has the tenant’s scope and no value of it, and no row is read for it', async () => {
  const statement = await statementOf(await asAuthor(), ids);
  expect(statement).toMatch(/FROM "sales"\."main"\."sales" WHERE "client".*\$1/);
  expect(statement).not.toContain("'a'");
  const counted = metric('sales', { measures: [{ name: 'Sales', aggregate: 'COUNT' }] });
  expect(await statementOf(await asAuthor(), counted)).toMatch(/"client".*\$1/);
});

test('what is wrong has its place in the definition, or in the SQL', async () => {
  const refused = async (definition: MetricDefinition): Promise<string> => {
    const error: unknown = await statementOf(await asAuthor(), definition).catch((reason: unknown) => reason);
    return error instanceof Error ? error.message : 'it was not refused';
  };
  const unknown = metric('sales', { measures: [{ name: 'x', expression: 'SUM(sales.nothing)' }], sort: [] });
  expect(await refused(unknown)).toMatch(/^definition\.measures\[0\]\.expression: .*nothing is no column/);
  expect(await refused(inSql('SELECT id FROM sales WHERE', 'id'))).toMatch(/^definition\.sql: .*line 1, column/);
  expect(await refused(inSql('SELECT id FROM orders', 'id'))).toMatch(/^definition\.sql: orders is no table/);
});

test('a preview that is superseded ends, also at the database', async () => {
  const superseded = new AbortController();
  const slow = inSql('SELECT count(*) AS n FROM sales a, sales b, sales c, sales d, sales e', 'n');
  const first = previewAuthoredMetric(world.deps)(
    await asAuthor(),
    { dashboardId: 'one', definition: slow },
    superseded.signal,
  );
  superseded.abort();
  await expect(first).rejects.toMatchObject({ code: 'METRIC_QUERY_ERROR', reason: 'caller-gone' });
});
