/** What no relationship says, a key of the datasource may prove. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Relationship } from '../../src/domain/datamart.js';
import { withCardinalities } from '../../src/engine/cardinalities.js';
import { createCatalog } from '../../src/engine/catalog.js';
import { type Builder, createBuilder, findKinds } from './places.js';
import {
  byClients,
  columnRef,
  createLoggedEngine,
  datamart,
  metric,
  question,
  refusalOf,
  relationship,
  table,
  tableRef,
} from './world.js';

const tables = [
  table('clients', { id: 'VARCHAR', name: 'VARCHAR' }),
  table('sales', { client: 'VARCHAR', shop: 'BIGINT', region: 'BIGINT', amount: 'BIGINT' }, 'client'),
  table('shops', { client: 'VARCHAR', code: 'BIGINT', state: 'VARCHAR' }, 'client'),
  table('regions', { code: 'BIGINT', name: 'VARCHAR' }),
];
const toShop = relationship('sales.shop', 'shops.code', 'LEFT JOIN', null);
const toRegion = relationship('sales.region', 'regions.code', 'LEFT JOIN', null);

describe('a relationship without cardinality', () => {
  const catalog = (keys: Readonly<Record<string, readonly (readonly string[])[]>>, kind = 'UNIQUE') =>
    createCatalog(
      'warehouse',
      [],
      Object.entries(keys).flatMap(([name, columns]) =>
        columns.map((key) => ({ ...tableRef(name), kind, columns: key })),
      ),
    );
  const cardinalityOf = (keys: Parameters<typeof catalog>[0], parts: object = {}, given: Relationship = toShop) =>
    withCardinalities(datamart({ tables, relationships: [given], ...parts }), catalog(keys)).relationships[0]
      ?.cardinality;

  it.each([
    [{}, 'ManyToMany'],
    [{ shops: [['code']] }, 'ManyToOne'],
    [{ shops: [['state'], ['code']] }, 'ManyToOne'],
    [{ sales: [['shop']] }, 'OneToMany'],
    [{ sales: [['shop']], shops: [['code']] }, 'OneToOne'],
    [{ shops: [['code', 'state']] }, 'ManyToMany'],
    [{ shops: [['client', 'code']] }, 'ManyToOne'],
    [{ shops: [['client']] }, 'ManyToOne'],
    [{ shops: [[]] }, 'ManyToMany'],
  ] as const)('with the keys %j is %s', (keys, expected) => {
    expect(cardinalityOf(keys)).toBe(expected);
  });

  it('takes no key of a client’s rows where clients are not separated by that column', () => {
    const keys = { shops: [['client', 'code']] };
    expect(cardinalityOf(keys, { tenancy: null })).toBe('ManyToMany');
    expect(cardinalityOf(keys, { tenancy: { tenancyLevel: 'DATABASE', primaryDatabase: null } })).toBe('ManyToMany');
  });

  it('keeps what the datamart says, and no foreign key is one', () => {
    const said = { ...toShop, cardinality: 'OneToMany' } as const;
    expect(cardinalityOf({ shops: [['code']] }, {}, said)).toBe('OneToMany');
    const mart = datamart({ tables, relationships: [toShop] });
    const foreign = catalog({ shops: [['code']] }, 'FOREIGN KEY');
    expect(withCardinalities(mart, foreign).relationships[0]?.cardinality).toBe('ManyToMany');
  });
});

/** What ClickHouse calls a primary key may stand in many rows. */
const kinds = (await findKinds()).filter((kind) => kind !== 'CLICKHOUSE');

describe.each(kinds)('on %s', (kind) => {
  let builder: Builder;
  const { engine } = createLoggedEngine();
  beforeAll(async () => {
    builder = await createBuilder(kind);
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  it('the keys that the database has let one row of a lookup stand beside a row', async () => {
    const place = await builder.build('keys', [
      { name: 'clients', columns: { id: 'VARCHAR', name: 'VARCHAR' }, rows: [] },
      {
        name: 'sales',
        columns: { client: 'VARCHAR', shop: 'BIGINT', region: 'BIGINT', amount: 'BIGINT' },
        rows: [
          ['a', 1, 1, 10],
          ['a', 1, 2, 20],
          ['b', 1, 1, 40],
        ],
      },
      'CREATE TABLE shops (client VARCHAR(20), code BIGINT, state VARCHAR(20), PRIMARY KEY (client, code))',
      "INSERT INTO shops VALUES ('a', 1, 'CA'), ('b', 1, 'NV')",
      {
        name: 'regions',
        columns: { code: 'BIGINT', name: 'VARCHAR' },
        rows: [
          [1, 'west'],
          [1, 'far west'],
          [2, 'east'],
        ],
      },
    ]);
    const mart = datamart({ tenancy: byClients(), tables, relationships: [toShop, toRegion] });
    const under = (paths: readonly string[]) =>
      engine.underlying(question(place, mart, 'a', metric('sales', { underlying: paths.map(columnRef) })));
    const { rows } = await under(['sales.amount', 'shops.state']);
    expect(rows.map((row) => Object.values(row))).toEqual([
      [10, 'CA'],
      [20, 'CA'],
    ]);
    expect(await refusalOf(() => under(['sales.amount', 'regions.name']))).toMatchObject({ reason: 'fan-out' });
    const sum = { name: 'sum', aggregate: 'SUM', column: columnRef('sales.amount') } as const;
    const by = async (path: string) => {
      const definition = metric('sales', { dimensions: [{ name: 'd', column: columnRef(path) }], measures: [sum] });
      return (await engine.query(question(place, mart, 'a', definition))).rows.map((row) => Object.values(row));
    };
    expect(await by('shops.state')).toEqual([['CA', 30]]);
    expect(await by('regions.name')).toEqual([
      ['east', 20],
      ['far west', 10],
      ['west', 10],
    ]);
  });
});
