/** Says what a check of an alert found. Names and values come from guests, hosts and tenants' rows, and are never markup. */
import type { AlertCondition } from '../domain/deliver/alert.js';
import type { Cell } from '../domain/query/engine.js';
import { plainLine } from './plain-line.js';

/** What one check found, as the recipient's own token read it. */
export type AlertText = {
  readonly metricName: string;
  readonly measure: string;
  readonly condition: AlertCondition;
  readonly isBreached: boolean;
  /** Whether a breach began or ended with this check. */
  readonly hasChanged: boolean;
  /** Whether what the recipient may see has changed since the last message. */
  readonly isAnew: boolean;
  readonly value: number | null;
  /** The dimensions of the row with the value. */
  readonly at: readonly Cell[];
  readonly before: number | null;
  /** In percent. */
  readonly change: number | null;
  readonly appeared: readonly (readonly Cell[])[];
};

export type AlertKind = 'breach' | 'recovery' | 'check';

export const kindOf = ({ hasChanged, isBreached, appeared }: AlertText): AlertKind => {
  if (appeared.length > 0 || (hasChanged && isBreached)) return 'breach';
  return hasChanged ? 'recovery' : 'check';
};

const mostRows = 20;
const longestCell = 100;

const cut = (text: string): string => {
  const letters = [...text];
  return letters.length <= longestCell ? text : `${letters.slice(0, longestCell - 1).join('')}…`;
};

const cellText = (cell: Cell): string => (cell === null ? '(empty)' : cut(plainLine(String(cell))) || '(empty)');
/** The dimensions of a row as one text. */
export const rowText = (cells: readonly Cell[]): string => cells.map(cellText).join(', ');

/** Rounded to what a reader can use; the values beside it are exact. */
const percent = (value: number): string => `${Number(value.toFixed(2))} %`;

const limitText = (condition: AlertCondition, isBreached: boolean): string => {
  const is = isBreached ? 'is' : 'is not';
  switch (condition.is) {
    case 'above':
      return `The value ${is} above ${condition.value}.`;
    case 'below':
      return `The value ${is} below ${condition.value}.`;
    case 'changeAbove':
      return `The change ${is} above ${percent(condition.percent)}.`;
    case 'changeBelow':
      return `The change ${is} below ${percent(condition.percent)}.`;
    case 'missing':
      return isBreached ? 'The data is missing.' : 'The data is there.';
    case 'newKey':
      return 'A row that appears is told once.';
  }
};

const changeText = ({ before, value, change }: AlertText): readonly string[] => {
  if (before === null || value === null) return [];
  return [`Before: ${before}.${change === null ? '' : ` The change is ${percent(change)}.`}`];
};

const anew = 'What you may see has changed since the last message, so this alert began anew.';

/** The sentences of a message. `quote` marks names and values, so that nothing in them is read as markup. */
export const sentencesOf = (alert: AlertText, quote: (text: string) => string): readonly string[] => {
  const { metricName, measure, condition, value, at, appeared, isBreached, isAnew } = alert;
  const name = quote(plainLine(metricName));
  const more = appeared.length - mostRows;
  const rows = appeared.slice(0, mostRows).map((cells) => quote(rowText(cells)));
  const where = at.length === 0 ? '' : ` (${quote(rowText(at))})`;
  const found =
    condition.is === 'newKey'
      ? `${name}: ${rows.length === 0 ? 'no new rows.' : `new: ${rows.join('; ')}${more > 0 ? ` and ${more} more` : ''}.`}`
      : `${name}: ${quote(plainLine(measure))} ${value === null ? 'has no value' : `is ${value}`}${where}.`;
  return [
    found,
    ...(condition.is === 'changeAbove' || condition.is === 'changeBelow' ? changeText(alert) : []),
    limitText(condition, isBreached),
    ...(isAnew ? [anew] : []),
  ];
};
