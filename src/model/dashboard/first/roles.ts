/** What a column is good for in a chart, from its name and type. Pure. */
import {
  addsUp,
  isIdentifying,
  isMeasurement,
  isPerson,
  isTimeOfRemoval,
  singularName,
  wordsOf,
} from '../../datamart/column-names.js';
import { type Datamart, type DatamartTable, isKeyColumn } from '../../datamart/datamart.js';
import { columnKind, type DatatypeKind } from '../../datamart/datatypes.js';

export type Roles = {
  /** Dates by which rows may be counted over time, the best first. */
  readonly dates: readonly string[];
  /** Texts, enums and booleans that may name groups of rows, the best first. */
  readonly categories: readonly string[];
  /** Numbers that may be added up. */
  readonly amounts: readonly string[];
  /** Numbers of which a mean makes sense, and a sum does not. */
  readonly levels: readonly string[];
};

/** Words at the end of names whose values are neither an amount nor a group, beside those of identifiers. */
const referring = new Set(['ref', 'extension']);
const isReference = (words: readonly string[]): boolean => isIdentifying(words) || referring.has(words.at(-1) ?? '');
const numberless = new Set(
  'year month day week zip postal phone lat lng latitude longitude version sort position rank order priority flag status type'.split(
    ' ',
  ),
);
/** Words of columns that divide rows into a few kinds. */
const dividing = new Set(
  'status state stage phase plan tier kind type category department team group region country market segment priority severity channel source method role industry brand genre gender reason outcome'.split(
    ' ',
  ),
);
/** Words of columns that name one row, or say the same in nearly all rows. */
const naming = new Set('title subject name label headline caption slug number currency locale timezone'.split(' '));
const personal = new Set(
  'address street phone fax email mail url homepage website description notes note comment comments body text message photo picture image path zip postal first last middle surname nickname username login contact birth ip agent'.split(
    ' ',
  ),
);
/** Dates that say when a row was kept, or when something is expected, rather than when something happened. */
const lateDates = new Set(
  'updated modified deleted changed required due expires expiry expiration birth hire end ended valid until synced last'.split(
    ' ',
  ),
);

const has = (words: readonly string[], set: ReadonlySet<string>): boolean => words.some((word) => set.has(word));

/** Stages that rows pass, and how urgent they are: amounts by them say less than amounts by what rows are. */
const passing = new Set('status state stage phase priority severity'.split(' '));

/** Whether the column says which stage a row has reached. */
export const isStage = (columnName: string): boolean => {
  const words = wordsOf(columnName);
  return has(words, passing) && !words.includes('priority') && !words.includes('severity');
};

/** What a column is like to group by: 0 for the kinds of rows, 1 for their stages and other enums, 2 for texts and booleans. */
export const categoryPlace = (columnName: string, kind: DatatypeKind | undefined): number => {
  const words = wordsOf(columnName);
  if (has(words, dividing)) return has(words, passing) ? 1 : 0;
  return kind === 'enum' ? 1 : 2;
};

/** Whether the column names single rows, so that groups of it say nothing. */
export const namesRows = (columnName: string): boolean => has(wordsOf(columnName), naming);

const datePlace = (name: string): number => {
  const words = wordsOf(name);
  if (has(words, lateDates)) return 3;
  if (has(words, new Set(['created', 'inserted']))) return 1;
  return has(words, new Set(['shipped', 'closed', 'completed'])) ? 2 : 0;
};

export const rolesOf = (datamart: Datamart, table: DatamartTable, primaryKey: readonly string[]): Roles => {
  const plain = table.columns
    .filter(({ columnName }) => !isKeyColumn(datamart, table, columnName))
    .map((column) => ({
      columnName: column.columnName,
      kind: columnKind(column) ?? 'other',
      words: wordsOf(column.columnName),
    }))
    // The key of a partitioned table holds the date by which it is divided, and that is when a row happened.
    .filter(({ columnName, kind }) => !primaryKey.includes(columnName) || (kind === 'date' && primaryKey.length > 1));
  const namesOf = (columns: typeof plain): readonly string[] => columns.map(({ columnName }) => columnName);
  const numbers = plain.filter(
    ({ kind, words }) => ['integer', 'number'].includes(kind) && !isReference(words) && !has(words, numberless),
  );
  return {
    dates: namesOf(plain.filter(({ kind, columnName }) => kind === 'date' && !isTimeOfRemoval(columnName))).toSorted(
      (a, b) => datePlace(a) - datePlace(b),
    ),
    categories: plain
      .filter(
        ({ kind, words }) => ['text', 'enum', 'boolean'].includes(kind) && !has(words, personal) && !isReference(words),
      )
      .toSorted((a, b) => categoryPlace(a.columnName, a.kind) - categoryPlace(b.columnName, b.kind))
      .map(({ columnName }) => columnName),
    amounts: namesOf(numbers.filter(({ columnName }) => addsUp(columnName))),
    levels: namesOf(numbers.filter(({ columnName }) => isMeasurement(columnName))),
  };
};

/** Words of dates that belong to a person or a thing, or by which something should happen. */
const planned = new Set(
  'born birth birthday birthdate bday dob death due deadline required expires expiry expiration valid until'.split(' '),
);

/** Whether the date says when something happened: not a birthday, and no date by which something is due. */
export const isTimeOfEvent = (columnName: string): boolean => !has(wordsOf(columnName), planned);

const upkeep = new Set('updated update modified changed synced last'.split(' '));

/** Whether the date says when the row was last written, which tells readers nothing of what happened. */
export const isTimeOfWriting = (columnName: string): boolean => has(wordsOf(columnName), upkeep);

/** Whether a table of this name holds people, or who belongs to what: no events that are counted over time. */
export const isPersonTable = (tableName: string): boolean =>
  isPerson(tableName) || singularName(tableName).endsWith('membership');
