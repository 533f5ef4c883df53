/** Entry point of a chunk: a guest arranges the cards of a dashboard. */
import { ArrangePanel } from './arrange-panel.js';
import { defineAll } from './define.js';

defineAll({ 'guestlist-arrange': ArrangePanel });
