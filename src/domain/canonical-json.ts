/**
 * JSON in one spelling: names sorted, what is undefined left out. Two values are written alike exactly where a database that keeps JSON would
 * not tell them apart.
 */
export const canonicalJson = (value: unknown): string => String(JSON.stringify(sorted(value)));

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  // Made of entries: a name like `__proto__` is a name.
  const names = Object.keys(value).toSorted((a, b) => (a < b ? -1 : 1));
  return Object.fromEntries(names.map((name) => [name, sorted((value as Readonly<Record<string, unknown>>)[name])]));
};

/** Whether two values are one, as JSON; what is undefined is not null. */
export const isSameJson = (a: unknown, b: unknown): boolean => canonicalJson(a) === canonicalJson(b);
