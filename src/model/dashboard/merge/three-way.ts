/**
 * Three-way merge of values with a common ancestor. If both sides changed a value differently, the result has the
 * tenant's value and a conflict. Pure.
 */
import { isSameJson } from '../../canonical-json.js';

/** The three versions of a value. `base` is the common ancestor. An undefined value is absent. */
export type Versions<T> = { readonly base: T; readonly template: T; readonly tenant: T };

export type Conflict = {
  /** The path with the template's metric ids, e.g. `metrics["delays"].definition.measures`. */
  readonly path: string;
  readonly kind: 'changed-by-both' | 'added-by-both' | 'removed-by-template' | 'removed-by-tenant';
};

export type Merged<T> = { readonly value: T; readonly conflicts: readonly Conflict[] };

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const kindOf = ({ base, template, tenant }: Versions<unknown>): Conflict['kind'] => {
  if (template === undefined) return 'removed-by-template';
  if (tenant === undefined) return 'removed-by-tenant';
  return base === undefined ? 'added-by-both' : 'changed-by-both';
};

/** Returns the changed value if only one side changed, or both changed alike. Returns undefined if they differ. */
const settled = <T>({ base, template, tenant }: Versions<T>): { readonly value: T } | undefined => {
  if (isSameJson(base, tenant)) return { value: template };
  if (isSameJson(base, template) || isSameJson(template, tenant)) return { value: tenant };
  return undefined;
};

/** Merges a value as a whole. */
export const mergeWhole = <T>(versions: Versions<T>, path: string): Merged<T> => {
  const clear = settled(versions);
  if (clear !== undefined) return { ...clear, conflicts: [] };
  return { value: versions.tenant, conflicts: [{ path, kind: kindOf(versions) }] };
};

export type MergeField = (versions: Versions<unknown>, path: string, name: string) => Merged<unknown>;

/** Merges objects field by field if both sides have one, else as a whole. An undefined field is absent. */
export const mergeFields = <T extends object>(
  versions: Versions<T | undefined>,
  path: string,
  mergeField: MergeField = mergeWhole,
): Merged<T | undefined> => {
  const { base, template, tenant } = versions;
  const clear = settled(versions);
  if (clear !== undefined) return { ...clear, conflicts: [] };
  if (!isFields(template) || !isFields(tenant)) return mergeWhole(versions, path);
  const before: Fields = isFields(base) ? base : {};
  const names = [...new Set([...Object.keys(tenant), ...Object.keys(template), ...Object.keys(before)])];
  const fields = names.map((name) => {
    const at = { base: before[name], template: template[name], tenant: tenant[name] };
    return [name, mergeField(at, `${path}.${name}`, name)] as const;
  });
  const kept = fields.flatMap(([name, { value }]) => (value === undefined ? [] : [[name, value] as const]));
  return { value: Object.fromEntries(kept) as T, conflicts: fields.flatMap(([, { conflicts }]) => conflicts) };
};

/** Entries by key, in order. */
export type Keyed<T> = ReadonlyMap<string, T>;

/**
 * Merges the order of entries. If the tenant did not change the order, the result has the template's, else the
 * tenant's. Entries of the other side follow the neighbour that they follow there. An order never conflicts.
 */
export const mergeOrder = ({ base, template, tenant }: Versions<readonly string[]>): readonly string[] => {
  const [first, second] = isSameJson(base, tenant) ? [template, tenant] : [tenant, template];
  const order = [...first];
  for (const [index, key] of second.entries()) {
    if (order.includes(key)) continue;
    const before = second[index - 1];
    order.splice(before === undefined ? 0 : order.indexOf(before) + 1, 0, key);
  }
  return order;
};

/**
 * Merges every entry of either side with `mergeEntry`, in the merged order. An entry whose result is undefined is left
 * out.
 */
export const mergeKeyed = <T>(
  { base, template, tenant }: Versions<Keyed<T>>,
  mergeEntry: (versions: Versions<T | undefined>, key: string) => Merged<T | undefined>,
): Merged<Keyed<T>> => {
  const order = mergeOrder({ base: [...base.keys()], template: [...template.keys()], tenant: [...tenant.keys()] });
  const conflicts: Conflict[] = [];
  const value = new Map<string, T>();
  for (const key of order) {
    const at = { base: base.get(key), template: template.get(key), tenant: tenant.get(key) };
    const merged = mergeEntry(at, key);
    conflicts.push(...merged.conflicts);
    if (merged.value !== undefined) value.set(key, merged.value);
  }
  return { value, conflicts };
};
