/**
 * The table in docs/reference/databases.md equals the engine's table of capabilities, and a missing capability is
 * refused by name.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { clickHouseDialect } from '../../src/engine/databases/clickhouse/dialect.js';
import { duckDbDialect } from '../../src/engine/databases/duckdb/dialect.js';
import { createMysqlDialect } from '../../src/engine/databases/mysql/dialect.js';
import { postgresDialect } from '../../src/engine/databases/postgres/dialect.js';
import { sqliteDialect } from '../../src/engine/databases/sqlite/dialect.js';
import { assertHas, type Capability, capabilities } from '../../src/engine/dialect/capabilities.js';
import type { Dialect } from '../../src/engine/dialect/dialect.js';
import { refusalOf } from './world.js';

const dialects: readonly Dialect[] = [
  duckDbDialect,
  sqliteDialect,
  postgresDialect,
  createMysqlDialect({ isMariaDb: false }),
  createMysqlDialect({ isMariaDb: true }),
  clickHouseDialect,
];
const page = readFileSync(fileURLToPath(new URL('../../docs/reference/databases.md', import.meta.url)), 'utf8');

const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
const writeInstead = ({ instead }: Capability): string => ('way' in instead ? instead.way : `refused: ${instead.mend}`);

test("docs/reference/databases.md shows the engine's table", () => {
  const names = dialects.map((dialect) => dialect.capabilities.databaseName);
  const table = [
    line(['a database has', ...names, 'where it has not']),
    `|${'---|'.repeat(names.length + 2)}`,
    ...Object.values<Capability>(capabilities).map((capability) =>
      line([
        capability.what,
        ...dialects.map((dialect) => (capability.has(dialect) ? 'yes' : 'no')),
        writeInstead(capability),
      ]),
    ),
  ].join('\n');
  expect(page).toContain(table);
});

test('a missing capability is refused by name, with a way to avoid it', async () => {
  const mysql = createMysqlDialect({ isMariaDb: true });
  expect(await refusalOf(() => assertHas(mysql, 'hasFullJoin'))).toEqual({
    code: 'METRIC_QUERY_ERROR',
    reason: 'full-join-unsupported',
    message:
      "MariaDB has no FULL JOIN; set the relationship's join to LEFT JOIN, RIGHT JOIN or INNER JOIN in the datamart.",
  });
  const without: Dialect = { ...mysql, barrier: null };
  expect(await refusalOf(() => assertHas(without, 'barrier'))).toMatchObject({ reason: 'barrier-missing' });
  expect(() => assertHas(duckDbDialect, 'hasFullJoin')).not.toThrow();
});
