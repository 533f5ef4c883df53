/** Letters, digits, `_`, `.` and `-` stand for themselves; every other byte of the UTF-8 text is `~` and two hex digits. */
export const encodeClientId = (clientId: string): string =>
  clientId.replaceAll(/[^A-Za-z0-9_.-]/gu, (character) =>
    [...Buffer.from(character, 'utf8')].map((byte) => `~${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );

/**
 * The id of a client's copy of a template. Injective for template names as the policy allows them (no `--`, no `-` at
 * the end) and well-formed client ids: the first `--` ends the template's name.
 */
export const dashboardIdOf = (template: string, clientId: string): string => `${template}--${encodeClientId(clientId)}`;
