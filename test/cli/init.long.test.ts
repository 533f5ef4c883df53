/** `guestlist init` on each database. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import jwt from 'jsonwebtoken';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { customerId, northwindStatements } from '../fixtures/northwind-database.js';
import { jwkOf, rsaPair } from '../gateway/signers.js';
import {
  clickHouseServer,
  createOwnClickHouseDatabase,
  isClickHouseThere,
  type OwnClickHouseDatabase,
  onClickHouse,
} from '../suites/clickhouse.js';
import { runOnFile } from '../suites/duckdb-file.js';
import { begin, initSuite, kinds, openWith, origin, readMetrics, run, stop, urlOf } from './init-suite.js';

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

/** As a new user would: an empty folder, a database, and the sessions of a login provider. */
describe('with the sessions of a login provider', () => {
  test('init --login clerk sets up a dashboard that a session of Clerk opens, and shows its own rows only', async () => {
    const source = await mkdtemp(join(tmpdir(), 'guestlist-init-source-'));
    const folder = await mkdtemp(join(tmpdir(), 'guestlist-init-'));
    const pair = rsaPair();
    const keys = createServer((_, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ keys: [jwkOf(pair, { kid: 'k1', alg: 'RS256' })] }));
    });
    keys.listen(0, '127.0.0.1');
    await once(keys, 'listening');
    const { port } = keys.address() as AddressInfo;
    let serving: ReturnType<typeof begin> | undefined;
    try {
      await runOnFile(join(source, 'northwind.duckdb'), northwindStatements);
      const issuer = 'https://clerk.example.com';
      const login = ['--login', 'clerk', '--issuer', issuer, '--jwks-url', `http://127.0.0.1:${port}/keys`];
      const database = ['--database', join(source, 'northwind.duckdb'), '--shared', 'products,categories'];
      const { code, output } = await run(folder, 'init', '--yes', ...database, ...login, '--origin', origin);
      expect([code, output]).toEqual([0, expect.stringContaining('session token of Clerk')]);
      serving = begin(folder, ['serve']);
      const url = await urlOf(serving);
      const open = (claims: object, by = pair) => {
        const session = jwt.sign({ sub: 'user_1', iss: issuer, ...claims }, by.privateKey, {
          ...{ algorithm: 'RS256', keyid: 'k1', expiresIn: 60 },
        });
        return openWith(url, session);
      };
      const own = await open({ v: 2, o: { id: customerId(0), rol: 'admin', slg: 'acme' } });
      expect([own.status, own.body.embeds?.map(({ id }) => id)]).toEqual([200, [`overview--${customerId(0)}`]]);
      const old = await open({ org_id: customerId(7), org_role: 'org:member' });
      expect(old.body.embeds?.map(({ id }) => id)).toEqual([`overview--${customerId(7)}`]);
      expect((await open({ v: 2 })).status).toBe(403);
      expect((await open({ v: 2, o: { id: customerId(0), rol: 'admin' } }, rsaPair())).status).toBe(401);
    } finally {
      await stop(serving);
      keys.close();
      for (const made of [folder, source]) await rm(made, { recursive: true, force: true });
    }
  });
});
