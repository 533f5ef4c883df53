/** What the rows of a table add up to, and what that is called. Pure. */
import { amountName, labelOf, singularName, wordsOf } from '../../datamart/column-names.js';
import type { ColumnRef } from '../../datamart/datamart.js';
import type { Measure } from '../metric.js';
import type { TableFacts } from './facts.js';

const capital = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

export const columnOf = ({ table: { schemaName, tableName } }: TableFacts, columnName: string): ColumnRef => ({
  schemaName,
  tableName,
  columnName,
});

/** Words of the columns that hold the amount of a row, and say no more than that. */
const plainAmounts = new Set('amount total subtotal sum value grand net gross price'.split(' '));
/** Words of tables whose amounts are what customers pay. */
const revenues = new Set('invoice payment order sale charge receipt transaction booking rental'.split(' '));

const isRevenue = (tableName: string): boolean =>
  singularName(tableName)
    .split(' ')
    .some((word) => revenues.has(word));

/** The unit of numbers that the datamart does not turn into whole ones: ` (cents)`. */
const unitOf = ({ table }: TableFacts, columnName: string): string => {
  const { unit } = amountName(columnName);
  const isScaled = table.columns.some((one) => one.columnName === columnName && one.numbers?.scale !== undefined);
  return unit === null || isScaled ? '' : ` (${unit})`;
};

/** The amount as a label, without the unit in its name: `Monthly fee` for `monthly_fee_cents`, if it is shown in whole units. */
export const amountLabel = (facts: TableFacts, columnName: string): string =>
  `${capital(amountName(columnName).name)}${unitOf(facts, columnName)}`;

const nameOfAmount = (facts: TableFacts, columnName: string): string => {
  const { tableName } = facts.table;
  const { name } = amountName(columnName);
  if (!name.split(' ').every((word) => plainAmounts.has(word))) return amountLabel(facts, columnName);
  const said = isRevenue(tableName) ? 'Revenue' : capital(`${singularName(tableName)} ${name}`);
  return `${said}${unitOf(facts, columnName)}`;
};

const isPlainName = (name: string): boolean => /^[a-z_][a-z0-9_]*$/.test(name);

/** A quantity times its price, with the column of the price; undefined if the table has not both, or names that an expression would have to quote. */
const worthOf = (facts: TableFacts): Total | undefined => {
  const { tableName } = facts.table;
  const quantity = facts.roles.amounts.find((name) => /^(quantity|qty)$/.test(wordsOf(name).join(' ')));
  const price = facts.roles.levels.find((name) => /^((unit )?price|unit)$/.test(amountName(name).name));
  if (quantity === undefined || price === undefined || ![tableName, quantity, price].every(isPlainName)) return;
  const measure = {
    name: `Revenue${unitOf(facts, price)}`,
    expression: `SUM(${tableName}.${quantity} * ${tableName}.${price})`,
  };
  return { measure, columnName: price };
};

/** Minutes and seconds as hours, which people read. */
const hoursOf = ({ table: { tableName } }: TableFacts, columnName: string): Measure | undefined => {
  const last = wordsOf(columnName).at(-1);
  const part = last === 'minutes' ? '60.0' : last === 'seconds' ? '3600.0' : undefined;
  if (part === undefined || ![tableName, columnName].every(isPlainName)) return;
  const rest = wordsOf(columnName).slice(0, -1);
  return { name: capital([...rest, 'hours'].join(' ')), expression: `SUM(${tableName}.${columnName}) / ${part}` };
};

/** How well an amount says what a row is worth: totals first, then amounts, then the rest. */
const amountPlace = (name: string): number => {
  const words = wordsOf(name);
  if (words.some((word) => ['total', 'revenue'].includes(word)) && !words.includes('subtotal')) return 0;
  if (words.some((word) => ['amount', 'minutes', 'hours', 'seconds', 'duration', 'sales'].includes(word))) return 1;
  return words.includes('tax') || words.includes('discount') ? 4 : 2;
};

/** The amount of the table by which its rows are best added up; undefined if there is none. */
export const amountOf = ({ roles }: TableFacts): string | undefined =>
  roles.amounts.toSorted((a, b) => amountPlace(a) - amountPlace(b))[0];

/** Whether the table itself says what each row is worth, so that no table of lines is needed. */
export const hasOwnTotal = (facts: TableFacts): boolean => {
  const amount = amountOf(facts);
  return amount !== undefined && amountPlace(amount) < 2;
};

/** What a table adds up to, and the column with its values: for a product, the price. */
type Total = { readonly measure: Measure; readonly columnName: string };

/** What a table adds up to: its own total, else a quantity times its price, else its first amount; null if it has none. */
export const totalOf = (facts: TableFacts): Total | null => {
  const worth = worthOf(facts);
  const amount = amountOf(facts);
  if (amount === undefined || (worth !== undefined && !hasOwnTotal(facts))) return worth ?? null;
  const measure = hoursOf(facts, amount) ?? {
    name: nameOfAmount(facts, amount),
    aggregate: 'SUM',
    column: columnOf(facts, amount),
  };
  return { measure, columnName: amount };
};

export const countOf = ({ table }: TableFacts): Measure => ({ name: labelOf(table.tableName), aggregate: 'COUNT' });
