/** `guestlist init` on databases of its own: what it leaves out, and a first dashboard in which every metric shows the tenant's rows only. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import jwt from 'jsonwebtoken';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { customerId, northwindStatements, northwindTables } from '../fixtures/northwind-database.js';
import { get, post, request } from '../product/guest.js';
import { runOnFile } from '../suites/duckdb-file.js';
import { createOwnMysqlDatabase, isMysqlThere, mysqlServer, onMysql } from '../suites/mysql.js';
import { createOwnDatabase, isPostgresThere } from '../suites/postgres.js';

const entry = fileURLToPath(new URL('../../bin/guestlist.mjs', import.meta.url));
export const origin = 'https://app.example.com';

type Source = { readonly url: string; readonly drop: () => Promise<void> };

const openPostgres = async (): Promise<Source> => {
  const own = await createOwnDatabase();
  const client = new pg.Client({ connectionString: own.url });
  await client.connect();
  for (const statement of northwindStatements) await client.query(statement);
  await client.end();
  return own;
};
const openMariaDb = async (): Promise<Source> => {
  const { name, drop } = await createOwnMysqlDatabase();
  await onMysql(async (connection) => {
    for (const statement of northwindStatements) await connection.query(statement);
  }, name);
  const { host, port, username, password } = mysqlServer;
  return { url: `mysql://${username}:${password}@${host}:${port}/${name}`, drop };
};
const openDuckDb = async (): Promise<Source> => {
  const folder = await mkdtemp(join(tmpdir(), 'guestlist-init-source-'));
  await runOnFile(join(folder, 'northwind.duckdb'), northwindStatements);
  return {
    url: join(folder, 'northwind.duckdb'),
    drop: () => rm(folder, { recursive: true, force: true }),
  };
};

export const kinds = [
  { kind: 'DuckDB', schema: 'main', open: openDuckDb, isThere: true },
  { kind: 'PostgreSQL', schema: 'public', open: openPostgres, isThere: await isPostgresThere() },
  { kind: 'MariaDB', schema: null, open: openMariaDb, isThere: await isMysqlThere() },
];

export const begin = (
  folder: string,
  args: readonly string[],
): { readonly child: ChildProcess; readonly output: () => string } => {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, [entry, ...args], {
    cwd: folder,
    env: { PATH, HOME, PORT: args[0] === 'serve' ? '0' : '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
  return { child, output: () => text };
};
export const run = async (folder: string, ...args: readonly string[]) => {
  const { child, output } = begin(folder, args);
  const [code] = await once(child, 'close');
  return { code, output: output() };
};

type Row = Readonly<Record<string, string | number | null>>;
const rowsOf = (name: string): readonly Row[] => {
  const table = northwindTables.find((one) => one.name === name);
  const columns = [...(table?.create ?? '').replace(/^\(/, '').matchAll(/(?:^|, )([a-z_]+) [A-Z]/g)].map(
    ([, column = '']) => column,
  );
  return (table?.rows ?? []).map((row) => Object.fromEntries(row.map((value, at) => [columns[at] ?? '', value])));
};

const round = (value: number): number => Math.round(value * 100) / 100;
const sum = (values: readonly number[]): number => round(values.reduce((total, value) => total + value, 0));
const grouped = <T>(rows: readonly T[], keyOf: (row: T) => string): ReadonlyMap<string, readonly T[]> => {
  const groups = new Map<string, T[]>();
  for (const row of rows) groups.set(keyOf(row), [...(groups.get(keyOf(row)) ?? []), row]);
  return groups;
};

/** The last days, each once: a day has a row for each kind of order, and twenty rows hold at least these. */
const latestDays = (days: readonly string[]): readonly string[] =>
  [...new Set(days)].toSorted().toReversed().slice(0, 8);

/** Every metric of the first dashboard, computed here from the rows of one tenant. */
const expected = (
  tenant: string,
  isWanted: (category: unknown) => boolean = () => true,
): Readonly<Record<string, unknown>> => {
  const products = new Map(rowsOf('products').map((row) => [row.product_id, row]));
  const names = new Map(rowsOf('categories').map((row) => [row.category_id, row.category_name]));
  const categoryOf = (product: unknown) => String(names.get(products.get(Number(product))?.category_id ?? null));
  const all = rowsOf('orders').filter((row) => row.customer_id === tenant);
  const lines = rowsOf('order_details')
    .filter((line) => all.some((order) => order.order_id === line.order_id))
    .filter((line) => isWanted(categoryOf(line.product_id)))
    .map((line) => ({
      category: categoryOf(line.product_id),
      product: String(products.get(Number(line.product_id))?.product_name),
      month: `${String(all.find((order) => order.order_id === line.order_id)?.order_date).slice(0, 7)}-01`,
      order: line.order_id,
      worth: Number(line.quantity) * Number(line.unit_price),
    }));
  const orders = all.filter((order) => lines.some((line) => line.order === order.order_id));
  const worthBy = (keyOf: (line: (typeof lines)[number]) => string) =>
    [...grouped(lines, keyOf)].map(([key, group]) => [key, sum(group.map(({ worth }) => worth))] as const);
  const inOrder = (pairs: readonly (readonly [string, number])[]) => pairs.toSorted(([a], [b]) => (a < b ? -1 : 1));
  const monthOf = (row: Row): string => `${String(row.order_date).slice(0, 7)}-01`;
  return {
    Orders: [[orders.length]],
    Revenue: [[sum(lines.map(({ worth }) => worth))]],
    'Average freight': [[round(orders.reduce((total, { freight }) => total + Number(freight), 0) / orders.length)]],
    'Orders by month': inOrder([...grouped(orders, monthOf)].map(([month, group]) => [month, group.length])),
    'Revenue by month': inOrder(worthBy(({ month }) => month)),
    'Revenue by category': inOrder(worthBy(({ category }) => category)),
    'Revenue: top 10 by product': worthBy(({ product }) => product)
      .map(([, worth]) => worth)
      .toSorted((a, b) => b - a)
      .slice(0, 10),
    'Latest orders': latestDays(orders.map(({ order_date }) => String(order_date))),
  };
};

/** A cell as `expected` has it. */
const plain = (cell: unknown): unknown => {
  if (typeof cell === 'string' && /^\d{4}-\d\d-\d\d/.test(cell)) return cell.slice(0, 10);
  return typeof cell === 'number' || (typeof cell === 'string' && /^-?\d+(\.\d+)?$/.test(cell))
    ? round(Number(cell))
    : cell;
};

const shapeOf = (name: string, rows: readonly Readonly<Record<string, unknown>>[]): unknown => {
  const cells = rows.map((row) => Object.values(row).map(plain));
  if (name.includes('top 10')) return cells.map((row) => row.at(-1));
  if (name === 'Latest orders') return latestDays(rows.map((row) => String(plain(row['Order date']))));
  return name.includes(' by ') ? cells.toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1)) : cells;
};

type Serving = ReturnType<typeof begin>;

export const urlOf = ({ child, output }: Serving): Promise<string> =>
  new Promise((resolve, reject) => {
    child.stdout?.on('data', () => {
      const found = /Guestlist is up at (\S+)/.exec(output())?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once('close', () => reject(new Error(output())));
  });
export const stop = async (serving: Serving | undefined): Promise<void> => {
  serving?.child.kill('SIGTERM');
  if (serving !== undefined && serving.child.exitCode === null) await once(serving.child, 'close');
};

const sessionOf = async (folder: string, claims: object): Promise<string> => {
  const { GUESTLIST_HOST_JWT_SECRET: secret = '' } = parseEnv(await readFile(join(folder, 'guestlist.env'), 'utf8'));
  return jwt.sign({ sub: 'ann', ...claims }, secret, { algorithm: 'HS256', expiresIn: 600 });
};

export const loginAt = async (folder: string, url: string, claims: object, from = origin, body: object = {}) =>
  openWith(url, await sessionOf(folder, claims), from, body);

type EmbedTokenAnswer = {
  readonly token: string;
  readonly embeds: readonly { readonly id: string }[];
  readonly error?: { readonly code: string; readonly tenants?: readonly { readonly id: string }[] };
};

/** Asks for a token with a signed session, from a page of this origin. */
export const openWith = (url: string, session: string, from = origin, body: object = {}) =>
  request<EmbedTokenAnswer>(`${url}/embed-token`, {
    method: 'POST',
    headers: { authorization: `Bearer ${session}`, origin: from, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

type AnswerRow = Readonly<Record<string, unknown>>;
export const readMetrics = async (folder: string, url: string, claims: object, from = origin, asked: object = {}) =>
  readMetricsWith(url, await sessionOf(folder, claims), from, asked);

/** The rows of every metric of the first dashboard, by the metric's name. */
export const readMetricsWith = async (url: string, session: string, from: string, asked: object = {}) => {
  const { status, body, headers } = await openWith(url, session, from, asked);
  expect([status, headers.get('access-control-allow-origin')]).toEqual([200, from]);
  const id = body.embeds[0]?.id ?? '';
  const dashboard = await get<{ data: { metrics: { metricId: string; name: string }[] } }>(
    `${url}/api/v2/guest/dashboards/${id}`,
    body.token,
  );
  const answers = dashboard.body.data.metrics.map(async ({ metricId, name }) => {
    const path = `${url}/api/v2/guest/metrics/${metricId}/query`;
    const answer = await post<{ data: AnswerRow[] }>(path, { dashboardId: id }, body.token);
    expect([name, answer.status]).toEqual([name, 200]);
    return [name, answer.body.data] as const;
  });
  return Promise.all(answers);
};

/** `guestlist init` on the Northwind tables, up to the charts of two tenants. */
export const initSuite = ({ kind, schema, open }: (typeof kinds)[number]) =>
  describe(`on ${kind}`, () => {
    let source: Source;
    let folder: string;
    let told: string;
    let serving: Serving;
    let url: string;

    beforeAll(async () => {
      source = await open();
      folder = await mkdtemp(join(tmpdir(), 'guestlist-init-'));
      // The folder of an application has such a file already.
      await writeFile(join(folder, '.gitignore'), 'node_modules/');
      const flags = ['--database', source.url, '--shared', 'products,categories', '--origin', origin];
      const { code, output } = await run(folder, 'init', ...flags);
      expect([code, output]).toEqual([0, expect.stringContaining('8 charts')]);
      told = output;
      serving = begin(folder, ['serve']);
      url = await urlOf(serving);
    });
    afterAll(async () => {
      await stop(serving);
      await rm(folder, { recursive: true, force: true });
      await source.drop();
    });

    const login = (claims: object) => loginAt(folder, url, claims);
    const readAll = async (claims: object): Promise<Readonly<Record<string, unknown>>> =>
      Object.fromEntries((await readMetrics(folder, url, claims)).map(([name, rows]) => [name, shapeOf(name, rows)]));

    test.each([customerId(0), customerId(7)])('every metric answers %s with its own rows only', async (tenant) => {
      expect(await readAll({ tenant_id: tenant })).toEqual(expected(tenant));
    });

    test('the restriction of the policy narrows every metric', async () => {
      const claims = { tenant_id: customerId(0), roles: ['restricted'], category: 'Cheese' };
      expect(await readAll(claims)).toEqual(expected(customerId(0), (category) => category === 'Cheese'));
    });

    test('a session without a tenant, and a restricted one without its category, get no token', async () => {
      const codes = await Promise.all([login({}), login({ tenant_id: customerId(0), roles: ['restricted'] })]);
      expect(codes.map(({ status }) => status)).toEqual([403, 403]);
    });

    test('tables whose rows have no tenant are left out, and it says so', async () => {
      const [name = ''] = await readdir(join(folder, 'definitions/datamarts'));
      const { tableList, sharedTables } = parse(await readFile(join(folder, 'definitions/datamarts', name), 'utf8'));
      const names = tableList.map((table: { readonly name: string }) => table.name);
      const kept = ['categories', 'customer_customer_demo', 'customers', 'order_details', 'orders', 'products'];
      expect(names.toSorted()).toEqual(kept);
      expect(sharedTables).toHaveLength(2);
      for (const left of northwindTables.filter((table) => !kept.includes(table.name)))
        expect(told).toMatch(new RegExp(`${schema ?? '\\w+'}\\.${left.name} +LEFT OUT: `));
    });

    test('the definitions that init writes are those of the service: plan finds nothing to change', async () => {
      const { code, output } = await run(folder, 'plan', '--url', url);
      expect([code, output]).toEqual([0, expect.stringContaining('Nothing to change.')]);
      const { output: pulled } = await run(folder, 'pull', '--url', url);
      expect(pulled).not.toContain('written');
    });

    test('the policy that init writes passes its tests, and secrets are readable by their owner alone', async () => {
      const { code, output } = await run(folder, 'policy', 'test', 'policy.test.yaml', '--cover');
      expect([code, output]).toEqual([0, expect.stringContaining('5 tests')]);
      expect((await stat(join(folder, 'guestlist.env'))).mode & 0o777).toBe(0o600);
      if (kind !== 'DuckDB') expect(await readFile(join(folder, 'guestlist.yaml'), 'utf8')).not.toContain('://root');
    });

    test('the secrets stay out of version control, in a folder with a .gitignore too', async () => {
      expect(await readFile(join(folder, '.gitignore'), 'utf8')).toBe('node_modules/\ndata/\nguestlist.env\n');
    });

    test('the page to try it starts, signs a session and shows the printed lines', async () => {
      const child = spawn(process.execPath, ['host-page.mjs', '0'], {
        cwd: folder,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      try {
        const [line] = await once(child.stdout, 'data');
        const at = String(/Open (http:\S+)/.exec(String(line))?.[1]);
        const [page, session] = await Promise.all([request(at), request(`${at}/session`)]);
        expect([page.status, page.text]).toEqual([200, expect.stringContaining('<guestlist-dashboard')]);
        expect(session.text).toMatch(/^eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+$/);
      } finally {
        child.kill('SIGTERM');
      }
    });

    test('a second init changes nothing', async () => {
      const before = await readFile(join(folder, 'policy.yaml'), 'utf8');
      const { code, output } = await run(folder, 'init', '--database', source.url);
      expect([code, output]).toEqual([2, expect.stringContaining('would be overwritten')]);
      expect(await readFile(join(folder, 'policy.yaml'), 'utf8')).toBe(before);
    });
  });
