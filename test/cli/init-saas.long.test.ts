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
  ...['Hours', 'Revenue', 'Tasks', 'Hours by month', 'Revenue by month', 'Tasks by status'],
  ...['Hours by project type', 'Revenue by status', 'Tasks by priority', 'Latest time entries'],
];

const ownTasks = `app.tasks t JOIN app."Projects" p ON p."Id" = t.project_id AND p."organizationId" = $1`;
/** What the charts of an organization should show, by hand. */
const byHand = {
  'Tasks by status': `SELECT t.status::text, count(*) FROM ${ownTasks} WHERE t.deleted_at IS NULL GROUP BY 1`,
  'Hours by department': `SELECT u.department, sum(e.minutes) / 60.0 FROM app.time_entries e JOIN ${ownTasks} ON t.id = e.task_id
    LEFT JOIN app.users u ON u.id = e.user_id AND EXISTS (SELECT FROM app.memberships m
      WHERE m.user_id = u.id AND m.organization_id = $1) GROUP BY 1`,
  'Revenue by status': `SELECT i.status::text || ' ' || i.currency, sum(i.total_cents) / 100.0 AS amount FROM billing.invoices i
    WHERE i.organization_id = $1 GROUP BY 1`,
  'Hours by project type': `SELECT CASE WHEN t.deleted_at IS NULL THEN p."projectType" END, sum(e.minutes) / 60.0
    FROM app.time_entries e JOIN ${ownTasks} ON t.id = e.task_id GROUP BY 1`,
} as const;

/** Rows of a chart or of a query with two columns: the group, and its number. */
const pairs = (rows: readonly object[]) =>
  rows
    .map((row) => Object.values(row))
    .map(([group, number]) => [String(group), Math.round(Number(number) * 1000) / 1000] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));

describe.runIf(await isPostgresThere())('on PostgreSQL', () => {
  let source: Awaited<ReturnType<typeof createOwnDatabase>>;
  const countByHand = async (chart: keyof typeof byHand, tenant: number) => {
    const client = new pg.Client({ connectionString: source.url });
    await client.connect();
    const { rows } = await client.query<object>(byHand[chart], [organizationId(tenant)]);
    await client.end();
    return pairs(rows);
  };
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
    // Three tasks of each are deleted.
    expect(counts).toEqual([117, 117, 117, 0]);
  });

  test('every chart counts what a query by hand counts, without deleted rows', async () => {
    for (const tenant of [0, 1]) {
      const metrics = new Map(await readMetrics(folder, url, { tenant_id: organizationId(tenant) }));
      for (const chart of ['Tasks by status', 'Hours by project type'] as const)
        expect([chart, pairs(metrics.get(chart) ?? [])]).toEqual([chart, await countByHand(chart, tenant)]);
      const amounts = metrics.get('Revenue by status') ?? [];
      const revenue = amounts.map((row) => [`${row.Status} ${row.Currency}`, row.Revenue]);
      expect(pairs(revenue)).toEqual(await countByHand('Revenue by status', tenant));
    }
  });

  test('amounts in cents are shown in whole units, in the currency of each row', async () => {
    const { tableList } = await readModel(folder);
    const invoices = tableList.find(({ name }: { readonly name: string }) => name === 'invoices');
    expect(invoices.columns.find(({ name }: { readonly name: string }) => name === 'total_cents')).toMatchObject({
      ...{ label: 'Total', numbers: { scale: 2, currency: { column: 'currency' } } },
    });
    expect(told).toContain(
      'billing.invoices.total_cents: stored with 2 decimal places, in the currency of each row (currency); as stored: --w',
    );
    // Lines are in the currency of their invoice, which a column of another table cannot say.
    expect(told).toContain('billing.invoice_lines.unit_price_cents: stored with 2 decimal places, currency not known');
  });

  test('with the people behind memberships, hours are shown by department as a query by hand counts them', async () => {
    const own = await mkdtemp(join(tmpdir(), 'guestlist-init-'));
    let people: ReturnType<typeof begin> | undefined;
    try {
      const database = ['--database', source.url, '--origin', origin];
      const flags = ['--through', 'users', '--without-table', 'events,subscriptions'];
      const { code, output } = await run(own, 'init', '--yes', ...database, ...flags);
      expect([code, output]).toEqual([0, expect.stringContaining('  app.users: id, full_name, department')]);
      expect(output).toMatch(/app\.users +several tenants each, by memberships/);
      people = begin(own, ['serve']);
      const peopleUrl = await urlOf(people);
      for (const tenant of [0, 1]) {
        const metrics = new Map(await readMetrics(own, peopleUrl, { tenant_id: organizationId(tenant) }));
        const hours = pairs(metrics.get('Hours by department') ?? []);
        expect(hours).toEqual(await countByHand('Hours by department', tenant));
        // Those who have left have no department here.
        expect(hours.map(([department]) => department)).toContain('null');
      }
      const { output: plan } = await run(own, 'plan', '--url', peopleUrl);
      expect(plan).toContain('Nothing to change.');
      const { tableList } = await readModel(own);
      const users = tableList.find(({ name }: { readonly name: string }) => name === 'users');
      expect(users.through).toEqual({
        relationship: 'memberships.user_id',
        columns: ['id', 'full_name', 'department'],
      });
      // Hours of people who were deleted keep their department.
      expect(users.baseFilters ?? []).toEqual([]);
      expect(output).toContain('would lose the names of deleted users); to take it: --base-filter app.users');
    } finally {
      await stop(people);
      await rm(own, { recursive: true, force: true });
    }
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
    expect(told).toContain('--through app.users=full_name,department; it also has email');
    expect(told).toContain('app.tasks: deleted_at is empty (deleted_at is empty while a row is in use)');
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
      const byHand = 'SELECT sum(price_total) FROM Rentals r JOIN copies c ON c.id = r.copy_id WHERE c.shop_id = 1';
      const total = await onMysql(async (connection) => (await connection.query(byHand))[0], name);
      // One number: the shop names the currency of all its amounts.
      const [sum] = Object.values(Array.isArray(total) ? { ...total[0] } : {});
      expect(metrics.get('Revenue')?.map((row) => Number(row.Revenue))).toEqual([Number(sum)]);
      expect(output).toContain("Rentals.price_total: in the tenant's currency (currency)");
    } finally {
      await stop(serving);
      await rm(folder, { recursive: true, force: true });
      await drop();
    }
  });
});
