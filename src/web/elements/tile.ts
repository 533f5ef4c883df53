/** Entry point of a chunk: the tiles between the cards of a dashboard. */
import { defineAll } from './define.js';
import { TileElement } from './tile-element.js';

defineAll({ 'guestlist-tile': TileElement });
