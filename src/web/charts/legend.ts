/** The legend of a chart: one switch for each series. */
import { css, html, svg, type TemplateResult } from 'lit';
import type { Text } from '../../model/texts/text.js';
import type { LegendItem } from './model/drawing.js';

export const legendStyles = css`
  .legend {
    display: flex;
    flex: none;
    flex-wrap: wrap;
    gap: 0 4px;
    max-height: 76px;
    margin: -2px 0 4px -6px;
    padding: 2px 0;
    overflow: auto;
    scrollbar-width: thin;
    list-style: none;
    font-size: 12px;
    color: var(--gl-muted);
  }
  .legend li {
    display: inline-flex;
    max-width: 100%;
    min-width: 0;
  }
  .legend .entry {
    display: inline-flex;
    align-items: center;
    gap: 6px;
    max-width: min(100%, 260px);
    min-height: 24px;
    padding: 0 6px;
    border: 0;
    border-radius: 6px;
    background: none;
    color: inherit;
    font: inherit;
  }
  .legend button.entry:hover {
    background: var(--gl-subtle);
    color: var(--gl-text);
  }
  .legend .entry:focus-visible {
    outline-offset: -2px;
  }
  .legend .name {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .legend .entry[aria-pressed='false'] .name {
    text-decoration: line-through;
    opacity: 0.75;
  }
  .legend svg {
    flex: none;
  }
`;

/** `toggle` hides or shows the series of that key. */
export const legend = (items: readonly LegendItem[], toggle: (key: string) => void, text: Text): TemplateResult =>
  html`<ul class="legend" part="legend" role="list" aria-label=${text('Series')}>
    ${items.map((item) => html`<li>${entry(item, toggle)}</li>`)}
  </ul>`;

const entry = (item: LegendItem, toggle: (key: string) => void): TemplateResult => {
  const { key, name, note, isHidden } = item;
  const text = html`${swatch(item)}<span class="name">${name}${note === undefined ? '' : ` ${note}`}</span>`;
  if (isHidden === undefined) return html`<span class="entry" title=${name}>${text}</span>`;
  return html`<button class="entry" type="button" title=${name} aria-pressed=${isHidden ? 'false' : 'true'} @click=${() => toggle(key)}>
    ${text}
  </button>`;
};

const swatch = ({ colour, hasPattern, isHidden }: LegendItem): TemplateResult => {
  const isHollow = hasPattern || isHidden === true;
  return html`<svg width="9" height="9" viewBox="0 0 9 9" aria-hidden="true">
    ${svg`<circle cx="4.5" cy="4.5" r=${isHollow ? 3.2 : 4.5} fill=${isHollow ? 'none' : colour} stroke=${colour} stroke-width=${isHollow ? 2 : 0} stroke-dasharray=${hasPattern ? '2 1.4' : 'none'} />`}
  </svg>`;
};
