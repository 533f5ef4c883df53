/** Holes in a syntax tree: unique identifiers, found again in the printed text. */

import { refuseSql } from './refusals.js';
import type { SelectHole, Template } from './sql-parser.js';

export type Markers<Hole> = {
  /** Returns the identifier to put in the tree. */
  readonly mark: (hole: Hole) => string;
  /** Splits the printed text at the identifiers. Each must occur exactly once. */
  readonly split: (text: string) => Template<Hole>;
};

/** `holds` says whether the tree contains a text anywhere. */
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
      // A quoted identifier has a quote on both sides.
      const isQuoted = (index: number): boolean =>
        /["`']$/.test(parts[index - 1] ?? '') || /^["`']/.test(parts[index + 1] ?? '');
      const isBare = parts.every((_, index) => index % 2 === 0 || !isQuoted(index));
      if (!isWhole || !isBare) return refuseSql('a construct that cannot be rewritten exactly');
      return parts.map((part, index) => (index % 2 === 0 ? part : (holes[Number(part)] as Hole)));
    },
  };
};

/** Removes the AND before the hole for conditions, which writes its own. */
export const withoutAnd = (template: Template<SelectHole>): Template<SelectHole> =>
  template.map((part, index) => {
    const next = template[index + 1];
    if (typeof part !== 'string' || typeof next !== 'object' || next.kind !== 'conditions') return part;
    const cut = part.replace(/\s+AND\s+$/, '');
    return cut === part ? refuseSql('a WHERE that cannot be added to') : cut;
  });
