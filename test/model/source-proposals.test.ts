import { describe, expect, it, test } from 'vitest';
import { identifiedBy, singularName, tenantWordOf } from '../../src/model/datamart/column-names.js';
import { clientColumnOf, proposeFor } from '../../src/model/datamart/source-proposals.js';
import type { ForeignKey, SourceTable } from '../../src/model/datamart/source-schema.js';

test.each([
  ['orders', 'order'],
  ['order_details', 'order detail'],
  ['Companies', 'company'],
  ['addresses', 'address'],
  ['boxes', 'box'],
  ['status', 'status'],
  ['CustomerOrders', 'customer order'],
])('the singular of %s is %s', (name, singular) => expect(singularName(name)).toBe(singular));

test.each([
  ['customer_id', 'customer'],
  ['CustomerID', 'customer'],
  ['shipCountryCode', 'ship country'],
  ['id', null],
  ['amount', null],
])('a column named %s identifies %s', (name, subject) => expect(identifiedBy(name)).toBe(subject));

test.each([
  ['tenant_id', 'tenant'],
  ['orgId', 'org'],
  ['company', 'company'],
  ['billing_account_id', 'account'],
  ['company_name', null],
  ['amount', null],
])('the tenant in %s is %s', (name, word) => expect(tenantWordOf(name)).toBe(word));

type Keys = Partial<Pick<SourceTable, 'primaryKey' | 'uniqueKeys' | 'foreignKeys'>>;
const table = (tableName: string, columns: Readonly<Record<string, string>>, keys: Keys = {}): SourceTable => ({
  schemaName: 'public',
  tableName,
  columns: Object.entries(columns).map(([columnName, datatype]) => ({ columnName, datatype, isNullable: true })),
  primaryKey: [],
  uniqueKeys: [],
  foreignKeys: [],
  ...keys,
});
const key = (column: string, tableName: string, referenced = 'id'): ForeignKey => ({
  columns: [column],
  references: { schemaName: 'public', tableName },
  referencedColumns: [referenced],
});
const id = { primaryKey: ['id'] };
const named = (tables: readonly SourceTable[]) =>
  proposeFor(tables).relationships.map(
    ({ parent, child, basis, cardinality }) =>
      `${parent.tableName}.${parent.columnName} ${child.tableName}.${child.columnName} ${basis} ${cardinality}`,
  );

describe('relationships', () => {
  const accounts = table('accounts', { id: 'bigint', name: 'text' }, id);
  it.each([
    ['a foreign key', table('sales', { a: 'bigint' }, { foreignKeys: [key('a', 'accounts')] }), 'foreignKey ManyToOne'],
    [
      'a foreign key that is unique',
      table('sales', { a: 'bigint' }, { uniqueKeys: [['a']], foreignKeys: [key('a', 'accounts')] }),
      'foreignKey OneToOne',
    ],
  ])('a relationship is proposed for %s', (_, sales, end) =>
    expect(named([accounts, sales])).toEqual([`sales.a accounts.id ${end}`]),
  );

  it('a name, where the other column is a key of the same kind', () => {
    const sales = table('sales', { id: 'bigint', account_id: 'integer', amount: 'numeric' }, id);
    expect(named([accounts, sales])).toEqual(['sales.account_id accounts.id name ManyToOne']);
    const text = table('sales', { id: 'bigint', account_id: 'text' }, id);
    expect(named([accounts, text])).toEqual([]);
  });

  it('nothing from a name that fits two tables', () => {
    const other = { ...accounts, schemaName: 'archive' };
    expect(named([accounts, other, table('sales', { account_id: 'bigint' })])).toEqual([]);
  });

  // metabase#3475: of a key of two columns, one alone would join too many rows.
  it('nothing for keys of several columns, or of a table to itself', () => {
    const pairs: ForeignKey = {
      columns: ['a', 'b'],
      references: { schemaName: 'public', tableName: 'accounts' },
      referencedColumns: ['id', 'name'],
    };
    const people = table('people', { id: 'bigint', boss: 'bigint' }, { ...id, foreignKeys: [key('boss', 'people')] });
    expect(named([accounts, people, table('sales', { a: 'bigint', b: 'text' }, { foreignKeys: [pairs] })])).toEqual([]);
  });
});

describe('client columns', () => {
  const customers = table('customers', { id: 'bigint', name: 'text' }, id);
  const tenants = { table: customers, keyColumn: 'id' };
  const of = (sales: SourceTable, clientColumn?: string) =>
    clientColumnOf(sales, { ...tenants, clientColumn }, proposeFor([customers, sales]).relationships);

  it('the only foreign key to the tenants', () =>
    expect(of(table('sales', { c: 'bigint' }, { foreignKeys: [key('c', 'customers')] }))).toBe('c'));
  it('none of two: each may be another role of the tenant', () => {
    const sales = table(
      'sales',
      { buyer: 'bigint', seller: 'bigint' },
      { foreignKeys: [key('buyer', 'customers'), key('seller', 'customers')] },
    );
    expect(of(sales)).toBe('several');
    expect(of(sales, 'buyer')).toBe('buyer');
  });
  it('the column of the given name, if it is of the kind of the key', () => {
    expect(of(table('logs', { tenant: 'bigint' }), 'tenant')).toBe('tenant');
    expect(of(table('logs', { tenant: 'text' }), 'tenant')).toBeNull();
  });
});

it('the table of tenants that most tables lead to comes first', () => {
  const companies = table('companies', { id: 'bigint', name: 'text' }, id);
  const customers = table(
    'customers',
    { id: 'bigint', company_id: 'bigint' },
    { ...id, foreignKeys: [key('company_id', 'companies')] },
  );
  const orders = table(
    'orders',
    { id: 'bigint', customer_id: 'bigint' },
    { ...id, foreignKeys: [key('customer_id', 'customers')] },
  );
  const { tenantTables, clientColumns } = proposeFor([orders, customers, companies]);
  expect(tenantTables.map(({ tableName, tablesReached }) => [tableName, tablesReached])).toEqual([
    ['companies', 2],
    ['customers', 1],
  ]);
  expect(clientColumns.map(({ tableName, columnName }) => `${tableName}.${columnName}`)).toEqual([
    'orders.customer_id',
    'customers.company_id',
  ]);
});
