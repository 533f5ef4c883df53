/** Entry point of a chunk: a summary of the cards. */
import { defineAll } from './define.js';
import { SummaryPanel } from './summary-panel.js';

defineAll({ 'guestlist-summary': SummaryPanel });
