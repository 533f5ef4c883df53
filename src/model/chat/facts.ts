/** What stands out in an answer: computed, so that no sentence about it needs a model. Pure. */
import type { GuestChart } from '../guest/view.js';
import type { Cell, MetricAnswer } from '../query/engine.js';

/** The group that a fact is about: its values of the answer's dimensions, in order. */
export type Place = readonly { readonly column: string; readonly value: Cell }[];

type Read = { readonly at: Place; readonly value: number };

export type Fact = { readonly measure: string } & (
  | { readonly kind: 'value'; readonly value: number; readonly before: number | null }
  /** The latest period and the one before it. */
  | { readonly kind: 'latest'; readonly now: Read; readonly before: Read }
  /** The largest difference between a period and the one before it. */
  | { readonly kind: 'change'; readonly now: Read; readonly before: Read }
  | { readonly kind: 'highest' | 'lowest'; readonly now: Read }
  /** `share` is from 0 to 1, of the sum of all groups. */
  | { readonly kind: 'share'; readonly now: Read; readonly share: number }
  /** Far from the median, which is `usual`. */
  | { readonly kind: 'outlier'; readonly now: Read; readonly usual: number }
);

/** The most facts about one metric. */
const most = 3;
/** Fewer values have no usual one. */
const fewest = 8;
/** Of the median of deviations from the median. For values of a normal distribution, a few in a million are farther. */
const farDeviations = 7;

const numberOf = (cell: Cell | undefined): number | undefined => {
  if (cell === null || cell === undefined || typeof cell === 'boolean' || cell === '') return undefined;
  const value = Number(cell);
  return Number.isFinite(value) ? value : undefined;
};

const medianOf = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low = 0, high = 0] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  return (low + high) / 2;
};

/** The read with the greatest number that `of` gives, the first of equal ones. */
const greatestBy = <Item>(items: readonly Item[], of: (item: Item) => number): Item | undefined =>
  items.reduce<Item | undefined>((best, item) => (best === undefined || of(item) > of(best) ? item : best), undefined);

const outlierIn = (measure: string, reads: readonly Read[]): readonly Fact[] => {
  if (reads.length < fewest) return [];
  const usual = medianOf(reads.map(({ value }) => value));
  const usualDeviation = medianOf(reads.map(({ value }) => Math.abs(value - usual)));
  const now = greatestBy(reads, ({ value }) => Math.abs(value - usual));
  const isFar = now !== undefined && usualDeviation > 0 && Math.abs(now.value - usual) > farDeviations * usualDeviation;
  return isFar ? [{ kind: 'outlier', measure, now, usual }] : [];
};

const overTime = (measure: string, reads: readonly Read[]): readonly Fact[] => {
  const inOrder = reads.toSorted((a, b) => String(a.at[0]?.value).localeCompare(String(b.at[0]?.value), 'en'));
  const steps = inOrder.slice(1).flatMap((now, index) => {
    const before = inOrder[index];
    return before === undefined ? [] : [{ now, before }];
  });
  const latest = steps.at(-1);
  if (latest === undefined) return inOrder.map((now) => ({ kind: 'highest', measure, now }));
  const largest = greatestBy(steps, ({ now, before }) => Math.abs(now.value - before.value));
  const isApart = largest !== undefined && largest !== latest && largest.now.value !== largest.before.value;
  return [
    { kind: 'latest', measure, ...latest },
    ...(isApart ? [{ kind: 'change', measure, ...largest } as const] : []),
    ...outlierIn(measure, reads),
  ];
};

const byGroup = (measure: string, reads: readonly Read[], others: number, isSum: boolean): readonly Fact[] => {
  const highest = greatestBy(reads, ({ value }) => value);
  const lowest = greatestBy(reads, ({ value }) => -value);
  if (highest === undefined || lowest === undefined) return [];
  const total = reads.reduce((sum, { value }) => sum + value, others);
  const share =
    isSum && lowest.value >= 0 && others >= 0 && total > 0 && reads.length > 1 ? highest.value / total : undefined;
  return [
    { kind: 'highest', measure, now: highest },
    ...(share === undefined ? [] : [{ kind: 'share', measure, now: highest, share } as const]),
    ...outlierIn(measure, reads).filter((fact) => fact.kind === 'outlier' && fact.now !== highest),
    ...(lowest.value < highest.value ? [{ kind: 'lowest', measure, now: lowest } as const] : []),
  ];
};

const isPeriod = (grain: string | undefined): boolean =>
  grain !== undefined && grain !== 'hourOfDay' && grain !== 'dayOfWeek';

/** Whether the answer has every group, so that a share of them is a share of all. */
const isWhole = ({ isTruncated, points, rows, totalRecords }: MetricAnswer): boolean =>
  isTruncated !== true && points === undefined && rows.length >= totalRecords;

/**
 * Returns up to three facts about the first measure of an answer: the latest value and the largest change over time, or
 * the greatest group with its share, and a value that is far from the usual. Empty without numbers.
 */
export const factsOf = (chart: GuestChart, answer: MetricAnswer): readonly Fact[] => {
  const [measure] = chart.measures;
  if (measure === undefined) return [];
  const { dimensions } = chart;
  // The rows that combine all other groups are no groups, but a part of the total.
  const groups = answer.rows.length - (answer.others?.rows ?? 0);
  const combined = answer.rows.slice(groups).reduce((sum, row) => sum + (numberOf(row[measure]) ?? 0), 0);
  const reads = answer.rows.slice(0, groups).flatMap((row): readonly Read[] => {
    const value = numberOf(row[measure]);
    const at = dimensions.map((column) => ({ column, value: row[column] ?? null }));
    return value === undefined ? [] : [{ at, value }];
  });
  const [first, ...others] = dimensions;
  if (first === undefined) {
    const before = numberOf(answer.comparisonValue) ?? null;
    return reads.slice(0, 1).map(({ value }) => ({ kind: 'value', measure, value, before }));
  }
  const isOverTime = others.length === 0 && isPeriod(chart.grains?.[first]);
  const isShared = answer.columns.some(({ name, isOverlapping }) => name === measure && isOverlapping === true);
  const isSum = chart.combine?.[measure] === 'sum' && !isShared && isWhole(answer);
  return (isOverTime ? overTime(measure, reads) : byGroup(measure, reads, combined, isSum)).slice(0, most);
};

/** Text with words, unlike a date. It may say anything, so its digits are no values. */
const isWording = (value: Cell): value is string => typeof value === 'string' && /\p{L}{2}/u.test(value);

const readNumbers = ({ at, value }: Read): readonly (number | Cell)[] => [
  value,
  ...at.map((one) => one.value).filter((label) => !isWording(label)),
];

const readsOf = (fact: Fact): readonly Read[] => {
  if (fact.kind === 'value') return [];
  return 'before' in fact ? [fact.now, fact.before] : [fact.now];
};

/** The names of groups that are in words. A text about the facts may quote them whole. */
export const labelsOf = (facts: readonly Fact[]): readonly string[] => [
  ...new Set(facts.flatMap(readsOf).flatMap(({ at }) => at.map(({ value }) => value).filter(isWording))),
];

/** Every value of the facts, for the check of a text about them. */
export const valuesOf = (facts: readonly Fact[]): readonly unknown[] =>
  facts.map((fact) => {
    switch (fact.kind) {
      case 'value':
        return [fact.value, fact.before, ...(fact.before === null ? [] : [fact.value - fact.before])];
      case 'latest':
      case 'change':
        return [...readNumbers(fact.now), ...readNumbers(fact.before), fact.now.value - fact.before.value];
      case 'share':
        return [...readNumbers(fact.now), fact.share, fact.share * 100];
      case 'outlier':
        return [...readNumbers(fact.now), fact.usual];
      default:
        return readNumbers(fact.now);
    }
  });
