import { expect, test } from 'vitest';
import { currencyDimension } from '../../src/model/dashboard/measure-currency.js';
import { withColumnRules } from '../../src/model/datamart/column-rules.js';
import type { Datamart, ModelNumbers } from '../../src/model/datamart/datamart.js';
import { columnKind } from '../../src/model/datamart/datatypes.js';
import { currencyOf, moneyFaults, writtenNumbers } from '../../src/model/datamart/money.js';
import { missingCurrencies } from '../../src/model/guest/currency-groups.js';
import { guestFields } from '../../src/model/guest/fields.js';
import { withMeasureNumbers } from '../../src/model/query/answer-columns.js';
import type { AnswerColumn } from '../../src/model/query/engine.js';
import { codeOf, writtenRows } from '../../src/model/query/numbers.js';
import { byClients, columnRef, condition, datamart, metric, relationship, table } from '../engine/world.js';

const martWith = (columnName: string, numbers: ModelNumbers, parts: Partial<Datamart> = {}): Datamart => {
  const own = table(
    'orders',
    { id: 'BIGINT', buyer: 'BIGINT', client: 'BIGINT', currency: 'VARCHAR', paid: 'DATE' },
    'client',
  );
  return datamart({
    tenancy: byClients(),
    relationships: [relationship('orders.buyer', 'buyers.id')],
    tables: [
      table('clients', { id: 'BIGINT', name: 'VARCHAR', currency: 'VARCHAR' }),
      table('buyers', { id: 'BIGINT' }, null),
      {
        ...own,
        columns: [...own.columns, ...table('x', { total: 'BIGINT' }).columns].map((column) =>
          column.columnName === columnName ? { ...column, numbers } : column,
        ),
      },
    ],
    ...parts,
  });
};

test('a scale is refused where it would change keys, or where there are no numbers', () => {
  expect(moneyFaults(martWith('total', { scale: 2 }), true)).toEqual([]);
  for (const column of ['client', 'buyer', 'currency', 'paid']) {
    const [fault, ...others] = moneyFaults(martWith(column, { scale: 2 }), true);
    expect(others).toEqual([]);
    expect(fault).toMatch(/^tableList\[2\]\.columns\[\d\]\.numbers\.scale: got string "2", expected left out: /);
  }
});

test('a currency is read from a column of texts that the datamart has', () => {
  const faultsOf = (currency: ModelNumbers['currency'], parts: Partial<Datamart> = {}) =>
    moneyFaults(martWith('total', { currency }, parts), false);
  expect(faultsOf('EUR')).toEqual([]);
  expect(faultsOf({ column: 'currency' })).toEqual([]);
  expect(faultsOf({ tenantColumn: 'currency' })).toEqual([]);
  expect(faultsOf({ column: 'lost' })[0]).toContain(
    'expected a column of texts that the datamart has in the same table',
  );
  expect(faultsOf({ column: 'paid' })).toHaveLength(1);
  expect(faultsOf({ tenantColumn: 'id' })[0]).toContain('client master table');
  expect(faultsOf({ tenantColumn: 'currency' }, { tenancy: null })[0]).toContain('which only tenancyLevel TABLE has');
});

test('whole numbers with a scale are numbers with decimal places', () => {
  expect(columnKind({ datatype: 'BIGINT', kind: 'integer' })).toBe('integer');
  expect(columnKind({ datatype: 'BIGINT', kind: 'integer', numbers: { scale: 2 } })).toBe('number');
});

test('new metrics copy how numbers are written, but no currency that rows or tenants name', () => {
  expect(writtenNumbers({ scale: 2, currency: 'EUR', notation: 'compact' })).toEqual({
    currency: 'EUR',
    notation: 'compact',
  });
  expect(writtenNumbers({ scale: 2, currency: { column: 'currency' } })).toBeNull();
  expect(currencyOf(martWith('total', { currency: { column: 'currency' } }), columnRef('orders.total'))).toEqual({
    kind: 'row',
    ref: columnRef('orders.currency'),
    isShown: true,
  });
  expect(['gbp ', 'GBP', 'pounds', null, 826].map(codeOf)).toEqual(['GBP', 'GBP', undefined, undefined, undefined]);
});

test('the currency of each row wins over that of the metric, and the metric’s over that of the datamart', () => {
  const numbersFor = (chart: object, said: Partial<AnswerColumn>) => {
    const measures = [{ name: 'Sum', aggregate: 'SUM', column: columnRef('orders.total') }] as const;
    const definition = metric('orders', { measures, chart: { type: 'table', ...chart } });
    const column: AnswerColumn = { name: 'Sum', dataType: 'number', ...said };
    return withMeasureNumbers([column], definition)[0]?.numbers?.currency;
  };
  expect(numbersFor({}, { currency: 'GBP' })).toBe('GBP');
  expect(numbersFor({ currency: 'EUR' }, { currency: 'GBP' })).toBe('EUR');
  expect(numbersFor({ currency: 'EUR' }, { currencyColumn: 'Money' })).toBeUndefined();
  expect(numbersFor({ format: 'percent' }, { currency: 'GBP' })).toBeUndefined();
});

test('assistants read each amount in the currency of its row', () => {
  const rows = [
    { Money: 'GBP', Sum: '1234.50' },
    { Money: 'JPY', Sum: 1234 },
    { Money: null, Sum: 5 },
  ];
  const written = writtenRows(rows, [{ name: 'Money' }, { name: 'Sum', currencyColumn: 'Money' }], 'en-GB');
  expect(written).toEqual([{ Sum: '£1,234.50' }, { Sum: '¥1,234' }, { Sum: '5' }]);
});

const money = martWith('total', { currency: { column: 'currency' } });
const sumOf = (aggregate: 'SUM' | 'COUNT' = 'SUM') =>
  ({ name: 'Sum', aggregate, column: columnRef('orders.total') }) as const;
const byCurrency = { name: 'Money', column: columnRef('orders.currency') };
const isEuro = condition('orders.currency', { kind: 'compare', operator: '=', value: 'EUR' });

test('an alert with a limit is told by which dimension amounts are of several currencies', () => {
  const dimensionOf = (parts: Parameters<typeof metric>[1], name = 'Sum') =>
    currencyDimension(metric('orders', { dimensions: [byCurrency], measures: [sumOf()], ...parts }), name, money);
  expect(dimensionOf({})).toBe('Money');
  expect(dimensionOf({ measures: [{ name: 'Sum', expression: 'SUM(orders.total) * 2' }] })).toBe('Money');
  expect(dimensionOf({ calculations: [{ kind: 'runningTotal', name: 'Running', of: 'Sum' }] }, 'Running')).toBe(
    'Money',
  );
  expect(dimensionOf({ where: isEuro })).toBeUndefined();
  expect(dimensionOf({ measures: [sumOf('COUNT')] })).toBeUndefined();
  expect(dimensionOf({ measures: [{ name: 'Sum', expression: "COUNT(*) -- 'total'" }] })).toBeUndefined();
  expect(
    dimensionOf({ calculations: [{ kind: 'shareOfTotal', name: 'Share', of: 'Sum', within: ['Money'] }] }, 'Share'),
  ).toBeUndefined();
  expect(dimensionOf({ dimensions: [{ name: 'Paid', column: columnRef('orders.paid') }] })).toBeUndefined();
});

test('a new metric gets the group of the currency that its measure lacks, and once', () => {
  const scope = { isReadable: () => true, joinModel: 'multi', conditions: [] } as const;
  const fields = guestFields({ datamart: money, ...scope }, undefined);
  const missing = (grouped: Partial<Parameters<typeof missingCurrencies>[1]>) =>
    missingCurrencies(fields, { dimensions: [], measures: [sumOf()], ...grouped }, (title) => `${title}!`);
  const group = { name: 'currency!', column: columnRef('orders.currency') };
  expect(missing({})).toEqual([group]);
  expect(missing({ measures: [sumOf(), sumOf()] })).toEqual([group]);
  expect(missing({ measures: [sumOf('COUNT')] })).toEqual([]);
  expect(missing({ dimensions: [byCurrency] })).toEqual([]);
  expect(missing({ where: { all: [isEuro] } })).toEqual([]);
  expect(missing({ where: { any: [isEuro] } })).toEqual([group]);
  // A guest is not told of a column that it is not shown.
  const rules = { hideColumns: ['main.orders.currency'], maskColumns: {} };
  const closed = guestFields({ datamart: withColumnRules(money, rules), ...scope }, undefined);
  expect(JSON.stringify(closed)).not.toContain('urrencyColumn');
  const masked = withColumnRules(money, { hideColumns: [], maskColumns: { 'main.orders.currency': 'first' } });
  expect(JSON.stringify(guestFields({ datamart: masked, ...scope }, undefined))).not.toContain('urrencyColumn');
});
