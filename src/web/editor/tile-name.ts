/** What a tile is called where only its name fits. */
import type { TileContent } from '../../model/dashboard/tile.js';

const greatestLength = 60;

export const tileName = (tile: TileContent): string => {
  const text = tile.kind === 'image' ? tile.alt : tile.text;
  return text.length > greatestLength ? `${text.slice(0, greatestLength - 1)}…` : text;
};
