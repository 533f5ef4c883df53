/** The filter of dates of a first dashboard: each card is filtered by one date, that of its own table. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tenantlessReport } from '../../src/cli/init/report.js';
import { firstDashboard } from '../../src/model/dashboard/first/first-dashboard.js';
import { mappedColumns } from '../../src/model/dashboard/mapped-columns.js';
import { type Datamart, sameTable, type TableRef } from '../../src/model/datamart/datamart.js';
import { draftByBestWays } from '../../src/model/datamart/model-draft.js';
import { proposeFor } from '../../src/model/datamart/source-proposals.js';
import type { Condition } from '../../src/model/filter/filter.js';
import { createAsk } from '../../src/model/query/first/ask.js';
import { findFacts } from '../../src/model/query/first/found-facts.js';
import { countTenantless } from '../../src/model/query/first/tenantless.js';
import { tryDashboard } from '../../src/model/query/first/tried.js';
import { createFolder, createLoggedEngine, datasourceAt, question } from './world.js';

const tenants = "(1, 'Anker'), (2, 'Bramble')";
// Each row leads to rows of other months, so that each date chooses other rows.
const statements = [
  "CREATE TYPE stage AS ENUM ('booked', 'arrived', 'done')",
  'CREATE TABLE practices (id INTEGER PRIMARY KEY, name VARCHAR)',
  `INSERT INTO practices VALUES ${tenants}`,
  'CREATE TABLE animals (id INTEGER PRIMARY KEY, practice_id INTEGER REFERENCES practices (id), name VARCHAR, species VARCHAR, born_on DATE)',
  "INSERT INTO animals SELECT i, 1 + i % 2, 'Animal ' || i, ['dog', 'cat', 'owl'][1 + i // 2 % 3], DATE '2015-01-01' + CAST(i * 3 AS INTEGER) FROM range(300) t(i)",
  'CREATE TABLE appointments (id INTEGER PRIMARY KEY, practice_id INTEGER REFERENCES practices (id), animal_id INTEGER REFERENCES animals (id), starts_at TIMESTAMP, category VARCHAR, status stage)',
  "INSERT INTO appointments SELECT i, 1 + i % 2, i % 300, TIMESTAMP '2024-01-01' + INTERVAL (i * 7 % 366) DAY, ['lab', 'dental', 'surgery'][1 + i // 2 % 3], ['booked', 'arrived', 'done'][1 + i // 7 % 3] FROM range(600) t(i)",
  'CREATE TABLE invoices (id INTEGER PRIMARY KEY, practice_id INTEGER REFERENCES practices (id), appointment_id INTEGER REFERENCES appointments (id), issued_at TIMESTAMP, due_on DATE, total DECIMAL(9,2))',
  "INSERT INTO invoices SELECT i, 1 + i % 2, i % 600, TIMESTAMP '2024-01-01' + INTERVAL (i * 11 % 366) DAY, DATE '2024-03-01', i * 1.25 FROM range(1000) t(i)",
  'CREATE TABLE payments (id INTEGER PRIMARY KEY, practice_id INTEGER REFERENCES practices (id), invoice_id INTEGER REFERENCES invoices (id), paid_at TIMESTAMP, method VARCHAR, amount DECIMAL(9,2))',
  "INSERT INTO payments SELECT i, 1 + i % 2, i % 1000, TIMESTAMP '2024-01-01' + INTERVAL (i * 13 % 366) DAY, ['card', 'cash'][1 + i // 2 % 2], i * 0.5 FROM range(900) t(i)",
  'CREATE TABLE services (id INTEGER PRIMARY KEY, practice_id INTEGER REFERENCES practices (id), label VARCHAR)',
  "INSERT INTO services SELECT i, CASE WHEN i % 13 > 2 THEN 1 + i % 2 END, 'Service ' || i FROM range(78) t(i)",
];
const [from, to] = ['2024-02-10', '2024-03-20'];
const dates: Readonly<Record<string, string>> = {
  appointments: 'starts_at',
  invoices: 'issued_at',
  payments: 'paid_at',
};

const folder = await createFolder();
const { engine } = createLoggedEngine();
let path: string;
beforeAll(async () => {
  path = await folder.build('whole', statements);
});
afterAll(async () => {
  await engine.close();
  await folder.remove();
});

const draft = async () => {
  const tables = await engine.introspect(datasourceAt(path));
  const { relationships, ...proposals } = proposeFor(tables);
  const find = (ref: TableRef) => tables.find((table) => sameTable(table, ref));
  const tenantTable = find({ schemaName: 'main', tableName: 'practices' });
  if (tenantTable === undefined) throw new Error('no tenants');
  const { datamart, owned } = draftByBestWays(tables, relationships, {
    ...{ name: 'pawdesk', tenantTable, keyColumn: 'id', clientColumn: undefined, paths: new Map(), shared: [] },
    ...{ bridges: [], baseFilters: [], amounts: proposals.amounts },
  });
  const ask = createAsk(engine, datasourceAt(path));
  const facts = await findFacts(ask, datamart, owned, find);
  const { dashboard } = await tryDashboard(ask, datamart, '1', firstDashboard(datamart, facts));
  return { datamart, dashboard, tenantless: await countTenantless(ask, datamart, owned, find) };
};

test('the filter of dates has one date of each table with a card, and no birthday', async () => {
  const { dashboard } = await draft();
  const [date] = dashboard.filters;
  expect(date?.applyOnTables.map(({ tableName, columnName }) => `${tableName}.${columnName}`).toSorted()).toEqual(
    Object.entries(dates).map(([table, column]) => `${table}.${column}`),
  );
});

test('each chart in a range of dates answers as if its own table had the rows of that range only', async () => {
  const { datamart, dashboard } = await draft();
  const [date] = dashboard.filters;
  const mappedTo = date === undefined ? [] : mappedColumns(date);
  const conditions = mappedTo.map(
    (column): Condition => ({ column, mappedTo, predicate: { kind: 'range', from, to, toIsExclusive: false } }),
  );
  const rowsOf = async (place: string, mart: Datamart, at: number, held: readonly Condition[]) => {
    const { definition } = dashboard.metrics[at] ?? {};
    if (definition === undefined) throw new Error('no metric');
    const { rows } = await engine.query(question(place, mart, '1', definition, { conditions: held }));
    return rows;
  };
  const own = await Promise.all(
    Object.entries(dates).map(async ([table, column]) => {
      const outside = `DELETE FROM ${table} WHERE ${column} NOT BETWEEN '${from}' AND '${to} 23:59:59'`;
      // Without keys, so that rows that others refer to can be removed.
      const plain = statements.map((text) => text.replaceAll(/ REFERENCES \w+ \(id\)/g, ''));
      return [table, await folder.build(table, [...plain, outside])] as const;
    }),
  );
  const places = new Map(own);
  const names = dashboard.metrics.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['Revenue by category', 'Latest invoices', 'Appointments by status']));
  for (const [at, { name, definition }] of dashboard.metrics.entries()) {
    const found = await rowsOf(path, datamart, at, conditions);
    expect([name, found]).toEqual([name, await rowsOf(places.get(definition.from.tableName) ?? '', datamart, at, [])]);
    expect(found).not.toEqual([]);
  }
});

test('rows whose client column is empty are counted, since nobody sees them', async () => {
  const { tenantless } = await draft();
  expect(tenantless).toEqual([{ table: 'main.services', columnName: 'practice_id', tenantless: 18, rows: 78 }]);
  expect(tenantlessReport(tenantless)).toContain('main.services: 18 of 78 rows have no tenant (practice_id is empty)');
});
