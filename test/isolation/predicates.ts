/** Conditions of random cases: their values occur in the column, or nearly do. */

import type { Measure } from '../../src/model/dashboard/metric.js';
import type { Predicate } from '../../src/model/filter/filter.js';
import type { AHavingTest, ATest, ColumnName } from './cases.js';
import { amounts, codes, days, labels, prices, tenants, times, weights } from './dataset.js';
import { daysOnTheDay } from './values.js';

const valuesOf: Readonly<Record<ColumnName, readonly (string | number | boolean)[]>> = {
  id: [1, 2, 3, 4, 5],
  ref: [1, 2, 3, 9],
  code: codes,
  label: labels,
  amount: [...amounts, '9007199254740992'],
  price: [...prices, 0.1, 12],
  weight: weights,
  flag: [true, false],
  day: days,
  at: [...times, '2024-03-31', '2024-01-01T00:30'],
  stamp: [...times, '2024-03-31'],
  moment: [...times, '2024-10-27'],
  tenant: [...tenants, '1'],
};

const dates: ReadonlySet<ColumnName> = new Set(['day', 'at', 'stamp', 'moment']);

const patterns = ['%e%', 'r_d', '%\\%%', '_', '%', '\\_', 'red%', '', '%d ', "%'%", 'a\\\\b'] as const;

export const isText = (column: ColumnName): boolean => column === 'code' || column === 'label' || column === 'tenant';

/** Returns a predicate that fits the column. */
export const predicateOf = ({ column, predicate, choice }: ATest): Predicate => {
  const values = valuesOf[column];
  const nth = (index: number) => values[(choice + index * 7) % values.length] ?? '';
  if (column === 'flag' && predicate !== 'isNull' && predicate !== 'isNotNull')
    return { kind: 'compare', operator: predicate === '<>' ? '<>' : '=', value: nth(0) };
  switch (predicate) {
    case 'isNull':
    case 'isNotNull':
      return { kind: predicate };
    case 'relative': {
      const periods = Object.keys(daysOnTheDay);
      return dates.has(column)
        ? { kind: 'relative', period: periods[choice % periods.length] ?? '' }
        : { kind: 'isNotNull' };
    }
    case 'oneOf':
    case 'noneOf':
      return { kind: predicate, values: [nth(0), nth(1), nth(2)].slice(0, 1 + (choice % 3)) };
    case 'range':
      return { kind: 'range', from: nth(0), to: nth(1), toIsExclusive: choice % 2 === 0 };
    case 'openRange':
      return choice % 2 === 0
        ? { kind: 'range', from: nth(0), to: null, toIsExclusive: false }
        : { kind: 'range', from: null, to: nth(0), toIsExclusive: choice % 4 === 1 };
    case 'like':
      return isText(column)
        ? { kind: 'like', pattern: patterns[choice % patterns.length] ?? '%' }
        : { kind: 'isNotNull' };
    default:
      return { kind: 'compare', operator: predicate, value: nth(0) };
  }
};

export const isOfNumbers = (column: string): boolean => ['id', 'ref', 'amount', 'price', 'weight'].includes(column);

/** Returns the column of the same kind as the measure's. Of the client master table, all columns but one are text. */
const likeOf = ({ column }: Measure): ColumnName => {
  const name = column?.columnName ?? 'label';
  if (column?.tableName === 'clients' && name !== 'amount') return 'label';
  return name in valuesOf ? (name as ColumnName) : 'label';
};

const isIndicated = ({ indicator }: Measure): boolean => indicator !== undefined;

/** Whether the measure is an exact number, not a float. */
export const isExactNumber = (measure: Measure): boolean => {
  const { aggregate, column } = measure;
  if (aggregate === 'COUNT' || aggregate === 'COUNT_DISTINCT') return true;
  const isOfExact = column !== undefined && isOfNumbers(likeOf(measure)) && likeOf(measure) !== 'weight';
  return isOfExact && !isIndicated(measure) && (aggregate === 'SUM' || aggregate === 'MIN' || aggregate === 'MAX');
};

export const isNumber = (measure: Measure): boolean =>
  (measure.aggregate !== 'MIN' && measure.aggregate !== 'MAX') || isIndicated(measure) || isOfNumbers(likeOf(measure));

/** Values between any two values that float errors could confuse. */
const betweens = [0.29, 3.71, 1234.5] as const;
const wholes = [0, 1, 2, 3, 7, 20] as const;

/** Returns a predicate that fits the measure. */
export const havingOf = (test: AHavingTest, measure: Measure): Predicate => {
  const { predicate, choice } = test;
  if (!isNumber(measure)) {
    return predicateOf({ table: 0, column: likeOf(measure), predicate, choice });
  }
  if (predicate === 'isNotNull') return { kind: 'isNotNull' };
  const values = isExactNumber(measure) ? wholes : betweens;
  const value = values[choice % values.length] ?? 0;
  if (predicate === 'noneOf') return { kind: 'noneOf', values: [value] };
  if (predicate === 'openRange') return { kind: 'range', from: value, to: null, toIsExclusive: false };
  const operators = ['=', '<>', '<', '<=', '>', '>='] as const;
  return { kind: 'compare', operator: operators.find((operator) => operator === predicate) ?? '>', value };
};
