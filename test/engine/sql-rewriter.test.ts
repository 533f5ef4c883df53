import { describe, expect, test } from 'vitest';
import { createSqlRewriter } from '../../src/engine/custom/sql-rewriter.js';
import type { DatasourceType } from '../../src/model/organization.js';

const { renameSchemas } = createSqlRewriter();
const pairs = [
  { replaceSchema: 'main', targetSchema: 'other place' },
  { replaceSchema: 'stage', targetSchema: 'main' },
];
const dialects = ['DUCKDB', 'POSTGRES'] as const;

const rewrite = async (dialect: DatasourceType, text: string) => {
  const result = await renameSchemas(dialect, text, pairs);
  if ('expected' in result) throw new Error(result.expected);
  return result.sql.replaceAll(/\s+/g, ' ').replaceAll('( ', '(').replaceAll(' )', ')');
};
const isRefused = async (dialect: DatasourceType, text: string) =>
  'expected' in (await renameSchemas(dialect, text, pairs));

describe.each(dialects)('%s: schemas of table references are renamed', (dialect) => {
  test.each([
    ['select x from main.t', 'SELECT x FROM "other place".t'],
    ['select x from "main"."t"', 'SELECT x FROM "other place".t'],
    // Each name is replaced only once: the result of one pair is not replaced by another pair.
    ['select x from stage.t join main.u using (id)', 'FROM main.t'],
    ['select x from (select y as x from main.t) q', 'FROM "other place".t'],
    ['with c as (select x from main.t) select x from c', 'FROM "other place".t'],
    ['select x from t where x in (select y from main.u)', 'FROM "other place".u'],
    ['select x from t where exists (select 1 from main.u where u.id = t.id)', 'FROM "other place".u'],
    ['select x from t union all select x from main.u', 'FROM "other place".u'],
    ['select main.t.x from main.t where main.t.y > 1', '"other place".t.x'],
    ['select x from main.t where y > 1 order by main.t.x', 'ORDER BY "other place".t.x'],
  ])('schemas of table references are renamed: %s', async (text, expected) => {
    const sql = await rewrite(dialect, text);
    expect(sql).toContain(expected);
    expect(sql).not.toContain('main.u');
  });
});

describe.each(dialects)('%s: text that only looks like the schema is unchanged', (dialect) => {
  test.each([
    ["select 'main.t' as s, 'from main.t' as q from x.t", "'main.t'", "'from main.t'"],
    ['select x /* main.t */ from x.t -- main.t', 'FROM x.t'],
    ['select a.x as main from x.t a', 'main'],
    ['select main.x from x.t main', 'main.x'],
    ['with main as (select 1 as x) select main.x from main', 'main.x FROM main'],
    ['select t.main from x.t t where main = 1', 't.main', 'main = 1'],
    ['select x from main', 'FROM main'],
    ['select x from mainly.t', 'FROM mainly.t'],
    ['select main from x.t', 'main'],
  ])('text that only looks like the schema is unchanged: %s', async (text, ...expected) => {
    const sql = await rewrite(dialect, text);
    for (const part of expected) expect(sql).toContain(part);
    expect(sql).not.toContain('other place');
  });

  test('next to a schema that is renamed', async () => {
    const sql = await rewrite(dialect, "select main.x, 'main.t' as s from main.t as main");
    expect(sql).toMatch(/SELECT main\.x, 'main\.t' AS s FROM "other place"\.t AS main/);
  });

  test('numbers beyond double precision, and unusual text', async () => {
    const sql = await rewrite(
      dialect,
      `select 12345678901234567890 as n, 0.12345678901234567891 as d, 'ü '' " $$' as "Ö" from main.t`,
    );
    for (const part of ['12345678901234567890', '0.12345678901234567891', `'ü '' " $$'`, '"Ö"'])
      expect(sql).toContain(part);
  });
});

describe.each(dialects)('%s: is refused', (dialect) => {
  test.each([
    'selec x',
    '',
    'select 1; select 2',
    'drop table main.t',
    'delete from main.t',
    'insert into main.t values (1)',
    "copy main.t to '/tmp/x'",
    'create table main.x as select 1',
    "select 'unclosed",
    'select 1\0; drop table main.t',
    `select ${'('.repeat(9000)}1`,
  ])('a text that is no single SELECT is refused: %.40s', async (text) => {
    expect(await isRefused(dialect, text)).toBe(true);
  });

  test('nesting beyond every stack is refused, not a crash', async () => {
    const deep = `select ${'not '.repeat(4900)}true from main.t`;
    expect(typeof (await isRefused(dialect, deep))).toBe('boolean');
    expect(await rewrite(dialect, 'select x from main.t')).toContain('"other place".t');
  });

  test('the message does not repeat the text', async () => {
    const result = await renameSchemas(dialect, "selec 'secret'", pairs);
    expect(JSON.stringify(result)).not.toContain('secret');
  });
});

test('PostgreSQL: a SELECT that writes is refused', async () => {
  for (const text of ['with d as (delete from main.t returning *) select * from d', 'select * into main.z from main.t'])
    expect(await isRefused('POSTGRES', text)).toBe(true);
});

test('DuckDB: names ignore case', async () => {
  expect(await rewrite('DUCKDB', 'select MAIN.t.x from Main.T')).toBe('SELECT "other place".t.x FROM "other place".T');
});

test('DuckDB: a column whose first part could be a schema or a relation is refused', async () => {
  expect(await isRefused('DUCKDB', 'select main.t.x from main.t, x.u as main')).toBe(true);
});

test('DuckDB: a text that parses but is not a SELECT is refused', async () => {
  for (const text of ['describe main.t', 'show tables', 'summarize main.t'])
    expect(await isRefused('DUCKDB', text)).toBe(true);
});

test('without pairs, a text that parses stays unchanged', async () => {
  for (const dialect of dialects) {
    expect(await renameSchemas(dialect, 'select  x from main.t -- why', [])).toEqual({
      sql: 'select  x from main.t -- why',
    });
    expect(await renameSchemas(dialect, 'selec', [])).toHaveProperty('expected');
  }
});

test('MySQL: SQL stays unchanged without pairs, and is refused with them', async () => {
  expect(await renameSchemas('MYSQL', 'select 1', [])).toEqual({ sql: 'select 1' });
  expect(await isRefused('MYSQL', 'select 1')).toBe(true);
});
