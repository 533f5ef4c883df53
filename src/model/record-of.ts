/** An object with one value for each name. */
export const recordOf = <Name extends string, Value>(
  names: readonly Name[],
  of: (name: Name) => Value,
): { readonly [Each in Name]: Value } =>
  Object.fromEntries(names.map((name) => [name, of(name)])) as { readonly [Each in Name]: Value };

/** The names of an object that is written out in the code, so that it has no others. */
export const namesOf = <Name extends string>(record: { readonly [Each in Name]: unknown }): readonly Name[] =>
  Object.keys(record) as Name[];
