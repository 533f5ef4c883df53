/**
 * Alerts: what is told of a metric, and when. Pure rules over one answer of the metric, which the recipient's own token
 * read, and over what the last check found.
 */
import type { TimeGrain } from '../dashboard/metric.js';
import type { ColumnDates } from '../datamart/dates.js';
import { isNumberValue } from '../filter/exact-number.js';
import type { Cell } from '../query/engine.js';

export const levels = ['above', 'below'] as const;
export const changes = ['changeAbove', 'changeBelow'] as const;
/** What a change is measured against: the value of the last check, or the period before the latest. */
export const changeBases = ['lastCheck', 'previousPeriod'] as const;

/**
 * `percent` has a sign: a fall by a fifth is -20. `missing`: the measure has no value. `newKey`: the answer has a row
 * whose dimensions no earlier answer had.
 */
export type AlertCondition =
  | { readonly is: (typeof levels)[number]; readonly value: number }
  | { readonly is: (typeof changes)[number]; readonly percent: number; readonly to: (typeof changeBases)[number] }
  | { readonly is: 'missing' }
  | { readonly is: 'newKey' };

/** Times of day as HH:MM, in the time zone of the schedule. `to` may be on the next day, and is not included. */
export type QuietHours = { readonly from: string; readonly to: string };

export type Alert = {
  readonly metricId: string;
  /** A column of the metric's answer. */
  readonly measure: string;
  readonly condition: AlertCondition;
  readonly quietHours: QuietHours | null;
};

/** How the metric is read. `chronological`: the dimension whose values are periods; null if there is none. */
export type AlertShape = {
  readonly dimensions: readonly string[];
  readonly chronological: string | null;
  readonly hasComparison: boolean;
  /** The dimension that has the currency of each amount of the measure. Undefined: all values have one unit. */
  readonly currency?: string | undefined;
};

/** How dates of one dimension are written. */
export type CellDates = ColumnDates & { readonly grain?: TimeGrain | undefined };

export type AlertRow = Readonly<Record<string, Cell>>;
export type AlertAnswer = { readonly rows: readonly AlertRow[]; readonly comparisonValue?: Cell | undefined };

/** What the last check left. It is kept for one right and one rule: with another one, the alert begins anew. */
export type AlertState = {
  /** A keyed digest of everything that decided which rows the check could read. */
  readonly right: string;
  /** A keyed digest of what is checked: the alert and the metric's definition. */
  readonly rule: string;
  readonly isBreached: boolean;
  /** When `isBreached` last changed, as ISO 8601. */
  readonly since: string;
  /** The latest value that is not missing. */
  readonly value: number | null;
  /** Keyed digests of the rows that were seen; empty unless the condition is `newKey`. */
  readonly keys: readonly string[];
  /** Whether a check by another right came before, and no message has said so yet. */
  readonly isAnew: boolean;
};

/** What one answer says. `at`: the dimensions of the row with the value. `before`: what a change is measured against. */
export type Observation = {
  readonly value: number | null;
  readonly at: readonly Cell[];
  readonly before: number | null;
  readonly rows: readonly { readonly key: string; readonly cells: readonly Cell[] }[];
};

/** `hasChanged`: a breach began or ended. */
export type Verdict = {
  /** Whether a message is due. */
  readonly isTold: boolean;
  readonly isBreached: boolean;
  readonly hasChanged: boolean;
  /** Rows that no earlier answer had. */
  readonly appeared: readonly (readonly Cell[])[];
  readonly before: number | null;
  /** In percent; null if there is nothing to compare, or the earlier value is 0. */
  readonly change: number | null;
  /** Whether a message has to say that an earlier right was in force. */
  readonly isAnew: boolean;
  readonly state: AlertState;
};

/** The most rows whose keys are kept. */
const mostKeys = 5_000;

/** Thrown if the answer cannot be judged, and asking again at once would not help. */
export class AlertFault extends Error {
  override readonly name = 'AlertFault';
  constructor(readonly reason: 'measure-not-numeric' | 'metric-changed' | 'too-many-rows') {
    super(`the alert cannot be judged: ${reason}`);
  }
}

const isChange = (condition: AlertCondition): condition is Extract<AlertCondition, { readonly percent: number }> =>
  condition.is === 'changeAbove' || condition.is === 'changeBelow';

const isLevel = ({ is }: AlertCondition): boolean => levels.some((level) => level === is);

/** Returns what is wrong with an alert on a metric of this shape, and how to mend it. */
export const alertFault = (
  { measure, condition, quietHours }: Alert,
  measures: readonly string[],
  { dimensions, chronological, hasComparison, currency }: AlertShape,
): string | undefined => {
  if (!measures.includes(measure))
    return `measure: expected one of ${measures.map((name) => JSON.stringify(name)).join(', ')}.`;
  if (condition.is === 'newKey' && dimensions.length === 0) return 'condition: newKey needs a metric with groups.';
  if (isLevel(condition) && currency !== undefined) {
    return `condition.value: the amounts of ${JSON.stringify(measure)} are of several currencies, which one limit does not fit: filter the metric to one value of ${JSON.stringify(currency)}, or choose another metric.`;
  }
  if (isChange(condition)) {
    if (dimensions.some((name) => name !== chronological)) {
      return `condition: ${condition.is} needs a metric with one value, or with one for each period: choose another metric.`;
    }
    if (condition.to === 'previousPeriod' && chronological === null && !hasComparison) {
      return 'condition.to: this metric has no periods and no comparison: choose lastCheck.';
    }
  }
  if (quietHours !== null && quietHours.from === quietHours.to) return 'quietHours: expected two different times.';
  return undefined;
};

/** Numbers that JSON cannot hold exactly, and those that are not finite, are text in an answer. NaN is no value. */
const numberOf = (cell: Cell | undefined): number | null => {
  if (cell === null || cell === undefined || cell === 'NaN') return null;
  if (typeof cell === 'number' || isNumberValue(cell)) return Number(cell);
  throw new AlertFault('measure-not-numeric');
};

/** The rows of the latest period and of the one before it. Without periods, all rows are of the latest one. */
const byPeriod = (rows: readonly AlertRow[], chronological: string | null) => {
  if (chronological === null) return { latest: rows, earlier: [] };
  const periodOf = (row: AlertRow): string => String(row[chronological] ?? '');
  const [last, previous] = [...new Set(rows.map(periodOf).filter((text) => text !== ''))].toSorted().toReversed();
  const of = (period: string | undefined) => rows.filter((row) => period !== undefined && periodOf(row) === period);
  return { latest: of(last), earlier: of(previous) };
};

/** The row that counts among those of one period: that with the least value for `below`, else with the greatest. */
const decisiveRow = (rows: readonly AlertRow[], { measure, condition }: Alert): AlertRow | undefined => {
  const sign = condition.is === 'below' ? -1 : 1;
  let found: { readonly row: AlertRow; readonly value: number } | undefined;
  for (const row of rows) {
    const value = numberOf(row[measure]);
    if (value !== null && (found === undefined || (value - found.value) * sign > 0)) found = { row, value };
  }
  return found?.row;
};

/** Reads from an answer what the alert is about. `keyOf` returns a digest of a row's dimensions. Throws AlertFault. */
export const observe = async (
  alert: Alert,
  { dimensions, chronological, hasComparison }: AlertShape,
  { rows, comparisonValue = null }: AlertAnswer,
  keyOf: (cells: readonly Cell[]) => Promise<string>,
): Promise<Observation> => {
  const cellsOf = (row: AlertRow): readonly Cell[] => dimensions.map((name) => row[name] ?? null);
  if (alert.condition.is === 'newKey') {
    if (rows.length > mostKeys) throw new AlertFault('too-many-rows');
    const keyed: { key: string; cells: readonly Cell[] }[] = [];
    for (const cells of rows.map(cellsOf)) keyed.push({ key: await keyOf(cells), cells });
    return { value: null, at: [], before: null, rows: keyed };
  }
  const { latest, earlier } = byPeriod(rows, chronological);
  const row = decisiveRow(latest, alert);
  const previous = decisiveRow(earlier, alert);
  const isCompared = chronological === null && hasComparison;
  return {
    value: row === undefined ? null : numberOf(row[alert.measure]),
    at: row === undefined ? [] : cellsOf(row),
    before: isCompared ? numberOf(comparisonValue) : numberOf(previous?.[alert.measure]),
    rows: [],
  };
};

const beforeOf = ({ condition }: Alert, seen: Observation, state: AlertState | null): number | null => {
  if (!isChange(condition)) return null;
  return condition.to === 'lastCheck' ? (state?.value ?? null) : seen.before;
};

/** In percent. From 0, every change is greater than any percentage. From an infinite value there is none. */
const changeOf = (value: number | null, before: number | null): number | null => {
  if (value === null || before === null || !Number.isFinite(before)) return null;
  if (before === 0) return value === 0 ? 0 : Math.sign(value) * Number.POSITIVE_INFINITY;
  return ((value - before) / Math.abs(before)) * 100;
};

/** Null: the answer does not say, so nothing changes. */
const breachOf = ({ condition }: Alert, { value }: Observation, change: number | null): boolean | null => {
  switch (condition.is) {
    case 'missing':
      return value === null;
    case 'newKey':
      return false;
    case 'above':
      return value === null ? null : value > condition.value;
    case 'below':
      return value === null ? null : value < condition.value;
    case 'changeAbove':
      return change === null ? null : change > condition.percent;
    case 'changeBelow':
      return change === null ? null : change < condition.percent;
  }
};

const keysAfter = (seen: Observation, state: AlertState | null): readonly string[] => {
  const now = seen.rows.map(({ key }) => key);
  const all = [...new Set([...now, ...(state?.keys ?? [])])];
  return all.length <= mostKeys ? all : now;
};

/** What a check begins with: the right and rule that hold now, and what the last check left. */
export type CheckBasis = Pick<AlertState, 'right' | 'rule'> & { readonly last: AlertState | null; readonly now: Date };

/**
 * Judges what was seen by what the last check left. A state of another right or rule does not count: the first check
 * knows every row that it sees. A breach is told once, and so is its end. If a breach was told by another right, the first
 * check says that the alert began anew, because no end of that breach will be told.
 */
export const judge = (alert: Alert, seen: Observation, { right, rule, last, now }: CheckBasis): Verdict => {
  const isOtherRight = last !== null && last.right !== right;
  const state = isOtherRight || last?.rule !== rule ? null : last;
  const isAnew = isOtherRight || (last?.isAnew ?? false);
  const before = beforeOf(alert, seen, state);
  const change = changeOf(seen.value, before);
  const wasBreached = state?.isBreached ?? false;
  const isBreached = breachOf(alert, seen, change) ?? wasBreached;
  const known = new Set(state?.keys);
  const appeared = state === null ? [] : seen.rows.filter(({ key }) => !known.has(key)).map(({ cells }) => cells);
  const hasChanged = isBreached !== wasBreached;
  const isTold = hasChanged || appeared.length > 0 || (isOtherRight && last.isBreached);
  return {
    ...{ isTold, isBreached, hasChanged, appeared, before, isAnew },
    change: change === null || !Number.isFinite(change) ? null : change,
    state: {
      ...{ right, rule, isBreached, isAnew: isAnew && !isTold },
      since: hasChanged || state === null ? now.toISOString() : state.since,
      // JSON has no infinities.
      value: (Number.isFinite(seen.value) ? seen.value : null) ?? state?.value ?? null,
      keys: keysAfter(seen, state),
    },
  };
};

/** Whether a moment is within the quiet hours. */
export const isQuiet = ({ from, to }: QuietHours, timeZone: string, moment: Date): boolean => {
  const time = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).format(moment);
  return from < to ? from <= time && time < to : from <= time || time < to;
};
