/** Entry point of a chunk: the tiles between the cards of a dashboard, and its tabs. */
import { defineAll } from './define.js';
import { TabsElement } from './tabs-element.js';
import { TileElement } from './tile-element.js';

defineAll({ 'guestlist-tabs': TabsElement, 'guestlist-tile': TileElement });
