import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Datamart } from '../../src/model/datamart/datamart.js';
import { filterableColumns, listColumns, takeColumns } from '../../src/model/guest/column-filters.js';
import { datamart, epoch, table } from '../engine/world.js';

const sales = table(
  'sales',
  { id: 'BIGINT', shop: 'VARCHAR', sold: 'TIMESTAMP', paid: 'BOOLEAN', more: 'JSON' },
  'client',
);
const shops = table('shops', { code: 'VARCHAR', state: 'VARCHAR' });
const hidden = (item: typeof sales, columnName: string): typeof sales => ({
  ...item,
  columns: item.columns.map((column) => ({ ...column, isHide: column.columnName === columnName })),
});
const mart = (...tables: Datamart['tables']): Datamart => datamart({ tables });
const keys = (...given: Parameters<typeof filterableColumns>): readonly string[] => [
  ...filterableColumns(...given).keys(),
];
const moment = { now: epoch, timezone: null };

describe('filterableColumns', () => {
  it('are all columns of a known type, by their whole names', () => {
    expect(keys(mart(sales, shops), null)).toEqual([
      'main.sales.id',
      'main.sales.shop',
      'main.sales.sold',
      'main.sales.paid',
      'main.sales.more',
      'main.shops.code',
      'main.shops.state',
    ]);
  });

  it('are typed by the column', () => {
    const types = [...filterableColumns(mart(sales), null).values()].map(({ dataType }) => dataType);
    expect(types).toEqual(['number', 'string', 'date', 'boolean', 'string']);
  });

  it('are none that is hidden, nor of a hidden table, whatever a list says', () => {
    const list = [
      { tableName: 'main.sales', columns: ['id', 'shop'] },
      { tableName: 'main.shops', columns: ['state'] },
    ];
    expect(keys(mart(hidden(sales, 'shop'), { ...shops, isHide: true }), list)).toEqual(['main.sales.id']);
    expect(keys(mart(hidden(sales, 'shop'), { ...shops, isHide: true }), null)).not.toContain('main.sales.shop');
  });

  it('are those on the list alone: by the whole name, and as the list calls the table', () => {
    expect(keys(mart(sales, shops), [{ tableName: 'main.shops', columns: ['state', 'nothing'] }])).toEqual([
      'main.shops.state',
    ]);
    expect(keys(mart(sales, shops), [{ tableName: 'shops', columns: ['state'] }])).toEqual([
      'main.shops.state',
      'shops.state',
    ]);
    for (const list of [
      [],
      [{ tableName: 'Shops', columns: ['state'] }],
      [{ tableName: 'eu.shops', columns: ['state'] }],
    ])
      expect(keys(mart(sales, shops), list)).toEqual([]);
  });

  it('a bare name that two tables have names neither', () => {
    const both = mart(shops, { ...shops, schemaName: 'eu' });
    expect(keys(both, [{ tableName: 'shops', columns: ['state'] }])).toEqual([]);
    expect(keys(both, [{ tableName: 'eu.shops', columns: ['state'] }])).toEqual(['eu.shops.state']);
  });

  it('a key that two columns have is neither’s', () => {
    const dotted = mart(table('a.b', { c: 'VARCHAR' }), table('a', { 'b.c': 'VARCHAR', d: 'VARCHAR' }));
    expect(keys(dotted, null)).toEqual(['main.a.d']);
  });

  it('are listed by table', () => {
    const list = [{ tableName: 'shops', columns: ['state', 'code'] }];
    expect(listColumns(filterableColumns(mart(sales, shops), list))).toEqual([
      { tableName: 'main.shops', columns: ['code', 'state'] },
    ]);
  });
});

describe('takeColumns', () => {
  const columns = filterableColumns(mart(sales, shops), null);

  it('takes what names a column, and leaves the rest', () => {
    const values = JSON.parse('{"main.sales.shop": "s1", "State": "CA", "__proto__": "x", "constructor": "y"}');
    const { conditions, rest } = takeColumns(values, columns, () => false, moment);
    expect(conditions).toEqual([
      {
        column: { schemaName: 'main', tableName: 'sales', columnName: 'shop' },
        predicate: { kind: 'oneOf', values: ['s1'] },
      },
    ]);
    expect(Object.keys(rest).toSorted()).toEqual(['State', '__proto__', 'constructor']);
  });

  it('a filter’s own name goes first', () => {
    const { conditions, rest } = takeColumns({ 'main.sales.shop': 's1' }, columns, () => true, moment);
    expect([conditions, rest]).toEqual([[], { 'main.sales.shop': 's1' }]);
  });

  it.each([
    ['main.sales.id', 'one'],
    ['main.sales.shop', 7],
    ['main.sales.shop', []],
    ['main.sales.paid', 'true'],
    ['main.sales.sold', 'whenever'],
    ['main.sales.shop', { sql: 'SELECT 1', columnName: 'x' }],
  ] as const)('%s does not take %j', (key, value) => {
    expect(() => takeColumns({ [key]: value }, columns, () => false, moment)).toThrow(/takes/);
  });

  it('every value becomes a condition or is left to be refused: none is lost', () => {
    const key = fc.oneof(fc.constantFrom(...columns.keys()), fc.string({ minLength: 1 }));
    fc.assert(
      fc.property(fc.dictionary(key, fc.constantFrom('a', 'b'), { maxKeys: 6 }), (values) => {
        const wanted = Object.keys(values).filter((name) => columns.get(name)?.dataType !== undefined);
        const fits = wanted.every((name) => columns.get(name)?.dataType === 'string');
        fc.pre(fits);
        const { conditions, rest } = takeColumns(values, columns, () => false, moment);
        expect(conditions.length + Object.keys(rest).length).toBe(Object.keys(values).length);
      }),
    );
  });
});
