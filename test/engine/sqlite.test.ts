/** What SQLite alone needs: values of any type in any column, times in four forms, and processes that end with their statement. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabases, type Databases } from '../../src/engine/datasources/databases.js';
import type { Statement } from '../../src/engine/dialect/dialect.js';
import { type ClientDatabase, tenantScope } from '../../src/model/datamart/tenant.js';
import { isFile } from '../../src/model/organization.js';
import type { Engine } from '../../src/model/query/engine.js';
import { systemClock } from '../../src/platform/work/time.js';
import { type Builder, createBuilder } from './test-databases.js';
import { columnRef, createLoggedEngine, datamart, metric, type Place, question, refusalOf, table } from './world.js';

const log = { warn: () => undefined, error: () => undefined };
const quiet = { clock: systemClock, log, assertReachable: async () => {} };
const endless = 'WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s) SELECT max(n) FROM s';

let builder: Builder;
let place: Place;
let databases: Databases;
let engine: Engine;

beforeAll(async () => {
  builder = await createBuilder('SQLITE');
  place = await builder.build('own', [
    'CREATE TABLE t (id INTEGER, name TEXT COLLATE NOCASE, price DECIMAL(10,2), at DATETIME, day DATE)',
    `INSERT INTO t VALUES (1, 'Äpfel', 0.1, '2024-03-31 00:59:59.999', '2024-03-31'),
      (2, 'birnen', 0.2, '2024-03-31T03:00:00+02:00', 1711843200), (3, x'ff', 0.3, 1711846800, '2024-13-99'),
      (4, 5, 'none', 1711846800000, 'now'), ('four', NULL, NULL, 2460400.5, 2460400.5)`,
  ]);
  databases = createDatabases(quiet);
  ({ engine } = createLoggedEngine());
});
afterAll(async () => {
  await databases.close();
  await engine.close();
  await builder.remove();
});

const run = (sql: string, of = databases, signal?: AbortSignal) => {
  const statement: Statement = { sql, parameters: [] };
  return of.use(place.datasource, null, (database) => database.run(statement, { kind: 'untenanted' }, { signal }));
};

const mart = datamart({
  tenancy: null,
  tables: [table('t', { id: 'INTEGER', name: 'TEXT', price: 'DECIMAL(10,2)', at: 'DATETIME', day: 'DATE' })],
});
const dimensions = ['id', 'name', 'price', 'at', 'day'].map((name) => ({ name, column: columnRef(`t.${name}`) }));
const ask = (parts: Parameters<typeof metric>[1]) => engine.query(question(place, mart, 'None', metric('t', parts)));

it.each([
  "ATTACH 'other.db' AS other",
  "VACUUM INTO 'copy.db'",
  'INSERT INTO t (id) VALUES (9)',
  'DROP TABLE t',
  "SELECT load_extension('x')",
  'PRAGMA writable_schema = ON',
  'DELETE FROM t RETURNING id',
])('a file that is opened for reading refuses %s', async (sql) => {
  const reason = expect.stringMatching(/^(datasource-failed|statement-refused)$/);
  expect(await refusalOf(() => run(sql))).toMatchObject({ code: 'METRIC_QUERY_ERROR', reason });
});

it.each([
  "readfile('/etc/hostname') AS x",
  "writefile('/tmp/guestlist-stolen', 'x') AS x",
  "name AS x FROM fsdir('/etc')",
  'data AS x FROM sqlite_dbpage',
])('a view of the file over %s answers nothing, and its tables still do', async (source) => {
  const own = await builder.build('reaching', ['CREATE TABLE t (id INTEGER)', `CREATE VIEW v AS SELECT ${source}`]);
  const of = (sql: string) =>
    databases.use(own.datasource, null, (database) => database.run({ sql, parameters: [] }, { kind: 'untenanted' }));
  await refusalOf(() => of('SELECT x FROM v'));
  expect((await of('SELECT id FROM t')).rows).toEqual([]);
  expect(existsSync('/tmp/guestlist-stolen')).toBe(false);
  await databases.forget('d1');
});

it('a sum beyond 64 bits is refused, never rounded', async () => {
  const sum = run('SELECT sum(n) FROM (SELECT 9223372036854775807 AS n UNION ALL SELECT 1)');
  expect(await refusalOf(() => sum)).toMatchObject({ reason: 'value-out-of-range' });
});

it('a file that is not there is refused, and none is made', async () => {
  const path = join(isFile(place.datasource) ? place.datasource.path : '', '../none.sqlite');
  const use = () => databases.use({ ...place.datasource, path } as Place['datasource'], null, async () => null);
  expect(await refusalOf(use)).toMatchObject({ reason: 'datasource-unavailable' });
  expect(existsSync(path)).toBe(false);
});

it('a statement ends with its process at the time limit, and the next one is answered', async () => {
  const short = createDatabases({ ...quiet, timeoutMs: 300 });
  expect(await refusalOf(() => run(endless, short))).toMatchObject({ reason: 'datasource-timeout' });
  expect((await run('SELECT 7', short)).rows).toEqual([[7]]);
  await short.close();
});

it('a statement ends when its reader is gone, and the next one is answered', async () => {
  const leaving = new AbortController();
  const asked = run(endless, databases, leaving.signal);
  leaving.abort(new Error('gone'));
  await expect(asked).rejects.toThrow('gone');
  expect((await run('SELECT 7')).rows).toEqual([[7]]);
});

it('a value of another type than its column is NULL, and times of all forms are read', async () => {
  const { rows } = await ask({ dimensions });
  expect(rows.toSorted((a, b) => Number(a.id ?? 9) - Number(b.id ?? 9))).toEqual([
    { id: 1, name: 'Äpfel', price: 0.1, at: '2024-03-31T00:59:59.999', day: '2024-03-31' },
    { id: 2, name: 'birnen', price: 0.2, at: '2024-03-31T01:00:00', day: '2024-03-31' },
    { id: 3, name: null, price: 0.3, at: '2024-03-31T01:00:00', day: null },
    { id: 4, name: '5', price: null, at: '2024-03-31T01:00:00', day: null },
    { id: null, name: null, price: null, at: '2024-03-31T00:00:00', day: '2024-03-31' },
  ]);
});

it('decimals of few digits are added exactly', async () => {
  const { rows } = await ask({ measures: [{ name: 'sum', aggregate: 'SUM', column: columnRef('t.price') }] });
  expect(rows).toEqual([{ sum: 0.6 }]);
});

it.each([
  ['äPF', ['Äpfel']],
  ['BIRN', ['birnen']],
  ['%', []],
])('a search for %s ignores the case of all letters', async (search, names) => {
  const { sort: _, offset: __, ...asked } = question(place, mart, 'None', metric('t', { dimensions }));
  const found = await engine.options({ ...asked, column: columnRef('t.name'), search });
  expect(found).toEqual(names);
});

it('a client with a file of its own reads that file, and the files of a folder are listed', async () => {
  const of = (name: string, n: number) =>
    builder.build(name, ['CREATE TABLE n (n INTEGER)', `INSERT INTO n VALUES (${n})`]);
  const model = await of('model', 0);
  await of('acme', 1);
  const own = datamart({
    tenancy: { tenancyLevel: 'DATABASE', primaryDatabase: null },
    tables: [table('n', { n: 'INTEGER' })],
  });
  const definition = metric('n', { dimensions: [{ name: 'n', column: columnRef('n.n') }] });
  const tenant = tenantScope(own, 'acme', 'acme' as ClientDatabase);
  const open = question(model, { ...own, tenancy: null }, 'None', definition);
  const { rows } = await engine.query({ ...open, datamart: own, tenant });
  expect(rows).toEqual([{ n: 1 }]);
  expect((await engine.listClientDatabases(model.datasource)).DATABASE).toEqual(['acme', 'own', 'reaching']);
});
