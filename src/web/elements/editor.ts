/** Entry point of a chunk: the editor of metrics. */
import { OwnMetrics } from '../editor/own-metrics.js';
import { EditorPanel } from '../editor/panel.js';
import { Workbench } from '../editor/workbench.js';
import { defineAll } from './define.js';
import { TabsElement } from './tabs-element.js';

defineAll({
  'guestlist-editor-panel': EditorPanel,
  'guestlist-own-metrics': OwnMetrics,
  'guestlist-tabs': TabsElement,
  'guestlist-workbench': Workbench,
});
