/** `guestlist init` on each database. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  clickHouseServer,
  createOwnClickHouseDatabase,
  isClickHouseThere,
  type OwnClickHouseDatabase,
  onClickHouse,
} from '../suites/clickhouse.js';
import { begin, initSuite, kinds, origin, readMetrics, run, stop, urlOf } from './init-suite.js';

for (const kind of kinds.filter(({ isThere }) => isThere)) initSuite(kind);

/** ClickHouse has no foreign keys, and its keys are not unique: relationships are proposed by name alone. */
describe.runIf(await isClickHouseThere())('on ClickHouse', () => {
  let source: OwnClickHouseDatabase;
  let folder: string;
  beforeAll(async () => {
    source = await createOwnClickHouseDatabase();
    const tables = [
      'customers (customer_id String, company_name String) ENGINE = MergeTree ORDER BY customer_id',
      'orders (order_id Int32, customer_id String, order_date Date, freight Float64) ENGINE = MergeTree ORDER BY order_id',
      'secrets (id Int32, value String) ENGINE = MergeTree ORDER BY id',
    ];
    for (const table of tables) await onClickHouse(`CREATE TABLE ${source.name}.${table}`);
    await onClickHouse(`INSERT INTO ${source.name}.customers VALUES ('A', 'Anna'), ('B', 'Bob')`);
    const made = "number, if(number < 60, 'A', 'B'), toDate('2024-01-01') + number, number / 4";
    await onClickHouse(`INSERT INTO ${source.name}.orders SELECT ${made} FROM numbers(100)`);
    folder = await mkdtemp(join(tmpdir(), 'guestlist-init-'));
  });
  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
    await source.drop();
  });

  test('init sets up a dashboard in which each tenant sees its own rows, and leaves out tables without a tenant', async () => {
    const { host, port, username, password } = clickHouseServer;
    const url = `clickhouse://${username}:${password}@${host}:${port}/${source.name}`;
    const { code, output } = await run(folder, 'init', '--yes', '--database', url, '--origin', origin);
    expect([code, output]).toEqual([0, expect.stringMatching(/secrets +LEFT OUT: [\s\S]*[1-9] charts/)]);
    expect(output).not.toContain(password);
    const serving = begin(folder, ['serve']);
    try {
      const at = await urlOf(serving);
      const counts = [];
      for (const tenant of ['A', 'B', 'C']) {
        const metrics = await readMetrics(folder, at, { tenant_id: tenant });
        expect(metrics.length).toBeGreaterThan(1);
        counts.push(metrics[0]?.[1].map((row) => Object.values(row)));
      }
      expect(counts).toEqual([[[60]], [[40]], [[0]]]);
    } finally {
      await stop(serving);
    }
  });
});
