/** A chart's tooltip as DOM nodes. ECharts would insert a string as HTML; a node keeps text from the data as text. */
import { css } from 'lit';
import { type Drawing, tooltipAt } from './chart-options.js';

export const tooltipStyles = css`
  .tip {
    padding: 8px 11px;
    max-width: 260px;
    border: 1px solid var(--gl-border);
    border-radius: 9px;
    background: var(--gl-raised);
    color: var(--gl-text);
    box-shadow: 0 6px 20px rgb(0 0 0 / 14%);
    font: 400 12.5px/1.5 var(--gl-font);
    font-variant-numeric: tabular-nums;
    white-space: normal;
  }
  .tip b {
    display: block;
    font-weight: 600;
    overflow-wrap: anywhere;
  }
  .tip div {
    display: flex;
    align-items: baseline;
    gap: 7px;
  }
  .tip .name {
    color: var(--gl-muted);
    overflow-wrap: anywhere;
  }
  .tip .number {
    margin-inline-start: auto;
    padding-inline-start: 10px;
    font-weight: 600;
    white-space: nowrap;
  }
  .tip .dot {
    flex: none;
    width: 8px;
    height: 8px;
    border-radius: 50%;
  }
`;

export const tooltipNode = (drawing: Drawing, index: number): HTMLElement => {
  const { title, lines } = tooltipAt(drawing, index);
  const tip = element('div', 'tip');
  tip.append(element('b', 'title', title));
  for (const { name, colour, value } of lines) {
    const line = element('div', 'line');
    const dot = element('span', 'dot');
    dot.style.background = colour;
    line.append(dot, element('span', 'name', name), element('span', 'number', value));
    tip.append(line);
  }
  return tip;
};

const element = (tag: string, className: string, text = ''): HTMLElement => {
  const node = document.createElement(tag);
  node.className = className;
  node.textContent = text;
  return node;
};
