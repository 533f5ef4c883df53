/** Every chart type as a picture with its name. Those that don't fit stay, and give the reason. */
import { css, html, nothing, type TemplateResult } from 'lit';
import type { ChartType } from '../../model/dashboard/chart.js';
import type { Format } from '../base/format.js';
import { kindName } from '../charts/model/summary.js';
import { chartIcon, pickedTypes } from './chart-icons.js';
import type { ChartFit } from './charts.js';
import { needText } from './words.js';

export const chartPickerStyles = css`
  .charts {
    display: grid;
    grid-template-columns: repeat(auto-fill, minmax(88px, 1fr));
    gap: 6px;
  }
  .chart {
    position: relative;
    display: grid;
    justify-items: center;
    align-content: start;
    gap: 4px;
    min-width: 0;
    min-height: 76px;
    padding: 8px 0 6px;
    border: 1px solid transparent;
    border-radius: 8px;
    background: none;
    font-size: 12px;
    line-height: 1.25;
    text-align: center;
    hyphens: auto;
    overflow-wrap: anywhere;
  }
  .chart .kind::first-letter {
    text-transform: uppercase;
  }
  .chart svg {
    color: var(--gl-accent);
  }
  .chart:hover {
    background: var(--gl-subtle);
  }
  .chart[aria-disabled='true'] {
    color: var(--gl-muted);
    cursor: default;
  }
  .chart[aria-disabled='true'] svg {
    color: inherit;
    opacity: 0.55;
  }
  .chart[aria-pressed='true'] {
    border-color: var(--gl-accent);
    background: var(--gl-subtle);
    font-weight: 600;
  }
  /* The reason, over the neighbours, while somebody points at the picture or has the focus on it. */
  .chart small {
    position: absolute;
    z-index: 2;
    inset-block-start: calc(100% - 4px);
    inset-inline: -6px;
    padding: 5px 6px;
    border: 1px solid var(--gl-border);
    border-radius: 7px;
    background: var(--gl-surface);
    box-shadow: 0 4px 14px rgb(0 0 0 / 18%);
    color: var(--gl-text);
    font-size: 11.5px;
    font-weight: 400;
    opacity: 0;
    pointer-events: none;
  }
  .chart:is(:hover, :focus-visible) small {
    opacity: 1;
  }
`;

/** In one order, whichever fit: a picture stays at its place. */
export const chartPicker = (
  fits: readonly ChartFit[],
  now: ChartType,
  format: Format,
  choose: (type: ChartType) => void,
): TemplateResult =>
  html`<section class="charts" aria-label=${format.text('Chart')}>
    ${fits
      .toSorted((a, b) => pickedTypes.indexOf(a.type) - pickedTypes.indexOf(b.type))
      .map(({ type, need }) => {
        const why = need === null ? null : needText(need, format.text);
        // Not the attribute `disabled`: a reader of the screen must reach the reason.
        return html`<button class="chart" part="button" type="button" aria-pressed=${type === now ? 'true' : 'false'}
        aria-disabled=${why === null ? 'false' : 'true'} @click=${() => why === null && choose(type)}>
        ${chartIcon(type)}<span class="kind">${kindName(type, format)}</span>${why === null ? nothing : html`<small>${why}</small>`}
      </button>`;
      })}
  </section>`;
