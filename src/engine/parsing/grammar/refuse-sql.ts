import { refuseQuery } from '../../databases/refuse.js';

/** Refuses the SQL for what stands at a place in its text; nothing of the text is repeated but that place. */
export const refuseSql = (what: string, text: string, location: number, reason: string): never => {
  const before = text.slice(0, location).split('\n');
  const column = (before.at(-1) ?? '').length + 1;
  return refuseQuery(
    `The SQL has ${what} at line ${before.length}, column ${column}; that cannot be run here.`,
    reason,
  );
};
