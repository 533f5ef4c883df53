/** A datamart is compared with its database: what is new, gone, renamed or of another type, and what each change breaks. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Use } from '../../src/model/datamart/change-breaks.js';
import type { ParsedSql } from '../../src/model/datamart/read-sql.js';
import { acceptChanges, guardFault } from '../../src/model/datamart/source-accepted.js';
import {
  type Compared,
  type ModelParts,
  nameOfChange,
  type SourceChange,
  sourceChanges,
} from '../../src/model/datamart/source-changes.js';
import { breaksOf, offersFor } from '../../src/model/datamart/source-offers.js';
import type { SourceTable } from '../../src/model/datamart/source-schema.js';

type Column = readonly [name: string, datatype: string];

const tableOf = (
  tableName: string,
  columns: readonly Column[],
  keys: Partial<Pick<SourceTable, 'primaryKey' | 'foreignKeys'>> = {},
): SourceTable => ({
  ...{ schemaName: 'public', tableName, primaryKey: [], uniqueKeys: [], foreignKeys: [], ...keys },
  columns: columns.map(([columnName, datatype]) => ({ columnName, datatype, isNullable: true })),
});

const draftOf = ({ schemaName, tableName, columns }: SourceTable, clientColumn?: string) => ({
  ...{ name: tableName, schemaName, columns: columns.map(({ columnName }) => ({ name: columnName })) },
  ...(clientColumn === undefined ? {} : { clientColumn }),
});

const refers = (column: string, tableName: string) => ({
  ...{ columns: [column], references: { schemaName: 'public', tableName }, referencedColumns: ['id'] },
});
const clients = tableOf(
  'clients',
  [
    ['id', 'bigint'],
    ['name', 'text'],
  ],
  { primaryKey: ['id'] },
);
const orderColumns: readonly Column[] = [
  ['id', 'bigint'],
  ['client_id', 'bigint'],
  ['amount', 'numeric'],
  ['note', 'text'],
];
const orders = tableOf('orders', orderColumns, { primaryKey: ['id'], foreignKeys: [refers('client_id', 'clients')] });
const lines = tableOf(
  'lines',
  [
    ['id', 'bigint'],
    ['order_id', 'bigint'],
  ],
  { primaryKey: ['id'], foreignKeys: [refers('order_id', 'orders')] },
);

const parts: ModelParts = {
  tableList: [draftOf(clients), draftOf(orders, 'client_id'), draftOf(lines)],
  relationships: [
    {
      ...{ relationshipName: 'lines.order_id', parentTableName: 'lines', parentColumnName: 'order_id' },
      ...{ childTableName: 'orders', childColumnName: 'id', cardinality: 'ManyToOne' },
    },
  ],
  sharedTables: [],
  tenancy: {
    ...{ tenancyLevel: 'TABLE', clientColumnType: 'NUMBER', schemaName: 'public', tableName: 'clients' },
    ...{ tableClientNameColumn: 'name', tablePrimaryKeyColumn: 'id' },
  },
};
const stored = [clients, orders, lines];
const comparedWith = (tables: readonly SourceTable[]): Compared => ({ parts, stored, tables });

const withColumns = (table: SourceTable, columns: readonly Column[]): SourceTable => ({
  ...tableOf(table.tableName, columns),
  ...{ primaryKey: table.primaryKey, foreignKeys: table.foreignKeys },
});

const metric = (columns: readonly string[], sql: readonly string[] = []): Use => ({
  ...{
    what: 'metric',
    name: 'Revenue',
    where: 'dashboards/overview.yaml',
    tables: [{ schemaName: 'public', tableName: 'orders' }],
    sql,
  },
  columns: columns.map((columnName) => ({ schemaName: 'public', tableName: 'orders', columnName })),
  typeFaults: () => [],
});

const said = (compared: Compared): readonly string[] =>
  sourceChanges(compared).map(
    (change) => `${change.kind} ${nameOfChange(change)}${change.newName === null ? '' : ` ${change.newName}`}`,
  );

describe('what differs', () => {
  test('a datamart of the same tables has no change', () => {
    expect(said(comparedWith(stored))).toEqual([]);
  });

  test('a new table, a new column, a gone one and another type are four changes', () => {
    const changed = withColumns(orders, [
      ['id', 'bigint'],
      ['client_id', 'bigint'],
      ['amount', 'text'],
      ['paid', 'boolean'],
    ]);
    expect(said(comparedWith([clients, changed, lines, tableOf('refunds', [['id', 'bigint']])]))).toEqual([
      ...['gone public.orders.note', 'retyped public.orders.amount'],
      ...['new public.orders.paid', 'new public.refunds'],
    ]);
  });

  test('a column of the same type in the same place is probably renamed', () => {
    const changed = withColumns(orders, [
      ['id', 'bigint'],
      ['client_id', 'bigint'],
      ['total', 'numeric'],
      ['note', 'text'],
    ]);
    expect(said(comparedWith([clients, changed, lines]))).toEqual(['renamed public.orders.amount total']);
  });

  test('a table with all columns of one that is gone is probably that table', () => {
    const changed = { ...orders, tableName: 'purchases' };
    expect(said(comparedWith([clients, changed, lines]))).toEqual(['renamed public.orders purchases']);
  });

  test('a column that is left out is not offered again, until it is added', () => {
    const more = withColumns(orders, [...orderColumns, ['paid', 'boolean']]);
    const compared = comparedWith([clients, more, lines]);
    const [offered] = sourceChanges(compared);
    if (offered === undefined) throw new Error('a new column is offered');
    const without = acceptChanges(compared, [{ ...offered, kind: 'leftOut' }]);
    expect(without.tableList.find(({ name }) => name === 'orders')?.leftOut).toEqual(['paid']);
    expect(said({ ...compared, parts: without })).toEqual([]);
    const added = acceptChanges({ ...compared, parts: without }, [offered]);
    expect(added.tableList.find(({ name }) => name === 'orders')).toMatchObject({ columns: { length: 5 } });
    expect(added.tableList.find(({ name }) => name === 'orders')?.leftOut).toBeUndefined();
  });

  test('a partition is not offered, and one that the datamart names is not gone', () => {
    const partition: SourceTable = { ...orders, tableName: 'orders_2025', kind: 'partition' };
    expect(said(comparedWith([...stored, partition]))).toEqual([]);
    const named = { ...parts, tableList: [...parts.tableList, draftOf(partition, 'client_id')] };
    expect(said({ parts: named, stored: [...stored, partition], tables: [...stored, partition] })).toEqual([]);
  });

  test('a client column that the datamart does not list is missed too', () => {
    const unlisted = {
      ...parts,
      tableList: parts.tableList.map((table) => ({
        ...table,
        columns: table.columns.filter(({ name }) => name !== 'client_id'),
      })),
    };
    const changed = withColumns(orders, [
      ['id', 'bigint'],
      ['amount', 'numeric'],
      ['note', 'text'],
    ]);
    expect(said({ parts: unlisted, stored, tables: [clients, changed, lines] })).toEqual([
      'gone public.orders.client_id',
    ]);
  });
});

describe('additions', () => {
  const offers = (...tables: readonly SourceTable[]) => offersFor(comparedWith([...stored, ...tables]), []);

  test('a table that refers to a tenant gets its client column, and one that refers to an order its relationship', () => {
    const refunds = tableOf(
      'refunds',
      [
        ['id', 'bigint'],
        ['client_id', 'bigint'],
      ],
      { foreignKeys: [refers('client_id', 'clients')] },
    );
    const shipments = tableOf(
      'shipments',
      [
        ['id', 'bigint'],
        ['order_id', 'bigint'],
      ],
      { foreignKeys: [refers('order_id', 'orders')] },
    );
    expect(offers(refunds, shipments).map(({ ownership, caution }) => [ownership?.kind, caution])).toEqual([
      ['column', null],
      ['path', null],
    ]);
    const compared = comparedWith([...stored, shipments]);
    const after = acceptChanges(compared, sourceChanges(compared));
    expect(after.relationships.at(-1)).toMatchObject({
      relationshipName: 'shipments.order_id',
      cardinality: 'ManyToOne',
    });
  });

  test('a table without a tenant stays unreadable, and is not safe to add', () => {
    const [offer] = offers(
      tableOf('settings', [
        ['id', 'bigint'],
        ['value', 'text'],
      ]),
    );
    expect(offer).toMatchObject({ ownership: { kind: 'unreadable' }, caution: 'nobody can read its table' });
  });

  test('a column of a table that all tenants read, and a secret, are not safe to add', () => {
    const all = {
      ...parts,
      tableList: [...parts.tableList, draftOf(tableOf('plans', [['id', 'bigint']]))],
      sharedTables: ['plans'],
    };
    const plans = tableOf('plans', [
      ['id', 'bigint'],
      ['margin', 'numeric'],
    ]);
    const changed = withColumns(orders, [...orderColumns, ['card_token', 'text'], ['paid', 'boolean']]);
    const compared = { parts: all, stored: [...stored, plans], tables: [clients, changed, lines, plans] };
    expect(offersFor(compared, []).map(({ change, caution }) => [change.columnName, caution])).toEqual([
      ['card_token', 'named like a secret'],
      ['paid', null],
      ['margin', 'all tenants read every row of its table'],
    ]);
  });

  test('a column is not safe to add if its relationship makes another table readable', () => {
    const before = {
      ...parts,
      relationships: [],
      tableList: [...parts.tableList.slice(0, 2), draftOf(tableOf('lines', [['id', 'bigint']]))],
    };
    const compared = { parts: before, stored, tables: stored };
    const [offer] = offersFor(compared, []);
    expect(offer?.change.columnName).toBe('order_id');
    expect(offer?.caution).toContain('it changes whose the rows of public.lines are: nobody could read it');
  });
});

describe('what a change breaks', () => {
  const withoutAmount = withColumns(orders, [
    ['id', 'bigint'],
    ['client_id', 'bigint'],
    ['note', 'text'],
  ]);
  const breaksWith = (tables: readonly SourceTable[], ...uses: readonly Use[]) => {
    const compared = comparedWith(tables);
    return breaksOf(compared, sourceChanges(compared), uses).map(({ what, name, why }) => [what, name, why]);
  };

  test('a metric that reads a gone column is named with its dashboard', () => {
    const [offer] = offersFor(comparedWith([clients, withoutAmount, lines]), [metric(['amount']), metric(['note'])]);
    expect(offer?.breaks).toEqual([
      { what: 'metric', name: 'Revenue', where: 'dashboards/overview.yaml', why: 'reads public.orders.amount' },
    ]);
  });

  test('SQL that a parser reads is taken at its word, and not at its comments, texts and aliases', () => {
    const breaksOfSql = (text: string, parsed: ParsedSql) => {
      const compared = { ...comparedWith([clients, withoutAmount, lines]), readSql: () => parsed };
      return breaksOf(compared, sourceChanges(compared), [{ ...metric([], [text]), tables: [] }]);
    };
    const select = (tables: readonly (readonly string[])[], written: string) =>
      breaksOfSql("SELECT 'orders.amount' /* amount of orders */ FROM t", { tables, written });
    expect(select([['lines']], 'SELECT "amount" FROM  AS "orders"')).toEqual([]);
    expect(select([['orders']], 'SELECT \'amount\', "id" FROM ')).toEqual([]);
    expect(select([['public', 'orders']], 'SELECT "amount" FROM ')).toHaveLength(1);
    expect(breaksOfSql('SUM(orders.amount)', { columns: [['orders', 'amount']] })).toHaveLength(1);
    expect(breaksOfSql('SUM(lines.amount)', { columns: [['lines', 'amount']] })).toEqual([]);
  });

  test('SQL is searched for the name as a whole word', () => {
    expect(breaksWith([clients, withoutAmount, lines], metric([], ['SUM(orders.amount)']))).toHaveLength(1);
    expect(breaksWith([clients, withoutAmount, lines], metric([], ['SUM(orders.amounts)']))).toEqual([]);
  });

  test('without its client column a table is readable by nobody, and so is a table behind it', () => {
    const changed = withColumns(orders, [
      ['id', 'bigint'],
      ['amount', 'numeric'],
      ['note', 'text'],
    ]);
    expect(breaksWith([clients, changed, lines]).map(([what, name]) => [what, name])).toEqual([
      ['tenancy', 'public.orders'],
      ['tenancy', 'public.lines'],
    ]);
  });

  test('a renamed key keeps its relationship and its tenants, and breaks what reads it by the old name', () => {
    const changed: SourceTable = {
      ...withColumns(orders, [
        ['order_no', 'bigint'],
        ['client_id', 'bigint'],
        ['amount', 'numeric'],
        ['note', 'text'],
      ]),
      primaryKey: ['order_no'],
    };
    expect(breaksWith([clients, changed, lines], metric(['id']))).toEqual([
      ['metric', 'Revenue', 'reads public.orders.id'],
    ]);
  });

  test('the key of the tenants cannot be removed, and can be renamed', () => {
    const changed = tableOf(
      'clients',
      [
        ['no', 'bigint'],
        ['name', 'text'],
      ],
      { primaryKey: ['no'] },
    );
    const compared = comparedWith([changed, orders, lines]);
    const [change] = sourceChanges(compared);
    expect(change).toMatchObject({ kind: 'renamed', newName: 'no' });
    expect(guardFault(compared, [{ ...(change as SourceChange), kind: 'gone' }])).toContain('who the tenants are');
    expect(acceptChanges(compared, [change as SourceChange]).tenancy).toMatchObject({ tablePrimaryKeyColumn: 'no' });
  });

  test('a column that a base filter needs cannot be removed, and its rename is followed', () => {
    const baseFilters = [{ columnName: 'note', predicate: { kind: 'isNull' as const } }];
    const filtered = {
      ...parts,
      tableList: parts.tableList.map((table) => (table.name === 'orders' ? { ...table, baseFilters } : table)),
    };
    const gone = withColumns(orders, orderColumns.slice(0, 3));
    const compared = { parts: filtered, stored, tables: [clients, gone, lines] };
    expect(guardFault(compared, sourceChanges(compared))).toContain('a base filter of public.orders needs note');
    const renamed = {
      ...compared,
      tables: [clients, withColumns(orders, [...orderColumns.slice(0, 3), ['memo', 'text']]), lines],
    };
    const after = acceptChanges(renamed, sourceChanges(renamed));
    expect(after.tableList[1]?.baseFilters).toEqual([{ columnName: 'memo', predicate: { kind: 'isNull' } }]);
  });

  test('what the currency of amounts needs cannot be removed, and its rename is followed', () => {
    const numbers = { scale: 2, currency: { column: 'note' } } as const;
    const money = {
      ...parts,
      tableList: parts.tableList.map((table) => ({
        ...table,
        columns: table.columns.map((column) => (column.name === 'amount' ? { ...column, numbers } : column)),
      })),
    };
    const compared = { parts: money, stored, tables: [clients, withColumns(orders, orderColumns.slice(0, 3)), lines] };
    expect(guardFault(compared, sourceChanges(compared))).toBe(
      'the column names the currency of public.orders.amount: change its numbers first',
    );
    const renamed = {
      ...compared,
      tables: [clients, withColumns(orders, [...orderColumns.slice(0, 3), ['memo', 'text']]), lines],
    };
    const after = acceptChanges(renamed, sourceChanges(renamed));
    expect(after.tableList[1]?.columns[2]?.numbers).toEqual({ scale: 2, currency: { column: 'memo' } });
  });

  test('a new column of cents comes with its currency: that of the row, else the tenant’s, else none', () => {
    const withCents = (more: readonly Column[]) =>
      withColumns(orders, [...orderColumns, ['fee_cents', 'bigint'], ...more]);
    const withCurrency = withColumns(clients, [
      ['id', 'bigint'],
      ['name', 'text'],
      ['currency', 'text'],
    ]);
    const numbersIn = (...tables: readonly SourceTable[]) => {
      const compared = { parts, stored, tables: [...tables, lines] };
      const after = acceptChanges(compared, sourceChanges(compared));
      return after.tableList[1]?.columns.find(({ name }) => name === 'fee_cents');
    };
    const fee = { name: 'fee_cents', label: 'Fee' };
    expect(numbersIn(clients, withCents([]))).toEqual({ ...fee, numbers: { scale: 2 } });
    expect(numbersIn(withCurrency, withCents([]))).toEqual({
      ...fee,
      numbers: { scale: 2, currency: { tenantColumn: 'currency' } },
    });
    // The column of the currency is new too, and comes after it.
    expect(numbersIn(withCurrency, withCents([['currency', 'text']]))).toMatchObject({ ...fee, numbers: { scale: 2 } });
  });

  test('of two columns with new types, only that of another kind breaks a relationship', () => {
    const ofKind = (datatype: string) =>
      withColumns(lines, [
        ['id', 'bigint'],
        ['order_id', datatype],
      ]);
    expect(breaksWith([clients, orders, ofKind('integer')])).toEqual([]);
    expect(breaksWith([clients, orders, ofKind('text')]).map(([what, name]) => [what, name])).toEqual([
      ['relationship', 'lines.order_id'],
    ]);
  });
});

describe('for any schema and edits', () => {
  const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), { minLength: 1, maxLength: 5 });
  const type = fc.constantFrom('bigint', 'text', 'numeric', 'boolean');
  const anyTable = (name: string) =>
    names.chain((all) =>
      fc.array(type, { minLength: all.length, maxLength: all.length }).map((types) =>
        tableOf(
          name,
          all.map((column, at) => [column, types[at] ?? 'text']),
        ),
      ),
    );
  const anySchema = fc.tuple(...['t', 'u', 'v'].map(anyTable)).chain((all) => fc.subarray(all));
  const ofTables = (tables: readonly SourceTable[]): ModelParts => ({
    ...{ tableList: tables.map((table) => draftOf(table)), relationships: [], sharedTables: [], tenancy: null },
  });

  test('a datamart that accepts every change has what its database has, and no change is left', () => {
    fc.assert(
      fc.property(anySchema, anySchema, (before, tables) => {
        const compared = { parts: ofTables(before), stored: before, tables };
        const after = acceptChanges(compared, sourceChanges(compared));
        // A renamed table may have more columns, which a second comparison finds.
        const again = { parts: after, stored: tables, tables };
        const last = acceptChanges(again, sourceChanges(again));
        expect(sourceChanges({ parts: last, stored: tables, tables })).toEqual([]);
      }),
    );
  });

  test('each difference is named once, and nothing else is', () => {
    const columnsOf = (tables: readonly SourceTable[]): ReadonlySet<string> =>
      new Set(
        tables.flatMap(({ tableName, columns }) =>
          columns.map(({ columnName }) => `public.${tableName}.${columnName}`),
        ),
      );
    fc.assert(
      fc.property(anySchema, anySchema, (before, tables) => {
        const changes = sourceChanges({ parts: ofTables(before), stored: before, tables });
        const [was, now] = [columnsOf(before), columnsOf(tables)];
        for (const change of changes.filter(({ columnName }) => columnName !== null)) {
          const name = nameOfChange(change);
          expect([was.has(name), now.has(name)]).toEqual(
            {
              ...{ new: [false, true], gone: [true, false], renamed: [true, false], retyped: [true, true] },
              leftOut: 'no difference',
            }[change.kind],
          );
        }
        expect(new Set(changes.map(nameOfChange)).size).toBe(changes.length);
      }),
    );
  });

  test('a use is named as broken exactly if it reads a column that is lost', () => {
    fc.assert(
      fc.property(
        anySchema,
        anySchema,
        fc.constantFrom('t', 'u', 'v'),
        fc.constantFrom('a', 'b', 'c'),
        (before, tables, tableName, columnName) => {
          const column = { schemaName: 'public', tableName, columnName };
          const use: Use = { ...metric([]), tables: [], columns: [column] };
          const compared = { parts: ofTables(before), stored: before, tables };
          const has = (all: readonly SourceTable[]) =>
            all.some(
              (table) => table.tableName === tableName && table.columns.some((one) => one.columnName === columnName),
            );
          const changes = sourceChanges(compared);
          expect(breaksOf(compared, changes, [use])).toHaveLength(has(before) && !has(tables) ? 1 : 0);
        },
      ),
    );
  });
});
