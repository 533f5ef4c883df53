/** Which fields of two JSON values differ. Items of lists are matched by what identifies them. Pure. */
import { isSameJson } from '../../model/canonical-json.js';
import { isRecord } from '../../model/is-record.js';

/** `before` and `after` are undefined where the field is missing. */
export type Difference = { readonly path: string; readonly before: unknown; readonly after: unknown };

const identities = ['metricId', 'relationshipName', 'name'] as const;

const keyOf = (item: unknown): string | undefined => {
  if (typeof item === 'string') return item;
  if (!isRecord(item)) return undefined;
  const found = identities.map((field) => item[field]).find((value) => typeof value === 'string');
  return typeof item.schemaName === 'string' && item.tableName === undefined ? `${item.schemaName}.${found}` : found;
};

/** The items by their keys; undefined if an item has none, or two have the same. */
const keyed = (items: readonly unknown[]): ReadonlyMap<string, unknown> | undefined => {
  const found = new Map(items.flatMap((item) => (keyOf(item) === undefined ? [] : [[keyOf(item) ?? '', item]])));
  return found.size === items.length ? found : undefined;
};

const compareLists = (path: string, before: readonly unknown[], after: readonly unknown[]): readonly Difference[] => {
  const [old, now] = [keyed(before), keyed(after)];
  if (old === undefined || now === undefined) {
    if (before.length !== after.length) return [{ path, before, after }];
    return before.flatMap((item, at) => compare(`${path}[${at}]`, item, after[at]));
  }
  const keys = [...new Set([...old.keys(), ...now.keys()])];
  const inside = keys.flatMap((key) => compare(`${path}[${key}]`, old.get(key), now.get(key)));
  const [oldOrder, newOrder] = [
    [...old.keys()].filter((key) => now.has(key)),
    [...now.keys()].filter((key) => old.has(key)),
  ];
  return isSameJson(oldOrder, newOrder)
    ? inside
    : [...inside, { path: `${path} (order)`, before: oldOrder, after: newOrder }];
};

/** Returns the differences, with the path of each. */
export const compare = (path: string, before: unknown, after: unknown): readonly Difference[] => {
  if (Array.isArray(before) && Array.isArray(after)) return compareLists(path, before, after);
  if (isRecord(before) && isRecord(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return names.flatMap((name) => compare(path === '' ? name : `${path}.${name}`, before[name], after[name]));
  }
  const isSame = before === undefined || after === undefined ? before === after : isSameJson(before, after);
  return isSame ? [] : [{ path, before, after }];
};

const greatestLength = 60;

/** A value on one line of a terminal, cut if it is long. */
export const shortValue = (value: unknown): string => {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value).replace(/\p{Cc}/gu, '\uFFFD');
  return text.length <= greatestLength ? text : `${text.slice(0, greatestLength - 1)}…`;
};
