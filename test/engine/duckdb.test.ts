import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPool } from '../../src/engine/connections/pool.js';
import { createDatabases, type Databases } from '../../src/engine/datasources/databases.js';
import type { Statement } from '../../src/engine/dialect/dialect.js';
import { systemClock } from '../../src/platform/work/time.js';
import { createFolder, datasourceAt, refusalOf } from './world.js';

const log = { warn: () => undefined, error: () => undefined };
const quiet = { clock: systemClock, log, assertReachable: async () => {} };
let folder: Awaited<ReturnType<typeof createFolder>>;
let path: string;
let databases: Databases;

beforeAll(async () => {
  folder = await createFolder();
  path = await folder.build('locked', [
    'CREATE TABLE t (id BIGINT, name VARCHAR COLLATE NOCASE)',
    "INSERT INTO t VALUES (1, 'acme')",
  ]);
  databases = createDatabases(quiet);
});
afterAll(async () => {
  await databases.close();
  await folder.remove();
});

const run = (statement: Statement, of = databases) =>
  of.use(datasourceAt(path), null, (database) => database.run(statement, { kind: 'untenanted' }));

it.each([
  "SELECT * FROM read_csv('/etc/passwd')",
  "SELECT * FROM read_text('/etc/passwd')",
  "SELECT * FROM '/etc/passwd'",
  "SELECT * FROM glob('/*')",
  "ATTACH '/tmp/other.duckdb'",
  "COPY t TO '/tmp/stolen.csv'",
  'INSTALL httpfs',
  'LOAD httpfs',
  'SET enable_external_access = true',
  'SET lock_configuration = false',
  'SET threads = 1',
  'INSERT INTO t VALUES (2, NULL)',
  'DROP TABLE t',
  'SELECT 1; SELECT 2',
])('a locked database refuses %s', async (sql) => {
  const reason = expect.stringMatching(/^(datasource-failed|statement-refused)$/);
  expect(await refusalOf(() => run({ sql, parameters: [] }))).toMatchObject({ code: 'METRIC_QUERY_ERROR', reason });
});

it.each([
  ['text', "read_text('/etc/passwd')"],
  ['csv', "read_csv('/etc/passwd', header = false, sep = ':')"],
  ['name', "glob('/etc/*')"],
])('a view of the file over other files (%s) answers nothing, and its tables still do', async (name, source) => {
  const own = await folder.build(`view-${name}`, [
    'CREATE TABLE t (id BIGINT)',
    'INSERT INTO t VALUES (7)',
    `CREATE VIEW reaching AS SELECT * FROM ${source}`,
  ]);
  const ask = (sql: string) =>
    databases.use(datasourceAt(own), null, (database) => database.run({ sql, parameters: [] }, { kind: 'untenanted' }));
  expect(await refusalOf(() => ask('SELECT * FROM reaching'))).toMatchObject({
    code: 'METRIC_QUERY_ERROR',
    reason: 'datasource-failed',
  });
  expect((await ask('SELECT id FROM t')).rows).toEqual([[7]]);
});

it.each(['"+"(a, b) AS', 'COUNT_STAR() AS', 'upper(a) AS', 'unnest(a) AS TABLE'])(
  'refuses a file whose macro %s would replace a function that the engine uses',
  async (macro) => {
    const own = await folder.build(`macro-${macro.length}`, [
      'CREATE TABLE t (owner VARCHAR, name VARCHAR)',
      'CREATE MACRO helper(a) AS a || a',
      `CREATE MACRO ${macro} ${macro.endsWith('TABLE') ? 'SELECT name FROM t' : '(SELECT string_agg(name) FROM t)'}`,
    ]);
    const open = () => databases.use(datasourceAt(own), null, async () => undefined);
    const hides = { reason: 'duckdb-macro-hides-function', message: expect.not.stringContaining('helper') };
    await expect(open()).rejects.toMatchObject({ reason: 'datasource-unavailable', cause: hides });
  },
);

it('opens a file once for any number of callers', async () => {
  const open = () => databases.use(datasourceAt(path), null, async (database) => database);
  const [one, two] = await Promise.all([open(), open()]);
  expect(one).toBe(two);
  expect([...one.catalog.tables.values()][0]).toEqual(
    new Map([
      ['id', { kind: 'integer', cast: 'BIGINT', greatestDigits: 38 }],
      // If a file declares a collation anywhere, each text column may have it.
      ['name', { kind: 'text', cast: 'VARCHAR', collation: 'unknown' }],
    ]),
  );
  expect(one.catalog.database).toBe('locked');
});

it('binds complete text: NUL, quotes and all scripts', async () => {
  const texts = ['a\0b', '\'"\\', 'acmé', '日本', '🙂', ''];
  const { rows } = await run({
    sql: 'SELECT CAST($1 AS VARCHAR), len(CAST($2 AS VARCHAR[]))',
    parameters: ['a\0b', texts],
  });
  expect(rows).toEqual([['a\0b', 6]]);
  const listed = await run({ sql: 'SELECT unnest(CAST($1 AS VARCHAR[]))', parameters: [texts] });
  expect(listed.rows.flat()).toEqual(texts);
});

it('DuckDB is bound only text', async () => {
  expect(await refusalOf(() => run({ sql: 'SELECT $1', parameters: [1] }))).toMatchObject({
    reason: 'datasource-failed',
  });
});

it('runs more questions than it has connections, and finishes them before it closes', async () => {
  const own = createDatabases(quiet);
  const running = Array.from({ length: 20 }, () =>
    run({ sql: 'SELECT count(*) FROM range(100000)', parameters: [] }, own),
  );
  await running[0];
  await own.close();
  expect((await Promise.all(running)).map(({ rows }) => rows[0]?.[0])).toEqual(Array(20).fill(100_000));
  expect(await refusalOf(() => run({ sql: 'SELECT 1', parameters: [] }, own))).toMatchObject({
    reason: 'engine-closed',
  });
});

it('a pool lends each item to one caller at a time, in order of arrival, and takes it back after a failure', async () => {
  const limiter = createPool(['x']);
  const seen: string[] = [];
  const failing = limiter.use(async () => {
    seen.push('first');
    throw new Error('mine');
  });
  const second = limiter.use(async (item) => seen.push(`second ${item}`));
  await expect(failing).rejects.toThrow('mine');
  await second;
  await limiter.drain();
  expect(seen).toEqual(['first', 'second x']);
});

it("stops an endless statement, reports it without the driver's text, and uses its connection again", async () => {
  const own = createDatabases({ ...quiet, timeoutMs: 50 });
  const endless = {
    sql: 'SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range % 7 = b.range',
    parameters: [],
  };
  const refusals = await Promise.all(Array.from({ length: 6 }, () => refusalOf(() => run(endless, own))));
  expect(new Set(refusals.map(({ reason }) => reason))).toEqual(new Set(['datasource-timeout']));
  expect(refusals[0]?.message).not.toMatch(/interrupt/i);
  expect((await run({ sql: 'SELECT 1', parameters: [] }, own)).rows).toEqual([[1]]);
  await own.close();
});
