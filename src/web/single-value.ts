/** A metric of one number, written large. */
import { css, html, type TemplateResult } from 'lit';
import type { GuestMetric } from '../domain/guest-view.js';
import type { MetricAnswer } from '../domain/ports.js';
import type { Format } from './format.js';
import { columnsOf } from './plot.js';

export const singleValueStyles = css`
  .value {
    display: flex;
    flex-direction: column;
    justify-content: center;
    height: 100%;
    margin: 0;
    font-size: clamp(28px, 13cqi, 52px);
    font-weight: 650;
    line-height: 1.1;
    letter-spacing: -0.02em;
    overflow-wrap: anywhere;
  }
`;

/** The first measure of the first row. */
export const singleValue = ({ chart }: GuestMetric, answer: MetricAnswer, format: Format): TemplateResult => {
  const measure = columnsOf(answer, chart).measures[0];
  const value = measure === undefined ? null : (answer.rows[0]?.[measure.name] ?? null);
  return html`<p class="value">${format.measure(value, chart)}</p>`;
};
