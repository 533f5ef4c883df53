/**
 * Entry point of `/elements.js`: registers `<guestlist-dashboard>`, `<guestlist-metric>`, `<guestlist-editor>` and the elements they consist of.
 * If a page loads the script twice, the first registration stays.
 */

import './own-lit.js';
import { type Backoff, backoffMs, noBackoff } from '../token/backoff.js';
import { MetricCard } from './card.js';
import { GuestlistDashboard } from './dashboard-element.js';
import { defineAll } from './define.js';
import { GuestlistEditor } from './editor-element.js';
import { GuestlistMetric } from './metric-element.js';

const longestMs = 30_000;

/** Loads the controls, and tries again until they are there. */
const loadControls = (backoff: Backoff = { ...noBackoff, longestMs }): void => {
  import('./controls.js').catch((error: unknown) => {
    console.warn('guestlist: the controls of the page did not load; trying again', error);
    const next = { ...backoff, failures: backoff.failures + 1 };
    setTimeout(() => loadControls(next), backoffMs(next, Math.random));
  });
};

defineAll({
  'guestlist-card': MetricCard,
  'guestlist-metric': GuestlistMetric,
  'guestlist-dashboard': GuestlistDashboard,
  'guestlist-editor': GuestlistEditor,
});
loadControls();

export { registerAs } from './other-tags.js';
export { GuestlistDashboard, GuestlistEditor, GuestlistMetric };
