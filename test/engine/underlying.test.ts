/**
 * The underlying rows of a metric are exactly the rows that it aggregates: tables that are only looked up neither add
 * nor remove rows.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Cardinality, Datamart, JoinKind } from '../../src/model/datamart/datamart.js';
import type { Condition } from '../../src/model/filter/filter.js';
import { type Builder, createBuilder, findKinds } from './test-databases.js';
import {
  byClients,
  columnRef,
  condition,
  createLoggedEngine,
  datamart,
  metric,
  type Place,
  question,
  refusalOf,
  relationship,
  table,
} from './world.js';

const martOf = (join: JoinKind, cardinality: Cardinality | null = 'ManyToOne'): Datamart =>
  datamart({
    tenancy: byClients(),
    sharedTables: ['shops', 'owners'],
    tables: [
      table('clients', { id: 'VARCHAR', name: 'VARCHAR' }),
      table('sales', { id: 'BIGINT', client: 'VARCHAR', shop: 'VARCHAR' }, 'client'),
      table('shops', { code: 'VARCHAR', state: 'VARCHAR', owner: 'VARCHAR' }),
      table('owners', { code: 'VARCHAR', name: 'VARCHAR' }),
    ],
    relationships: [
      relationship('sales.shop', 'shops.code', join, cardinality),
      relationship('shops.owner', 'owners.code', join, cardinality),
    ],
  });

const counting = metric('sales', {
  measures: [{ name: 'Sales', aggregate: 'COUNT' }],
  underlying: ['sales.id', 'shops.state', 'owners.name'].map(columnRef),
});

const conditions: Readonly<Record<string, readonly Condition[]>> = {
  none: [],
  'a state': [condition('shops.state', { kind: 'oneOf', values: ['CA', 'NV'] })],
  'no state': [condition('shops.state', { kind: 'isNull' })],
  'an owner without name': [condition('owners.name', { kind: 'isNull' })],
  'an owner': [condition('owners.name', { kind: 'isNotNull' }), condition('sales.id', { kind: 'noneOf', values: [2] })],
};
const joins = ['INNER JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN'] as const;
/** MySQL has no FULL JOIN. */
const joinsOf = (kind: string) => joins.filter((join) => kind !== 'MYSQL' || join !== 'FULL JOIN');

describe.each(await findKinds())('on %s', (engineKind) => {
  const { engine } = createLoggedEngine();
  let builder: Builder;
  let path: Place;

  beforeAll(async () => {
    builder = await createBuilder(engineKind);
    path = await builder.build('underlying', [
      { name: 'clients', columns: { id: 'VARCHAR', name: 'VARCHAR' }, rows: [] },
      {
        name: 'sales',
        columns: { id: 'BIGINT', client: 'VARCHAR', shop: 'VARCHAR' },
        rows: [
          [1, 'a', 's1'],
          [2, 'a', 's1'],
          [3, 'a', 's2'],
          [4, 'a', 'gone'],
          [5, 'a', null],
          [6, 'b', 's1'],
          [7, 'b', 's3'],
        ],
      },
      {
        name: 'shops',
        columns: { code: 'VARCHAR', state: 'VARCHAR', owner: 'VARCHAR' },
        rows: [
          ['s1', 'CA', 'o1'],
          ['s2', null, 'o2'],
          ['s3', 'NV', null],
          ['idle', 'NY', 'o1'],
        ],
      },
      {
        name: 'owners',
        columns: { code: 'VARCHAR', name: 'VARCHAR' },
        rows: [
          ['o1', 'Ann'],
          ['o3', 'Bob'],
        ],
      },
    ]);
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  describe.each(joinsOf(engineKind))('columns that are looked up over a %s', (join) => {
    it.each(Object.keys(conditions))(
      'leave the rows as the metric counts them, under the condition: %s',
      async (name) => {
        for (const client of ['a', 'b']) {
          const asked = question(path, martOf(join), client, counting, { conditions: conditions[name] ?? [] });
          const total = (await engine.query(asked)).rows[0]?.Sales;
          const beneath = await engine.underlying(asked);
          expect([beneath.totalRecords, beneath.rows.length], client).toEqual([total, total]);
          expect(new Set(beneath.rows.map(({ id }) => id)).size, client).toBe(total);
        }
      },
    );

    it('show values that exist, and NULL where no row matches', async () => {
      const { rows } = await engine.underlying(question(path, martOf(join), 'a', counting));
      expect(rows).toEqual([
        { id: 1, state: 'CA', name: 'Ann' },
        { id: 2, state: 'CA', name: 'Ann' },
        { id: 3, state: null, name: null },
        { id: 4, state: null, name: null },
        { id: 5, state: null, name: null },
      ]);
    });

    it.each(['OneToMany', 'ManyToMany', null] as const)('are refused if several rows may match: %s', async (many) => {
      const asked = question(path, martOf(join, many), 'a', counting);
      expect((await engine.query(asked)).rows).toEqual([{ Sales: 5 }]);
      expect(await refusalOf(() => engine.underlying(asked))).toMatchObject({
        code: 'METRIC_QUERY_ERROR',
        reason: 'fan-out',
      });
    });

    it("are joined by the relationship's own kind if the metric itself reads their table", async () => {
      const byState = { ...counting, dimensions: [{ name: 'State', column: columnRef('shops.state') }] };
      const asked = question(path, martOf(join), 'a', byState);
      const groups = (await engine.query(asked)).rows;
      const { rows } = await engine.underlying(asked);
      const counted = rows.filter(({ id }) => id !== null).length;
      expect(counted).toBe(groups.reduce((sum, { Sales }) => sum + Number(Sales), 0));
      expect(counted).toBe(join === 'INNER JOIN' || join === 'RIGHT JOIN' ? 3 : 5);
    });
  });
});
