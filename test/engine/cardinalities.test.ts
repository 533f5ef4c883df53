/** A key of the datasource may prove a cardinality that no relationship declares. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCatalog } from '../../src/engine/dialect/catalog.js';
import { withCardinalities } from '../../src/engine/question/cardinalities.js';
import type { Relationship } from '../../src/model/datamart/datamart.js';
import { type Builder, createBuilder, findKinds } from './test-databases.js';
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

describe('a relationship without a declared cardinality', () => {
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
  ] as const)('a relationship without a declared cardinality is, by the keys %j, %s', (keys, expected) => {
    expect(cardinalityOf(keys)).toBe(expected);
  });

  it('ignores a key that is unique only within a client, if that column does not separate clients', () => {
    const keys = { shops: [['client', 'code']] };
    expect(cardinalityOf(keys, { tenancy: null })).toBe('ManyToMany');
    expect(cardinalityOf(keys, { tenancy: { tenancyLevel: 'DATABASE', primaryDatabase: null } })).toBe('ManyToMany');
  });

  it('keeps a declared cardinality, and a foreign key proves none', () => {
    const said = { ...toShop, cardinality: 'OneToMany' } as const;
    expect(cardinalityOf({ shops: [['code']] }, {}, said)).toBe('OneToMany');
    const mart = datamart({ tables, relationships: [toShop], sharedTables: ['regions'] });
    const foreign = catalog({ shops: [['code']] }, 'FOREIGN KEY');
    expect(withCardinalities(mart, foreign).relationships[0]?.cardinality).toBe('ManyToMany');
  });
});

/** Without ClickHouse, whose primary keys are not unique. */
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

  it('keys of the database prove that a lookup has at most one row for each row', async () => {
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
    const mart = datamart({
      tenancy: byClients(),
      tables,
      relationships: [toShop, toRegion],
      sharedTables: ['regions'],
    });
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

/**
 * Definitions where the table has, or could have, code 1 twice: the key does not cover all rows that SELECT returns.
 */
const unproven: Readonly<Record<string, readonly (readonly [string, readonly string[]])[]>> = {
  POSTGRES: [
    [
      'a table with heirs',
      [
        'CREATE TABLE shops (client TEXT, code BIGINT PRIMARY KEY, state TEXT)',
        'CREATE TABLE heirs () INHERITS (shops)',
        "INSERT INTO shops VALUES ('a', 1, 'CA')",
        "INSERT INTO heirs VALUES ('a', 1, 'NV')",
      ],
    ],
    [
      'an index of some rows',
      [
        'CREATE TABLE shops (client TEXT, code BIGINT, state TEXT)',
        "CREATE UNIQUE INDEX ON shops (code) WHERE state = 'CA'",
        "INSERT INTO shops VALUES ('a', 1, 'CA'), ('a', 1, 'NV')",
      ],
    ],
    [
      'an index of expressions',
      [
        'CREATE TABLE shops (client TEXT, code BIGINT, state TEXT)',
        'CREATE UNIQUE INDEX ON shops (code, lower(state))',
        "INSERT INTO shops VALUES ('a', 1, 'CA'), ('a', 1, 'NV')",
      ],
    ],
    [
      'decimals beside a float',
      [
        'CREATE TABLE shops (client TEXT, code NUMERIC PRIMARY KEY, state TEXT)',
        'ALTER TABLE sales ALTER shop TYPE DOUBLE PRECISION',
        "INSERT INTO shops VALUES ('a', 1, 'CA'), ('a', 1.00000000000000000001, 'NV')",
      ],
    ],
  ],
  MYSQL: [
    [
      'tables read as one',
      [
        'CREATE TABLE west (client VARCHAR(9), code BIGINT PRIMARY KEY, state VARCHAR(9)) ENGINE = MyISAM',
        'CREATE TABLE east LIKE west',
        'CREATE TABLE shops (client VARCHAR(9), code BIGINT PRIMARY KEY, state VARCHAR(9)) ENGINE = MERGE UNION = (west, east)',
        "INSERT INTO west VALUES ('a', 1, 'CA')",
        "INSERT INTO east VALUES ('a', 1, 'NV')",
      ],
    ],
  ],
  SQLITE: [
    [
      'a key of a part of the rows, and one of an expression',
      [
        'CREATE TABLE shops (client TEXT, code BIGINT, state TEXT)',
        "CREATE UNIQUE INDEX of_some ON shops (code) WHERE state = 'CA'",
        'CREATE UNIQUE INDEX of_an_expression ON shops (code, lower(state))',
        "INSERT INTO shops VALUES ('a', 1, 'CA'), ('a', 1, 'NV')",
      ],
    ],
  ],
  DUCKDB: [
    [
      'decimals beside a float',
      [
        'CREATE TABLE shops (client VARCHAR, code DECIMAL(38,20) PRIMARY KEY, state VARCHAR)',
        'ALTER TABLE sales ALTER shop TYPE DOUBLE',
        "INSERT INTO shops VALUES ('a', 1, 'CA'), ('a', 1.00000000000000000001, 'NV')",
      ],
    ],
  ],
};

/** Definitions whose key covers all rows. */
const provenKeys: Readonly<Record<string, readonly (readonly [string, readonly string[]])[]>> = {
  POSTGRES: [
    [
      'partitions',
      [
        'CREATE TABLE shops (client TEXT, code BIGINT PRIMARY KEY, state TEXT) PARTITION BY RANGE (code)',
        'CREATE TABLE parts PARTITION OF shops DEFAULT',
      ],
    ],
    [
      'a deferred key',
      ['CREATE TABLE shops (client TEXT, code BIGINT UNIQUE DEFERRABLE INITIALLY DEFERRED, state TEXT)'],
    ],
    [
      'an heir',
      [
        'CREATE TABLE ancestors (client TEXT, code BIGINT, state TEXT)',
        'CREATE TABLE shops (PRIMARY KEY (code)) INHERITS (ancestors)',
      ],
    ],
  ],
  MYSQL: [
    [
      'a key of prefixes',
      ['CREATE TABLE shops (client VARCHAR(9), code BIGINT, state VARCHAR(9), UNIQUE (client(3), code))'],
    ],
  ],
};

describe.each(kinds)('a key on %s', (kind) => {
  let builder: Builder;
  const { engine } = createLoggedEngine();
  beforeAll(async () => {
    builder = await createBuilder(kind);
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  const sales = {
    name: 'sales',
    columns: { client: 'VARCHAR', shop: 'BIGINT', region: 'BIGINT', amount: 'BIGINT' },
    rows: [['a', 1, 1, 10]],
  };
  const mart = datamart({ tenancy: byClients(), tables, relationships: [toShop] });
  const ask = async (name: string, statements: readonly string[]) => {
    const place = await builder.build(name, [sales, ...statements]);
    const definition = metric('sales', {
      dimensions: [{ name: 'd', column: columnRef('shops.state') }],
      measures: [{ name: 'sum', aggregate: 'SUM', column: columnRef('sales.amount') }],
    });
    const under = metric('sales', { underlying: ['sales.amount', 'shops.state'].map(columnRef) });
    const total = metric('sales', {
      measures: [
        { name: 'sum', aggregate: 'SUM', column: columnRef('sales.amount') },
        { name: 'states', aggregate: 'COUNT_DISTINCT', column: columnRef('shops.state') },
      ],
    });
    return {
      by: () => engine.query(question(place, mart, 'a', definition)),
      total: () => engine.query(question(place, mart, 'a', total)),
      under: () => engine.underlying(question(place, mart, 'a', under)),
    };
  };

  it.each(unproven[kind] ?? [])('a key that only seems unique proves nothing: %s', async (name, statements) => {
    const { by, total, under } = await ask(name, statements);
    // If the key had counted as unique, the sum would be 20, that of the joined rows.
    expect((await total()).rows).toEqual([{ sum: 10, states: 2 }]);
    expect((await by()).rows.map(({ sum }) => sum)).toEqual([10, 10]);
    expect(await refusalOf(under)).toMatchObject({ reason: 'fan-out' });
  });

  it.each(provenKeys[kind] ?? [])('%s is a key', async (name, statements) => {
    const { total, under } = await ask(name, [...statements, "INSERT INTO shops VALUES ('a', 1, 'CA')"]);
    expect((await total()).rows).toEqual([{ sum: 10, states: 1 }]);
    expect((await under()).rows).toHaveLength(1);
  });
});
