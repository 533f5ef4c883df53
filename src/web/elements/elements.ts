/**
 * Entry point of `/elements.js`: registers `<guestlist-dashboard>`, `<guestlist-metric>`, `<guestlist-editor>` and the elements they consist of.
 * If a page loads the script twice, the first registration stays.
 */

import './own-lit.js';
import { ChartView } from '../charts/chart-view.js';
import { MetricCard } from './card.js';
import { GuestlistDashboard } from './dashboard-element.js';
import { defineAll } from './define.js';
import { GuestlistEditor } from './editor-element.js';
import { loadControls } from './load-controls.js';
import { GuestlistMetric } from './metric-element.js';

defineAll({
  'guestlist-chart': ChartView,
  'guestlist-card': MetricCard,
  'guestlist-metric': GuestlistMetric,
  'guestlist-dashboard': GuestlistDashboard,
  'guestlist-editor': GuestlistEditor,
});
loadControls();

export { registerAs } from './other-tags.js';
export { GuestlistDashboard, GuestlistEditor, GuestlistMetric };
