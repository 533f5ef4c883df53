import { Refusal } from '../../model/refusal.js';
import type { JsonText } from './tables.js';

/**
 * Matches what PostgreSQL cannot store in JSON: an escaped NUL or half of a surrogate pair. `\\u0000`, an escaped
 * backslash followed by letters, does not match.
 */
const unstorable = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f][0-9a-f]{2})/;

/** Encodes a value for a jsonb column. Throws if a text in it cannot be stored in PostgreSQL. */
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

/** As `jsonb`; null is stored as SQL NULL. */
export const nullableJsonb = (value: object | null): JsonText | null => (value === null ? null : jsonb(value));
