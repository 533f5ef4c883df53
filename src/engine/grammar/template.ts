import type { Template } from '../sql-parser.js';

/** Text with gaps, written from front to back. */
export const createTemplate = <Hole extends object>(): {
  readonly put: (text: string) => void;
  readonly hole: (hole: Hole) => void;
  readonly parts: () => Template<Hole>;
} => {
  const parts: (string | Hole)[] = [];
  let text: string[] = [];
  const flush = (): void => {
    if (text.length > 0) parts.push(text.join(''));
    text = [];
  };
  return {
    put: (more) => {
      if (more !== '') text.push(more);
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
