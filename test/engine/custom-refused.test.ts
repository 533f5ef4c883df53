/**
 * SQL that reads, writes or waits for anything but the datamart's tables is refused before it reaches a database. The
 * message repeats only names from it.
 */
import { describe, expect, test } from 'vitest';
import { readStatement } from '../../src/engine/custom/statement.js';
import { clickHouseDialect } from '../../src/engine/databases/clickhouse/dialect.js';
import { duckDbDialect } from '../../src/engine/databases/duckdb/dialect.js';
import { kinds } from '../../src/engine/databases/kinds.js';
import { createMysqlDialect } from '../../src/engine/databases/mysql/dialect.js';
import { postgresDialect } from '../../src/engine/databases/postgres/dialect.js';
import { expressions, own, statements } from './custom-hostile.js';
import { hostileExpressions, hostileSelects, hostileToClickHouse, hostileToMysql } from './grammar-hostile.js';
import { catalogOf, datamart, datasourceAt, refusalOf, scopeOf, table } from './world.js';

const mart = datamart({
  tables: [table('flights', { delay: 'BIGINT', origin: 'VARCHAR' }, 'origin'), table('airports', { iata: 'VARCHAR' })],
});

const more = {
  ...own,
  MYSQL: { statements: [...hostileSelects, ...hostileToMysql], expressions: hostileExpressions },
  CLICKHOUSE: { statements: [...hostileSelects, ...hostileToClickHouse], expressions: hostileExpressions },
};

/** Texts that are harmless in MySQL and ClickHouse: the names are ordinary columns there, and comments are removed. */
const harmless: readonly string[] = ['select user as n', 'user', 'delay -- comment', 'delay /* comment */'];
const without = (kind: string, texts: readonly string[]): readonly string[] =>
  kind === 'MYSQL' || kind === 'CLICKHOUSE' ? texts.filter((text) => !harmless.includes(text)) : texts;

describe.each([
  ['DUCKDB', duckDbDialect],
  ['POSTGRES', postgresDialect],
  ['MYSQL', createMysqlDialect({ isMariaDb: true })],
  ['CLICKHOUSE', clickHouseDialect],
] as const)('%s', (kind, dialect) => {
  const reader = {
    datasource: {
      ...datasourceAt('unused'),
      ...(kind === 'DUCKDB' ? {} : { datasourceType: kind, schema: 'main', database: 'main' }),
    } as never,
    ...{ datamart: mart, tenant: scopeOf(mart, 'a'), catalog: catalogOf(mart), dialect },
    ...{ stored: catalogOf(mart), maskKey: undefined },
    ...{
      variables: new Map(),
      declared: [],
      isWritten: false,
      run: () => Promise.reject(new Error('nothing may run')),
      memory: {},
    },
  };
  const { parser } = kinds[kind];
  const hostile = {
    statements: [...without(kind, statements), ...more[kind].statements],
    expressions: [...without(kind, expressions), ...more[kind].expressions],
  };

  test('the lists have the expected length', () => {
    expect(hostile.statements.length + hostile.expressions.length).toBeGreaterThan(250);
  });

  test('every statement is refused', async () => {
    const through: string[] = [];
    for (const text of hostile.statements) {
      try {
        await readStatement(reader, text);
        through.push(text);
      } catch (error) {
        const refusal = await refusalOf(() => Promise.reject(error));
        expect(refusal.code).toBe('METRIC_QUERY_ERROR');
      }
    }
    expect(through).toEqual([]);
  });

  test("a bare name that two schemas have means the default schema's table, or is refused", async () => {
    const tablesOf = async (...schemas: readonly string[]) => {
      const two = datamart({
        tables: schemas.map((schemaName) => ({ ...table('flights', { origin: 'VARCHAR' }, 'origin'), schemaName })),
      });
      const own = { ...reader, datamart: two, catalog: catalogOf(two), stored: catalogOf(two) };
      return (await readStatement(own, 'select 1 as n from flights')).tables;
    };
    expect(await tablesOf('other', 'main')).toEqual([{ schemaName: 'main', tableName: 'flights' }]);
    expect(await refusalOf(() => tablesOf('other', 'another'))).toMatchObject({ reason: 'sql-table-unknown' });
    expect(await tablesOf('other')).toEqual([{ schemaName: 'other', tableName: 'flights' }]);
  });

  test('a refusal repeats no value', async () => {
    for (const text of [
      "select * from flights where 'of-a-tenant' = delay::mine",
      "select 'of-a-tenant' from secrets",
      "select 'of-a-tenant",
    ]) {
      expect((await refusalOf(() => readStatement(reader, text))).message).not.toContain('of-a-tenant');
    }
  });

  test('every expression is refused', async () => {
    const through: string[] = [];
    for (const text of hostile.expressions) {
      try {
        await parser?.expression(text);
        through.push(text);
      } catch (error) {
        expect(await refusalOf(() => Promise.reject(error))).toMatchObject({ code: 'METRIC_QUERY_ERROR' });
      }
    }
    expect(through).toEqual([]);
  });
});
