/**
 * The elements, in one script: `<guestlist-dashboard>` and `<guestlist-metric>`, and the parts they are made of.
 * A page that loads the script twice keeps the first.
 */
import { MetricCard } from './card.js';
import { ChartView } from './chart-view.js';
import { GuestlistDashboard } from './dashboard-element.js';
import { FilterBar } from './filter-bar.js';
import { GuestlistMetric } from './metric-element.js';
import { MultiSelect } from './multi-select.js';
import { RowsDialog } from './rows-dialog.js';

const elements = {
  'guestlist-multi-select': MultiSelect,
  'guestlist-filter-bar': FilterBar,
  'guestlist-rows': RowsDialog,
  'guestlist-chart': ChartView,
  'guestlist-card': MetricCard,
  'guestlist-metric': GuestlistMetric,
  'guestlist-dashboard': GuestlistDashboard,
};

for (const [name, element] of Object.entries(elements)) {
  if (customElements.get(name) === undefined) customElements.define(name, element);
}

export { GuestlistDashboard, GuestlistMetric };
