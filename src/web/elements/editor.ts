/** Entry point of a chunk: the editor of metrics. */
import { EditorPanel } from '../editor/panel.js';
import { defineAll } from './define.js';

defineAll({ 'guestlist-editor-panel': EditorPanel });
