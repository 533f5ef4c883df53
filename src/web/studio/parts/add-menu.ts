/** The menu of a dashboard's bar that adds something to its canvas. */
import { html, type TemplateResult } from 'lit';
import { menu, menuItem } from './menu.js';
import { kindNames, type TileKind } from './tile-dialog.js';

/** What stands beside the canvas while it is made. */
export type Made = 'new' | 'sql' | 'propose';

const made: readonly (readonly [Made, string])[] = [
  ['new', 'Chart'],
  ['sql', 'SQL chart'],
  ['propose', 'Proposals'],
];
const kinds: readonly TileKind[] = ['heading', 'text', 'image', 'tab'];

const titleOf = (kind: TileKind): string => `${kindNames[kind][0]?.toUpperCase()}${kindNames[kind].slice(1)}`;

export const addMenu = (make: (tab: Made) => void, add: (kind: TileKind) => void): TemplateResult =>
  menu(
    'Add',
    html`<ul class="popped" aria-label="Add">${made.map(([tab, title]) => menuItem(title, () => make(tab)))}
      ${kinds.map((kind) => menuItem(titleOf(kind), () => add(kind)))}</ul>`,
    'button',
  );
