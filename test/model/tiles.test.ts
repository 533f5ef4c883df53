/** Tiles: pictures that ask no other server, tiles beside cards, and changes of tiles in words and in a roll-out. */
import { describe, expect, test } from 'vitest';
import { contentChanges } from '../../src/model/dashboard/changes.js';
import { contentFaults } from '../../src/model/dashboard/content.js';
import type { DashboardContent } from '../../src/model/dashboard/dashboard.js';
import { mergeDashboard } from '../../src/model/dashboard/merge/merge-dashboard.js';
import { besideCards, pictureFault, type Tile } from '../../src/model/dashboard/tile.js';
import { importedData } from '../../src/service/dashboards/contract/versions.js';
import { parseTileText } from '../../src/web/elements/tile-text.js';

const png = 'data:image/png;base64,iVBORw0KGgo=';
const place = { x: 0, y: 0, w: 12, h: 1 };
const heading: Tile = { tileId: 'h', kind: 'heading', text: 'Sales', ...place };
const note: Tile = { tileId: 't', kind: 'text', text: 'How to **read** this', ...place, y: 1 };
const picture: Tile = { tileId: 'i', kind: 'image', source: png, alt: 'Our logo', ...place, y: 2 };
const board = (...tiles: Tile[]): DashboardContent => ({ layout: [], filters: [], metrics: [], gridMargin: [], tiles });

describe('a picture is in the dashboard itself', () => {
  test.each([png, 'data:image/jpeg;base64,/9j/4AAQ', 'data:image/webp;base64,UklGRiQA'])(
    'a picture may be in the dashboard itself: %s',
    (source) => {
      expect(pictureFault(source)).toBeUndefined();
    },
  );
  test.each([
    'https://elsewhere.example/pixel.png',
    'data:image/svg+xml;base64,PHN2Zz4=',
    'data:image/png;base64,PHN2Zz4=',
    'data:text/html,<script>',
    'javascript:alert(1)',
    `${png}" onerror="x`,
    `data:image/png;base64,iVBORw0KGg${'A'.repeat(270_000)}`,
  ])('a picture is refused that is elsewhere, no picture or too large: %.60s', (source) => {
    expect(pictureFault(source)).toBeDefined();
    expect(importedData.safeParse(board({ ...picture, source })).success).toBe(false);
  });
  test('a picture needs a text for those who do not see it', () => {
    expect(importedData.safeParse(board(picture)).success).toBe(true);
    expect(importedData.safeParse(board({ ...picture, alt: ' ' })).success).toBe(false);
    expect(importedData.safeParse(board({ ...note, text: 'a\0b' })).success).toBe(false);
  });
});

test('two tiles of one id, and too many pictures, are refused', () => {
  expect(contentFaults(board(heading, { ...note, tileId: 'h' }), [])).toEqual(['tiles: "h" occurs twice']);
  const large = `data:image/png;base64,iVBORw0KGg${'A'.repeat(250_000)}`;
  const many = ['1', '2', '3', '4'].map((tileId) => ({ ...picture, tileId, source: large }));
  expect(contentFaults(board(...many), [])).toEqual([expect.stringContaining('the pictures have')]);
});

test('a tile that would cover a card goes below everything', () => {
  const cards = [{ x: 6, y: 0, w: 6, h: 4 }];
  expect(besideCards([heading, { ...note, y: 4 }], cards)).toEqual([
    { ...heading, y: 5 },
    { ...note, y: 4 },
  ]);
});

test('each change of a tile is one sentence', () => {
  const after = board({ ...heading, y: 3 }, { ...picture, alt: 'Logo' });
  expect(contentChanges(board(heading, note, picture), after).map(({ text }) => text)).toEqual([
    'Heading "Sales" moved from column 0, row 0 to column 0, row 3.',
    'Picture "Logo" changed: text for the picture.',
    'Text "How to **read** this" was removed.',
  ]);
});

test('a tab is a row over the whole width, and stays where it is', () => {
  const tab: Tile = { tileId: 'tab', kind: 'tab', text: 'More', ...place };
  expect(importedData.safeParse(board(tab)).success).toBe(true);
  for (const wrong of [{ x: 1 }, { w: 11 }, { h: 2 }, { text: ' ' }])
    expect(importedData.safeParse(board({ ...tab, ...wrong })).success).toBe(false);
  expect(besideCards([tab], [{ x: 6, y: 0, w: 6, h: 4 }])).toEqual([tab]);
  expect(contentChanges(board(), board(tab)).map(({ text }) => text)).toEqual(['Tab "More" was added.']);
});

describe('a roll-out merges tiles by id', () => {
  const merge = (template: DashboardContent, tenant: DashboardContent) =>
    mergeDashboard({ base: board(heading, note), template, tenant });
  test('a roll-out of tiles takes the template’s changes and keeps the tenant’s', () => {
    const { content, conflicts } = merge(board({ ...heading, text: 'Turnover' }), board({ ...heading, y: 5 }, note));
    expect(conflicts).toEqual([]);
    expect(content.tiles).toEqual([{ ...heading, text: 'Turnover', y: 5 }]);
  });
  test('removing the last tile is written, not left out', () => {
    expect(merge(board(), board(heading, note)).content.tiles).toEqual([]);
  });
  test('what both changed is a conflict, which a person decides', () => {
    const versions = {
      base: board(heading),
      template: board({ ...heading, text: 'Ours' }),
      tenant: board({ ...heading, text: 'Theirs' }),
    };
    const path = 'tiles["h"].text';
    expect(mergeDashboard(versions).conflicts).toEqual([{ path, kind: 'changed-by-both' }]);
    expect(mergeDashboard(versions, { [path]: 'template' }).content.tiles).toEqual([{ ...heading, text: 'Ours' }]);
  });
});

describe('the text of a tile', () => {
  test('paragraphs, lists, bold, italics and links', () => {
    expect(parseTileText('A **b** *c*\n- [d](https://e.example/)\n\nf')).toEqual([
      {
        kind: 'paragraph',
        lines: [
          [
            { kind: 'plain', text: 'A ' },
            { kind: 'bold', text: 'b' },
            { kind: 'plain', text: ' ' },
            { kind: 'italic', text: 'c' },
          ],
        ],
      },
      { kind: 'list', lines: [[{ kind: 'link', text: 'd', address: 'https://e.example/' }]] },
      { kind: 'paragraph', lines: [[{ kind: 'plain', text: 'f' }]] },
    ]);
  });
  test.each(['[x](javascript:alert)', '[x](http://e.example)', '[x](/path)', '<b>x</b>'])(
    '%s stays text in a tile',
    (text) => {
      expect(parseTileText(text)).toEqual([{ kind: 'paragraph', lines: [[{ kind: 'plain', text }]] }]);
    },
  );
});
