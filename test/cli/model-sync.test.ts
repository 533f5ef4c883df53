/** `guestlist model sync` with real databases, whose tables are altered below a datamart with a dashboard. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { policyUses } from '../../src/cli/model/policy-uses.js';
import { type Datasource, isFile } from '../../src/model/organization.js';
import { type Builder, createBuilder, findKinds } from '../engine/test-databases.js';
import type { Place } from '../engine/world.js';
import { basePolicy } from '../gateway/policies.js';
import { request } from '../product/guest.js';
import { type House, openHouse } from '../spec/house.js';
import { runCli } from './in-process.js';

let house: House;
beforeAll(async () => {
  house = await openHouse('datasources: { allowedHosts: ["127.0.0.1", "localhost"] }');
}, 120_000);
afterAll(() => house.close());

const service = async (path: string, body: object | undefined, method = 'POST') => {
  const answer = await request(`${house.url()}/api/v2/${path}`, {
    method,
    headers: { authorization: `Bearer ${house.serviceToken}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  expect(answer, `${path}: ${JSON.stringify(answer.body)}`).toMatchObject({
    status: expect.toSatisfy((status: number) => status < 300),
  });
  return answer.body;
};

const tables = [
  'CREATE TABLE clients (id BIGINT PRIMARY KEY, name VARCHAR(60))',
  `CREATE TABLE orders (id BIGINT PRIMARY KEY, client_id BIGINT NOT NULL, amount NUMERIC(10,2), note VARCHAR(60),
    quantity INTEGER, FOREIGN KEY (client_id) REFERENCES clients (id))`,
];
const alterations = (kind: 'POSTGRES' | 'MYSQL') => [
  'ALTER TABLE orders RENAME COLUMN amount TO total',
  'ALTER TABLE orders DROP COLUMN note',
  'ALTER TABLE orders ADD COLUMN paid INTEGER',
  'ALTER TABLE orders ADD COLUMN card_token VARCHAR(60)',
  `ALTER TABLE orders ${kind === 'POSTGRES' ? 'ALTER COLUMN quantity TYPE VARCHAR(20)' : 'MODIFY quantity VARCHAR(20)'}`,
  'CREATE TABLE refunds (id BIGINT PRIMARY KEY, client_id BIGINT, FOREIGN KEY (client_id) REFERENCES clients (id))',
  'CREATE TABLE settings (id BIGINT PRIMARY KEY, value VARCHAR(60))',
];

const credentialsOf = (name: string, datasource: Datasource) => {
  if (isFile(datasource)) throw new Error('a server is expected');
  const { host, port, username, password, database, isSsl } = datasource;
  // The test's own tables are in a schema of their own, where the database has schemas.
  const schema = datasource.datasourceType === 'POSTGRES' ? { schema: 'main' } : {};
  return { name, host, port, username, password, database, isSsl, ...schema };
};

const visual = (schemaName: string, name: string, measure: object, by = 'id') => {
  const column = (columnName: string) => ({ schemaName, tableName: 'orders', columnName });
  const definition = {
    ...{ kind: 'visual', chart: { type: 'bar' }, from: { schemaName, tableName: 'orders' } },
    dimensions: [{ name: 'By', column: column(by) }],
    measures: [{ name: 'Value', ...measure }],
  };
  return { metricId: name.toLowerCase(), name, lineage: [], placement: 'GALLERY', definition };
};

const create = async (name: string, { datasource, schemaName }: Place): Promise<void> => {
  await service('datasource', {
    datasourceType: datasource.datasourceType,
    credentials: credentialsOf(name, datasource),
  });
  const listed = (table: string, columns: readonly string[], more: object = {}) => ({
    ...{ name: table, schemaName, columns: columns.map((column) => ({ name: column })) },
    ...more,
  });
  await service('data-app/datamarts', {
    ...{ name, datasourceName: name, sharedTables: [], relationships: [] },
    tenancySettings: {
      ...{ tenancyLevel: 'TABLE', clientColumnType: 'NUMBER', schemaName, tableName: 'clients' },
      ...{ tablePrimaryKeyColumn: 'id', tableClientNameColumn: 'name' },
    },
    tableList: [
      listed('clients', ['id', 'name']),
      listed('orders', ['id', 'client_id', 'amount', 'note', 'quantity'], { clientColumn: 'client_id' }),
    ],
  });
  await service('workspace', { name, connectionType: 'DATAMART', datamartName: name });
  const column = (columnName: string) => ({ schemaName, tableName: 'orders', columnName });
  await service('data-app/import-dashboard', {
    ...{ workspaceName: name, dashboardId: `sales-${name}`, dashboardName: 'Sales' },
    importDashboardData: {
      ...{ version: 3, layout: [], gridMargin: [] },
      filters: [{ name: 'Note', dataType: 'string', applyOnTables: [{ ...column('note'), dataType: 'string' }] }],
      metrics: [
        visual(schemaName, 'Revenue', { aggregate: 'SUM', column: column('amount') }),
        visual(schemaName, 'Pieces', { aggregate: 'SUM', column: column('quantity') }),
        visual(schemaName, 'Orders', { aggregate: 'COUNT' }),
      ],
    },
  });
};

/** As somebody does in Studio: the dashboard has one more metric, and no file knows of it. */
const addMetric = async (name: string, metric: object): Promise<void> => {
  const at = { workspaceName: name, dashboardId: `sales-${name}` };
  const path = 'data-app/dashboards/content';
  const read = await service(`${path}?${new URLSearchParams(at)}`, undefined, 'GET');
  const { data, digest } = read as { readonly data: { readonly metrics: readonly object[] }; readonly digest: string };
  const content = { ...data, metrics: [...data.metrics, metric] };
  await service(path, { ...at, content, expectedDigest: digest }, 'PUT');
};

test('a policy that no gateway reads is refused', () => {
  expect(() => policyUses({ file: 'policy.yaml', text: '', content: {} })).toThrow(/policy\.yaml is no policy/);
});

test('a restriction that hides or masks a column is named, since it would not hide the new name', () => {
  const restrict = { hideColumns: ['main.users.email'], maskColumns: { 'main.users.phone': 'last4' } };
  const policy = { ...basePolicy, restrictions: [{ name: 'no contacts', when: 'true', restrict }] };
  const uses = policyUses({ file: 'policy.yaml', text: '', content: policy });
  expect(uses.find(({ name }) => name === 'restriction "no contacts"')).toMatchObject({
    where: 'policy.yaml',
    columns: ['email', 'phone'].map((columnName) => ({ schemaName: 'main', tableName: 'users', columnName })),
  });
});

const kinds = (await findKinds()).filter((kind) => kind === 'POSTGRES' || kind === 'MYSQL');

describe.each(kinds)('on %s', (kind) => {
  const name = kind.toLowerCase();
  let builder: Builder;
  let place: Place;
  let folder: string;
  beforeAll(async () => {
    builder = await createBuilder(kind);
    place = await builder.build(name, tables);
    await create(name, place);
    folder = await mkdtemp(join(tmpdir(), 'guestlist-sync-'));
    await run('pull', '--workspace', name);
    await builder.run?.(place, alterations(kind === 'MYSQL' ? 'MYSQL' : 'POSTGRES'));
  }, 120_000);
  afterAll(async () => {
    await builder.remove();
    await rm(folder, { recursive: true, force: true });
  });

  const run = async (command: string, ...args: readonly string[]) => {
    const env = { ...process.env, GUESTLIST_SERVICE_TOKEN: house.serviceToken };
    const { code, out, err } = await runCli([...command.split(' '), folder, ...args, '--url', house.url()], { env });
    return { code, output: `${out}${err}`.trimEnd() };
  };
  const sync = (...args: readonly string[]) => run('model sync', '--datamart', name, ...args);
  const file = () => readFile(join(folder, `datamarts/${name}.yaml`), 'utf8');

  test('a dry run names each change, and the metrics and filters that it breaks', async () => {
    const { schemaName } = place;
    const before = await file();
    const { code, output } = await sync('--dry-run');
    const text = output.replaceAll(`${schemaName}.`, '').replaceAll(`sales-${name}`, 'sales-KIND');
    expect(code).toBe(0);
    expect(text).toContain(
      'renamed  orders.amount, now probably total\n  breaks metric "Revenue" of dashboards/sales-KIND.yaml: reads orders.amount',
    );
    expect(text).toContain('gone     orders.note\n');
    expect(text).toContain('breaks filter "Note" of dashboards/sales-KIND.yaml: reads orders.note');
    expect(text).toMatch(
      /retyped {2}orders\.quantity: int\S*, now .*\n {2}breaks metric "Pieces" of dashboards\/sales-KIND\.yaml: .*SUM needs numbers/,
    );
    expect(text).toMatch(/new {6}orders\.paid \(int.*\)\n/);
    expect(text).toContain('only with --add: named like a secret');
    expect(text).toContain('new      table refunds\n  its rows: one tenant each, in refunds.client_id');
    expect(text).toMatch(/new {6}table settings\n {2}only with --add: nobody can read its table/);
    expect(text).not.toContain('metric "Orders"');
    expect(await file()).toBe(before);
  }, 60_000);

  test('without an option nothing is saved, and --yes removes nothing', async () => {
    const before = await file();
    expect((await sync()).output).toContain('Nothing was saved. Accept changes by --add');
    const refused = await sync('--yes');
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.output.replaceAll(`${place.schemaName}.`, '')).toContain(
      'Decide by --remove or --rename about: orders.amount, orders.note',
    );
    expect(await sync('--add', 'orders.nothing')).toMatchObject({
      code: 2,
      output: expect.stringContaining('no such change'),
    });
    expect(await file()).toBe(before);
  }, 60_000);

  test('a metric that was made in Studio since counts, and the pull that saves it from the push is named', async () => {
    const text = await file();
    const { schemaName } = place;
    await addMetric(name, visual(schemaName, 'Notes', { aggregate: 'COUNT' }, 'note'));
    const options = ['--yes', '--types', '--remove', 'orders.note', '--rename', 'orders.amount=total'];
    const { output } = await sync(...options);
    expect(output).toContain(`breaks metric "Notes" of dashboard ${name}/sales-${name}`);
    expect(output).toContain(`guestlist pull ${folder}, since dashboard ${name}/sales-${name} is newer in the service`);
    expect(await run('push')).toMatchObject({ code: 2, output: expect.stringContaining('removes the metric "Notes"') });
    const { output: pulled } = await run('pull', '--workspace', name);
    expect(pulled).toMatch(/kept +datamarts/);
    expect(pulled).toMatch(/written +dashboards/);
    await writeFile(join(folder, `datamarts/${name}.yaml`), text);
  }, 60_000);

  test('what is accepted is in the file, pushed with it, and then nothing differs but what was left out', async () => {
    const accepted = ['--yes', '--remove', 'orders.note', '--rename', 'orders.amount=total'];
    expect(await sync(...accepted)).toMatchObject({ code: 2, output: expect.stringContaining('add --types') });
    const saved = await sync(...accepted, '--types');
    expect(saved).toMatchObject({
      code: 0,
      output: expect.stringContaining('The service has it after: guestlist push'),
    });
    const { tableList } = parse(await file()) as {
      tableList: { name: string; clientColumn?: string; columns: { name: string }[] }[];
    };
    expect(
      tableList.map((table) => [table.name, table.clientColumn, table.columns.map((column) => column.name)]),
    ).toEqual([
      ['clients', undefined, ['id', 'name']],
      ['orders', 'client_id', ['id', 'client_id', 'total', 'quantity', 'paid']],
      ['refunds', 'client_id', ['id', 'client_id']],
    ]);
    // The dashboard still reads what is gone, and is not what is pushed here.
    await rm(join(folder, 'dashboards'), { recursive: true });
    expect(await run('push')).toMatchObject({ code: 0 });
    const left = JSON.parse((await sync('--json')).output) as { changes: { kind: string; name: string }[] };
    expect(left.changes.map((change) => `${change.kind} ${change.name.replace(`${place.schemaName}.`, '')}`)).toEqual([
      'new orders.card_token',
      'new settings',
    ]);
    expect(await sync('--leave-out', 'orders.card_token')).toMatchObject({ code: 0 });
    expect(await run('push')).toMatchObject({ code: 0 });
    const rest = JSON.parse((await sync('--json')).output) as { changes: { kind: string; name: string }[] };
    expect(rest.changes.map(({ name: of }) => of.replace(`${place.schemaName}.`, ''))).toEqual(['settings']);
  }, 60_000);

  test('without a file the service is changed, and a table without a tenant is saved as one that nobody reads', async () => {
    await rm(join(folder, 'datamarts'), { recursive: true });
    const saved = await sync('--add', 'settings');
    expect(saved).toMatchObject({
      code: 0,
      output: expect.stringContaining(`saved the datamart ${name} in the service`),
    });
    expect(saved.output).toMatch(/warning: .*settings/);
    expect((await sync('--dry-run')).output).not.toContain('table settings');
  }, 60_000);
});
