/**
 * The types in a metric are checked when it is written: by import, PUT, creation of a dashboard, and as a guest's
 * metric.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { columnRef } from '../engine/world.js';
import { guest, openBoard, revenueBy } from './guests.js';
import { cloneBoard, type House, type Input, ok, openHouse, refused, settings } from './house.js';
import { definition } from './organization.js';

let house: House;
beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house.close());

const workspaceName = 'shop';
const region = columnRef('sales.region');
const amount = columnRef('sales.amount');
const sumOf = (column: object): Input => ({ measures: [{ name: 'Total', aggregate: 'SUM', column }] });
const contentOf = (parts: Input, metric: Input = {}) => ({
  layout: [],
  filters: [],
  gridMargin: [],
  metrics: [{ metricId: 'm', name: 'M', lineage: [], placement: 'METRIC', definition: definition(parts), ...metric }],
});
const sumOfText =
  'metrics["m"]: measures[0] "Total": SUM needs numbers, and column main.sales.region holds text (VARCHAR); choose a column of numbers, or COUNT, COUNT_DISTINCT, MIN or MAX.';

describe('SUM of text is refused when the metric is written, with its place, the fault and how to fix it', () => {
  test('SUM of text is refused by an import, with its place, the fault and how to fix it', async () => {
    const input = { workspaceName, dashboardId: 'typed', importDashboardData: contentOf(sumOf(region)) };
    expect(await refused('importDashboard INVALID_DASHBOARD_DATA', house, input)).toContain(sumOfText);
    await ok(house, 'importDashboard', { ...input, importDashboardData: contentOf(sumOf(amount)) });
  });

  test("SUM of text is refused by the creation of a client's dashboard from a file", async () => {
    const input = {
      dashboardId: 'typed-acme',
      clientId: 'acme',
      workspaceName,
      accessSettings: settings,
      importDashboardData: contentOf(sumOf(region)),
    };
    expect(await refused('createDashboardEmbed INVALID_DASHBOARD_DATA', house, input)).toContain(sumOfText);
  });

  test('SUM of text is refused by PUT, for a changed metric; an unchanged stored metric does not block others', async () => {
    await cloneBoard(house, 'put', 'acme');
    const input = { dashboardId: 'put', workspaceName };
    const { data, digest } = await ok(house, 'getDashboardContent', input);
    const [first, ...others] = data.metrics;
    const change = (measures: unknown) => ({
      ...input,
      expectedDigest: digest,
      content: { ...data, metrics: [{ ...first, definition: { ...first?.definition, measures } }, ...others] },
    });
    const broken = change([{ name: 'Total', aggregate: 'SUM', column: region }]);
    expect(await refused('replaceDashboardContent INVALID_DASHBOARD_DATA', house, broken)).toContain(
      'SUM needs numbers',
    );
    expect((await ok(house, 'getDashboardContent', input)).digest).toBe(digest);
  });

  test("SUM of text is refused by a guest's own metric and its preview", async () => {
    await openBoard(house, 'guests-typed', 'acme');
    const bearer = await guest(house, 'acme');
    const wrong = revenueBy(undefined, { measures: [{ name: 'Total', aggregate: 'SUM', column: region }] });
    const input = { dashboardId: 'guests-typed', definition: wrong };
    for (const pair of ['createGuestMetric INVALID_REQUEST_BODY', 'previewGuestMetric INVALID_REQUEST_BODY'] as const) {
      const named = pair.startsWith('create') ? { ...input, name: 'Mine' } : input;
      expect(await refused(pair, house, named, { bearer })).toContain('SUM needs numbers');
    }
  });
});

describe('what only the database knows is refused in the same way', () => {
  const expression: Input = { measures: [{ name: 'Total', expression: 'SUM(main.sales.region)' }] };
  const said = `metrics["m"]: measures[0] "Total".expression: the database refuses its names, functions or types`;
  const ofSql = (sql: string) => {
    const outputs = { dimensions: [], measures: [{ name: 'n' }] };
    return contentOf({}, { definition: { kind: 'sql', chart: { type: 'table' }, ...outputs, sql } });
  };

  test('what only the database knows is refused by import, in an expression and in custom SQL', async () => {
    const input = (importDashboardData: object) => ({ workspaceName, dashboardId: 'asked', importDashboardData });
    expect(await refused('importDashboard INVALID_DASHBOARD_DATA', house, input(contentOf(expression)))).toContain(
      said,
    );
    const wrong = input(ofSql('SELECT SUM(region) AS n FROM main.sales'));
    expect(await refused('importDashboard INVALID_DASHBOARD_DATA', house, wrong)).toContain('metrics["m"]: sql: ');
    await ok(house, 'importDashboard', input(ofSql('SELECT SUM(amount) AS n FROM main.sales')));
  });

  test("what only the database knows is refused by the creation of a client's dashboard, and by PUT for a changed metric", async () => {
    const target = { dashboardId: 'asked-acme', workspaceName };
    const created = { ...target, clientId: 'acme', accessSettings: settings };
    const wrong = { ...created, importDashboardData: contentOf(expression) };
    expect(await refused('createDashboardEmbed INVALID_DASHBOARD_DATA', house, wrong)).toContain(said);
    await ok(house, 'createDashboardEmbed', { ...created, importDashboardData: contentOf(sumOf(amount)) });
    const { digest } = await ok(house, 'getDashboardContent', target);
    const changed = { ...target, expectedDigest: digest, content: contentOf(expression) };
    expect(await refused('replaceDashboardContent INVALID_DASHBOARD_DATA', house, changed)).toContain(said);
    expect((await ok(house, 'getDashboardContent', target)).digest).toBe(digest);
  });

  test('a name in an expression that is more than one column', async () => {
    const importDashboardData = contentOf({ measures: [{ name: 'Total', expression: 'SUM(sales.amount)' }] });
    const input = { workspaceName, dashboardId: 'asked', importDashboardData };
    const message = await refused('importDashboard INVALID_DASHBOARD_DATA', house, input);
    expect(message).toContain(
      'measures[0] "Total".expression: An expression names sales.amount, which is not one column',
    );
  });

  test('what only the database knows is refused by the trial of a roll-out, which says it for the metric', async () => {
    await cloneBoard(house, 'trial', 'acme');
    const input = { dashboardId: 'trial', workspaceName, content: contentOf(expression) };
    expect((await ok(house, 'tryDashboardContent', input)).data).toEqual([
      { metricId: 'm', name: 'M', outcome: 'failed', message: expect.stringContaining('CAST where two types meet') },
    ]);
  });
});

describe('types of filters, calculations and comparisons', () => {
  const check = (parts: Input) =>
    refused('importDashboard INVALID_DASHBOARD_DATA', house, { workspaceName, importDashboardData: contentOf(parts) });

  test.each<[string, Input, string]>([
    ['a grain of text', { dimensions: [{ name: 'D', column: region, grain: 'month' }] }, 'a grain needs dates'],
    ['buckets of text', { dimensions: [{ name: 'D', column: region, bucketWidth: 2 }] }, 'buckets need numbers'],
    [
      'text compared with a number',
      { where: { column: region, predicate: { kind: 'compare', operator: '=', value: 5 } } },
      'each value must be text',
    ],
    [
      'a number compared with a word',
      { where: { column: amount, predicate: { kind: 'oneOf', values: ['many'] } } },
      'each value must be a number',
    ],
    [
      'a pattern on numbers',
      { where: { column: amount, predicate: { kind: 'like', pattern: '1%' } } },
      'a pattern is matched with text',
    ],
    [
      'a filter whose dataType is not that of its column',
      { filters: [{ name: 'f', label: 'F', column: columnRef('sales.paid'), dataType: 'string' }] },
      'choose the dataType of the column',
    ],
    [
      'a calculation over text',
      {
        dimensions: [{ name: 'D', column: columnRef('sales.sold'), grain: 'month' }],
        measures: [{ name: 'Least', aggregate: 'MIN', column: region }],
        calculations: [{ kind: 'runningTotal', name: 'C', of: 'Least' }],
      },
      'needs a measure of numbers',
    ],
    [
      'an expression over a column that is not there',
      { measures: [{ name: 'E', expression: 'SUM(sales.amuont)' }] },
      'amuont is no column of the datamart',
    ],
    ['an unknown column', sumOf(columnRef('sales.amuont')), 'the datamart has no column main.sales.amuont'],
  ])('a metric with %s is refused when it is imported', async (_, parts, said) => {
    expect(await check(parts)).toContain(said);
  });

  test('an unknown field in a metric is one fault, in any place', async () => {
    const where = { column: region, predicate: { kind: 'isNull' }, colour: 1 };
    const places: readonly [string, object][] = [
      ['definition.colour', contentOf({ colour: 1 })],
      ['definition.measures[0].colour', contentOf({ measures: [{ name: 'n', aggregate: 'COUNT', colour: 1 }] })],
      ['definition.where.all[0].colour', contentOf({ where: { all: [where] } })],
      ['colour', contentOf({}, { colour: 1 })],
    ];
    for (const [place, importDashboardData] of places) {
      const message = await refused('importDashboard INVALID_REQUEST_BODY', house, {
        workspaceName,
        importDashboardData,
      });
      expect(message).toBe(`importDashboardData.metrics[0].${place}: not a field of this operation.`);
    }
  });
});
