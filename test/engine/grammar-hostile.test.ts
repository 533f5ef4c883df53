import { describe, expect, test } from 'vitest';
import { clickhouseParser } from '../../src/engine/databases/clickhouse/parser.js';
import { mysqlParser } from '../../src/engine/databases/mysql/parser.js';
import { hostileExpressions, hostileSelects, hostileToClickHouse, hostileToMysql } from './grammar-hostile.js';
import { refusalOf } from './world.js';

describe.each([
  { name: 'MySQL', parser: mysqlParser, selects: [...hostileSelects, ...hostileToMysql] },
  { name: 'ClickHouse', parser: clickhouseParser, selects: [...hostileSelects, ...hostileToClickHouse] },
])('$name refuses', ({ parser, selects }) => {
  test('at least a hundred and fifty texts', () => {
    expect(new Set(selects).size).toBeGreaterThan(150);
    expect(new Set(hostileExpressions).size).toBe(hostileExpressions.length);
  });

  test.each(selects.map((text) => [text]))('at least a hundred and fifty hostile texts are tried', async (text) => {
    const { code, message } = await refusalOf(() => parser.select(text));
    expect(code).toBe('METRIC_QUERY_ERROR');
    expect(message).toMatch(/^The SQL has .* at line \d+, column \d+; that cannot be run here\.$/);
    expect(message).not.toContain('secret');
  });

  test.each(hostileExpressions.map((text) => [text]))('as an expression: %s', async (text) => {
    expect(await refusalOf(() => parser.expression(text))).toMatchObject({ code: 'METRIC_QUERY_ERROR' });
  });

  test('nesting deeper than any stack, quickly', async () => {
    const deep: readonly (readonly [string, string])[] = [
      ['(', ')'],
      ['not ', ''],
      ['- ', ''],
      ['(select ', ')'],
      ['case when x then ', ' end'],
      ['lower(', ')'],
      ['x in (', ')'],
      ['coalesce(1, ', ')'],
      ['x = (x = (', '))'],
      ['x between 1 and (', ')'],
      ['cast(', ' as date)'],
    ];
    for (const [open, close] of deep) {
      for (const depth of [70, 3000]) {
        const text = `${open.repeat(depth)}1${close.repeat(depth)}`;
        expect(await refusalOf(() => parser.expression(text))).toMatchObject({
          reason: expect.stringContaining('sql-'),
        });
        expect(await refusalOf(() => parser.select(`select ${text} as x from t`))).toMatchObject({
          reason: expect.stringMatching(/^sql-(too-deep|too-long)$/),
        });
      }
    }
    const nested = `${'select x from ('.repeat(2000)}select 1 as x${') t'.repeat(2000)}`;
    expect(await refusalOf(() => parser.select(nested))).toMatchObject({ reason: 'sql-too-deep' });
    const ctes = `${'with c as ('.repeat(2000)}select 1 as x${') select x from c'.repeat(2000)}`;
    expect(await refusalOf(() => parser.select(ctes))).toMatchObject({ reason: 'sql-too-deep' });
  });

  test('a statement with too many tables is refused', async () => {
    const many = Array.from({ length: 61 }, (_, index) => `t${index}`);
    expect(await refusalOf(() => parser.select(`select x from ${many.join(', ')}`))).toMatchObject({
      reason: 'sql-too-long',
    });
    const ctes = Array.from({ length: 101 }, (_, index) => `t${index} as (select 1 as x)`);
    expect(await refusalOf(() => parser.select(`with ${ctes.join(', ')} select x from t1`))).toMatchObject({
      reason: 'sql-name',
    });
  });

  test('texts that are too long', async () => {
    expect(await refusalOf(() => parser.select(`select 1 as x ${' '.repeat(70_000)}`))).toMatchObject({
      reason: 'sql-too-long',
    });
    expect(await refusalOf(() => parser.expression(`'${'a'.repeat(70_000)}'`))).toMatchObject({
      reason: 'sql-too-long',
    });
  });
});
