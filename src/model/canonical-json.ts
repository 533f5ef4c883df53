/**
 * Returns canonical JSON: property names are sorted, and undefined properties are left out. Two values have the same
 * text exactly if a database that stores JSON could not distinguish them.
 */
export const canonicalJson = (value: unknown): string => String(JSON.stringify(sorted(value)));

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  // `Object.fromEntries` makes a name such as `__proto__` an ordinary property.
  const names = Object.keys(value).toSorted((a, b) => (a < b ? -1 : 1));
  return Object.fromEntries(names.map((name) => [name, sorted((value as Readonly<Record<string, unknown>>)[name])]));
};

/** Whether two values are equal as JSON. Undefined and null are different. */
export const isSameJson = (a: unknown, b: unknown): boolean => canonicalJson(a) === canonicalJson(b);

/** Returns the fields whose values differ, sorted. A missing field and an undefined one are equal. */
export const differing = (before: object, after: object): readonly string[] => {
  const old = new Map<string, unknown>(Object.entries(before));
  const now = new Map<string, unknown>(Object.entries(after));
  return [...new Set([...old.keys(), ...now.keys()])]
    .filter((name) => !isSameJson({ value: old.get(name) }, { value: now.get(name) }))
    .toSorted();
};
