import type { texts } from './de.js';
import type { Plural } from './text.js';

/** English texts of messages and files. */
export type MessageKey = keyof typeof texts;
export type MessageTexts = Readonly<Record<MessageKey, string | Plural>>;
