/** Cards and tiles on the clipboard: what is copied comes out the same under new ids, and any other text is refused. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Tile } from '../../src/model/dashboard/tile.js';
import { importedData } from '../../src/service/dashboards/contract/versions.js';
import { clipOf, missingFilters, readClip, withClip, withoutParts } from '../../src/web/studio/base/clip.js';
import type { TemplateData } from '../../src/web/studio/base/content.js';
import { contents } from '../model/boards.js';

const aTile = fc.record({
  tileId: fc.constantFrom('t', 'u', 'v'),
  kind: fc.constantFrom('heading' as const, 'text' as const),
  text: fc.constantFrom('Sales', 'Costs'),
  y: fc.nat(40),
});
const tiles = fc
  .uniqueArray(aTile, { selector: ({ tileId }) => tileId })
  .map((all): readonly Tile[] => all.map((tile) => ({ ...tile, x: 0, w: 12, h: 1 })));
const boards: fc.Arbitrary<TemplateData> = fc
  .tuple(contents, tiles)
  .map(([content, own]) => ({ ...content, tiles: own }) as TemplateData);

let number = 0;
const newId = (): string => {
  number += 1;
  return `new-${number}`;
};
const everything = () => true;
const ids = ({ metrics, tiles: own = [] }: TemplateData) => [
  ...metrics.map(({ metricId }) => metricId),
  ...own.map(({ tileId }) => tileId),
];

describe('what is copied', () => {
  test('is pasted with new ids, without lineage, below all else, and the service takes it', () => {
    fc.assert(
      fc.property(boards, boards, (source, target) => {
        const clip = readClip(clipOf(source, everything));
        const { data } = withClip(target, clip, missingFilters(target, clip), newId);
        const bottom = Math.max(0, ...[...target.layout, ...(target.tiles ?? [])].map(({ y, h }) => y + h));
        expect(new Set(ids(data)).size).toBe(ids(source).length + ids(target).length);
        const pasted = data.metrics.slice(target.metrics.length);
        expect(pasted.map(({ definition }) => definition)).toEqual(source.metrics.map(({ definition }) => definition));
        expect(pasted.every(({ lineage, metricId }) => lineage.length === 0 && /^new-/.test(metricId))).toBe(true);
        for (const { y } of data.layout.slice(target.layout.length)) expect(y).toBeGreaterThanOrEqual(bottom);
        expect(data.layout.slice(0, target.layout.length)).toEqual(target.layout);
        expect(() => importedData.parse(data)).not.toThrow();
      }),
    );
  });

  test('is only what was chosen, and cutting removes exactly that', () => {
    fc.assert(
      fc.property(boards, fc.subarray(['a', 'b', 'c', 't', 'u']), (source, chosen) => {
        const isChosen = (part: object): boolean =>
          chosen.includes('metricId' in part ? String(part.metricId) : String(Reflect.get(part, 'tileId')));
        const clip = readClip(clipOf(source, isChosen));
        const left = withoutParts(source, isChosen);
        expect(clip.metrics.length + clip.tiles.length + ids(left).length).toBe(ids(source).length);
        expect(ids(left).filter((id) => chosen.includes(id))).toEqual([]);
        expect(left.layout.every(({ metricId }) => !chosen.includes(metricId))).toBe(true);
      }),
    );
  });

  test('a second paste has other names, and names of filters are compared as the policy does', () => {
    fc.assert(
      fc.property(boards, (source) => {
        const clip = readClip(clipOf(source, everything));
        const { data, namesById } = withClip(source, clip, [], newId);
        const names = [...source.metrics.map(({ name }) => name), ...namesById.values()];
        expect(new Set(namesById.values()).size).toBe(source.metrics.length);
        expect(data.metrics.map(({ name }) => name)).toEqual(names);
        const upper = { ...source, filters: source.filters.map((one) => ({ ...one, name: one.name.toUpperCase() })) };
        expect(missingFilters(upper, clip)).toEqual([]);
      }),
    );
  });
});

describe('a text that Studio did not copy', () => {
  const good = () =>
    JSON.parse(clipOf({ layout: [], filters: [], metrics: [], gridMargin: [], tiles: [] }, everything));
  const metric = { name: 'Sales', definition: { kind: 'visual' }, cards: [{ x: 0, y: 0, w: 6, h: 4 }] };
  test.each([
    ['no JSON', 'Dear all,', /holds no cards/],
    ['other JSON', '{"a":1}', /holds no cards/],
    ['a list', '[]', /holds no cards/],
    ['a later version', JSON.stringify({ ...good(), version: 2 }), /Another version/],
    ['a field that Studio does not write', JSON.stringify({ ...good(), layout: [] }), /damaged/],
    [
      'a metric with a lineage',
      JSON.stringify({ ...good(), metrics: [{ ...metric, lineage: ['delays'] }] }),
      /damaged/,
    ],
    ['a metric with an id', JSON.stringify({ ...good(), metrics: [{ ...metric, metricId: 'delays' }] }), /damaged/],
    ['a name that is no text', JSON.stringify({ ...good(), metrics: [{ ...metric, name: ['x'] }] }), /damaged/],
    [
      'a card that is too wide',
      JSON.stringify({ ...good(), metrics: [{ ...metric, cards: [{ x: 0, y: 0, w: 13, h: 4 }] }] }),
      /damaged/,
    ],
    ['a card without a place', JSON.stringify({ ...good(), metrics: [{ ...metric, cards: [{}] }] }), /damaged/],
    [
      'a tile with an id',
      JSON.stringify({ ...good(), tiles: [{ kind: 'tab', text: 'x', tileId: 't', x: 0, y: 0, w: 12, h: 1 }] }),
      /damaged/,
    ],
    ['too many parts', JSON.stringify({ ...good(), metrics: Array.from({ length: 201 }, () => metric) }), /damaged/],
    ['too much text', `${JSON.stringify(good())}${' '.repeat(4_000_000)}`, /too large/],
  ])('a text that Studio did not copy is refused: %s', (_, text, message) => {
    expect(() => readClip(text)).toThrow(message);
  });

  test('whatever it is, it is read or refused with a message, and what is read has plain places', () => {
    const value = fc.jsonValue({ maxDepth: 4 });
    const frame = fc.record({ metrics: value, tiles: value, filters: value });
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          frame.map((rest) => JSON.stringify({ ...good(), ...rest })),
        ),
        (text) => {
          try {
            const { metrics, tiles: read } = readClip(text);
            for (const { x, y, w, h } of [...metrics.flatMap(({ cards }) => cards), ...read])
              expect([x, y, w, h].every(Number.isInteger)).toBe(true);
          } catch (error) {
            expect(String(error)).toMatch(/clipboard/);
          }
        },
      ),
    );
  });
});
