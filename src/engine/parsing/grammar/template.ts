import type { Template } from '../sql-parser.js';

/** Maximum length of the written SQL, in characters: an inlined CTE may be written many times. */
const greatestLength = 400_000;

/** Builds a template from front to back. Calls `refuseLong` above the length limit. */
export const createTemplate = <Hole extends object>(
  refuseLong: () => never,
): {
  readonly put: (text: string) => void;
  readonly hole: (hole: Hole) => void;
  readonly parts: () => Template<Hole>;
} => {
  const parts: (string | Hole)[] = [];
  let text: string[] = [];
  let length = 0;
  const flush = (): void => {
    if (text.length > 0) parts.push(text.join(''));
    text = [];
  };
  return {
    put: (more) => {
      if (more !== '') text.push(more);
      length += more.length;
      if (length > greatestLength) refuseLong();
    },
    hole: (hole) => {
      flush();
      parts.push(hole);
    },
    parts: () => {
      flush();
      return parts;
    },
  };
};
