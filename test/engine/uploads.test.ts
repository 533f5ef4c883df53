/** Uploaded files as databases: what each kind becomes, what is refused and where, and that no other file is read. */
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { assertingPlainUploads } from '../../src/compose/uploads.js';
import { createDatabases } from '../../src/engine/datasources/databases.js';
import { readFileKind } from '../../src/engine/uploads/file-kind.js';
import { createMakeDatabase, type MakingLimits } from '../../src/engine/uploads/make-database.js';
import { assertPlainUpload } from '../../src/engine/uploads/plain-database.js';
import { tableNameOf } from '../../src/model/upload.js';
import { createReach } from '../../src/platform/calls/reach.js';
import { createUploadFolder } from '../../src/platform/files/upload-folder.js';
import { systemClock } from '../../src/platform/work/time.js';
import { runOnFile } from '../suites/duckdb-file.js';
import { datasourceAt, refusalOf } from './world.js';

const limits: MakingLimits = { memoryMegabytes: 256, diskMegabytes: 64, timeoutMs: 60_000 };
const nobody = new AbortController().signal;
let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'guestlist-uploads-'));
});
afterAll(() => rm(dataDir, { recursive: true, force: true }));

const clock = { now: () => new Date() };
const uploads = () => createUploadFolder(dataDir, clock);

type Given = {
  readonly name?: string;
  readonly before?: string;
  readonly limits?: MakingLimits;
  readonly signal?: AbortSignal;
};

/** Takes a file as Studio does, and returns the path of the database. */
const take = async (content: string | Buffer, given: Given = {}): Promise<string> => {
  const place = await uploads().create();
  try {
    await writeFile(place.received, content);
    const kind = await readFileKind(place.received);
    const table = tableNameOf(given.name ?? 'Sales.csv');
    const file = { received: place.received, made: place.made, table, before: given.before ?? null };
    await createMakeDatabase(given.limits ?? limits)(file, kind, given.signal ?? nobody);
    return await place.finish(kind === 'duckdb' ? 'database' : 'tables');
  } catch (error) {
    await place.remove();
    throw error;
  }
};

const left = async (): Promise<number> => (await readdir(join(dataDir, 'sources', 'uploads')).catch(() => [])).length;

const rowsOf = async (path: string, sql: string): Promise<unknown> => {
  const instance = await DuckDBInstance.create(path, { access_mode: 'READ_ONLY' });
  const connection = await instance.connect();
  const rows = (await connection.runAndReadAll(sql)).getRowsJson();
  connection.closeSync();
  instance.closeSync();
  return rows;
};

const fileOf = async (statements: readonly string[], name: string): Promise<Buffer> => {
  const folder = await mkdtemp(join(dataDir, 'made-'));
  await runOnFile(
    join(folder, 'own.duckdb'),
    statements.map((one) => one.replaceAll('FOLDER', folder)),
  );
  return readFile(join(folder, name));
};
const parquet = () => fileOf(["COPY (SELECT 1 AS id, 'acme' AS tenant) TO 'FOLDER/t.parquet'"], 't.parquet');

describe('a file', () => {
  test('a file of CSV becomes a table that is named after it, with types', async () => {
    const path = await take('id;tenant;amount;at\n1;acme;2.5;2026-01-02\n2;globex;3;2026-01-03\n', {
      name: 'Our Sales (2026).csv',
    });
    expect(await rowsOf(path, 'SELECT * FROM our_sales_2026 ORDER BY id')).toEqual([
      ['1', 'acme', 2.5, '2026-01-02'],
      ['2', 'globex', 3, '2026-01-03'],
    ]);
    expect(await readdir(dirname(path))).toEqual(['tables.duckdb']);
  });

  // supabase#12666: an import took postcodes for numbers and dropped their leading zeros.
  test.each([
    ['a leading zero', '01234'],
    ['a plus sign', '+4912'],
  ])('a column with %s after thirty thousand whole numbers is text, and keeps it', async (_, value) => {
    const numbers = Array.from({ length: 30_000 }, (__, index) => `${index};${10_000 + index}`).join('\n');
    const path = await take(`id;code\n${numbers}\n30000;${value}\n`, { name: 'codes.csv' });
    expect(await rowsOf(path, 'SELECT id, code FROM codes WHERE id IN (7, 30000) ORDER BY id')).toEqual([
      ['7', '10007'],
      ['30000', value],
    ]);
    expect(await rowsOf(path, 'SELECT DISTINCT typeof(id), typeof(code) FROM codes')).toEqual([['BIGINT', 'VARCHAR']]);
  });

  test('a file of Parquet becomes a table, whatever its name says', async () => {
    const path = await take(await parquet(), { name: 'orders.csv' });
    expect(await rowsOf(path, 'SELECT * FROM orders')).toEqual([[1, 'acme']]);
  });

  test('a file of DuckDB stays as it is', async () => {
    const path = await take(await fileOf(['CREATE TABLE t AS SELECT 7 AS id', 'CHECKPOINT'], 'own.duckdb'));
    expect(await rowsOf(path, 'SELECT id FROM t')).toEqual([[7]]);
    expect(uploads().kindOf(path)).toBe('database');
  });

  test('is added to the tables of earlier ones, and replaces the one of its name', async () => {
    const first = await take('id\n1\n', { name: 'a.csv' });
    const second = await take('id\n2\n', { name: 'b.csv', before: first });
    const third = await take('id,more\n3,x\n', { name: 'A.csv', before: second });
    expect(await rowsOf(third, 'SELECT a.id, more, b.id FROM a, b')).toEqual([['3', 'x', '2']]);
    expect(await rowsOf(first, 'SELECT id FROM a')).toEqual([['1']]);
  });

  test.each([
    ['../../etc/passwd.csv', 'etc_passwd'],
    ['Umsätze 2026.csv', 'umsätze_2026'],
    ["x'; DROP TABLE t;--.csv", 'x_drop_table_t'],
    ['"quoted".parquet', 'quoted'],
    ['..', 'data'],
    ['.csv', 'data'],
    ['売上.csv', '売上'],
    [`${'long'.repeat(50)}.csv`, 'long'.repeat(15)],
  ])('named %s gives the table %s', (file, table) => {
    expect(tableNameOf(file)).toBe(table);
  });
});

describe('a refused file', () => {
  const many = Array.from({ length: 30_000 }, (_, index) => `${index},acme`).join('\n');
  test.each([
    ['that is empty', '', /empty/],
    [
      'with a line that is too short',
      'id,tenant,amount\n1,acme,2\n2,globex\n',
      /^Line 3, column 3 \("amount"\).*fewer values/,
    ],
    ['with a line that is too long', 'id,tenant\n1,acme\n2,globex,9\n', /^Line 3, column 3.*more values/],
    ['with a value of another type', `id,tenant\n${many}\nsecret,globex\n`, /^Line 30002, column 1 \("id"\).*type/],
    ['that is not UTF-8', Buffer.from('id,tenant\n1,acme\n2,caf\xE9\n', 'latin1'), /UTF-8/],
    ['that is UTF-16', Buffer.from('\uFEFFid,tenant\n', 'utf16le'), /UTF-16/],
    ['that is a workbook', Buffer.from('PK\x03\x04rest'), /Excel/],
    ['that is a picture', Buffer.from('\x89PNG\r\n\x1A\n\0\0', 'latin1'), /none that Studio reads/],
    ['that is JSON', '[{"id":1}]', /JSON/],
    ['that is a page', '<!doctype html><p>Log in</p>', /HTML/],
    ['that is SQLite', Buffer.from('SQLite format 3\0rest'), /SQLite/],
    ['that only begins like Parquet', Buffer.from('PAR1 and then something else'), /not complete/],
    ['that only looks like Parquet', Buffer.from('PAR1 and then something PAR1'), /Parquet file cannot be read/],
    [
      'that only begins like DuckDB',
      Buffer.from('12345678DUCK and then something else'),
      /DuckDB file cannot be opened/,
    ],
  ])('%s says why, and leaves nothing behind', async (_, content, message) => {
    const before = await left();
    const refusal = await refusalOf(() => take(content));
    expect(refusal).toMatchObject({ code: 'INVALID_REQUEST_BODY', reason: 'upload-refused' });
    expect(refusal.message).toMatch(message);
    expect(refusal.message).not.toMatch(/secret|globex/);
    expect(await left()).toBe(before);
  });

  test('without tables says so', async () => {
    const bare = await fileOf(['CREATE TABLE t (id INTEGER)', 'DROP TABLE t', 'CHECKPOINT'], 'own.duckdb');
    expect((await refusalOf(() => take(bare))).message).toMatch(/no tables/);
  });

  test('a file that grows beyond the limit of the disk is refused: a small file may hold many rows', async () => {
    const dense = await fileOf(
      [
        "COPY (SELECT uuid()::VARCHAR || repeat('x', 100) AS a FROM range(100000)) TO 'FOLDER/t.parquet' (COMPRESSION zstd)",
      ],
      't.parquet',
    );
    const refusal = await refusalOf(() => take(dense, { limits: { ...limits, diskMegabytes: 1 } }));
    expect(refusal.message).toMatch(/more than 1 MB/);
  });

  test('a file whose uploader is gone is not read further', async () => {
    const gone = AbortSignal.abort();
    expect(await refusalOf(() => take('id\n1\n', { signal: gone }))).toMatchObject({ reason: 'caller-gone' });
    expect(await refusalOf(async () => take(await parquet(), { signal: gone }))).toMatchObject({
      reason: 'caller-gone',
    });
  });
});

describe('the files of other uploads', () => {
  test('are no databases of clients: each upload has a folder of its own', async () => {
    const acme = await take('id\n1\n', { name: 'acme.csv' });
    const globex = await take('id\n2\n', { name: 'globex.csv' });
    expect(dirname(acme)).not.toBe(dirname(globex));
    const databases = createDatabases({
      clock: systemClock,
      log: { warn: () => {}, error: () => {} },
      assertReachable: async () => {},
    });
    for (const path of [acme, globex]) {
      expect(await databases.listClientDatabases(datasourceAt(path))).toEqual({ DATABASE: [], MULTI_DATABASE: [] });
    }
    await databases.close();
  });

  test.each([
    ['CREATE VIEW spying AS SELECT * FROM duckdb_settings()', 'the view "main"."spying"'],
    [
      "CREATE VIEW reaching AS SELECT * FROM read_csv('/etc/passwd', columns = {'a': 'VARCHAR'})",
      'the view "main"."reaching"',
    ],
    ['CREATE VIEW plain AS SELECT id FROM t', 'the view "main"."plain"'],
    ['CREATE VIEW other.hidden AS SELECT 1 AS one', 'the view "other"."hidden"'],
    ["CREATE MACRO lower(x) AS 'shadowed'", 'the macro "main"."lower"'],
    ['CREATE MACRO other.helper(a, b) AS a + b', 'the macro "other"."helper"'],
    ['CREATE MACRO spied() AS TABLE SELECT * FROM duckdb_settings()', 'the macro "main"."spied"'],
    ['CREATE MACRO duckdb_views() AS TABLE SELECT 1 AS none WHERE false', 'the macro "main"."duckdb_views"'],
    [
      "CREATE TABLE telling (id INT, folder VARCHAR AS (current_setting('temp_directory')))",
      'a generated column in the table "main"."telling"',
    ],
  ])('hold plain tables only: refused is a DuckDB file with %s', async (statement, what) => {
    const made = ['CREATE SCHEMA other', 'CREATE TABLE t AS SELECT 7 AS id', statement, 'CHECKPOINT'];
    const content = await fileOf(made, 'own.duckdb');
    const before = await left();
    expect(await refusalOf(() => take(content))).toMatchObject({
      code: 'INVALID_REQUEST_BODY',
      message: expect.stringContaining(what),
    });
    expect(await left()).toBe(before);
    // The same file, uploaded by an earlier release: nothing of it is read, by whichever path it is named.
    const place = await uploads().create();
    await writeFile(place.made, content);
    const path = await place.finish('database');
    const reach = createReach({
      allowedHosts: [],
      duckdbFolders: [],
      sqliteFolders: [],
      untested: false,
      dataDir,
      files: [],
      databaseUrl: null,
    });
    const databases = createDatabases({
      clock: systemClock,
      log: { warn: () => {}, error: () => {} },
      assertReachable: assertingPlainUploads(dataDir, reach.assertReachable),
    });
    for (const written of [path, join(dirname(path), '..', basename(dirname(path)), '.', basename(path))]) {
      const source = datasourceAt(written);
      const ask = () =>
        databases.use(source, null, (database) =>
          database.run({ sql: 'SELECT id FROM t', parameters: [] }, { kind: 'untenanted' }),
        );
      expect(await refusalOf(ask)).toMatchObject({ code: 'METRIC_QUERY_ERROR' });
      expect(await refusalOf(() => databases.introspect(source))).toMatchObject({
        ...{ code: 'DATASOURCE_CONNECTION_ERROR', reason: 'upload-not-plain' },
        message: expect.stringContaining(what),
      });
    }
    await databases.close();
    await rm(dirname(path), { recursive: true });
  });

  test('may hold sequences, types, indexes, defaults, checks and other schemas', async () => {
    const content = await fileOf(
      [
        'CREATE SEQUENCE ids',
        "CREATE TYPE mood AS ENUM ('good', 'bad')",
        'CREATE SCHEMA other',
        `CREATE TABLE t ("GENERATED ALWAYS AS" INT DEFAULT nextval('ids'), note VARCHAR DEFAULT 'GENERATED ALWAYS AS (1)', feels mood, CHECK (note <> ''))`,
        "INSERT INTO t (feels) VALUES ('good')",
        'CREATE INDEX of_note ON t (note)',
        'CREATE TABLE other.u AS SELECT 1 AS id',
        'CHECKPOINT',
      ],
      'own.duckdb',
    );
    const path = await take(content);
    expect(await rowsOf(path, 'SELECT note, feels FROM t')).toEqual([['GENERATED ALWAYS AS (1)', 'good']]);
    const databases = createDatabases({
      clock: systemClock,
      log: { warn: () => {}, error: () => {} },
      assertReachable: assertingPlainUploads(dataDir, async () => {}),
    });
    const source = datasourceAt(path);
    const query = { sql: 'SELECT count(*) FROM t', parameters: [] };
    const ask = () => databases.use(source, null, (database) => database.run(query, { kind: 'untenanted' }));
    // A file that is open is checked beside it.
    expect((await ask()).rows).toEqual([[1]]);
    await assertPlainUpload('s', path);
    await databases.close();
  });

  test('cannot be removed, nor anything outside of the folder', async () => {
    const own = await take('id\n1\n');
    const outside = join(dataDir, 'sources', 'kept.duckdb');
    await copyFile(own, outside);
    const folder = uploads();
    const foreign = [
      outside,
      join(dirname(own), 'other.duckdb'),
      join(dirname(own), '..', '..', 'kept.duckdb'),
      `${dirname(own)}/../${'0'.repeat(8)}-0000-0000-0000-${'0'.repeat(12)}/../../kept.duckdb`,
      join(dataDir, 'sources', 'uploads', '..', 'tables.duckdb'),
      join(dataDir, 'sources', 'uploads', 'x', 'tables.duckdb'),
    ];
    for (const path of foreign) {
      expect([path, folder.kindOf(path)]).toEqual([path, undefined]);
      await folder.remove(path);
    }
    expect((await stat(outside)).isFile()).toBe(true);
    await folder.remove(own);
    await expect(stat(dirname(own))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

test('what an upload left whose process ended is removed once no request can be so old; finished files stay', async () => {
  const finished = await take('id\n1\n');
  const place = await uploads().create();
  await writeFile(place.received, 'id\n1\n');
  await mkdir(join(dataDir, 'sources', 'uploads', 'of-an-operator.unfinished'), { recursive: true });
  await uploads().removeUnfinished();
  expect((await stat(place.received)).isFile()).toBe(true);
  await createUploadFolder(dataDir, { now: () => new Date(Date.now() + 3 * 3_600_000) }).removeUnfinished();
  await expect(stat(place.received)).rejects.toMatchObject({ code: 'ENOENT' });
  expect((await stat(finished)).isFile()).toBe(true);
  expect(await readdir(join(dataDir, 'sources', 'uploads'))).toContain('of-an-operator.unfinished');
});
