/**
 * Where keys lead in a list whose rows have controls side by side, and which the key Tab reaches once. Follows the grid
 * pattern of the ARIA Authoring Practices Guide; a letter leads to the next row that begins with it.
 */
export type ListRow = {
  readonly key: string;
  readonly title: string;
  /** Whether it is the title of the rows below it. */
  readonly isHead: boolean;
  /** Undefined: the row lacks this control. Every row has one at least. */
  readonly controls: readonly unknown[];
};
/** `column` is the one that was asked for: a row that lacks it gives another, and the next row may have it again. */
export type ListPlace = { readonly row: string; readonly column: number };
type Modifiers = { readonly ctrlKey: boolean; readonly altKey: boolean; readonly metaKey: boolean };

const columnsOf = ({ controls }: ListRow): readonly number[] =>
  controls.flatMap((control, at) => (control === undefined ? [] : [at]));

/** Returns the column of the row's control nearest to the one that was asked for. */
export const columnIn = (row: ListRow, wanted: number): number => {
  const columns = columnsOf(row);
  return columns.findLast((column) => column <= wanted) ?? columns[0] ?? 0;
};

/** Returns the place that the key Tab reaches: the given one or, if its row is gone, the first. */
export const placeIn = (rows: readonly ListRow[], place: ListPlace | undefined): ListPlace | undefined => {
  const [first] = rows;
  if (first === undefined || rows.some(({ key }) => key === place?.row)) return place;
  return { row: first.key, column: 0 };
};

const rowSteps: Readonly<Record<string, (rows: readonly ListRow[], at: number) => number>> = {
  ArrowDown: (_, at) => at + 1,
  ArrowUp: (_, at) => at - 1,
  PageDown: (rows, at) => rows.findIndex(({ isHead }, other) => isHead && other > at),
  PageUp: (rows, at) => rows.findLastIndex(({ isHead }, other) => isHead && other < at),
};

const columnSteps: Readonly<Record<string, (columns: readonly number[], at: number) => number | undefined>> = {
  ArrowRight: (columns, at) => columns[at + 1],
  ArrowLeft: (columns, at) => columns[at - 1],
  Home: (columns) => columns[0],
  End: (columns) => columns.at(-1),
};

const begins = ({ title }: ListRow, letter: string): boolean =>
  title.slice(0, letter.length).localeCompare(letter, undefined, { sensitivity: 'base' }) === 0;

/** Returns where the key leads from the place, or undefined if it leads nowhere. */
export const placeAfter = (
  rows: readonly ListRow[],
  place: ListPlace,
  key: string,
  { ctrlKey, altKey, metaKey }: Modifiers,
): ListPlace | undefined => {
  const at = rows.findIndex((row) => row.key === place.row);
  const row = rows[at];
  if (row === undefined || altKey || metaKey) return undefined;
  const to = (next: ListRow | undefined) => (next === undefined ? undefined : { ...place, row: next.key });
  if (ctrlKey) {
    const end = key === 'Home' ? rows[0] : key === 'End' ? rows.at(-1) : undefined;
    return end === undefined ? undefined : { row: end.key, column: columnIn(end, key === 'End' ? Infinity : 0) };
  }
  const rowStep = rowSteps[key];
  if (rowStep !== undefined) return to(rows[rowStep(rows, at)]);
  const columns = columnsOf(row);
  const column = columnSteps[key]?.(columns, columns.indexOf(columnIn(row, place.column)));
  if (column !== undefined) return { row: row.key, column };
  if (key.length > 1 || key === ' ') return undefined;
  const others = [...rows.slice(at + 1), ...rows.slice(0, at)];
  return to(others.find((other) => !other.isHead && begins(other, key)));
};
