/**
 * Decides conflicts of a merge field by field, as an operator chose. Taking the template's value is merging as if the
 * tenant had made the template's change too, so the rules of the merge stay the only ones.
 */
import type { Conflict, Versions } from './three-way.js';

/** For each conflict, by its path, whose value the copy gets. */
export type Choices = Readonly<Record<string, 'template' | 'tenant'>>;

/** The parts of a dashboard's content that conflicts name, under the keys of their paths. */
export type Named = {
  readonly pieces: ReadonlyMap<string, object>;
  readonly filters: ReadonlyMap<string, object>;
  readonly tiles: ReadonlyMap<string, object>;
  readonly gridMargin: readonly number[];
  readonly settings: object | undefined;
};

/** The parts of `metrics["delays"].definition.measures`: where, which, and the fields below it. */
type Place =
  | { readonly part: 'pieces' | 'filters' | 'tiles'; readonly key: string; readonly names: readonly string[] }
  | { readonly part: 'settings'; readonly names: readonly string[] };

const placeOf = (path: string): Place | 'gridMargin' => {
  if (path === 'gridMargin') return path;
  if (/^settings(\.|$)/.test(path)) return { part: 'settings', names: path.split('.').slice(1) };
  const [, part, key = '""', rest = ''] = /^(metrics|filters|tiles)\[("(?:[^"\\]|\\.)*")\](.*)$/.exec(path) ?? [];
  if (part === undefined) throw new Error(`no merge names the path ${path}`);
  return {
    part: part === 'metrics' ? 'pieces' : part === 'tiles' ? part : 'filters',
    key: JSON.parse(key),
    names: rest.split('.').slice(1),
  };
};

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;

/** Returns the value at the path of a conflict. Undefined: it has none. */
export const valueAt = (content: Named, path: string): unknown => {
  const place = placeOf(path);
  if (place === 'gridMargin') return content.gridMargin;
  const whole: unknown = place.part === 'settings' ? content.settings : content[place.part].get(place.key);
  return place.names.reduce(fieldOf, whole);
};

const withField = (value: unknown, [name, ...rest]: readonly string[], put: unknown): unknown => {
  if (name === undefined) return put;
  const { [name]: before, ...others } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const after = withField(before, rest, put);
  return after === undefined ? others : { ...others, [name]: after };
};

const withValue = <T extends Named>(content: T, path: string, put: unknown): T => {
  const place = placeOf(path);
  if (place === 'gridMargin') return { ...content, gridMargin: put as readonly number[] };
  if (place.part === 'settings')
    return { ...content, settings: withField(content.settings, place.names, put) as object | undefined };
  const { part, key, names } = place;
  const changed = new Map(content[part]);
  const value = withField(changed.get(key), names, put);
  if (value === undefined) changed.delete(key);
  else changed.set(key, value as object);
  return { ...content, [part]: changed };
};

/** The tenant's version with the template's values at the conflicts for which the template was chosen. */
export const withChoices = <T extends Named>(
  { template, tenant }: Versions<T>,
  conflicts: readonly Conflict[],
  choices: Choices,
): T =>
  conflicts
    .filter(({ path }) => Object.hasOwn(choices, path) && choices[path] === 'template')
    .reduce((content, { path }) => withValue(content, path, valueAt(template, path)), tenant);

/** The conflicts that nobody has decided. */
export const undecided = (conflicts: readonly Conflict[], choices: Choices): readonly Conflict[] =>
  conflicts.filter(({ path }) => !Object.hasOwn(choices, path));
