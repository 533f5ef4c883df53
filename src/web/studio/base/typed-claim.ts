/** The claims of a user as one types them into a form. The policy declares the type of each. */

/** Whether a claim of the type is typed as JSON: objects, maps, and lists of anything but texts. */
export const isTypedAsJson = (type: string): boolean =>
  /[{<]/.test(type) && type !== 'list<string>' && type !== 'string | list<string>';

/** The value of a claim as its declared type has it, from what was typed. Undefined: left out. Throws for no JSON. */
export const claimOf = (text: string, type: string): unknown => {
  const given = text.trim();
  if (given === '') return undefined;
  if (isTypedAsJson(type)) return JSON.parse(given);
  if (type.includes('list'))
    return given
      .split(',')
      .map((item) => item.trim())
      .filter(Boolean);
  if (type === 'int' || type === 'double') return Number(given);
  return type === 'bool' ? given === 'true' : given;
};

/** What is typed for the value. */
export const textOfClaim = (value: unknown, type = 'string'): string => {
  if (value === undefined || value === null) return '';
  if (isTypedAsJson(type) || (typeof value === 'object' && !Array.isArray(value))) return JSON.stringify(value);
  return Array.isArray(value) ? value.join(', ') : String(value);
};
