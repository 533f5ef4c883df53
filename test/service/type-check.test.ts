/**
 * Types that only the database knows are found when a metric is written: in expressions, custom columns, custom SQL, and
 * over enums and domains. On every database, against what a query of the same metric answers.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DashboardContent } from '../../src/model/dashboard/dashboard.js';
import type { MetricDefinition, VisualDefinition } from '../../src/model/dashboard/metric.js';
import { definitionTypeFaults } from '../../src/model/dashboard/type-faults.js';
import type { Datamart } from '../../src/model/datamart/datamart.js';
import { assertTypes } from '../../src/service/dashboards/type-check.js';
import { type Builder, createBuilder, findSqlKinds, type TableData } from '../engine/test-databases.js';
import {
  at,
  byClients,
  columnRef,
  createLoggedEngine,
  datamart,
  metric,
  type Place,
  question,
  refusalOf,
  stays,
  table,
} from '../engine/world.js';
import { createWorld, type World } from './world.js';

const kinds: TableData = {
  name: 'kinds',
  columns: {
    client: 'VARCHAR',
    whole: 'BIGINT',
    text: 'VARCHAR',
    day: 'DATE',
    kind: "ENUM('x','y')",
  },
  rows: [['a', 1, 'not a number', '2024-01-31', 'x']],
};
const clients: TableData = { name: 'clients', columns: { id: 'VARCHAR', name: 'VARCHAR' }, rows: [['a', 'A']] };

const expression = (text: string): VisualDefinition => metric('kinds', { measures: [{ name: 'm', expression: text }] });
const sqlMetric = (sql: string, parts: object = {}): MetricDefinition => ({
  kind: 'sql',
  chart: { type: 'table' },
  sql,
  dimensions: [],
  measures: [{ name: 'm' }],
  ...{ filters: [], rlsVariables: [], sort: [], limit: null },
  ...parts,
});
const sumOf = (column: string): VisualDefinition =>
  metric('kinds', { measures: [{ name: 'm', aggregate: 'SUM', column: columnRef(column) }] });

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

const contentOf = (...definitions: MetricDefinition[]): DashboardContent => ({
  ...{ layout: [], filters: [], gridMargin: [] },
  metrics: definitions.map((definition, index) => ({
    ...{ metricId: `m${index}`, name: `M${index}`, lineage: [], placement: 'METRIC' as const, definition },
  })),
});

describe.each(await findSqlKinds())('%s', (kind) => {
  // MySQL and MariaDB turn text into a number, and so answer.
  const isStrict = kind !== 'MYSQL';
  const { engine, lines } = createLoggedEngine();
  let builder: Builder;
  let place: Place;
  let mart: Datamart;

  beforeAll(async () => {
    builder = await createBuilder(kind);
    const domains =
      kind === 'POSTGRES'
        ? [
            'CREATE DOMAIN gl_label AS text',
            'CREATE DOMAIN gl_price AS numeric(9,2)',
            'CREATE TABLE owned (client varchar, label gl_label, price gl_price)',
          ]
        : [];
    place = await builder.build('types', [kinds, clients, ...domains]);
    const id = `types-${kind}`;
    await world.store.datasources.insert({ ...place.datasource, id, name: id });
    const tables = (await engine.introspect(place.datasource)).map(({ tableName, columns }) => {
      const types = Object.fromEntries(columns.map(({ columnName, datatype }) => [columnName, datatype]));
      const made = table(tableName, types, tableName === 'clients' ? null : 'client');
      const doubled = { ...made.columns[0], columnName: 'shout', datatype: '', isCustomColumn: true };
      return tableName === 'kinds'
        ? { ...made, columns: [...made.columns, { ...doubled, alias: 'shout', sql: "concat(text, '!')" }] }
        : made;
    });
    mart = datamart({ tenancy: byClients(), tables: tables as Datamart['tables'], datasourceId: id });
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  const written = async (content: DashboardContent, datamarts = [at(place, mart)]): Promise<string | null> => {
    const asked = { content: at(place, content), datamarts, clientId: null, isNewMetric: () => true };
    const outcome = await assertTypes({ store: world.store, engine }, asked, stays).then(
      () => null,
      (error: Error) => error,
    );
    return outcome?.message ?? null;
  };
  const isAnswered = async (definition: MetricDefinition): Promise<boolean> =>
    engine.query(question(place, mart, 'a', definition)).then(
      () => true,
      () => false,
    );

  const wrong: readonly (readonly [string, MetricDefinition, string])[] = [
    ['SUM of text in an expression', expression('SUM(kinds.text)'), 'measures[0] "m".expression: '],
    ['SUM of a date in CASE', expression('SUM(CASE WHEN kinds.whole > 0 THEN kinds.day END)'), 'measures[0] "m"'],
    ['AVG of text beside a number', expression('AVG(kinds.text) / COUNT(*)'), 'measures[0] "m".expression: '],
    ['SUM of text in custom SQL', sqlMetric('SELECT SUM(text) AS m FROM kinds'), 'sql: '],
  ];
  test.runIf(isStrict).each(wrong)(
    '%s is a fault with its place, as every query says',
    async (_, definition, place) => {
      const message = await written(contentOf(definition));
      expect(message).toContain(`metrics["m0"]: ${place}`);
      expect(message).toContain('the database refuses its names, functions or types');
      expect(message).not.toContain('m1');
      expect(await isAnswered(definition)).toBe(false);
    },
  );

  test.runIf(isStrict)(
    'the fault of an expression says the types of its columns, and nothing of the rows',
    async () => {
      const message = (await written(contentOf(expression('SUM(kinds.text)')))) ?? '';
      const { datatype } = mart.tables.flatMap(({ columns }) => columns).find((one) => one.columnName === 'text') ?? {};
      expect(message).toContain(`.kinds.text has the type ${datatype}`);
      expect(message).not.toContain('not a number');
    },
  );

  const joined = 'kinds AS k JOIN clients AS c ON c.id = k.client';
  const summed: readonly (readonly [string, MetricDefinition, string, string])[] = [
    ['SUM of text in an expression', expression('SUM(kinds.text) / COUNT(*)'), 'SUM', 'kinds.text holds text'],
    ['SUM of a date in an expression', expression('SUM(kinds.day)'), 'SUM', 'kinds.day holds dates'],
    ['AVG of a custom column of text', expression('AVG(kinds.shout)'), 'AVG', 'kinds.shout holds text'],
    ['SUM of text in SQL', sqlMetric('SELECT SUM(text) AS m FROM kinds'), 'SUM', 'kinds.text holds text'],
    ['in lower case', sqlMetric('SELECT 1 + sum(distinct kinds.text) AS m FROM kinds'), 'SUM', 'kinds.text'],
    ['of a list', sqlMetric('SELECT AVG(kind) AS m FROM kinds'), 'AVG', 'kinds.kind holds text'],
    ['in a join', sqlMetric(`SELECT SUM(name) AS m FROM ${joined}`), 'SUM', 'clients.name holds text'],
    ['in a window', sqlMetric('SELECT SUM(k.text) OVER (ORDER BY k.whole) AS m FROM kinds AS k'), 'SUM', 'kinds.text'],
    ['in a CTE', sqlMetric('WITH a AS (SELECT SUM(text) AS n FROM kinds) SELECT n AS m FROM a'), 'SUM', 'kinds.text'],
    ['in a nested SELECT', sqlMetric('SELECT (SELECT SUM(k.text) FROM kinds AS k) AS m'), 'SUM', 'kinds.text'],
  ];
  // metabase#44431: a sum of numbers stored as text was refused, and the message named no column.
  test.runIf(kind === 'MYSQL').each(summed)(
    '%s, which the database would answer, is a fault that names the column',
    async (_, definition, aggregate, says) => {
      const message = (await written(contentOf(definition, sumOf('kinds.whole')))) ?? '';
      expect(message).toContain(`: ${aggregate} needs numbers, and column `);
      expect(message).toContain(says);
      expect(message).toContain('CAST the column to a number');
      expect(message).toContain(definition.kind === 'sql' ? 'metrics["m0"]: sql: ' : 'measures[0] "m".expression: ');
      expect(message).not.toContain('m1');
    },
  );

  test.runIf(kind === 'MYSQL')('a stored metric that sums text answers while all of it is numbers', async () => {
    expect(await isAnswered(sqlMetric("SELECT SUM(text) AS m FROM kinds WHERE text <> 'not a number'"))).toBe(true);
    expect(await isAnswered(sqlMetric('SELECT SUM(text) AS m FROM kinds'))).toBe(false);
  });

  test.runIf(kind === 'MYSQL')('a sum of what only shares the name of a column of text is no fault', async () => {
    const inner = '(SELECT whole AS text FROM kinds) AS kinds';
    const right = [
      sqlMetric(`SELECT SUM(text) AS m FROM ${inner}`),
      sqlMetric(`SELECT SUM(kinds.text) AS m FROM ${inner}`),
      sqlMetric('WITH a AS (SELECT whole AS text FROM kinds) SELECT SUM(text) AS m FROM a'),
      sqlMetric('SELECT MAX(text) AS m FROM kinds'),
      sqlMetric('SELECT SUM(CAST(text AS DECIMAL(9, 2))) AS m FROM kinds'),
      sqlMetric('SELECT SUM(whole_variable) AS m FROM kinds', { rlsVariables: [{ name: 'whole', isOptional: true }] }),
    ];
    expect(await written(contentOf(...right))).toBeNull();
  });

  test('SUM of a custom column of text is a fault of its measure', async () => {
    const definition = sumOf('kinds.shout');
    expect(await written(contentOf(definition))).toMatch(/^[^:]+: metrics\["m0"\]: measures\[0\] "m": .*needs numbers/);
    expect(await isAnswered(definition)).toBe(false);
  });

  test('each of several faults is named once, and what is right is not named', async () => {
    const measures = ['kinds.shout', 'kinds.whole', 'kinds.shout'].map((column, index) => ({
      ...{ name: `n${index}`, aggregate: 'SUM' as const, column: columnRef(column) },
    }));
    const message = (await written(contentOf(metric('kinds', { measures }), sumOf('kinds.whole')))) ?? '';
    expect(message.match(/measures\[\d\] "n\d"/g)).toEqual(['measures[0] "n0"', 'measures[2] "n2"']);
    expect(message).not.toContain('m1');
  });

  test('a dimension that only a drill shows is checked too', async () => {
    const drillPath = [{ name: 'month', column: columnRef('kinds.shout'), grain: 'month' as const }];
    const message = await written(contentOf(metric('kinds', { measures: sumOf('kinds.whole').measures, drillPath })));
    expect(message).toContain('metrics["m0"]: drillPath[0] "month": ');
  });

  test('what the database answers is no fault, also where a row would fail', async () => {
    const cast = kind === 'CLICKHOUSE' ? 'toInt32(kinds.text)' : 'CAST(kinds.text AS DECIMAL)';
    const right = [
      expression('SUM(kinds.whole) / COUNT(*)'),
      expression(`SUM(CASE WHEN kinds.text = 'x' THEN kinds.whole ELSE 0 END)`),
      expression(`SUM(${cast})`),
      sqlMetric('SELECT SUM(whole) AS m FROM kinds WHERE client = client_id_variable AND text IN (word_variable)', {
        rlsVariables: [{ name: 'word', isOptional: false }],
      }),
      metric('kinds', {
        dimensions: [{ name: 'd', column: columnRef('kinds.whole'), bucketCount: 5 }],
        measures: [{ name: 'm', expression: 'MAX(kinds.day)' }],
      }),
    ];
    expect(await written(contentOf(...right))).toBeNull();
    // MySQL and ClickHouse answer: they convert the text.
    if (kind === 'DUCKDB' || kind === 'POSTGRES') expect(await isAnswered(expression(`SUM(${cast})`))).toBe(false);
    await engine.check(question(place, mart, 'a', expression(`SUM(${cast})`)), stays);
  });

  test('the statement has a tenant scope: a table without an owner is not even described', async () => {
    const tables = mart.tables.map((one) => ({ ...one, clientColumn: null }));
    const unowned = at(place, { ...mart, tables });
    const asked = question(place, { ...mart, tables }, 'a', expression('SUM(kinds.whole)'));
    expect(await refusalOf(() => engine.check(asked, stays))).toMatchObject({ reason: 'table-no-owner' });
    // The card says it, as it did for the stored metric.
    if (isStrict) expect(await written(contentOf(expression('SUM(kinds.text)')), [unowned])).toBeNull();
    const nobody = {
      ...question(place, mart, 'a', expression('SUM(kinds.whole)')),
      tenant: { kind: 'untenanted' } as const,
    };
    expect(await refusalOf(() => engine.check(nobody, stays))).toMatchObject({ code: 'CLIENT_ID_ERROR' });
  });

  test.runIf(kind === 'POSTGRES')('enums and domains are known by what they hold', async () => {
    const sums = ['kinds.kind', 'owned.label', 'owned.price'].map((column) =>
      metric(column.split('.')[0] ?? '', {
        measures: [{ name: 'm', aggregate: 'SUM', column: columnRef(column) }],
      }),
    );
    const faults = sums.map((sum) => definitionTypeFaults(sum, mart));
    expect(faults.map(({ length }) => length)).toEqual([1, 1, 0]);
    expect(faults[0]?.[0]).toContain(
      "SUM needs numbers, and column main.kinds.kind holds a fixed list of texts (enum('x','y'))",
    );
    expect(faults[1]?.[0]).toContain('column main.owned.label holds text (text)');
  });

  test('a database that does not answer refuses nothing, and the log says so', async () => {
    const id = `away-${kind}`;
    const away =
      kind === 'DUCKDB'
        ? { ...place.datasource, path: '/nowhere/none.duckdb' }
        : { ...place.datasource, host: '127.0.0.1', port: 1 };
    await world.store.datasources.insert({ ...away, id, name: id } as typeof place.datasource);
    const before = lines.length;
    expect(
      await written(contentOf(expression('SUM(kinds.text)')), [at(place, { ...mart, datasourceId: id })]),
    ).toBeNull();
    expect(JSON.stringify(lines.slice(before))).toContain('datasource.open_failed');
  });
});
