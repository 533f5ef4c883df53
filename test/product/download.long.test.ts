/**
 * Downloads a million rows from the built product's engine: the memory needed does not depend on the number of rows.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createBuilder, findKinds, type Kind } from '../engine/test-databases.js';

const script = fileURLToPath(new URL('download.mjs', import.meta.url));
const count = 1_000_000;
const numbers: Readonly<Record<Kind, string>> = {
  DUCKDB: `range(0, ${count}) AS s(n)`,
  POSTGRES: `generate_series(0, ${count - 1}) AS s(n)`,
  MYSQL: `(SELECT seq AS n FROM seq_0_to_${count - 1}) AS s`,
  CLICKHOUSE: `(SELECT number AS n FROM numbers(${count})) AS s`,
  SQLITE: `(WITH RECURSIVE s(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM s LIMIT ${count}) SELECT n FROM s) AS s`,
};
const texts: Readonly<Record<Kind, string>> = {
  DUCKDB: 'VARCHAR',
  POSTGRES: 'TEXT',
  MYSQL: 'CHAR',
  CLICKHOUSE: 'String',
  SQLITE: 'TEXT',
};
/** Megabytes that DuckDB itself needs for sorting in this process. */
const ownMegabytes = 250;

describe.each(await findKinds())('on %s', (kind) => {
  it('takes about as much memory as a small one', async () => {
    const builder = await createBuilder(kind);
    const engine = kind === 'CLICKHOUSE' ? ' ENGINE = MergeTree ORDER BY tuple()' : '';
    const place = await builder.build('download', [
      `CREATE TABLE many${engine} AS SELECT n AS id, concat('row ', CAST(n AS ${texts[kind]}), ' of many, and a little longer') AS text, n * 1.25 AS price,
        ${kind === 'CLICKHOUSE' ? "toDateTime64('2024-01-01 00:00:00', 6, 'UTC')" : "TIMESTAMP '2024-01-01 00:00:00'"} AS at FROM ${numbers[kind]}`,
    ]);
    const args = ['--expose-gc', script, JSON.stringify(place.datasource), place.schemaName];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    const told = JSON.parse(stdout);
    console.log(`${kind}: ${stdout.trim()}`);
    expect(told.rows).toBe(count);
    expect(told.grownMegabytes).toBeLessThan(ownMegabytes);
    await builder.remove();
  }, 300_000);
});
