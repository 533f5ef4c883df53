/**
 * The table in docs/reference/databases.md equals the engine's table of capabilities, and a missing capability is
 * refused by name.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { clickHouseDialect } from '../../src/engine/databases/clickhouse/dialect.js';
import { duckDbDialect } from '../../src/engine/databases/duckdb/dialect.js';
import { kinds } from '../../src/engine/databases/kinds.js';
import { createMysqlDialect } from '../../src/engine/databases/mysql/dialect.js';
import { postgresDialect } from '../../src/engine/databases/postgres/dialect.js';
import { type PostgresForm, postgresForms } from '../../src/engine/databases/postgres/forms.js';
import { sqliteDialect } from '../../src/engine/databases/sqlite/dialect.js';
import { assertHas, type Capability, capabilities } from '../../src/engine/dialect/capabilities.js';
import type { Dialect } from '../../src/engine/dialect/dialect.js';
import { isUntested, type Variant, variantNames, variants } from '../../src/model/organization.js';
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

/** What the forms of a protocol say of a variant, beside its dialect. */
const ofForms: readonly { readonly what: string; readonly has: (name: Variant) => boolean; readonly not: string }[] = [
  {
    what: 'custom SQL and expressions',
    has: (name) => kinds[name].parser !== null && variantDialect(name).barrier !== null,
    not: 'refused: use plain columns and measures',
  },
  { what: 'downloads', has: (name) => formOf(name)?.hasCursor ?? true, not: 'refused: read the metric in pages' },
  {
    what: 'keys that prove a cardinality',
    has: (name) => formOf(name)?.hasKeys ?? true,
    not: 'declare the cardinality',
  },
  {
    what: 'a database or a schema for each client',
    has: (name) => formOf(name)?.hasClientDatabases ?? true,
    not: 'none is found, so no client can be given one',
  },
  {
    what: 'replicas',
    has: (name) => formOf(name)?.hasReplicas ?? false,
    not: 'refused: connect a reader as the datasource',
  },
  { what: 'rollups', has: () => false, not: 'refused: the source answers' },
  {
    what: 'rights of the user, as `guestlist doctor` reads them',
    has: (name) => formOf(name)?.hasRights ?? true,
    not: 'the doctor says so: check them by hand',
  },
];

const formOf = (name: Variant): PostgresForm | undefined => (name === 'AURORA_MYSQL' ? undefined : postgresForms[name]);
const variantDialect = (name: Variant): Dialect =>
  name === 'AURORA_MYSQL' ? createMysqlDialect({ isMariaDb: false, variant: name }) : postgresForms[name].dialect;

test("docs/reference/databases.md shows what variants lack, from the engine's tables", () => {
  const cells = (has: (name: Variant) => boolean) => variantNames.map((name) => (has(name) ? 'yes' : 'no'));
  const table = [
    line(['a variant has', ...variantNames.map((name) => `\`${name}\``), 'where it has not']),
    `|${'---|'.repeat(variantNames.length + 2)}`,
    ...Object.values<Capability>(capabilities).map((one) =>
      line([one.what, ...cells((name) => one.has(variantDialect(name))), writeInstead(one)]),
    ),
    ...ofForms.map(({ what, has, not }) => line([what, ...cells(has), not])),
  ].join('\n');
  expect(page).toContain(table);
});

test('docs/reference/databases.md names each variant that was not run', () => {
  for (const name of variantNames) {
    const { title, protocol, port } = variants[name];
    expect(page).toContain(
      line([`\`${name}\``, title, `\`${protocol}\``, String(port), isUntested(name) ? 'not run here' : 'yes']),
    );
  }
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
