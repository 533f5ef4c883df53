/** Finds the place in SQL that a refusal speaks of: a line and column that it tells, or a name that it quotes. */

/** A fault at a place in a text; lines and columns begin at 1. */
export type CodeFault = {
  readonly line: number;
  readonly column: number;
  readonly message: string;
  /** Left out: an error. */
  readonly severity?: 'info';
};

const told = /\bline (\d+), column (\d+)/;
const named =
  /(?:: |^)([\w.]+) is no (?:table|column) of the datamart|function that is not allowed: (\w+)|^(\w+)_variable is not/;

/** The line and column of an offset. */
export const placeOf = (sql: string, offset: number): Pick<CodeFault, 'line' | 'column'> => {
  const before = sql.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 };
};

/** Empty if the refusal tells no place. */
export const sqlFaults = (message: string, sql: string): readonly CodeFault[] => {
  const place = told.exec(message);
  if (place !== null) return [{ line: Number(place[1]), column: Number(place[2]), message }];
  const [, name = '', called = '', variable = ''] = named.exec(message) ?? [];
  const word = name.split('.').at(-1) || called || variable;
  const at = word === '' ? -1 : sql.search(new RegExp(`\\b${word}`, 'i'));
  return at < 0 ? [] : [{ ...placeOf(sql, at), message }];
};
