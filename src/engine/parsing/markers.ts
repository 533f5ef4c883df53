/** Holes in a tree: identifiers that occur nowhere else in it, found again in the text that is printed from it. */

import { refuseSql } from './refusals.js';
import type { Template } from './sql-parser.js';

export type Markers<Hole> = {
  /** The identifier to put in the tree. */
  readonly mark: (hole: Hole) => string;
  /** The printed text, split at the identifiers. Each must stand there once. */
  readonly split: (text: string) => Template<Hole>;
};

/** `holds` says whether the tree has a text in it anywhere. */
export const createMarkers = <Hole>(holds: (text: string) => boolean): Markers<Hole> => {
  const holes: Hole[] = [];
  let prefix = 'gl_hole';
  while (holds(prefix)) prefix += '_';
  return {
    mark: (hole) => `${prefix}${holes.push(hole) - 1}_`,
    split: (text) => {
      const parts = text.split(new RegExp(`${prefix}([0-9]+)_`));
      const numbers = parts.filter((_, index) => index % 2 === 1).map(Number);
      const isWhole = numbers.length === holes.length && new Set(numbers).size === holes.length;
      // Where a hole is quoted, a quote stands beside it; at the ends of the text there is none.
      const isQuoted = (index: number): boolean =>
        /["`']$/.test(parts[index - 1] ?? '') || /^["`']/.test(parts[index + 1] ?? '');
      const isBare = parts.every((_, index) => index % 2 === 0 || !isQuoted(index));
      if (!isWhole || !isBare) return refuseSql('something that cannot be written anew exactly');
      return parts.map((part, index) => (index % 2 === 0 ? part : (holes[Number(part)] as Hole)));
    },
  };
};
