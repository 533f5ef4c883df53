/** Tiles of a dashboard, as exports and guests' reads have them. */
import { z } from 'zod';
import { pictureFault, type Tile } from '../../../model/dashboard/tile.js';
import type { BoardTile } from '../../../model/guest/own-board.js';
import { identifier, limits, list, text } from '../../../platform/http/interface/fields.js';

const place = {
  tileId: identifier,
  x: z.number().int().min(0).max(11),
  y: z.number().int().min(0).max(10_000),
  w: z.number().int().min(1).max(12),
  h: z.number().int().min(1).max(1000),
};

const source = z
  .string()
  .max(limits.pictureLength)
  .superRefine((text, context) => {
    const message = pictureFault(text);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  })
  .describe('A png, jpeg or webp picture of at most 200 kB as a `data:` address in base64.');

const heading = z.strictObject({ kind: z.literal('heading'), ...place, text: text.trim().min(1).max(200) });
const paragraphs = z.strictObject({
  kind: z.literal('text'),
  ...place,
  text: text
    .trim()
    .min(1)
    .max(limits.textLength)
    .describe('Paragraphs, lists (`- `), `**bold**`, `*italics*` and `[links](https://…)`. All else is plain text.'),
});
const image = z.strictObject({ kind: z.literal('image'), ...place, source, alt: text.trim().min(1).max(300) });
const tab = z
  .strictObject({
    kind: z.literal('tab'),
    ...place,
    x: place.x.max(0),
    w: place.w.min(12),
    h: place.h.max(1),
    text: text.trim().min(1).max(200),
  })
  .describe(
    'The title of a tab. What stands below it, down to the next tab, is on the tab; what stands above the first tab is always shown.',
  );

const tile = z.discriminatedUnion('kind', [heading, paragraphs, image, tab]) satisfies z.ZodType<Tile, unknown>;

/** Tiles that a guest writes: no pictures. */
export const boardTiles = list(z.discriminatedUnion('kind', [heading, paragraphs, tab]), 50) satisfies z.ZodType<
  readonly BoardTile[],
  unknown
>;

/** Where a guest puts tiles. A tab takes only the row of its place. */
export const tilePlaces = list(z.strictObject(place), 50);

export const tiles = list(tile, 50)
  .optional()
  .describe(
    'Headings, texts and pictures between the cards, and titles of tabs. They are shown to every guest of the dashboard.',
  );
