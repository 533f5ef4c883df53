/** SQL that does not parse is refused with the line and column at which it fails, and nothing of its text. */
import { expect, test } from 'vitest';
import { createSqlRewriter } from '../../src/engine/custom/sql-rewriter.js';
import { sqlFaults } from '../../src/web/studio/base/sql-faults.js';

const rewriter = createSqlRewriter();
const kinds = ['DUCKDB', 'POSTGRES'] as const;

const faultOf = async (kind: (typeof kinds)[number], text: string, as: 'select' | 'expression'): Promise<string> => {
  const checked = await rewriter.check(kind, text, as);
  if (!('fault' in checked)) throw new Error('the SQL must be refused');
  return checked.fault;
};

test.each(kinds)('SQL of %s is refused with the place at which it fails', async (kind) => {
  const select = (text: string) => faultOf(kind, text, 'select');
  expect(await select("select 'secret' frm x where")).toContain('(it fails at line 1, column 21)');
  expect(await select("select 'é🙂',\n  b from from y")).toContain('(it fails at line 2, column 10)');
  expect(await select("select 'secret' from")).toMatch(/\(it fails at line 1, column 2[01]\)/);
  expect(await select("select 'secret' frm x where")).not.toContain('secret');
  expect(await faultOf(kind, 'sum(a) + ) b', 'expression')).toContain('(it fails at line 1, column 10)');
  const renamed = await rewriter.renameSchemas(kind, 'select a frm x where', [
    { replaceSchema: 'main', targetSchema: 'eu' },
  ]);
  expect('expected' in renamed && renamed.expected).toContain('(it fails at line 1, column 14)');
});

test('a refusal leads to its place in the text, or to the name that it tells', () => {
  const sql = 'select a,\n secrets(b)\nfrom x.fligths';
  const places = (message: string) => sqlFaults(message, sql).map(({ line, column }) => [line, column]);
  expect(places('sql: it fails at line 2, column 3')).toEqual([[2, 3]]);
  expect(places('sql: x.fligths is no table of the datamart')).toEqual([[3, 8]]);
  expect(places('The SQL holds a function that is not allowed: secrets; take it out')).toEqual([[2, 2]]);
  expect(places('It answers other columns.')).toEqual([]);
});
