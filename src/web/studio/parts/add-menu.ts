/** The menu of a dashboard's bar that adds something to its canvas. */
import { html, type TemplateResult } from 'lit';
import { link } from '../base/kit.js';
import { kindNames, type TileKind } from './tile-dialog.js';

/** What stands beside the canvas while it is made. */
export type Made = 'new' | 'sql' | 'propose';

const made: readonly (readonly [Made, string])[] = [
  ['new', 'Chart'],
  ['sql', 'SQL chart'],
  ['propose', 'Proposals'],
];
const kinds: readonly TileKind[] = ['heading', 'text', 'image', 'tab'];

const closed = (event: Event): void => {
  const menu = (event.currentTarget as HTMLElement).closest('details');
  if (menu === null) return;
  menu.open = false;
  menu.querySelector('summary')?.focus();
};

const byKey = (event: KeyboardEvent): void => {
  if (event.key === 'Escape') closed(event);
};

/** Closes when the focus goes elsewhere. */
const left = ({ currentTarget, relatedTarget }: FocusEvent): void => {
  const menu = currentTarget as HTMLDetailsElement;
  if (relatedTarget instanceof Node && !menu.contains(relatedTarget)) menu.open = false;
};

export const addMenu = (addressOf: (tab: Made) => string, add: (kind: TileKind) => void): TemplateResult => {
  const tile = (kind: TileKind): TemplateResult => {
    const name = kindNames[kind];
    const run = (event: Event): void => {
      closed(event);
      add(kind);
    };
    return html`<li><button type="button" class="text add-item" @click=${run}>${name[0]?.toUpperCase()}${name.slice(1)}</button></li>`;
  };
  return html`<details class="pop" @keydown=${byKey} @focusout=${left}><summary class="button">Add</summary>
    <ul class="popped" aria-label="Add">${made.map(([tab, title]) => html`<li @click=${closed}>${link(addressOf(tab), title, 'add-item')}</li>`)}
      ${kinds.map(tile)}</ul>
  </details>`;
};
