import { describe, expect, test } from 'vitest';
import { proposalsAbout, proposeModel } from '../../src/model/datamart/proposed-model.js';
import type { SourceTable } from '../../src/model/datamart/source-schema.js';
import { findTables } from '../../src/model/datamart/source-search.js';

const table = (tableName: string, columnNames: readonly string[]): SourceTable => ({
  schemaName: 'Shop',
  tableName,
  columns: columnNames.map((columnName) => ({ columnName, datatype: 'bigint', isNullable: false })),
  primaryKey: ['id'],
  uniqueKeys: [],
  foreignKeys: [],
});
const tables = [
  table('Customers', ['id', 'name']),
  table('orders', ['id', 'customer_id', 'Total']),
  table('visits', ['id', 'order_id']),
  table('notes_100%', ['id', 'tenant_id']),
];
const namesOf = (found: readonly SourceTable[]) => found.map(({ tableName }) => tableName);

test.each([
  ['', ['Customers', 'orders', 'visits', 'notes_100%']],
  ['  ', ['Customers', 'orders', 'visits', 'notes_100%']],
  ['CUSTOMER', ['Customers', 'orders']],
  ['shop.v', ['visits']],
  ['order total', ['orders']],
  ['%', ['notes_100%']],
  ['_', ['orders', 'visits', 'notes_100%']],
  ['.*', []],
  ['visits total', []],
])('the search "%s" finds %j', (search, names) => expect(namesOf(findTables(tables, search))).toEqual(names));

describe('proposals about listed tables', () => {
  const about = (...names: readonly string[]) => {
    const listed = tables.filter(({ tableName }) => names.includes(tableName));
    const { relationships, tenantTables, clientColumns } = proposalsAbout(proposeModel(tables), listed);
    return {
      relationships: relationships.map(({ relationshipName }) => relationshipName),
      tenantTables: tenantTables.map(({ tableName }) => tableName),
      clientColumns: clientColumns.map(({ tableName, columnName }) => `${tableName}.${columnName}`),
    };
  };

  test('have relationships at either end, and tenant tables and client columns of these tables only', () => {
    expect(about('orders')).toEqual({
      relationships: ['orders.customer_id', 'visits.order_id'],
      tenantTables: [],
      clientColumns: ['orders.customer_id'],
    });
    expect(about('Customers')).toEqual({
      relationships: ['orders.customer_id'],
      tenantTables: ['Customers'],
      clientColumns: [],
    });
    expect(about('notes_100%').clientColumns).toEqual(['notes_100%.tenant_id']);
    expect(about()).toEqual({ relationships: [], tenantTables: [], clientColumns: [] });
  });
});
