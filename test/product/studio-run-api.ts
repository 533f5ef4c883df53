/** The run of Studio as calls of the interface and of the gateway's commands, and what an installation holds afterwards. */

import { vi } from 'vitest';
import { type Answer, post, request } from './guest.js';
import type { Product } from './product.js';

type Json = Record<string, unknown>;
type Metric = { readonly metricId: string; readonly name: string; readonly definition: Json };
type Content = { readonly data: Json & { readonly metrics: readonly Metric[] }; readonly digest: string };

const dataOf = <T>({ status, text, body }: Answer<T>): T => {
  if (status !== 200) throw new Error(text);
  return body;
};

/** Calls as the holder of a service token, of an API key of the data app, and of the gateway's token. */
const createCalls = ({ url, credentials }: Product) => {
  const call =
    (bearer: string) =>
    async <T>(method: 'GET' | 'POST' | 'PUT', path: string, body?: object): Promise<T> => {
      const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' };
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      return dataOf(await request<T>(`${url}/api/v2/${path}`, { method, headers, ...sent }));
    };
  return {
    service: call(credentials.serviceToken),
    withKey: async () => {
      const named = { dataAppName: 'shop', name: 'test' };
      const path = `${url}/api/v2/data-app/api-tokens`;
      return call(dataOf(await post<{ key: string }>(path, named, credentials.serviceToken)).key);
    },
    command: async <T>(name: string, input: object): Promise<T> =>
      dataOf(await post<T>(`${url}/gateway/admin/${name}`, input, credentials.gatewayToken)),
  };
};
type Calls = ReturnType<typeof createCalls>;

const place = { workspaceName: 'northwind' } as const;
const contentPath = (dashboardId: string): string =>
  `data-app/dashboards/content?${new URLSearchParams({ ...place, dashboardId })}`;

export type Installation = Readonly<Record<string, unknown>>;

/** What differs between two installations that were made by the same steps: moments, who did it, keyed and random names. */
const incidental = new Set([
  ...['id', 'createdAt', 'updatedAt', 'syncedAt', 'startedAt', 'finishedAt', 'verifiedAt', 'startedBy'],
  ...['digest', 'version', 'templateVersion', 'tenantRef'],
]);

/** Replaces ids by the names of what they are of, and leaves out moments and digests. */
const settled = (value: unknown, names: ReadonlyMap<string, string>): unknown => {
  if (typeof value === 'string') return names.get(value) ?? value;
  if (Array.isArray(value)) return value.map((item) => settled(item, names));
  if (value === null || typeof value !== 'object') return value;
  // Of the ancestors of a metric, those that there are no more had ids that nobody chose.
  if ('lineage' in value && value.lineage !== undefined) {
    const lineage = (value.lineage as readonly string[]).filter((id) => names.has(id));
    return settled({ ...value, ancestors: lineage, lineage: undefined }, names);
  }
  const kept = Object.entries(value).filter(([name, part]) => !incidental.has(name) && part !== undefined);
  return Object.fromEntries(kept.map(([name, part]) => [names.get(name) ?? name, settled(part, names)]));
};

/** All that was made: sources, models, the template with each copy, the policy, tenants and roll-outs. */
export const readInstallation = async (product: Product, tenants: readonly string[]): Promise<Installation> => {
  const { service, withKey, command } = createCalls(product);
  const app = await withKey();
  const ids = ['sales', ...tenants.map((org) => `sales--${org}`)];
  const contents: readonly (readonly [string, Content])[] = await Promise.all(
    ids.map(async (id) => [id, await app<Content>('GET', contentPath(id))] as const),
  );
  const names = new Map(
    contents.flatMap(([id, { data }]) => data.metrics.map(({ metricId, name }) => [metricId, `${name} of ${id}`])),
  );
  const read = {
    sources: await service('GET', 'datasource'),
    models: await service('GET', 'data-app/datamarts'),
    workspaces: await service('GET', 'workspace'),
    dashboards: contents.map(([id, { data }]) => [id, data]),
    tenants: await command('tenants-list', {}),
    rollouts: await command('rollout-list', {}),
    policy: await command('policy-read', {}),
  };
  return settled(read, names) as Installation;
};

type Table = {
  readonly schemaName: string;
  readonly tableName: string;
  readonly columns: readonly { readonly columnName: string }[];
};
type Catalogue = {
  readonly tables: readonly Table[];
  readonly proposals: {
    readonly clientColumns: readonly { readonly tableName: string; readonly columnName: string }[];
    readonly relationships: readonly {
      readonly relationship: { readonly parentTableName: string; readonly childTableName: string };
    }[];
  };
};

/** Tables whose rows belong to a tenant, and the one that all tenants read. Nobody would own the rows of others. */
const owners = new Set(['customer_customer_demo', 'customers', 'employees', 'order_details', 'orders']);

/** “order_details” is “Order details”. */
const labelOf = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' ');

/** The model that the service proposes for Northwind, with employees for everybody. */
const modelOf = ({ tables, proposals }: Catalogue): object => {
  const owned = new Map(proposals.clientColumns.map(({ tableName, columnName }) => [tableName, columnName]));
  const clientColumnOf = (table: string): string | undefined =>
    table === 'customers' ? 'customer_id' : owned.get(table);
  return {
    ...{ name: 'northwind', datasourceName: 'northwind', sharedTables: ['public.employees'] },
    tableList: tables
      .filter(({ tableName }) => owners.has(tableName))
      .map(({ schemaName, tableName, columns }) => ({
        ...{ name: tableName, schemaName, label: labelOf(tableName), clientColumn: clientColumnOf(tableName) },
        ...(tableName === 'employees' ? { leftOut: ['photo'] } : {}),
        columns: columns
          .filter(({ columnName }) => columnName !== 'photo')
          .map(({ columnName }) => ({ name: columnName, label: labelOf(columnName) })),
      })),
    tenancySettings: {
      ...{ tenancyLevel: 'TABLE', clientColumnType: 'STRING', schemaName: 'public', tableName: 'customers' },
      ...{ tableClientNameColumn: 'company_name', tablePrimaryKeyColumn: 'customer_id' },
    },
    relationships: proposals.relationships
      .map(({ relationship }) => relationship)
      .filter(({ parentTableName, childTableName }) =>
        [parentTableName, childTableName].every((name) => owners.has(name.replace('public.', ''))),
      ),
  };
};

const orders = { schemaName: 'public', tableName: 'orders' } as const;
const freight = { name: 'Freight', aggregate: 'SUM', column: { ...orders, columnName: 'freight' } } as const;
const by = (name: string, columnName: string, grain?: string) => ({
  ...{ name, column: { ...orders, columnName } },
  ...(grain === undefined ? {} : { grain }),
});
const country = by('Ship country', 'ship_country');
const month = by('Order date', 'order_date', 'month');
const definitions: readonly (readonly [string, string, ...object[]])[] = [
  ['Freight in all', 'singleValue'],
  ['Freight by country', 'bar', country],
  ['Freight by month', 'line', month],
  ['Freight by carrier', 'pie', by('Ship via', 'ship_via')],
  ['Freight over time', 'area', month],
  ['Freight, listed', 'table', country],
  ['Freight in rows', 'row', country],
  ['Freight, share', 'doughnut', country],
];
const office = {
  ...{ name: 'Office', dataType: 'string' },
  applyOnTables: [{ schemaName: 'public', tableName: 'employees', columnName: 'country', dataType: 'string' }],
};

/** Changes the template, over the digest of what was read. */
const writeTemplate = async ({ service }: Calls, change: (data: Content['data']) => object): Promise<void> => {
  const { data, digest } = await service<Content>('GET', contentPath('sales'));
  const content = { ...data, ...change(data) };
  await service('PUT', 'data-app/dashboards/content', {
    ...place,
    dashboardId: 'sales',
    content,
    expectedDigest: digest,
  });
};
/** The same for a template that the policy names: its editions are kept. */
const changeTemplate = async (calls: Calls, change: (data: Content['data']) => object): Promise<void> => {
  await writeTemplate(calls, change);
  await calls.command('template-record', { template: 'sales' });
};

const addMetric =
  (name: string, type: string, dimensions: readonly object[]) =>
  ({ metrics, layout }: Content['data']): object => {
    const metricId = `new-${metrics.length}`;
    const definition = { kind: 'visual', chart: { type }, from: orders, dimensions, measures: [freight] };
    return {
      metrics: [...metrics, { metricId, name, definition, lineage: [], placement: 'METRIC' }],
      layout: [...(layout as readonly object[]), { metricId, x: 0, y: metrics.length * 4, w: 6, h: 4 }],
    };
  };
const renameMetric =
  (from: string, to: string) =>
  ({ metrics }: Content['data']): object => ({
    metrics: metrics.map((metric) => (metric.name === from ? { ...metric, name: to } : metric)),
  });

/** Runs a roll-out to its end, or to its next pause. */
const untilRest = async ({ command }: Calls, id: string): Promise<string> => {
  type Status = { readonly data: { readonly state: string; readonly isAtWork: boolean } };
  const read = () => command<Status>('rollout-status', { id });
  await vi.waitUntil(async () => !(await read()).data.isAtWork, { timeout: 120_000, interval: 100 });
  return (await read()).data.state;
};

const rollOut = async (calls: Calls, how: object): Promise<string> => {
  const planned = await calls.command<{ data: { version: string } }>('rollout-plan', { template: 'sales' });
  const { version } = planned.data;
  const begun = await calls.command<{ data: { id: string } }>('rollout-apply', { template: 'sales', version, ...how });
  return begun.data.id;
};

/** A user of a tenant renames a metric of the host, over the guests' interface: no page of the elements offers that. */
export const renameAsGuest = async (
  { url }: Pick<Product, 'url'>,
  { token, dashboardId, from, to }: Readonly<Record<'token' | 'dashboardId' | 'from' | 'to', string>>,
): Promise<void> => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const at = `${url}/api/v2/guest`;
  type Board = { readonly data: { readonly metrics: readonly { metricId: string; name: string }[] } };
  const { data } = dataOf(await request<Board>(`${at}/dashboards/${dashboardId}`, { headers }));
  const id = data.metrics.find(({ name }) => name === from)?.metricId;
  dataOf(await request(`${at}/metrics/${id}`, { method: 'PUT', headers, body: JSON.stringify({ name: to }) }));
};

export type Steps = {
  readonly database: string;
  readonly policy: string;
  readonly tenants: readonly string[];
  readonly logInAll: () => Promise<void>;
  /** The token of a manager of a tenant. */
  readonly managed: (org: string) => Promise<string>;
};

export const runByApi = async (
  product: Product,
  { database, policy, tenants, logInAll, managed }: Steps,
): Promise<void> => {
  const calls = createCalls(product);
  const { service, command } = calls;
  await service('POST', 'data-app', { name: 'shop' });
  const { hostname, port, username, password, pathname } = new URL(database);
  const server = { host: hostname, port: Number(port || 5432), database: pathname.slice(1), isSsl: false };
  const user = { username: decodeURIComponent(username), password: decodeURIComponent(password) };
  const credentials = { name: 'northwind', ...server, ...user };
  await service('POST', 'datasource', { datasourceType: 'POSTGRES', credentials });
  const { data } = await service<{ data: Catalogue }>('GET', 'datasource/tables?name=northwind');
  await service('POST', 'data-app/datamarts', modelOf(data));
  await service('POST', 'workspace', { name: 'northwind', connectionType: 'DATAMART', datamartName: 'northwind' });
  const importDashboardData = { version: 3, layout: [], filters: [], metrics: [], gridMargin: [8, 8] };
  await service('POST', 'data-app/import-dashboard', {
    ...{ ...place, dashboardName: 'Sales', dashboardId: 'sales', importDashboardData },
  });
  await writeTemplate(calls, () => ({ filters: [office] }));
  const before = await command<{ data: { digest: string } }>('policy-read', {});
  await command('policy-save', { text: policy, digest: before.data.digest });
  for (const [name, type, ...dimensions] of definitions) await changeTemplate(calls, addMetric(name, type, dimensions));
  await logInAll();

  await changeTemplate(calls, renameMetric('Freight by month', 'Freight each month'));
  const canary = { canary: tenants.slice(0, 2), steps: [50, 100], isPausing: true };
  const first = await rollOut(calls, { ...canary, onConflict: 'leave' });
  while ((await untilRest(calls, first)) === 'paused') await command('rollout-resume', { id: first });

  const org = tenants[3] ?? '';
  const token = await managed(org);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const definition = { chart: { type: 'row' }, from: orders, dimensions: [country], measures: [freight] };
  const dashboardId = `sales--${org}`;
  const made = `${product.url}/api/v2/guest/dashboards/${dashboardId}/metrics`;
  dataOf(await request(made, { method: 'POST', headers, body: JSON.stringify({ name: 'Of our own', definition }) }));
  await renameAsGuest(product, { token, dashboardId, from: 'Freight in all', to: 'Our freight' });

  await changeTemplate(calls, renameMetric('Freight in all', 'Freight, total'));
  type Plan = { data: { tenants: { clientId: string; conflicts: { path: string }[] }[] } };
  const plan = await command<Plan>('rollout-plan', { template: 'sales' });
  const choices = plan.data.tenants.flatMap(({ clientId, conflicts }) =>
    conflicts.map(({ path }) => ({ clientId, path, take: 'template' })),
  );
  const second = await rollOut(calls, { canary: [], steps: [100], onConflict: 'leave', isPausing: false, choices });
  await untilRest(calls, second);
  await command('rollout-rollback', { id: second });
  await untilRest(calls, second);
};
