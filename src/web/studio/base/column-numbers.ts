/** How numbers of a column are written, as one choice with a detail. Pure functions. */
import type { ColumnNumbers } from '../../../model/datamart/datamart.js';

export const numberKinds = ['plain', 'percent', 'money', 'unit'] as const;
export type NumberKind = (typeof numberKinds)[number];

export const numberKindText: Readonly<Record<NumberKind, string>> = {
  plain: 'Number',
  percent: 'Percent',
  money: 'Money',
  unit: 'With a unit',
};

export const numberKindOf = (numbers: ColumnNumbers | null | undefined): NumberKind => {
  if (numbers?.format === 'percent') return 'percent';
  if (numbers?.currency !== undefined) return 'money';
  return numbers?.unit === undefined ? 'plain' : 'unit';
};

/** The currency or the unit. */
export const detailOf = (numbers: ColumnNumbers | null | undefined): string => numbers?.currency ?? numbers?.unit ?? '';

const usualDetail = { money: 'EUR', unit: 'km' } as const;

/** Null: plain numbers, which is what a column has at first. */
const orNull = (numbers: ColumnNumbers): ColumnNumbers | null => (Object.keys(numbers).length === 0 ? null : numbers);

const notationOf = (numbers: ColumnNumbers | null | undefined): Pick<ColumnNumbers, 'notation'> =>
  numbers?.notation === undefined ? {} : { notation: numbers.notation };

/** Another kind keeps the length of the numbers, and has a usual detail. */
export const withNumberKind = (numbers: ColumnNumbers | null | undefined, kind: NumberKind): ColumnNumbers | null => {
  const kept = notationOf(numbers);
  if (kind === 'percent') return { ...kept, format: 'percent' };
  if (kind === 'money') return { ...kept, currency: usualDetail.money };
  return kind === 'unit' ? { ...kept, unit: usualDetail.unit } : orNull(kept);
};

/** Throws if the detail is no currency's code, or empty. */
export const withDetail = (numbers: ColumnNumbers | null | undefined, text: string): ColumnNumbers => {
  const kept = notationOf(numbers);
  const detail = text.trim();
  if (numberKindOf(numbers) !== 'money') {
    if (detail === '') throw new Error('Write the unit, such as km.');
    return { ...kept, unit: detail };
  }
  const currency = detail.toUpperCase();
  if (!/^[A-Z]{3}$/.test(currency)) throw new Error('Write the currency as a code of three letters, such as EUR.');
  return { ...kept, currency };
};

export const withShortNumbers = (
  { notation: _, ...numbers }: ColumnNumbers = {},
  isShort: boolean,
): ColumnNumbers | null => orNull(isShort ? { ...numbers, notation: 'compact' } : numbers);
