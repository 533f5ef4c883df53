/** The time that a question reads: which periods have rows for it. */
import type { Test } from '../plan/plan.js';
import type { Layout } from './layout.js';

/** The time that the conditions leave, as the first days inside and outside of it; null: without an end. */
export type TimeSpan = { readonly from: string | null; readonly to: string | null; readonly hasNull: boolean };

const dayPattern = /^[0-9]{4}-[0-9]{2}-[0-9]{2}/;
const dayIn = (text: string | undefined): string | undefined => dayPattern.exec(text ?? '')?.[0];

/** What the conditions that all hold leave of the time. Conditions that it does not understand leave all of it. */
export const spanOf = (tests: readonly Test[], { rollup }: Layout): TimeSpan => {
  let span: TimeSpan = { from: null, to: null, hasNull: true };
  const after = (from: string | undefined): void => {
    if (from !== undefined && (span.from === null || from > span.from)) span = { ...span, from };
  };
  /** The day itself may still have rows, unless it ends the time exclusively. */
  const before = (text: string | undefined, isExclusive: boolean): void => {
    const day = dayIn(text);
    if (day === undefined) return;
    const isStartOfDay = isExclusive && (text === day || / 00:00:00(\.0*)?$/.test(text ?? ''));
    const to = isStartOfDay ? day : `${day}~`;
    if (span.to === null || to < span.to) span = { ...span, to };
  };
  for (const { field, predicate } of tests) {
    if (field.column.ref.columnName !== rollup.partition.column) continue;
    // A recurring condition may ask for times without a value.
    if (predicate.kind !== 'isNull' && predicate.kind !== 'recurring') span = { ...span, hasNull: false };
    if (predicate.kind === 'range') {
      after(dayIn(predicate.from?.text));
      before(predicate.to?.text, predicate.toIsExclusive);
    }
    if (predicate.kind === 'compare' && (predicate.operator === '>=' || predicate.operator === '>'))
      after(dayIn(predicate.value.text));
    if (predicate.kind === 'compare' && (predicate.operator === '<' || predicate.operator === '<='))
      before(predicate.value.text, predicate.operator === '<');
  }
  return span;
};

/** Whether the span has rows of the period. */
export const meets = (
  { from, to }: TimeSpan,
  period: { readonly from: string | null; readonly to: string | null },
): boolean =>
  (from === null || period.to === null || from < period.to) &&
  (to === null || period.from === null || to > period.from);
