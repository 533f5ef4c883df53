/** Tiles of a template while an author changes them. */
import type { Tile } from '../../../domain/dashboard/tile.js';

/** What the service takes. */
export const mostPictureBytes = 200_000;
export const mostPictureLength = 1_000_000;

/** An id for something new, out of its name. */
export const freeId = (name: string, taken: readonly string[]): string => {
  const base =
    name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '')
      .slice(0, 60) || 'metric';
  for (let number = 1; ; number += 1) {
    const id = number === 1 ? base : `${base}-${number}`;
    if (!taken.includes(id)) return id;
  }
};

const isEqual = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** The data with what the author did to the tiles. Tiles that others added or changed meanwhile stay. */
export const withTiles = <Data extends { readonly tiles?: readonly Tile[] }>(
  data: Data,
  before: readonly Tile[],
  after: readonly Tile[],
): Data => {
  const find = (tiles: readonly Tile[], id: string): Tile | undefined => tiles.find(({ tileId }) => tileId === id);
  const tiles = data.tiles ?? [];
  const kept = tiles.flatMap((tile) => {
    const [old, mine] = [find(before, tile.tileId), find(after, tile.tileId)];
    if (old === undefined) return tile;
    if (mine === undefined) return [];
    return isEqual(old, mine) ? tile : mine;
  });
  const next = [...kept];
  for (const tile of after) {
    const taken = next.map(({ tileId }) => tileId);
    if (find(before, tile.tileId) === undefined) next.push({ ...tile, tileId: freeId(tile.tileId, taken) });
  }
  return isEqual(next, tiles) ? data : { ...data, tiles: next };
};
