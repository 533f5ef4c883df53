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
