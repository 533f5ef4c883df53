/**
 * Entry point of `/elements.js`: registers `<guestlist-dashboard>`, `<guestlist-metric>` and the elements they consist of.
 * If a page loads the script twice, the first registration stays.
 */

import { ChartView } from '../charts/chart-view.js';
import { FilterBar } from '../filters/filter-bar.js';
import { MultiSelect } from '../filters/multi-select.js';
import { RangeInput } from '../filters/range-input.js';
import { MetricCard } from './card.js';
import { GuestlistDashboard } from './dashboard-element.js';
import { DownloadMenu } from './download-menu.js';
import { Menu } from './menu.js';
import { GuestlistMetric } from './metric-element.js';
import { RowsDialog } from './rows-dialog.js';

const elements = {
  'guestlist-multi-select': MultiSelect,
  'guestlist-range': RangeInput,
  'guestlist-filter-bar': FilterBar,
  'guestlist-menu': Menu,
  'guestlist-rows': RowsDialog,
  'guestlist-download-menu': DownloadMenu,
  'guestlist-chart': ChartView,
  'guestlist-card': MetricCard,
  'guestlist-metric': GuestlistMetric,
  'guestlist-dashboard': GuestlistDashboard,
};

for (const [name, element] of Object.entries(elements)) {
  if (customElements.get(name) === undefined) customElements.define(name, element);
}

export { registerAs } from './other-tags.js';
export { GuestlistDashboard, GuestlistMetric };
