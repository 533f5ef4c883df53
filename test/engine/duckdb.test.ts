import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDuckDb, type Databases } from '../../src/engine/duckdb.js';
import { createLimiter } from '../../src/engine/limiter.js';
import { createFolder, datasourceAt, refusalOf } from './world.js';

const quiet = { warn: () => undefined, error: () => undefined };
let folder: Awaited<ReturnType<typeof createFolder>>;
let path: string;
let databases: Databases;

beforeAll(async () => {
  folder = await createFolder();
  path = await folder.build('locked', [
    'CREATE TABLE t (id BIGINT, name VARCHAR COLLATE NOCASE)',
    "INSERT INTO t VALUES (1, 'acme')",
  ]);
  databases = createDuckDb(quiet);
});
afterAll(async () => {
  await databases.close();
  await folder.remove();
});

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
  const database = await databases.open(datasourceAt(path));
  expect(await refusalOf(() => database.run({ sql, parameters: [] }))).toMatchObject({ reason: 'datasource-failed' });
});

it('opens a file once, however many ask', async () => {
  const [one, two] = await Promise.all([databases.open(datasourceAt(path)), databases.open(datasourceAt(path))]);
  expect(one).toBe(two);
  expect([...one.catalog.tables.values()][0]).toEqual(
    new Map([
      ['id', 'BIGINT'],
      ['name', 'VARCHAR'],
    ]),
  );
  expect(one.catalog.database).toBe('locked');
});

it('binds text whole: NUL, quotes and other alphabets', async () => {
  const database = await databases.open(datasourceAt(path));
  const texts = ['a\0b', '\'"\\', 'acmé', '日本', '🙂', ''];
  const { rows } = await database.run({
    sql: 'SELECT CAST($1 AS VARCHAR), len(CAST($2 AS VARCHAR[]))',
    parameters: ['a\0b', texts],
  });
  expect(rows).toEqual([['a\0b', 6]]);
  const listed = await database.run({ sql: 'SELECT unnest(CAST($1 AS VARCHAR[]))', parameters: [texts] });
  expect(listed.rows.flat()).toEqual(texts);
});

it('binds nothing but text', async () => {
  const database = await databases.open(datasourceAt(path));
  expect(await refusalOf(() => database.run({ sql: 'SELECT $1', parameters: [1] }))).toMatchObject({
    reason: 'datasource-failed',
  });
});

it('runs more questions at once than it has connections, and finishes them before it closes', async () => {
  const own = createDuckDb(quiet);
  const database = await own.open(datasourceAt(path));
  const running = Array.from({ length: 20 }, () =>
    database.run({ sql: 'SELECT count(*) FROM range(100000)', parameters: [] }),
  );
  await own.close();
  expect((await Promise.all(running)).map(({ rows }) => rows[0]?.[0])).toEqual(Array(20).fill(100_000));
  expect(await refusalOf(() => own.open(datasourceAt(path)))).toMatchObject({ reason: 'engine-closed' });
});

it('a limiter lends each item to one at a time, in the order of asking, and takes it back after a failure', async () => {
  const limiter = createLimiter(['x']);
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

it('stops a statement that would never end, says so without the driver’s words, and uses its connection again', async () => {
  const own = createDuckDb(quiet, 50);
  const database = await own.open(datasourceAt(path));
  const endless = {
    sql: 'SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range % 7 = b.range',
    parameters: [],
  };
  const refusals = await Promise.all(Array.from({ length: 6 }, () => refusalOf(() => database.run(endless))));
  expect(new Set(refusals.map(({ reason }) => reason))).toEqual(new Set(['datasource-timeout']));
  expect(refusals[0]?.message).not.toMatch(/interrupt/i);
  expect((await database.run({ sql: 'SELECT 1', parameters: [] })).rows).toEqual([[1]]);
  await own.close();
});
