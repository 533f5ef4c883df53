import { isNode } from '../../parsing/sql-tree.js';

/** Where the text fails, by the error of PostgreSQL's parser. Nothing else of the error may be shown: it repeats the text. */
export const failureIn = (error: unknown): unknown => {
  const details = error instanceof Error ? Reflect.get(error, 'sqlDetails') : undefined;
  return isNode(details) ? details.cursorPosition : undefined;
};
