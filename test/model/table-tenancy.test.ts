import { describe, expect, it } from 'vitest';
import type { Cardinality, Datamart, DatamartTable } from '../../src/model/datamart/datamart.js';
import { withTenancySettings } from '../../src/model/datamart/datamart.js';
import { type TableTenancy, tableTenancy } from '../../src/model/datamart/table-tenancy.js';

const ref = (tableName: string) => ({ schemaName: 'main', tableName });
const columnOf = (path: string) => {
  const [tableName = '', columnName = ''] = path.split('.');
  return { ...ref(tableName), columnName };
};

type Shape = {
  /** Client columns by table; null: the table has none. */
  readonly tables: Readonly<Record<string, string | null>>;
  /** Many-to-one relationships such as `orders.customer_id>customers.id`. The text is also the name. */
  readonly links: readonly (string | readonly [string, Cardinality | null])[];
  readonly keys?: Readonly<Record<string, readonly (readonly string[])[]>>;
  readonly shared?: readonly string[];
  readonly paths?: Readonly<Record<string, string>>;
  readonly settings?: Parameters<typeof withTenancySettings>[1];
};

const martOf = ({ tables, links, shared = [], paths = {}, settings = [] }: Shape): Datamart => {
  const mart: Datamart = {
    id: 'mart',
    name: 'mart',
    datasourceId: 'source',
    tenancy: {
      ...ref('clients'),
      tenancyLevel: 'TABLE',
      clientColumnType: 'STRING',
      tableClientNameColumn: 'name',
      tablePrimaryKeyColumn: 'id',
    },
    tables: Object.entries(tables).map(
      ([tableName, clientColumn]): DatamartTable => ({
        ...ref(tableName),
        label: '',
        clientColumn,
        isHide: false,
        columns: [],
        tenancyPath: paths[tableName],
      }),
    ),
    relationships: links.map((link) => {
      const [relationshipName, cardinality] = typeof link === 'string' ? ([link, 'ManyToOne'] as const) : link;
      const [parent = '', child = ''] = relationshipName.split('>');
      return { relationshipName, parent: columnOf(parent), child: columnOf(child), cardinality, join: null };
    }),
    sharedTables: shared,
    createdAt: new Date(0),
    updatedAt: new Date(0),
  };
  return withTenancySettings(mart, settings);
};

const tenancyOf = (shape: Shape, tableName: string): TableTenancy =>
  tableTenancy(martOf(shape), ref(tableName), (table) => shape.keys?.[table.tableName] ?? []);

/** Returns the kind and, for a path, its relationships; for an unreadable table, the reason. */
const brief = (shape: Shape, tableName: string): unknown => {
  const tenancy = tenancyOf(shape, tableName);
  if (tenancy.kind === 'path') return tenancy.steps.map(({ relationshipName }) => relationshipName);
  return tenancy.kind === 'unreadable' ? tenancy.reason : tenancy.kind;
};

const lines = 'lines.order_id>orders.id';
const parts = 'parts.line_id>lines.id';
const shop: Shape = { tables: { clients: null, orders: 'client', lines: null, parts: null }, links: [lines, parts] };

describe('why a row belongs to a client', () => {
  it('takes the client column, the master table by its key, and what is listed', () => {
    expect(tenancyOf(shop, 'orders')).toEqual({ kind: 'column', columnName: 'client' });
    expect(tenancyOf(shop, 'clients')).toEqual({ kind: 'master', columnName: 'id' });
    expect(brief({ ...shop, shared: ['lines'] }, 'lines')).toBe('shared');
    expect(brief({ ...shop, shared: ['orders', 'clients'] }, 'orders')).toBe('column');
    expect(brief({ ...shop, shared: ['orders', 'clients'] }, 'clients')).toBe('master');
  });

  it('follows many-to-one relationships, however many, to the first table with an owner', () => {
    expect(tenancyOf(shop, 'parts')).toEqual({
      kind: 'path',
      steps: [
        { relationshipName: parts, near: columnOf('parts.line_id'), far: columnOf('lines.id') },
        { relationshipName: lines, near: columnOf('lines.order_id'), far: columnOf('orders.id') },
      ],
      owner: { ...ref('orders'), kind: 'column', columnName: 'client' },
    });
    const clients = 'orders.client>clients.id';
    const toMaster: Shape = { tables: { clients: null, orders: null, lines: null }, links: [lines, clients] };
    expect(brief(toMaster, 'lines')).toEqual([lines, clients]);
    expect(brief({ ...toMaster, tables: { ...toMaster.tables, orders: 'client' } }, 'lines')).toEqual([lines]);
  });

  it.each<[Cardinality | null, string, unknown]>([
    ['ManyToOne', 'lines.order_id>orders.id', ['lines.order_id>orders.id']],
    ['OneToOne', 'lines.order_id>orders.id', ['lines.order_id>orders.id']],
    ['OneToMany', 'lines.order_id>orders.id', 'no-owner'],
    ['ManyToMany', 'lines.order_id>orders.id', 'cardinality-unknown'],
    [null, 'lines.order_id>orders.id', 'cardinality-unknown'],
    ['OneToMany', 'orders.id>lines.order_id', ['orders.id>lines.order_id']],
    ['OneToOne', 'orders.id>lines.order_id', ['orders.id>lines.order_id']],
    ['ManyToOne', 'orders.id>lines.order_id', 'no-owner'],
  ])('takes %s of %s for what it says', (cardinality, link, expected) => {
    expect(brief({ ...shop, links: [[link, cardinality]] }, 'lines')).toEqual(expected);
  });

  it('takes a key of exactly the joined column of the one side for a proof', () => {
    const unknown: Shape = { ...shop, links: [[lines, null]] };
    const proved = (...keys: string[][]) => brief({ ...unknown, keys: { orders: keys } }, 'lines');
    expect(proved(['id'])).toEqual([lines]);
    expect(proved(['number'], ['id'])).toEqual([lines]);
    expect(proved(['number'])).toBe('cardinality-unknown');
    expect(proved(['id', 'number'])).toBe('cardinality-unknown');
    expect(proved()).toBe('cardinality-unknown');
    expect(brief({ ...unknown, keys: { lines: [['order_id']] } }, 'lines')).toBe('no-owner');
  });

  it('refuses a key that is unique only together with the client column, declared or not', () => {
    const keys = { orders: [['client', 'id']] };
    expect(brief({ ...shop, keys }, 'lines')).toBe('key-within-client');
    expect(brief({ ...shop, keys }, 'parts')).toBe('key-within-client');
    expect(brief({ ...shop, links: [[lines, null]], keys }, 'lines')).toBe('key-within-client');
    expect(brief({ ...shop, keys: { orders: [['id', 'line', 'client']] } }, 'lines')).toBe('key-within-client');
    expect(brief({ ...shop, keys: { orders: [['client', 'id'], ['id']] } }, 'lines')).toEqual([lines]);
    // The same on the next level: the derived parent is unique only together with the column that leads to its own
    // parent.
    expect(brief({ ...shop, keys: { lines: [['order_id', 'id']] } }, 'parts')).toBe('key-within-client');
  });

  it('never leads through a shared table, to a sibling, or along a relationship of a table to itself', () => {
    const tables = { clients: null, orders: 'client', lines: null, products: null };
    const links = [lines, 'lines.product_id>products.id', 'lines.parent_id>lines.id'];
    expect(brief({ tables, links }, 'lines')).toEqual([lines]);
    expect(brief({ tables, links }, 'products')).toBe('no-owner');
    const through = { tables, links: ['lines.product_id>products.id', 'products.order_id>orders.id'] };
    expect(brief(through, 'lines')).toEqual(through.links);
    expect(brief({ ...through, shared: ['products'] }, 'lines')).toBe('no-owner');
    expect(brief({ ...through, links: ['lines.parent_id>lines.id'] }, 'lines')).toBe('no-owner');
  });

  it('refuses several paths until tenancyPath chooses, on the table where they part', () => {
    const [billed, shipped, part] = [
      'orders.billed>accounts.id',
      'orders.shipped>accounts.id',
      'lines.order>orders.id',
    ];
    const fork: Shape = {
      tables: { clients: null, accounts: 'client', orders: null, lines: null },
      links: [billed, shipped, part],
    };
    expect(brief(fork, 'orders')).toBe('several-paths');
    expect(tenancyOf(fork, 'lines')).toMatchObject({ reason: 'several-paths' });
    const refused = tenancyOf(fork, 'lines');
    const message = refused.kind === 'unreadable' ? refused.message : '';
    expect(message).toContain(
      `Set tenancyPath of table main.orders to the relationship to follow: ${billed} or ${shipped}.`,
    );
    expect(brief({ ...fork, paths: { orders: shipped } }, 'orders')).toEqual([shipped]);
    expect(brief({ ...fork, paths: { orders: shipped } }, 'lines')).toEqual([part, shipped]);
    expect(brief({ ...fork, paths: { lines: part } }, 'lines')).toBe('several-paths');
    // Two relationships over the same columns are one path.
    expect(brief({ ...shop, links: [lines, [lines, 'OneToOne']] }, 'lines')).toEqual([lines]);
  });

  it('refuses a tenancyPath that names no relationship of the table, or leads to no client', () => {
    const at = (path: string, shape: Shape = shop) => brief({ ...shape, paths: { lines: path } }, 'lines');
    expect(at('nothing')).toBe('tenancy-path-unknown');
    expect(at(parts)).toBe('tenancy-path-nowhere');
    const other = 'lines.product_id>products.id';
    const tables = { ...shop.tables, products: null };
    expect(at(other, { tables, links: [lines, other] })).toBe('tenancy-path-nowhere');
    expect(at(other, { tables, links: [lines, other], shared: ['products'] })).toBe('tenancy-path-nowhere');
    expect(at('lines.id>lines.id', { ...shop, links: [lines, 'lines.id>lines.id'] })).toBe('tenancy-path-unknown');
    expect(brief({ ...shop, paths: { lines: 'nothing' } }, 'parts')).toBe('tenancy-path-unknown');
  });

  it('ends where relationships lead in a circle', () => {
    const tables = { clients: null, a: null, b: null };
    expect(brief({ tables, links: ['a.b>b.id', 'b.a>a.id'] }, 'a')).toBe('cycle');
    const out = 'b.client>clients.id';
    expect(brief({ tables, links: ['a.b>b.id', 'b.a>a.id', out] }, 'a')).toEqual(['a.b>b.id', out]);
    expect(brief({ tables, links: ['a.b>b.id', 'b.a>a.id', out], paths: { b: 'b.a>a.id' } }, 'a')).toBe('cycle');
  });

  it('gives no table a client by what an embed adds to another', () => {
    const bare = {
      ...shop,
      tables: { ...shop.tables, orders: null },
      settings: [{ name: 'orders', clientColumn: 'c' }],
    };
    expect(brief(bare, 'lines')).toBe('no-owner');
    expect(brief(bare, 'orders')).toBe('no-owner');
    expect(brief({ ...shop, settings: [{ name: 'lines', clientColumn: 'c' }] }, 'parts')).toEqual([parts, lines]);
  });

  it('takes no long time for many tables that all join each other', () => {
    const names = Array.from({ length: 25 }, (_, index) => `t${index}`);
    const links = names.flatMap((one) =>
      names.filter((other) => other > one).map((other): [string, Cardinality] => [`${one}.id>${other}.id`, 'OneToOne']),
    );
    const tables = { clients: null, ...Object.fromEntries(names.map((name) => [name, null])) };
    expect(brief({ tables, links }, 't0')).toBe('cycle');
    expect(brief({ tables, links: [...links, 't9.c>clients.id'] }, 't9')).toEqual(['t9.c>clients.id']);
    expect(brief({ tables, links: [...links, 't9.c>clients.id'] }, 't0')).toBe('several-paths');
  });
});
