/**
 * Entry point of a chunk: what stands in cards, the filter bar, lists, menus and dialogs. The script asks for it at once,
 * so it is there before an answer is, and the script asks for its data without waiting for it. The chunk has its own copy
 * of what it shares with the script, so no code may compare classes of the two.
 */
import { ChartView } from '../charts/chart-view.js';
import { SeriesPicker } from '../charts/series-picker.js';
import { SingleValue } from '../charts/single-value.js';
import { TableElement } from '../charts/table-element.js';
import { Calendar } from '../filters/calendar.js';
import { DateFilter } from '../filters/date-filter.js';
import { FilterBar } from '../filters/filter-bar.js';
import { MultiSelect } from '../filters/multi-select.js';
import { RangeInput } from '../filters/range-input.js';
import { ViewsPanel } from '../filters/views-panel.js';
import { defineAll } from './define.js';
import { DownloadMenu } from './download-menu.js';
import { DrillTrail } from './drill-trail.js';
import { Menu } from './menu.js';
import { PrintCover } from './print-cover.js';
import { RowsDialog } from './rows-dialog.js';
import { TenantSwitcher } from './tenant-switcher.js';
import { Tools } from './tools.js';

defineAll({
  'guestlist-chart': ChartView,
  'guestlist-filter-bar': FilterBar,
  'guestlist-multi-select': MultiSelect,
  'guestlist-dates': DateFilter,
  'guestlist-calendar': Calendar,
  'guestlist-range': RangeInput,
  'guestlist-views': ViewsPanel,
  'guestlist-trail': DrillTrail,
  'guestlist-cover': PrintCover,
  'guestlist-menu': Menu,
  'guestlist-rows': RowsDialog,
  'guestlist-tenants': TenantSwitcher,
  'guestlist-tools': Tools,
  'guestlist-series': SeriesPicker,
  'guestlist-table': TableElement,
  'guestlist-value': SingleValue,
  'guestlist-download-menu': DownloadMenu,
});
