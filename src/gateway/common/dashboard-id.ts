import { Refusal } from '../../model/refusal.js';

/**
 * Encodes a clientId. Keeps letters, digits, `_`, `.` and `-`. Every other byte of the UTF-8 text becomes `~` and two
 * hex digits.
 */
export const encodeClientId = (clientId: string): string =>
  clientId.replaceAll(/[^A-Za-z0-9_.-]/gu, (character) =>
    [...Buffer.from(character, 'utf8')].map((byte) => `~${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );

/**
 * Returns the id of a client's copy of a template. Injective for well-formed client ids and for template names that the
 * policy allows (no `--`, no `-` at the end), since the first `--` ends the template's name.
 */
export const dashboardIdOf = (template: string, clientId: string): string => `${template}--${encodeClientId(clientId)}`;

const maxIdLength = 255;

/** Returns the id of the client's copy. Throws NO_TENANT if it would be too long. */
export const copyIdOf = (template: string, clientId: string): string => {
  const id = dashboardIdOf(template, clientId);
  if (id.length <= maxIdLength) return id;
  throw new Refusal(
    'NO_TENANT',
    `The session's organisation has an id that is too long for a dashboard id of ${maxIdLength} characters.`,
    { reason: 'tenant-too-long' },
  );
};
