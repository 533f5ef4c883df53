/** Compares two dry runs of one user: what the user gains and loses, fact by fact. */
import { isAsStrict } from '../../model/datamart/masks.js';
import type { Bound } from '../policy/combine.js';
import { type Fact, type Facts, writeFact } from './grant-facts.js';

/** The effect of a change on a user. `both`: a gain and a loss. `other`: neither, but the token differs. */
export type Effect = 'gain' | 'loss' | 'both' | 'other';
export type Change = { readonly field: string; readonly effect: Effect; readonly old: string; readonly new: string };

/** The result for a user: facts, or the code of the denial. */
export type Side = { readonly facts: Facts } | { readonly denied: string };

const effectOf = (isGain: boolean, isLoss: boolean): Effect => {
  if (isGain) return isLoss ? 'both' : 'gain';
  return isLoss ? 'loss' : 'other';
};

const isMore = <Item>(more: readonly Item[], than: readonly Item[]): boolean =>
  more.some((item) => !than.includes(item));

const valuesOf = (bound: Bound): readonly (string | number | boolean)[] =>
  typeof bound === 'object' ? bound : [bound];

const itemsOf = (fact: Fact | undefined): readonly string[] =>
  fact?.kind === 'granted' || fact?.kind === 'hidden' ? fact.value : [];

const compareAllowed = (before: Fact | undefined, after: Fact | undefined): Effect => {
  if (before?.kind !== 'allowed') return 'loss';
  if (after?.kind !== 'allowed') return 'gain';
  const [had, has] = [valuesOf(before.value), valuesOf(after.value)];
  return effectOf(isMore(has, had), isMore(had, has));
};

const compareMasked = (before: Fact | undefined, after: Fact | undefined): Effect => {
  if (before?.kind !== 'masked') return 'loss';
  if (after?.kind !== 'masked') return 'gain';
  return effectOf(!isAsStrict(after.value, before.value), !isAsStrict(before.value, after.value));
};

/** Says whether a user gains or loses by the change of one fact. */
const compare = (before: Fact | undefined, after: Fact | undefined): Effect => {
  const [had, has] = [itemsOf(before), itemsOf(after)];
  switch ((before ?? after)?.kind) {
    case 'granted':
      return effectOf(isMore(has, had), isMore(had, has));
    case 'hidden':
      return effectOf(isMore(had, has), isMore(has, had));
    case 'allowed':
      return compareAllowed(before, after);
    case 'masked':
      return compareMasked(before, after);
    case 'lasting':
      return Number(after?.value) > Number(before?.value) ? 'gain' : 'loss';
    case 'most':
      return Number(after?.value ?? Number.POSITIVE_INFINITY) > Number(before?.value ?? Number.POSITIVE_INFINITY)
        ? 'gain'
        : 'loss';
    case 'whose':
      return 'both';
    default:
      return 'other';
  }
};

/**
 * Returns the name to compare filters by. The service ignores case in these names, so another spelling is the same
 * filter.
 */
const keyOf = (field: string): string => (/^(dashboardFilters|appFilters)\./.test(field) ? field.toLowerCase() : field);

/** Returns the granted templates and embeds. Metrics can be hidden on them. */
const shownOf = (facts: Facts): readonly string[] => [
  ...itemsOf(facts.get('templates')),
  ...itemsOf(facts.get('embeds')),
];

/**
 * Returns the facts to compare with the other side. Leaves out `templates`, because `embeds` has the same information.
 * The hidden metrics of a template count only if both sides grant the template; otherwise the whole template is gained
 * or lost. The mask of a column counts only if the other side does not hide the column.
 */
const comparable = (facts: Facts, other: Facts): ReadonlyMap<string, readonly [string, Fact]> => {
  const shared = shownOf(facts).filter((source) => shownOf(other).includes(source));
  const hidden = shared.map((source) => `hideMetrics.${source}`);
  const gone = new Set(itemsOf(other.get('hideColumns')).map((column) => `maskColumns.${column}`));
  const counting = [...facts].filter(
    ([field]) =>
      field !== 'templates' && (!field.startsWith('hideMetrics.') || hidden.includes(field)) && !gone.has(field),
  );
  return new Map(counting.map(([field, fact]) => [keyOf(field), [field, fact]]));
};

const changeOf = (field: string, effect: Effect, before: Fact | undefined, after: Fact | undefined): Change => ({
  field,
  effect,
  old: writeFact(before),
  new: writeFact(after),
});

const compareFacts = (before: Facts, after: Facts): readonly Change[] => {
  const had = comparable(before, after);
  const has = comparable(after, before);
  return [...new Set([...had.keys(), ...has.keys()])].flatMap((key) => {
    const [oldField = key, was] = had.get(key) ?? [];
    const [field = oldField, is] = has.get(key) ?? [];
    if (JSON.stringify(was?.value) === JSON.stringify(is?.value)) return [];
    return [changeOf(field, compare(was, is), was, is)];
  });
};

/** Returns all facts of a user who had no access before, or has none after. Restrictions have the effect `other`. */
const compareWithNothing = (facts: Facts, effect: 'gain' | 'loss'): readonly Change[] =>
  [...facts]
    .filter(([field, { kind, value }]) => {
      if (field === 'templates' || kind === 'whose' || kind === 'lasting' || value === null) return false;
      return typeof value !== 'object' || value.length > 0;
    })
    .map(([field, fact]) => {
      const [before, after] = effect === 'gain' ? [undefined, fact] : [fact, undefined];
      return changeOf(field, fact.kind === 'granted' ? effect : 'other', before, after);
    });

const accessOf = (side: Side): string => ('denied' in side ? `denied ${side.denied}` : 'granted');

/** Returns the changes for one user. A denied user has no grant, so a new denial loses everything. */
export const changesBetween = (before: Side, after: Side): readonly Change[] => {
  const access = (effect: Effect): Change => ({ field: 'access', effect, old: accessOf(before), new: accessOf(after) });
  if ('facts' in before && 'facts' in after) return compareFacts(before.facts, after.facts);
  if ('facts' in before) return [access('loss'), ...compareWithNothing(before.facts, 'loss')];
  if ('facts' in after) return [access('gain'), ...compareWithNothing(after.facts, 'gain')];
  return before.denied === after.denied ? [] : [access('other')];
};

/** Returns the effect of all changes of a user together. Null if there are none. */
export const effectOfAll = (changes: readonly Change[]): Effect | null => {
  if (changes.length === 0) return null;
  const has = (wanted: Effect): boolean => changes.some(({ effect }) => effect === wanted || effect === 'both');
  return effectOf(has('gain'), has('loss'));
};
