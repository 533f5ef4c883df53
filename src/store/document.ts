import { Refusal } from '../domain/refusal.js';
import type { JsonText } from './tables.js';

/** In JSON text: an escaped NUL or half of a surrogate pair. An even number of backslashes before it are characters themselves. */
const unstorable = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f][0-9a-f]{2})/;

/** Writes a value for a jsonb column. Refuses text that no PostgreSQL can hold, before it gets there. */
export const jsonb = (value: object): JsonText => {
  const text = JSON.stringify(value);
  if (unstorable.test(text)) {
    throw new Refusal(
      'INVALID_REQUEST_BODY',
      'The request holds text with a NUL character or half of a surrogate pair: send well-formed Unicode without U+0000.',
      { reason: 'text-not-storable' },
    );
  }
  return text as JsonText;
};

/** Null stays SQL's NULL. */
export const nullableJsonb = (value: object | null): JsonText | null => (value === null ? null : jsonb(value));
