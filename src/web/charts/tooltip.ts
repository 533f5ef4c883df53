/** A chart's tooltip as DOM nodes, so that text from the data stays text. */
import { css } from 'lit';
import type { Tip } from './model/drawing.js';

export const tooltipStyles = css`
  .tip {
    position: absolute;
    top: 0;
    left: 0;
    z-index: 5;
    pointer-events: none;
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

export const tooltipNode = ({ title, lines }: Tip): HTMLElement => {
  const tip = element('div', 'tip');
  tip.part.add('tooltip');
  tip.append(element('b', 'title', title));
  for (const { name, colour, value } of lines) {
    const line = element('div', 'line');
    const dot = element('span', 'dot');
    if (colour !== null) dot.style.background = colour;
    line.append(...(colour === null ? [] : [dot]), element('span', 'name', name), element('span', 'number', value));
    tip.append(line);
  }
  return tip;
};

/** Puts the tooltip beside the pointer, inside `area`: on the side where the reader's line goes on, if there is room. */
export const placeTooltip = (tip: HTMLElement, area: HTMLElement, [x, y]: readonly [number, number]): void => {
  const gap = 14;
  const [before, after] = [x - gap - tip.offsetWidth, x + gap];
  const isMirrored = getComputedStyle(area).direction === 'rtl';
  const isLeft = isMirrored ? before >= 0 : after + tip.offsetWidth > area.clientWidth;
  const left = isLeft ? before : Math.min(after, area.clientWidth - tip.offsetWidth);
  const top = Math.min(y + gap, area.clientHeight - tip.offsetHeight);
  tip.style.transform = `translate(${Math.max(0, left)}px, ${Math.max(0, top)}px)`;
};

const element = (tag: string, className: string, text = ''): HTMLElement => {
  const node = document.createElement(tag);
  node.className = className;
  node.textContent = text;
  return node;
};
