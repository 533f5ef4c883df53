/**
 * Entry point of a chunk: the filter bar, lists, menus and dialogs, which the first picture of a dashboard does without. The chunk has
 * its own copy of what it shares with the script, so no code may compare classes of the two.
 */
import { FilterBar } from '../filters/filter-bar.js';
import { MultiSelect } from '../filters/multi-select.js';
import { RangeInput } from '../filters/range-input.js';
import { defineAll } from './define.js';
import { DownloadMenu } from './download-menu.js';
import { Menu } from './menu.js';
import { RowsDialog } from './rows-dialog.js';

defineAll({
  'guestlist-filter-bar': FilterBar,
  'guestlist-multi-select': MultiSelect,
  'guestlist-range': RangeInput,
  'guestlist-menu': Menu,
  'guestlist-rows': RowsDialog,
  'guestlist-download-menu': DownloadMenu,
});
