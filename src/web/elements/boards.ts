/** Entry point of a chunk: a guest's own dashboards, made of the cards of a dashboard. */
import { BoardEditor } from './board-editor.js';
import { BoardsPanel } from './boards-panel.js';
import { defineAll } from './define.js';
import './tile.js';

defineAll({ 'guestlist-boards': BoardsPanel, 'guestlist-board-editor': BoardEditor });
