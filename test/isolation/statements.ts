/** Random metrics in SQL over the data set: whatever the statement contains, it must read only rows of the tenant. */
import fc from 'fast-check';
import type { SqlDefinition } from '../../src/model/dashboard/metric.js';
import type { Datamart } from '../../src/model/datamart/datamart.js';
import type { Condition } from '../../src/model/filter/filter.js';
import type { MetricAnswer } from '../../src/model/query/engine.js';
import type { Kind } from '../engine/test-databases.js';
import { byClients, columnRef, datamart, type Place, question, relationship, table } from '../engine/world.js';
import type { ATest } from './cases.js';
import { clientColumns, columns, type Tenant, tenants } from './dataset.js';
import { type Outcome, outcomeOf } from './judge.js';
import { assertSame } from './oracle.js';
import { predicateOf } from './predicates.js';
import type { Stage } from './stage.js';

/**
 * Statements. They group by numbers only: of texts that a collation treats as equal, a database may return any. `main`
 * is the schema of the tables.
 */
const statements = [
  'SELECT ref AS k, count(*) AS n FROM orders GROUP BY ref',
  'SELECT o.ref AS k, sum(o.amount) AS n FROM main.orders o GROUP BY o.ref',
  'WITH orders AS (SELECT * FROM orders) SELECT o.ref AS k, count(*) AS n FROM main.orders o GROUP BY o.ref',
  'WITH x AS (SELECT ref, id FROM main.orders) SELECT x.ref AS k, count(*) AS n FROM x GROUP BY x.ref',
  'SELECT p.id AS k, count(o.id) AS n FROM places p LEFT JOIN orders o ON o.ref = p.id GROUP BY p.id',
  'SELECT p.id AS k, count(o.id) AS n FROM orders o RIGHT JOIN places p ON o.ref = p.id GROUP BY p.id',
  'SELECT o.id AS k, count(v.id) AS n FROM orders o LEFT JOIN visits v ON v.ref = o.id GROUP BY o.id',
  'SELECT 1 AS k, count(*) AS n FROM clients',
  'SELECT 1 AS k, (SELECT count(*) FROM main.visits) AS n FROM places WHERE id = 1',
  'SELECT p.id AS k, 1 AS n FROM places p WHERE EXISTS (SELECT 1 FROM orders o WHERE o.ref = p.id)',
  'SELECT u.k AS k, count(*) AS n FROM (SELECT ref AS k FROM orders UNION ALL SELECT ref AS k FROM visits) u GROUP BY u.k',
  'SELECT o.id AS k, max(o.amount) AS n FROM orders o WHERE o.amount > 0 OR o.flag GROUP BY o.id',
  'SELECT o.id AS k, count(*) AS n FROM orders o WHERE o.ref IN (SELECT v.ref FROM visits v) GROUP BY o.id',
  // Joined in another way than the relationships say.
  'SELECT o.id AS k, count(*) AS n FROM orders o JOIN places p ON p.ref = o.id GROUP BY o.id',
  'SELECT p.id AS k, count(*) AS n FROM orders o CROSS JOIN places p GROUP BY p.id',
  'SELECT v.id AS k, sum(v.amount) AS n FROM visits v JOIN orders o ON o.ref = v.id GROUP BY v.id',
] as const;

export type AStatement = {
  readonly tenant: Tenant;
  readonly statement: (typeof statements)[number];
  readonly conditions: readonly { readonly on: 'orders' | 'visits' | 'places'; readonly test: ATest }[];
  readonly limit: number | null;
  /** The table without a client column, whose rows get their client by a join; null if there is none. */
  readonly derived: 'orders' | 'visits' | null;
};

const statementKinds = ['=', '<>', '>=', 'noneOf', 'oneOf', 'isNotNull', 'isNull', 'openRange'] as const;

/**
 * Returns a random statement. On MariaDB it has no WITH: MariaDB cannot find a leaf from within a WITH of the
 * statement.
 */
export const aStatement = (kind: Kind): fc.Arbitrary<AStatement> =>
  fc.record({
    tenant: fc.constantFrom(...tenants),
    statement: fc.constantFrom(...statements.filter((text) => kind !== 'MYSQL' || !text.startsWith('WITH'))),
    conditions: fc.array(
      fc.record({
        on: fc.constantFrom('orders' as const, 'visits' as const, 'places' as const),
        test: fc.record({
          table: fc.constant(0),
          column: fc.constantFrom('id' as const, 'ref' as const, 'label' as const, 'amount' as const, 'day' as const),
          predicate: fc.constantFrom(...statementKinds),
          choice: fc.nat(1000),
        }),
      }),
      { maxLength: 2 },
    ),
    limit: fc.option(fc.nat(5), { freq: 2 }),
    derived: fc.constantFrom('orders' as const, 'visits' as const, null),
  });

export const martOf = (isTenanted: boolean, derived: AStatement['derived']): Datamart => {
  const owned = (name: 'orders' | 'visits') =>
    name === derived
      ? { ...table(name, columns), tenancyPath: `${name}.tenant-clients.id` }
      : table(name, columns, isTenanted ? 'tenant' : null);
  return datamart({
    id: `${isTenanted ? 'tenanted' : 'alone'} ${derived}`,
    tenancy: isTenanted ? byClients() : null,
    tables: [owned('orders'), owned('visits'), table('places', columns), table('clients', clientColumns)],
    relationships: [
      relationship('orders.ref', 'places.id', 'LEFT JOIN', 'ManyToOne'),
      relationship('visits.ref', 'orders.id', 'LEFT JOIN', 'ManyToOne'),
      ...(derived === null ? [] : [relationship(`${derived}.tenant`, 'clients.id', 'LEFT JOIN', 'ManyToOne')]),
    ],
    sharedTables: ['main.places'],
  });
};

export const definitionOf = (statement: string, { schemaName }: Place): SqlDefinition => ({
  kind: 'sql',
  chart: { type: 'table' },
  sql: statement.replaceAll('main.', `${schemaName}.`),
  dimensions: [{ name: 'k' }],
  measures: [{ name: 'n' }],
  filters: [],
  rlsVariables: [],
  sort: [],
  limit: null,
});

export const sqlCondition = ({ on, test }: AStatement['conditions'][number]): Condition => ({
  column: columnRef(`${on}.${test.column}`),
  predicate: predicateOf(test),
});

/** Throws if the shared database and the tenant's own database differ. Returns whether both answered. */
export const judgeStatement = async ({ engine, places }: Stage, asked: AStatement): Promise<boolean> => {
  const conditions = asked.conditions.map(sqlCondition);
  const ask = (place: Place, isTenanted: boolean): Promise<Outcome<MetricAnswer>> =>
    outcomeOf(() =>
      engine.query(
        question(
          place,
          martOf(isTenanted, asked.derived),
          isTenanted ? asked.tenant : 'None',
          definitionOf(asked.statement, place),
          {
            conditions,
            limit: asked.limit,
          },
        ),
      ),
    );
  const [shared, shard] = await Promise.all([ask(places.shared, true), ask(places.shardOf(asked.tenant), false)]);
  assertSame('the shared database and the shard differ', shared, shard);
  return 'answer' in shared;
};
