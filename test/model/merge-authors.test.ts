/** Two authors of one dashboard: no change of either disappears unless somebody chose so. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DashboardContent } from '../../src/model/dashboard/dashboard.js';
import {
  type AuthorChoices,
  type AuthorConflict,
  type AuthorVersions,
  completeVersions,
  mergeAuthors,
} from '../../src/model/dashboard/merge/merge-authors.js';
import type { Tile } from '../../src/model/dashboard/tile.js';
import { board, contents, leavesOf, metric, mixed } from './boards.js';

const aTile = fc.record({
  tileId: fc.constantFrom('t', 'u', 'v'),
  kind: fc.constantFrom('heading' as const, 'text' as const),
  text: fc.constantFrom('Sales', 'Costs'),
  y: fc.constantFrom(0, 40),
});
const tiles = fc
  .uniqueArray(aTile, { selector: ({ tileId }) => tileId })
  .map((all): readonly Tile[] => all.map((tile) => ({ ...tile, x: 0, w: 12, h: 1 })));
const settings = fc.record({
  metadata: fc.constantFrom(null, { plan: 'a' }, { plan: 'b' }),
  isAllowPrivateMetricsByDefault: fc.boolean(),
});
const whole = fc
  .tuple(contents, tiles, settings)
  .map(([content, own, rest]): DashboardContent => ({ ...content, tiles: own, ...rest }));
/** Contents that differ anywhere, and contents that differ in a few places. */
const few = fc.record({
  base: whole,
  one: whole,
  other: whole,
  mine: fc.subarray(['a', 'b', 'c', 'State', 'margin']),
  theirs: fc.subarray(['c', 'd', 'e', 'Shop', 'Day']),
});
const histories: fc.Arbitrary<AuthorVersions<DashboardContent>> = fc.oneof(
  fc.record({ base: whole, given: whole, current: whole }),
  few.map(({ base, one, other, mine, theirs }) => {
    const { tiles: own, metadata = null, isAllowPrivateMetricsByDefault = false } = base;
    const rest = { ...(own === undefined ? {} : { tiles: own }), metadata, isAllowPrivateMetricsByDefault };
    const pick = (from: DashboardContent, keys: readonly string[]) => ({ ...mixed(base, from, keys), ...rest });
    return {
      base: pick(base, []),
      given: pick(one, mine),
      current: { ...pick(other, theirs), metadata: { plan: 'x' } },
    };
  }),
);

/** Every value of a content by its place, and the part of the dashboard that the place belongs to. */
const valuesOf = (content: DashboardContent): ReadonlyMap<string, string> => {
  const values = new Map(leavesOf(content));
  for (const { tileId, ...tile } of content.tiles ?? [])
    for (const [name, value] of Object.entries(tile)) values.set(`tile ${tileId} ${name}`, JSON.stringify(value));
  values.set('metadata', JSON.stringify(content.metadata));
  values.set('isAllowPrivateMetricsByDefault', JSON.stringify(content.isAllowPrivateMetricsByDefault));
  return values;
};
const partOf = (place: string): string => {
  const [kind = '', key = ''] = place.split(' ');
  if (!['metric', 'filter', 'tile'].includes(kind)) return kind === 'margin' ? 'gridMargin' : kind;
  return `${kind}s[${JSON.stringify(kind === 'filter' ? key.toLowerCase() : key)}]`;
};
const changedPlaces = (before: DashboardContent, after: DashboardContent) => {
  const [old, now] = [valuesOf(before), valuesOf(after)];
  return [...new Set([...old.keys(), ...now.keys()])]
    .filter((place) => old.get(place) !== now.get(place))
    .map((place) => ({ place, value: now.get(place) }));
};
/** A card may be put below those that the other author moved. */
const isMovedOnly = (place: string, values: ReadonlyMap<string, string>): boolean =>
  place.endsWith(' cards') && values.has(place);

const all = (conflicts: readonly AuthorConflict[], whose: 'given' | 'current'): AuthorChoices =>
  Object.fromEntries(conflicts.map(({ path }) => [path, whose]));
/** The merge in which every conflict has one side's value. What was chosen can conflict anew, so it asks until nothing does. */
const decided = (
  versions: AuthorVersions<DashboardContent>,
  side: 'given' | 'current',
  choices: AuthorChoices = {},
): DashboardContent => {
  const { content, conflicts } = mergeAuthors(versions, choices);
  if (conflicts.length === 0) return content;
  for (const { path } of conflicts) expect(Object.keys(choices)).not.toContain(path);
  return decided(versions, side, { ...choices, ...all(conflicts, side) });
};
const numRuns = 150;

describe('the merge of two authors', () => {
  it('has every change of each author, or names the place as a conflict with both values', () => {
    fc.assert(
      fc.property(histories, (versions) => {
        const { content, conflicts } = mergeAuthors(versions);
        const merged = valuesOf(content);
        for (const side of ['given', 'current'] as const) {
          for (const { place, value } of changedPlaces(versions.base, versions[side])) {
            if (merged.get(place) === value || isMovedOnly(place, merged)) continue;
            expect(
              conflicts.map(({ path }) => path).filter((path) => path.startsWith(partOf(place))),
              place,
            ).not.toEqual([]);
          }
        }
        for (const { given, current } of conflicts) expect(given ?? null).not.toEqual(current ?? null);
      }),
      { numRuns },
    );
  });

  it.each(['given', 'current'] as const)(
    'has every change of the %s side, if that side was chosen everywhere',
    (side) => {
      fc.assert(
        fc.property(histories, (versions) => {
          const merged = valuesOf(decided(versions, side));
          for (const { place, value } of changedPlaces(versions.base, versions[side]))
            if (!isMovedOnly(place, merged)) expect(merged.get(place), place).toBe(value);
        }),
        { numRuns },
      );
    },
  );

  it('keeps what the author wrote if nobody else wrote, and what the others wrote if the author did not', () => {
    fc.assert(
      fc.property(whole, whole, (base, changed) => {
        const own = mergeAuthors({ base, given: changed, current: base });
        expect([own.conflicts, valuesOf(own.content)]).toEqual([[], valuesOf(changed)]);
        const others = mergeAuthors({ base, given: base, current: changed });
        expect([others.conflicts, valuesOf(others.content)]).toEqual([[], valuesOf(changed)]);
      }),
      { numRuns },
    );
  });

  it('tells which side removed what the other one changed', () => {
    const base = board({ metrics: [metric('a'), metric('b')] });
    const changed = board({ metrics: [metric('a', { name: 'Sales' }), metric('b')] });
    const removed = board({ metrics: [metric('b')] });
    const kinds = (given: DashboardContent, current: DashboardContent) =>
      mergeAuthors({ base, given, current }).conflicts.map(({ path, kind }) => [path, kind]);
    expect(kinds(changed, removed)).toEqual([['metrics["a"]', 'removed-by-current']]);
    expect(kinds(removed, changed)).toEqual([['metrics["a"]', 'removed-by-given']]);
  });

  it('counts what a content leaves out as unchanged', () => {
    const settled = { tiles: [], metadata: { plan: 'a' }, isAllowPrivateMetricsByDefault: true };
    const tile: Tile = { tileId: 't', kind: 'heading', text: 'Sales', x: 0, y: 0, w: 12, h: 1 };
    const current = board({ ...settled, tiles: [tile] });
    const { content, conflicts } = mergeAuthors(
      completeVersions({ base: board(), given: board({ gridMargin: [1] }), current }),
    );
    expect([content, conflicts]).toEqual([{ ...current, gridMargin: [1] }, []]);
  });
});
