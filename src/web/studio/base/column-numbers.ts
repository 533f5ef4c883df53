/** How numbers of a column are written, as one choice with a detail. Pure functions. */
import type { ModelNumbers } from '../../../model/datamart/datamart.js';
import { greatestScale } from '../../../model/datamart/money.js';

export const numberKinds = ['plain', 'percent', 'money', 'unit'] as const;
export type NumberKind = (typeof numberKinds)[number];

export const numberKindText: Readonly<Record<NumberKind, string>> = {
  plain: 'Number',
  percent: 'Percent',
  money: 'Money',
  unit: 'With a unit',
};

export const numberKindOf = (numbers: ModelNumbers | null | undefined): NumberKind => {
  if (numbers?.format === 'percent') return 'percent';
  if (numbers?.currency !== undefined) return 'money';
  return numbers?.unit === undefined ? 'plain' : 'unit';
};

/** The currency as it is typed: a code, `column.` and a column of the table, or `tenant.` and one of the client master table; or the unit. */
export const detailOf = (numbers: ModelNumbers | null | undefined): string => {
  const { currency, unit = '' } = numbers ?? {};
  if (currency === undefined || typeof currency === 'string') return currency ?? unit;
  return 'column' in currency ? `${columnPrefix}${currency.column}` : `${tenantPrefix}${currency.tenantColumn}`;
};

const columnPrefix = 'column.';
const tenantPrefix = 'tenant.';

const currencyOf = (detail: string): NonNullable<ModelNumbers['currency']> => {
  if (/^[A-Za-z]{3}$/.test(detail)) return detail.toUpperCase();
  for (const [prefix, of] of [
    [columnPrefix, (column: string) => ({ column })],
    [tenantPrefix, (tenantColumn: string) => ({ tenantColumn })],
  ] as const) {
    if (detail.startsWith(prefix) && detail.length > prefix.length) return of(detail.slice(prefix.length));
  }
  throw new Error(
    'Write the currency as a code of three letters, such as EUR; as column.currency, a column of this table; or as tenant.currency, a column of the table of clients.',
  );
};

const usualDetail = { money: 'EUR', unit: 'km' } as const;

/** Null: plain numbers, which is what a column has at first. */
const orNull = (numbers: ModelNumbers): ModelNumbers | null => (Object.keys(numbers).length === 0 ? null : numbers);

/** What another kind of numbers does not change. */
const keptOf = (numbers: ModelNumbers | null | undefined): Pick<ModelNumbers, 'notation' | 'scale'> => ({
  ...(numbers?.notation === undefined ? {} : { notation: numbers.notation }),
  ...(numbers?.scale === undefined ? {} : { scale: numbers.scale }),
});

/** Another kind keeps the length and the scale of the numbers, and has a usual detail. */
export const withNumberKind = (numbers: ModelNumbers | null | undefined, kind: NumberKind): ModelNumbers | null => {
  const kept = keptOf(numbers);
  if (kind === 'percent') return { ...kept, format: 'percent' };
  if (kind === 'money') return { ...kept, currency: usualDetail.money };
  return kind === 'unit' ? { ...kept, unit: usualDetail.unit } : orNull(kept);
};

/** Throws if the detail is no currency, or empty. */
export const withDetail = (numbers: ModelNumbers | null | undefined, text: string): ModelNumbers => {
  const kept = keptOf(numbers);
  const detail = text.trim();
  if (numberKindOf(numbers) === 'money') return { ...kept, currency: currencyOf(detail) };
  if (detail === '') throw new Error('Write the unit, such as km.');
  return { ...kept, unit: detail };
};

export const withShortNumbers = (
  { notation: _, ...numbers }: ModelNumbers = {},
  isShort: boolean,
): ModelNumbers | null => orNull(isShort ? { ...numbers, notation: 'compact' } : numbers);

/** `text`: the number of decimal places; empty or 0: the stored numbers are whole units. Throws for another text. */
export const withScale = ({ scale: _, ...numbers }: ModelNumbers, text: string): ModelNumbers | null => {
  const scale = Number(text.trim());
  if (!Number.isInteger(scale) || scale < 0 || scale > greatestScale) {
    throw new Error(`Write how many decimal places the stored numbers have: 2 for cents, at most ${greatestScale}.`);
  }
  return orNull(scale === 0 ? numbers : { ...numbers, scale });
};
