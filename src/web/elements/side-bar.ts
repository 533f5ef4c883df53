/** Entry point of a chunk: the dashboards that a token opens, beside the one that is shown. */
import { defineAll } from './define.js';
import { SideBar } from './side-bar-panel.js';

defineAll({ 'guestlist-side-bar': SideBar });
