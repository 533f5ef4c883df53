/** Which moments of an axis of dates are labelled, and with which parts. Pure. */
import type { DateGrain } from '../../../model/datamart/dates.js';
import type { DateTick } from '../../base/format.js';

export type TimeTick = DateTick & { readonly time: number };

type Step = { readonly unit: 'minute' | 'hour' | 'day' | 'week' | 'month' | 'year'; readonly count: number };

/** From close to wide. */
const steps: readonly Step[] = [
  ...[1, 5, 15, 30].map((count): Step => ({ unit: 'minute', count })),
  ...[1, 3, 6, 12].map((count): Step => ({ unit: 'hour', count })),
  ...[1, 2].map((count): Step => ({ unit: 'day', count })),
  ...[1, 2].map((count): Step => ({ unit: 'week', count })),
  ...[1, 3, 6].map((count): Step => ({ unit: 'month', count })),
  ...[1, 2, 5, 10, 20, 50, 100].map((count): Step => ({ unit: 'year', count })),
];

const weekSteps: readonly Step[] = [1, 2, 4, 8, 13, 26, 52, 104, 260].map((count) => ({ unit: 'week', count }));

/** The steps whose every moment is the start of a period of the data. */
const stepsOf = (grain: DateGrain): readonly Step[] => {
  if (grain === 'week') return weekSteps;
  if (grain === 'quarter') return steps.filter(({ unit, count }) => unit === 'year' || (unit === 'month' && count > 1));
  return steps.slice(steps.findIndex(({ unit }) => unit === grain));
};

const minuteMs = 60_000;
const lengths = { minute: minuteMs, hour: 60 * minuteMs, day: 1440 * minuteMs, week: 7 * 1440 * minuteMs };
/** Any Monday. */
const monday = Date.UTC(2001, 0, 1);

/** The moments of the step from `first` to `last`. Undefined if there are more than `most`. */
const momentsOf = (
  { unit, count }: Step,
  { first, last }: { readonly first: number; readonly last: number },
  grain: DateGrain,
  most: number,
): readonly number[] | undefined => {
  const found: number[] = [];
  const add = (time: number): boolean => {
    if (time >= first && time <= last) found.push(time);
    return time <= last && found.length <= most;
  };
  if (unit === 'month' || unit === 'year') {
    const months = unit === 'year' ? 12 * count : count;
    const at = new Date(first);
    const month = at.getUTCFullYear() * 12 + at.getUTCMonth();
    // Quarters and years of a business need not start in January.
    const offset = grain === 'quarter' || grain === 'year' ? month % (unit === 'year' ? 12 : count) : 0;
    const start = Math.floor((month - offset) / months) * months + offset;
    for (let next = start; add(new Date(0).setUTCFullYear(Math.floor(next / 12), next % 12, 1)); next += months);
  } else {
    const length = count * lengths[unit];
    // Weeks of the data are counted from its first, and single days from the first too: none is preferred.
    const isCounted = grain === 'week' || (unit === 'day' && count > 1);
    const origin = isCounted ? first : unit === 'week' ? monday : 0;
    for (let next = origin + Math.floor((first - origin) / length) * length; add(next); next += length);
  }
  return found.length > most ? undefined : found;
};

/** The year stands at the first label, and at the first of each other year. */
const partsOf = (moments: readonly number[], unit: Step['unit'], grain: DateGrain): readonly TimeTick[] =>
  moments.map((time, at) => {
    const before = moments[at - 1];
    const yearOf = (moment: number): number => new Date(moment).getUTCFullYear();
    const isNewYear = before === undefined || yearOf(before) !== yearOf(time);
    if (unit === 'year') return { time, parts: 'year' };
    if (unit === 'month') return { time, parts: grain === 'quarter' ? 'quarter' : isNewYear ? 'month-year' : 'month' };
    const isDay = unit === 'day' || unit === 'week' || time % lengths.day === 0;
    if (!isDay) return { time, parts: 'time' };
    return { time, parts: isNewYear && before !== undefined ? 'day-year' : 'day' };
  });

/** The widest period at whose starts all moments lie. */
export const grainOfTimes = (times: readonly number[]): DateGrain => {
  const areAll = (holds: (at: Date) => boolean): boolean => times.every((time) => holds(new Date(time)));
  if (!areAll((at) => at.getTime() % lengths.day === 0)) return 'minute';
  if (!areAll((at) => at.getUTCDate() === 1)) return 'day';
  return areAll((at) => at.getUTCMonth() === 0) ? 'year' : 'month';
};

export type TickRoom = {
  /** Width of the axis in CSS pixels. */
  readonly width: number;
  /** Width of a label with the gap beside it. */
  readonly widthOf: (tick: TimeTick) => number;
};

/**
 * The labels of an axis from `first` to `last`: at every period of the data if there is room, and else at wider steps of
 * the calendar. `grain`: by which the data are grouped; minutes if they are not.
 */
export const timeTicks = (
  range: { readonly first: number; readonly last: number },
  grain: DateGrain,
  { width, widthOf }: TickRoom,
): readonly TimeTick[] => {
  const most = Math.max(2, Math.floor(width / 24));
  for (const step of stepsOf(grain)) {
    const moments = momentsOf(step, range, grain, most);
    if (moments === undefined) continue;
    const ticks = partsOf(moments, step.unit, grain);
    const widest = ticks.reduce((most, tick) => Math.max(most, widthOf(tick)), 0);
    const span = Math.max(1, range.last - range.first);
    const closest = ticks
      .slice(1)
      .reduce((least, { time }, at) => Math.min(least, time - (ticks[at]?.time ?? 0)), span);
    if (ticks.length > 0 && (ticks.length === 1 || (closest / span) * width >= widest)) return ticks;
  }
  return [{ time: range.first, parts: 'day-year' }];
};
