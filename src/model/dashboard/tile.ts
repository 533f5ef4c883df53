/** Tiles of a dashboard: headings, texts, pictures and tabs. They hold no data, so no token hides them. */
import type { GridCard } from './metric.js';

export type TileContent =
  | { readonly kind: 'heading'; readonly text: string }
  /** Paragraphs, lists, `**bold**`, `*italics*` and `[links](https://…)`. */
  | { readonly kind: 'text'; readonly text: string }
  /** `source`: a picture as a `data:` address. `alt`: what a reader who does not see it is told. */
  | { readonly kind: 'image'; readonly source: string; readonly alt: string }
  /** Over the whole width. What stands below it, down to the next tab, is shown only while the reader chose it. */
  | { readonly kind: 'tab'; readonly text: string };

/** A tile on the dashboard's grid of 12 columns. A copy of the dashboard keeps the ids of its tiles. */
export type Tile = TileContent & GridCard & { readonly tileId: string };

/** The most bytes of a picture, and the most characters of the pictures of one dashboard together. */
const mostPictureBytes = 200_000;
const mostPictureLength = 1_000_000;

/** How the base64 text of each format begins. A page that fetched another address would tell its host who reads. */
const pictures = [
  /^data:image\/png;base64,iVBORw0KGg/,
  /^data:image\/jpeg;base64,\/9j\//,
  /^data:image\/webp;base64,UklGR/,
];

/** Why a picture's source cannot be used. Undefined: it can. */
export const pictureFault = (source: string): string | undefined => {
  if (!pictures.some((picture) => picture.test(source)))
    return 'a png, jpeg or webp picture as data:image/png;base64,… (addresses of other servers and SVG are refused)';
  const [, base64 = ''] = source.split(',', 2);
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(source.slice(source.indexOf(',') + 1))) return 'base64 after the comma';
  return (base64.length * 3) / 4 > mostPictureBytes + 2 ? `a picture of at most ${mostPictureBytes} bytes` : undefined;
};

/** Why tiles cannot stand together on a dashboard. Empty: they can. */
export const tileFaults = (tiles: readonly Tile[]): readonly string[] => {
  const ids = tiles.map(({ tileId }) => tileId);
  const length = tiles.reduce((sum, tile) => sum + (tile.kind === 'image' ? tile.source.length : 0), 0);
  return [
    ...ids.filter((id, index) => ids.indexOf(id) < index).map((id) => `tiles: ${JSON.stringify(id)} occurs twice`),
    ...(length > mostPictureLength
      ? [`tiles: the pictures have ${length} characters together, and may have ${mostPictureLength}`]
      : []),
  ];
};

const overlaps = (a: GridCard, b: GridCard): boolean =>
  a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

/**
 * Moves tiles that would cover a card below everything, for example where a guest arranged the cards anew. Tabs stay:
 * they are drawn apart from the cards.
 */
export const besideCards = (tiles: readonly Tile[], cards: readonly GridCard[]): readonly Tile[] => {
  let bottom = Math.max(0, ...[...cards, ...tiles].map(({ y, h }) => y + h));
  return tiles.map((tile) => {
    if (tile.kind === 'tab' || !cards.some((card) => overlaps(tile, card))) return tile;
    const moved = { ...tile, y: bottom };
    bottom += tile.h;
    return moved;
  });
};

/** Where a reader who arranges the dashboard has put a tile. */
export type TilePlace = GridCard & { readonly tileId: string };

/** The tile at another place. A tab keeps its width and height. */
export const placedTile = (tile: Tile, { x, y, w, h }: GridCard): Tile =>
  tile.kind === 'tab' ? { ...tile, y } : { ...tile, x, y, w, h };

/** A tile in the reader's language. */
export const translatedTile = (tile: Tile, translate: (written: string) => string): Tile =>
  tile.kind === 'image' ? { ...tile, alt: translate(tile.alt) } : { ...tile, text: translate(tile.text) };
