/** The view of a metric with one number. */
import { css, html, type TemplateResult } from 'lit';
import type { GuestMetric } from '../../domain/guest/view.js';
import type { MetricAnswer } from '../../domain/query/engine.js';
import type { Format } from '../base/format.js';
import { columnsOf } from './plot.js';

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
  const text = format.measure(value, chart);
  return html`<div class="single">
    <p class=${text.length > shortLength ? 'value long' : 'value'}>${text}</p>
    ${notes.length === 0 ? null : html`<div class="note quiet">${notes.map((note) => html`<p>${note}</p>`)}</div>`}
  </div>`;
};
