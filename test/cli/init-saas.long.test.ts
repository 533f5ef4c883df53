/** `guestlist init` on an ordinary database of a SaaS product: enums, keys of uuid, three schemas, mixed-case names, partitions. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { organizationId, saasMysqlStatements, saasStatements } from '../fixtures/saas-database.js';
import { createOwnMysqlDatabase, isMysqlThere, mysqlServer, onMysql } from '../suites/mysql.js';
import { createOwnDatabase, isPostgresThere } from '../suites/postgres.js';
import { begin, origin, readMetrics, run, stop, urlOf } from './init-suite.js';

const readModel = async (folder: string) => {
  const [name = ''] = await readdir(join(folder, 'definitions/datamarts'));
  return parse(await readFile(join(folder, 'definitions/datamarts', name), 'utf8'));
};

const charts = [
  ...['Hours', 'Revenue (cents)', 'Tasks', 'Hours by month', 'Revenue (cents) by month', 'Tasks by status'],
  ...['Hours by project type', 'Revenue (cents) by status', 'Tasks by priority', 'Latest time entries'],
];

describe.runIf(await isPostgresThere())('on PostgreSQL', () => {
  let source: Awaited<ReturnType<typeof createOwnDatabase>>;
  let folder: string;
  let told: string;
  let serving: ReturnType<typeof begin>;
  let url: string;
  beforeAll(async () => {
    source = await createOwnDatabase();
    const client = new pg.Client({ connectionString: source.url });
    await client.connect();
    for (const statement of saasStatements) await client.query(statement);
    await client.end();
    folder = await mkdtemp(join(tmpdir(), 'guestlist-init-'));
    const flags = ['--database', source.url, '--origin', origin, '--without-table', 'analytics.monthly_revenue'];
    const { code, output } = await run(folder, 'init', '--yes', ...flags);
    expect([code, output]).toEqual([0, expect.stringContaining('10 charts')]);
    told = output;
    serving = begin(folder, ['serve']);
    url = await urlOf(serving);
  });
  afterAll(async () => {
    await stop(serving);
    await rm(folder, { recursive: true, force: true });
    await source.drop();
  });

  test('ten charts of several tables are made, and each answers a tenant', async () => {
    const metrics = await readMetrics(folder, url, { tenant_id: organizationId(0) });
    expect(metrics.map(([name]) => name).toSorted()).toEqual(charts.toSorted());
    for (const [name, rows] of metrics) expect([name, rows.length]).not.toEqual([name, 0]);
    const stages = metrics.find(([name]) => name === 'Tasks by status')?.[1].map(({ Status: stage }) => stage);
    expect(stages).toEqual(['todo', 'in_progress', 'review', 'done']);
  });

  test('each tenant sees its own rows, and one that does not exist sees none', async () => {
    const counts = [];
    for (const tenant of [0, 1, 2, 7]) {
      const metrics = await readMetrics(folder, url, { tenant_id: organizationId(tenant) });
      const stages = metrics.find(([name]) => name === 'Tasks by status')?.[1] ?? [];
      counts.push(stages.reduce((total, row) => total + Number(row.Tasks), 0));
    }
    expect(counts).toEqual([120, 120, 120, 0]);
  });

  test('a person who is restricted to one type of project gets no more of any chart', async () => {
    const all = new Map(await readMetrics(folder, url, { tenant_id: organizationId(0) }));
    const claims = { tenant_id: organizationId(0), roles: ['restricted'], project_type: 'client' };
    const own = new Map(await readMetrics(folder, url, claims));
    expect(own.get('Hours by project type')?.map((row) => row['Project type'])).toEqual(['client']);
    expect(Number(own.get('Hours')?.[0]?.Hours)).toBeLessThan(Number(all.get('Hours')?.[0]?.Hours));
  });

  test('partitions, dropped tables and people without a tenant are not in the model, and it says what to do', async () => {
    const { tableList } = await readModel(folder);
    const names = tableList.map(({ name }: { readonly name: string }) => name).toSorted();
    expect(names).toEqual([
      ...['Projects', 'events', 'invoice_lines', 'invoices', 'memberships', 'open_tasks', 'organizations'],
      ...['subscriptions', 'tasks', 'time_entries'],
    ]);
    expect(told).toContain('analytics.monthly_revenue (view; one row for each organization_id, month)');
    expect(told).toMatch(/app\.users +LEFT OUT: /);
    expect(told).not.toContain('--shared app.users');
  });

  test('the policy that init writes passes its tests', async () => {
    const { code, output } = await run(folder, 'policy', 'test', 'policy.test.yaml', '--cover');
    expect([code, output]).toEqual([0, expect.stringContaining('5 tests')]);
  });
});

describe.runIf(await isMysqlThere())('on MariaDB', () => {
  test('init chooses one of several ways to a tenant, says which, and makes charts of what it leads to', async () => {
    const { name, drop } = await createOwnMysqlDatabase();
    const folder = await mkdtemp(join(tmpdir(), 'guestlist-init-'));
    let serving: ReturnType<typeof begin> | undefined;
    try {
      await onMysql(async (connection) => {
        for (const statement of saasMysqlStatements) await connection.query(statement);
      }, name);
      const { host, port, username, password } = mysqlServer;
      const database = `mysql://${username}:${password}@${host}:${port}/${name}`;
      const wrong = await run(folder, 'init', '--yes', '--database', database, '--tenancy-path', 'Rentals=nothing');
      expect([wrong.code, wrong.output]).toEqual([2, expect.stringContaining('Rentals.copy_id, Rentals.member_id')]);
      const { code, output } = await run(folder, 'init', '--yes', '--database', database, '--origin', origin);
      expect([code, output]).toEqual([
        0,
        expect.stringMatching(/Rentals by Rentals\.copy_id; another: --tenancy-path/),
      ]);
      serving = begin(folder, ['serve']);
      const metrics = new Map(await readMetrics(folder, await urlOf(serving), { tenant_id: '1' }));
      expect([...metrics.keys()]).toEqual(expect.arrayContaining(['Revenue', 'Rentals by status']));
      expect(metrics.get('Rentals by status')?.map((row) => row.Status)).toEqual(['reserved', 'out', 'back']);
    } finally {
      await stop(serving);
      await rm(folder, { recursive: true, force: true });
      await drop();
    }
  });
});
