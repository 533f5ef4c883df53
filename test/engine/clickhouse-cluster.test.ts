/**
 * `Distributed` tables over `ReplicatedMergeTree`. No cluster could be run here: chdb has none, and Debian's
 * clickhouse-server 18.16 refuses the parameters of a query. So the settings and the statements are recorded; that a
 * server takes the settings is shown by every other test on ClickHouse.
 */
import { expect, it } from 'vitest';
import { clickHouseDialect } from '../../src/engine/databases/clickhouse/dialect.js';
import { readCatalog } from '../../src/engine/databases/clickhouse/schema.js';
import { settings } from '../../src/engine/databases/clickhouse/settings.js';
import type { Ask } from '../../src/engine/dialect/source-tables.js';
import { prepare } from '../../src/engine/prepare/prepare.js';
import type { VisualDefinition } from '../../src/model/dashboard/metric.js';
import type { Datamart } from '../../src/model/datamart/datamart.js';
import { columnRef, datamart, metric, type Place, question, relationship, table } from './world.js';

/** Each is a `Distributed` table; its local tables have other names, which no datamart has. */
const columns = {
  clients: { id: 'String', name: 'String' },
  sales: { id: 'Int64', client: 'LowCardinality(String)', shop: 'String', day: 'Date', amount: 'Int64' },
  shops: { code: 'String', client: 'String', state: 'Nullable(String)' },
  lines: { sale: 'Int64', sku: 'String' },
} as const;

const mart: Datamart = datamart({
  tables: [
    table('clients', columns.clients),
    table('sales', columns.sales, 'client'),
    table('shops', columns.shops, 'client'),
    table('lines', columns.lines),
  ],
  relationships: [relationship('sales.shop', 'shops.code', 'LEFT JOIN'), relationship('lines.sale', 'sales.id')],
});

const ask: Ask = async () =>
  Object.entries(columns).flatMap(([name, all]) =>
    Object.entries(all).map(([column, type]) => ['main', name, column, type]),
  );

const place: Place = {
  datasource: {
    ...{ id: 'd1', name: 'cluster', syncedAt: null, datasourceType: 'CLICKHOUSE', host: 'db', port: 8443 },
    ...{ username: 'reader', password: '', database: 'main', schema: null, isSsl: true },
  },
  schemaName: 'main',
};

const statementOf = async (definition: VisualDefinition): Promise<string> => {
  const never = async (): Promise<never> => Promise.reject(new Error('no rows are read'));
  const database = { dialect: clickHouseDialect, catalog: await readCatalog(ask, null), run: never, stream: never };
  const about = { kind: 'answer' as const, question: { ...question(place, mart, 'acme', definition), definition } };
  const { compiled } = await prepare(database, about, { isWritten: false, maskKeyOf: undefined }, never);
  const { sql, parameters } = compiled.page;
  return `${sql};\n-- values: ${JSON.stringify(parameters)}`;
};

const sum = { name: 'sum', aggregate: 'SUM', column: columnRef('sales.amount') } as const;
const state = { name: 'state', column: columnRef('shops.state') } as const;
const questions: Readonly<Record<string, VisualDefinition>> = {
  'the sum of each month': metric('sales', {
    dimensions: [{ name: 'month', column: columnRef('sales.day'), grain: 'month' }],
    measures: [sum],
  }),
  'a join of two distributed tables': metric('sales', { dimensions: [state], measures: [sum] }),
  'rows that have their client through another distributed table': metric('lines', {
    dimensions: [{ name: 'sku', column: columnRef('lines.sku') }],
    measures: [{ name: 'rows', aggregate: 'COUNT' }],
  }),
};

it('what a cluster is sent is recorded', async () => {
  const texts = [];
  for (const [name, definition] of Object.entries(questions))
    texts.push(`-- ${name}\n${await statementOf(definition)}\n`);
  const sent = Object.entries(settings).map(([name, value]) => `-- ${name} = ${JSON.stringify(value)}`);
  const head = '-- ClickHouse with a cluster: recorded, and run on none. Values are bound.\n';
  const all = [
    head,
    `-- settings of every query, beside readonly and max_execution_time\n${sent.join('\n')}\n`,
    ...texts,
  ];
  await expect(all.join('\n')).toMatchFileSnapshot('variants/CLICKHOUSE-cluster.sql');
});

it('no statement joins distributed tables themselves: each is read in a CTE of its own, with its client', async () => {
  const text = await statementOf(questions['a join of two distributed tables'] ?? metric('sales'));
  expect(text.match(/FROM "main"\."[a-z]+" WHERE/g)).toHaveLength(2);
  expect(text).not.toMatch(/JOIN "main"/);
});

it('a cluster answers whole or not at all, whatever the profile of its user says', () => {
  expect(settings).toMatchObject({
    ...{ skip_unavailable_shards: 0, fallback_to_stale_replicas_for_distributed_queries: 0 },
    ...{ distributed_product_mode: 'global', prefer_global_in_and_join: 1, distributed_group_by_no_merge: '0' },
    ...{ optimize_skip_unused_shards: 0, max_parallel_replicas: '1' },
  });
});
