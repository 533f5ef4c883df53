/** The view of a metric with one number: the value, how it changed, and its course as a line. */
import { css, html, LitElement, svg, type TemplateResult } from 'lit';
import { keyed } from 'lit/directives/keyed.js';
import type { GuestChart, GuestMetric } from '../../model/guest/view.js';
import type { AnswerColumn, Cell, MetricAnswer } from '../../model/query/engine.js';
import type { Text } from '../../model/texts/text.js';
import { type Format, humanise, type NumberHint, numberOf, numbersInRow, numbersOf, timeOf } from '../base/format.js';
import { baseStyles } from '../base/theme.js';
import {
  columnsOf,
  grainOf,
  isTarget,
  labelOf,
  measureText,
  type Row,
  rowsOf,
  truncationNote,
  valueLabel,
} from './model/columns.js';
import { targetText } from './model/target.js';

const styles = css`
  :host {
    display: flex;
    flex-direction: column;
  }
  .single {
    flex: 1;
    display: grid;
    align-content: center;
    gap: 8px;
    min-height: 0;
    text-align: center;
  }
  .single p {
    margin: 0;
    max-width: 100%;
    overflow-wrap: anywhere;
  }
  .value {
    font-size: clamp(18px, 22cqi, 60px);
    font-weight: 650;
    line-height: 1.1;
    letter-spacing: -0.03em;
    font-variant-numeric: tabular-nums;
  }
  .value.long {
    font-size: clamp(14px, 11cqi, 44px);
  }
  .with-course .value {
    font-size: clamp(18px, 13cqi, 44px);
  }
  .value.one-of-several {
    font-size: clamp(16px, min(9cqi, 18cqh), 32px);
  }
  .change {
    font-size: 13px;
    color: var(--gl-muted);
  }
  .change b {
    font-weight: 600;
    color: var(--gl-text);
    white-space: nowrap;
  }
  .change.good b {
    color: var(--gl-good);
  }
  .change.bad b {
    color: var(--gl-bad);
  }
  /* The course takes what the words leave: the card has no blank half. */
  .single.with-course {
    display: flex;
    flex-direction: column;
    justify-content: center;
    gap: 4px;
    text-align: start;
  }
  .spark {
    flex: 1 1 28px;
    width: 100%;
    min-height: 28px;
    max-height: 200px;
    overflow: visible;
  }
  .spark:dir(rtl) {
    transform: scaleX(-1);
  }
  @container (min-width: 480px) {
    .single.with-course {
      display: grid;
      grid-template-columns: minmax(min-content, max-content) minmax(0, 1fr);
      justify-items: start;
      column-gap: 32px;
    }
    .with-course > * {
      grid-column: 1;
    }
    .with-course > .spark {
      grid-column: 2;
      grid-row: 1 / span 6;
      height: 100%;
      max-height: 120px;
    }
  }
  .spark path {
    fill: none;
    stroke: var(--gl-series-1);
    stroke-width: 2;
    stroke-linejoin: round;
    vector-effect: non-scaling-stroke;
  }
  .spark path.area {
    fill: var(--gl-series-1);
    stroke: none;
    opacity: 0.12;
  }
  .spark path.target {
    stroke: var(--gl-muted);
    stroke-width: 1;
    stroke-dasharray: 4 4;
  }
  .note {
    font-size: 12.5px;
  }
  .single .filters {
    min-height: 1lh;
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  @media print {
    .single .filters {
      white-space: normal;
    }
  }
`;

/** Longer text gets a smaller font, to fit on one line of a narrow card. */
const shortLength = 7;

type Single = {
  readonly value: Cell;
  /** Undefined without a comparison. */
  readonly earlier: Cell | undefined;
  /** The period of the value, if the metric has periods. */
  readonly period: string | null;
  /** When the earlier value was, in words: “the month before”. */
  readonly when: string;
  readonly course: readonly (number | null)[];
  readonly measure: string;
  /** What the value should reach; null: the metric has no target. */
  readonly target: number | null;
  /** The label of a value that is text, and a date as it is written. */
  readonly label: string | undefined;
};

/**
 * Without a dimension: the first measure of the first row. With a dimension of dates, the answer is the number's course:
 * the last period is the value, and the period before it the comparison.
 */
const singleOf = (answer: MetricAnswer, chart: GuestChart, format: Format): Single => {
  const { dimensions, measures } = columnsOf(answer, chart);
  const measure = measures.find((each) => !isTarget(chart, each.name)) ?? measures[0];
  const name = measure?.name ?? '';
  const labelled = (value: Cell) => {
    if (measure === undefined) return undefined;
    return measure.dataType === 'date'
      ? measureText({ [name]: value }, measure, chart, format)
      : valueLabel(value, measure);
  };
  const [dimension] = dimensions;
  if (dimension?.dataType !== 'date' || dimensions.length > 1 || answer.rows.length < 2) {
    const value = answer.rows[0]?.[name] ?? null;
    const when = whenOf(chart.comparison, format.text);
    return {
      value,
      earlier: answer.comparisonValue,
      period: periodOf(answer, chart, format),
      when,
      course: (answer.course ?? []).map(({ value: each }) => numberOf(each)),
      measure: name,
      target: targetIn(answer.rows[0], chart),
      label: labelled(value),
    };
  }
  const rows = inOrder(answer.rows, dimension.name);
  const [last, before] = [rows.at(-1), rows.at(-2)];
  return {
    value: last?.[name] ?? null,
    earlier: before?.[name] ?? null,
    period: labelOf(last?.[dimension.name], dimension, chart, format),
    when:
      grainOf(chart, dimension.name) === undefined
        ? format.text('before')
        : labelOf(before?.[dimension.name], dimension, chart, format),
    course: rows.map((row) => numberOf(row[name])),
    measure: name,
    target: targetIn(last, chart),
    label: labelled(last?.[name] ?? null),
  };
};

/** The first of the chart's lines at a value or at a measure of its own. */
const targetIn = (row: Row | undefined, { lines = [] }: GuestChart): number | null => {
  const [line] = lines.filter(({ kind }) => kind !== 'average');
  if (line === undefined || line.kind === 'average') return null;
  return line.kind === 'value' ? line.value : numberOf(row?.[line.measure]);
};

/** Without a filter of dates, the value is that of the last complete period. */
const periodOf = ({ comparedFrom }: MetricAnswer, { comparison }: GuestChart, format: Format): string | null =>
  comparedFrom === undefined || comparison === undefined
    ? null
    : format.dimension(comparedFrom, 'date', comparison.grain);

const inOrder = (rows: readonly Row[], name: string): readonly Row[] =>
  rows.filter((row) => timeOf(row[name]) !== null).sort((a, b) => (timeOf(a[name]) ?? 0) - (timeOf(b[name]) ?? 0));

type Comparison = NonNullable<GuestChart['comparison']>;

const earlier: Readonly<Record<Comparison['grain'], (text: Text, n: number) => string>> = {
  minute: (text, n) => text('{n} minutes earlier', { n }),
  hour: (text, n) => text('{n} hours earlier', { n }),
  day: (text, n) => text('{n} days earlier', { n }),
  week: (text, n) => text('{n} weeks earlier', { n }),
  month: (text, n) => text('{n} months earlier', { n }),
  quarter: (text, n) => text('{n} quarters earlier', { n }),
  year: (text, n) => text('{n} years earlier', { n }),
};

const whenOf = (comparison: GuestChart['comparison'], text: Text): string =>
  comparison === undefined ? text('the earlier period') : earlier[comparison.grain](text, comparison.periods);

/** Amounts of one card. */
const mostAmounts = 4;

/** Shows the number, its change and its course, and the filters' values (`notes`) below it. */
export class SingleValue extends LitElement {
  static override properties = {
    metric: { attribute: false },
    answer: { attribute: false },
    format: { attribute: false },
    notes: { attribute: false },
  };
  declare metric: GuestMetric;
  declare answer: MetricAnswer;
  declare format: Format;
  declare notes: readonly string[];

  static override styles = [baseStyles, styles];

  override render(): TemplateResult {
    const { answer, format, notes } = this;
    const { chart, name } = this.metric;
    const single = singleOf(answer, chart, format);
    const measure = answer.columns.find((column) => column.name === single.measure);
    if (measure?.currencyColumn !== undefined && answer.rows.length > 1) return this.#amounts(measure);
    const hint = numbersInRow(numbersOf(chart, single.measure), measure ?? {}, (other) => answer.rows[0]?.[other]);
    const text = single.label ?? format.measure(single.value, shortened(hint, single.value));
    const { period, course } = single;
    if (single.value === null && course.every((value) => value === null)) return this.#empty(period);
    const change = changeOf(single, chart, hint, format);
    const facts = factsOf(single, chart, hint, format);
    // The last period may be among the rows that are missing.
    const missing = answer.course !== undefined || course.length === 0 ? null : truncationNote(answer, format);
    const hasCourse = course.length >= fewestPoints;
    // Another number is another piece of text: one of another width is none that has moved.
    return html`<div class=${hasCourse ? 'single with-course' : 'single'}>
      <p class=${text.length > shortLength ? 'value long' : 'value'} part="value">${keyed(text, html`<span>${text}</span>`)}</p>
      ${period === null ? null : html`<p class="note quiet">${missing === null ? period : `${period}. ${missing}`}</p>`}
      ${change === null ? null : html`<p class="change ${change.tone}"><b>${change.text}</b> ${change.past}</p>`}
      ${facts.map((note) => html`<p class="note quiet">${note}</p>`)}
      ${inOneLine(notes)}
      ${hasCourse ? sparkline(single, sparkName(name, course, hint, format)) : null}
    </div>`;
  }

  /** One amount for each currency, since they do not add up. */
  #amounts(measure: AnswerColumn): TemplateResult {
    const { answer, format, notes } = this;
    const { rows, totalRecords } = answer;
    const shown = rows.slice(0, mostAmounts);
    const amountOf = (row: Row): string => {
      const own = numbersInRow(numbersOf(this.metric.chart, measure.name), measure, (other) => row[other]);
      return format.measure(row[measure.name] ?? null, shortened(own, row[measure.name] ?? null));
    };
    const missing = shown.length < totalRecords ? [rowsOf({ rows: shown, totalRecords }, format)] : [];
    return html`<div class="single" part="value">
      ${shown.map((row) => html`<p class="value one-of-several">${amountOf(row)}</p>`)}
      ${missing.map((note) => html`<p class="note quiet">${note}</p>`)}
      ${inOneLine(notes)}
    </div>`;
  }

  /** No rows, or none with a value. */
  #empty(period: string | null): TemplateResult {
    const { format, notes } = this;
    return html`<div class="single">
      <p class="quiet" part="value" role="status">${format.text('No data for these filters')}</p>
      ${period === null ? null : html`<p class="note quiet">${period}</p>`}
      ${inOneLine(notes)}
    </div>`;
  }
}

/** The filters, in a line that is there without them too: the number stays where it is when a filter is set. */
const inOneLine = (notes: readonly string[]): TemplateResult => {
  const words = notes.join(' · ');
  return html`<p class="note filters quiet" title=${words}>${words}</p>`;
};

/** A number too long for a card is compact, unless the metric says how. */
const shortened = (hint: NumberHint, value: Cell): NumberHint =>
  hint.notation === undefined && Math.abs(numberOf(value) ?? 0) >= 1e9 ? { ...hint, notation: 'compact' } : hint;

type Change = { readonly tone: 'good' | 'bad' | ''; readonly text: string; readonly past: string };

/** The change in words and with a sign, never by colour alone. Null without a comparison. */
const changeOf = (
  { value, earlier, when }: Single,
  { better }: GuestChart,
  hint: NumberHint,
  format: Format,
): Change | null => {
  const [now, before] = [numberOf(value), numberOf(earlier)];
  if (earlier === undefined || now === null) return null;
  if (before === null) return { tone: '', text: format.text('No value'), past: when };
  const past = format.text('from {value}, {when}', { value: format.measure(before, shortened(hint, before)), when });
  if (now === before) return { tone: '', text: `= ${format.text('Unchanged')}`, past };
  const isUp = now > before;
  const tone = better === undefined ? '' : isUp === (better === 'higher') ? 'good' : 'bad';
  const size = sizeOf(now, before, hint, format);
  const text = isUp ? `▲ ${format.text('Up {size}', { size })}` : `▼ ${format.text('Down {size}', { size })}`;
  return { tone, text, past };
};

/** A share changes by points: from 20 % to 25 % is 5 points. Other numbers change by their part of the earlier number. */
const sizeOf = (now: number, before: number, hint: NumberHint, format: Format): string => {
  const sign = now > before ? '+' : '−';
  const size = Math.abs(now - before);
  if (hint.format === 'percent')
    return format.text('{size} points', { size: `${sign}${format.measure(size * 100, {})}` });
  if (before === 0) return `${sign}${format.measure(size, hint)}`;
  return `${sign}${format.measure(size / Math.abs(before), { format: 'percent' })}`;
};

/** Fewer points are no course. */
const fewestPoints = 3;

/** Whether the value reaches its target, and whether it is the highest or the lowest of its course. */
const factsOf = (
  { value, target, course }: Single,
  chart: GuestChart,
  hint: NumberHint,
  format: Format,
): readonly string[] => {
  const now = numberOf(value);
  if (now === null) return [];
  const reached = target === null ? [] : [targetText(now, target, hint, chart, format)];
  const others = course.slice(0, -1).filter((each) => each !== null);
  if (others.length < fewestPoints) return reached;
  if (others.every((each) => each < now)) return [...reached, format.text('The highest of the values shown')];
  return others.every((each) => each > now) ? [...reached, format.text('The lowest of the values shown')] : reached;
};

const sparkName = (name: string, course: readonly (number | null)[], hint: NumberHint, format: Format): string => {
  const known = course.filter((value) => value !== null);
  const [least, most] = [known.reduce((a, b) => Math.min(a, b)), known.reduce((a, b) => Math.max(a, b))];
  const [min, max] = [format.measure(least, hint), format.measure(most, hint)];
  return format.text('{name}: {n} values from {min} to {max}', { name: humanise(name), n: course.length, min, max });
};

/** A line without axes, with the target as a dashed line. A missing value breaks the course. */
const sparkline = ({ course, target }: Single, label: string): TemplateResult => {
  const known = [...course, target].filter((value) => value !== null);
  const [least, most] = [known.reduce((a, b) => Math.min(a, b)), known.reduce((a, b) => Math.max(a, b))];
  const y = (value: number) => (most === least ? 20 : 38 - (36 * (value - least)) / (most - least));
  const x = (at: number) => (200 * at) / (course.length - 1);
  const points = course.map((value, at) => (value === null ? null : `${x(at).toFixed(1)},${y(value).toFixed(1)}`));
  const line = points
    .map((point, at) => (point === null ? '' : `${points[at - 1] == null ? 'M' : 'L'}${point}`))
    .join('');
  const isWhole = points.every((point) => point !== null);
  return html`<svg class="spark" viewBox="0 0 200 40" preserveAspectRatio="none" role="img" aria-label=${label}>
    ${isWhole ? svg`<path class="area" d=${`${line}L200,40L0,40Z`} />` : null}
    ${target === null ? null : svg`<path class="target" d=${`M0,${y(target).toFixed(1)}H200`} />`}
    ${svg`<path d=${line} />`}
  </svg>`;
};
