/** Entry point of a chunk: a guest asks for a chart in words. */
import { ChatPanel } from './chat-panel.js';
import { defineAll } from './define.js';

defineAll({ 'guestlist-chat': ChatPanel });
