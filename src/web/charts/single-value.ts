/** The view of a metric with one number. */
import { css, html, type TemplateResult } from 'lit';
import type { GuestMetric } from '../../domain/guest/view.js';
import type { Cell, MetricAnswer } from '../../domain/query/engine.js';
import { type Format, numberOf } from '../base/format.js';
import { columnsOf } from './model/columns.js';

export const singleValueStyles = css`
  .single {
    display: grid;
    place-content: center;
    gap: 10px;
    text-align: center;
  }
  .single p {
    margin: 0;
    overflow-wrap: anywhere;
  }
  .value {
    font-size: clamp(36px, 22cqi, 68px);
    font-weight: 650;
    line-height: 1.05;
    letter-spacing: -0.03em;
  }
  .value.long {
    font-size: clamp(24px, 11cqi, 48px);
  }
  .change {
    font-size: 13px;
  }
  .note {
    font-size: 12.5px;
  }
`;

/** Longer text gets a smaller font, to fit on one line of a narrow card. */
const shortLength = 7;

/** Shows the first measure of the first row, and the filters' values (`notes`) below it. */
export const singleValue = (
  { chart }: GuestMetric,
  answer: MetricAnswer,
  format: Format,
  notes: readonly string[],
): TemplateResult => {
  const measure = columnsOf(answer, chart).measures[0];
  const value = measure === undefined ? null : (answer.rows[0]?.[measure.name] ?? null);
  const text = format.measure(value, shortened(chart, value));
  const change = changeText(value, answer.comparisonValue, chart, format);
  return html`<div class="single">
    <p class=${text.length > shortLength ? 'value long' : 'value'}>${text}</p>
    ${change === null ? null : html`<p class="change">${change}</p>`}
    ${notes.length === 0 ? null : html`<div class="note quiet">${notes.map((note) => html`<p>${note}</p>`)}</div>`}
  </div>`;
};

/** A number too long for a card is compact, unless the metric says how. */
const shortened = (chart: GuestMetric['chart'], value: Cell): GuestMetric['chart'] =>
  chart.notation === undefined && Math.abs(numberOf(value) ?? 0) >= 1e9 ? { ...chart, notation: 'compact' } : chart;

/** The change since the earlier period in words: direction, size and the earlier value. Null without a comparison. */
const changeText = (
  value: Cell,
  earlier: Cell | undefined,
  chart: GuestMetric['chart'],
  format: Format,
): string | null => {
  const [now, before] = [numberOf(value), numberOf(earlier)];
  if (earlier === undefined || now === null) return null;
  if (before === null) return 'No value in the earlier period';
  const past = `from ${format.measure(before, shortened(chart, before))} in the earlier period`;
  if (now === before) return `Unchanged ${past}`;
  const size = before === 0 ? '' : ` ${format.measure(Math.abs((now - before) / before), { format: 'percent' })}`;
  return `${now > before ? '▲ Up' : '▼ Down'}${size} ${past}`;
};
