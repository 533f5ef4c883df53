/** What a card shows instead of a chart: loading, no data, a failure. */
import { css, html, type TemplateResult } from 'lit';
import type { ChartType } from '../../model/dashboard/chart.js';
import type { Text } from '../../model/texts/text.js';

export const stateStyles = css`
  .state {
    display: grid;
    place-content: center;
    justify-items: center;
    gap: 8px;
    min-height: 100%;
    padding: 12px 16px;
    text-align: center;
  }
  .state p {
    margin: 0;
    max-width: 46ch;
    overflow-wrap: anywhere;
  }
  .state strong {
    font-weight: 600;
  }
  .state .button {
    margin-top: 4px;
  }
  /* Nobody can press it there. */
  @media print {
    .state .button {
      display: none;
    }
  }
  .skeleton {
    position: relative;
    overflow: hidden;
    height: 100%;
    min-height: 24px;
    border-radius: 8px;
    background: var(--gl-skeleton);
  }
  .skeleton.area {
    clip-path: polygon(0 72%, 14% 54%, 28% 62%, 42% 40%, 57% 48%, 71% 26%, 86% 36%, 100% 16%, 100% 100%, 0 100%);
  }
  .skeleton.bars {
    --bar: linear-gradient(#000 0 0);
    mask:
      var(--bar) 0 100% / 12% 52%,
      var(--bar) 20% 100% / 12% 74%,
      var(--bar) 40% 100% / 12% 60%,
      var(--bar) 60% 100% / 12% 92%,
      var(--bar) 80% 100% / 12% 44%,
      var(--bar) 100% 100% / 12% 68%;
    mask-repeat: no-repeat;
  }
  .skeleton.rows {
    --bar: linear-gradient(#000 0 0);
    mask:
      var(--bar) 0 0 / 92% 12%,
      var(--bar) 0 25% / 70% 12%,
      var(--bar) 0 50% / 58% 12%,
      var(--bar) 0 75% / 40% 12%,
      var(--bar) 0 100% / 26% 12%;
    mask-repeat: no-repeat;
  }
  .skeleton.lines {
    mask: repeating-linear-gradient(#000 0 16px, transparent 16px 36px);
  }
  .skeleton.round {
    mask: radial-gradient(circle closest-side, #000 97%, transparent 100%);
  }
  .skeleton.value {
    mask: linear-gradient(#000 0 0) center / min(12rem, 70%) 44px no-repeat;
  }
  .skeleton::after {
    content: '';
    position: absolute;
    inset: 0;
    background: linear-gradient(90deg, transparent, var(--gl-surface), transparent);
    opacity: 0.55;
    transform: translateX(-100%);
    animation: sheen 1.4s ease-in-out infinite;
  }
  @keyframes sheen {
    to {
      transform: translateX(100%);
    }
  }
  @media (prefers-reduced-motion: reduce) {
    .skeleton::after {
      display: none;
    }
  }
`;

/** Roughly what a chart of the type looks like. Others fill the card. */
const shapes: Readonly<Partial<Record<ChartType, string>>> = {
  ...{ line: 'area', stepped: 'area', area: 'area', timeSeries: 'area' },
  ...{ bar: 'bars', stack: 'bars', combo: 'bars', histogram: 'bars', waterfall: 'bars', boxplot: 'bars' },
  ...{ row: 'rows', funnel: 'rows', table: 'lines', pivotTable: 'lines' },
  ...{ pie: 'round', doughnut: 'round', gauge: 'round', singleValue: 'value' },
};

/** `type`: of the chart that is awaited. Left out: anything else. */
export const loadingState = (label: string, type?: ChartType): TemplateResult =>
  html`<div class="skeleton ${type === undefined ? '' : (shapes[type] ?? '')}"></div><span class="sr" role="status">${label}</span>`;

export const emptyState = (text: string, action?: TemplateResult): TemplateResult =>
  html`<div class="state" part="state" role="status"><p class="quiet">${text}</p>${action}</div>`;

/** `message` is the service's message for end users. It is inserted as text, never as HTML. */
export const errorState = (
  text: Text,
  title: string,
  message: string,
  retry?: () => void,
  isOutdated = false,
): TemplateResult => html`
  <div class="state" part="state" role="alert">
    <p><strong>${title}</strong></p>
    <p class="quiet">${message}</p>
    ${retry === undefined ? null : html`<button class="button" part="button" type="button" @click=${retry}>${text('Try again')}</button>`}
    ${isOutdated ? html`<button class="button" part="button" type="button" @click=${() => location.reload()}>${text('Reload the page')}</button>` : null}
  </div>
`;
