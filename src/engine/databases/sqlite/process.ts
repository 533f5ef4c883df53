/**
 * The program of a process that reads one SQLite file. SQLite has no server that could limit a statement, and its driver
 * holds the thread that calls it: the parent ends the process to end the statement.
 */
import { createRequire } from 'node:module';

/** As far as it is used. */
type Statement = {
  readonly reader: boolean;
  readonly raw: () => Statement;
  readonly safeIntegers: () => Statement;
  readonly columns: () => readonly { readonly name: string }[];
  readonly iterate: (...values: readonly string[]) => Iterable<readonly unknown[]>;
};
type Driver = new (
  url: string,
  options: { readonly timeout: number },
) => { readonly exec: (sql: string) => void; readonly prepare: (sql: string) => Statement };

export type Asked =
  | { readonly kind: 'open'; readonly url: string; readonly busyMs: number }
  | { readonly kind: 'run'; readonly sql: string; readonly parameters: readonly string[]; readonly batchBytes: number }
  | { readonly kind: 'next' };

export type Told =
  | { readonly kind: 'open' }
  | {
      readonly kind: 'rows';
      readonly names: readonly string[];
      readonly rows: readonly (readonly unknown[])[];
      readonly isLast: boolean;
    }
  | { readonly kind: 'fault'; readonly message: string; readonly code: string };

const tell = (told: Told): void => {
  process.send?.(told);
};

/** No statement writes or keeps temporary files, and no view of the file calls `readfile` and others of the driver's own functions. */
const settings =
  'PRAGMA query_only = ON; PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY; PRAGMA mmap_size = 0';

const open = ({ url, busyMs }: Extract<Asked, { kind: 'open' }>) => {
  const Database = createRequire(import.meta.url)('libsql') as Driver;
  const database = new Database(url, { timeout: busyMs });
  database.exec(settings);
  // The file is read at the first statement only.
  for (const _ of database.prepare('SELECT count(*) FROM sqlite_schema').raw().iterate());
  return database;
};

/** Of a row or a cell, as the reader counts them. */
const overhead = 16;

const sizeOf = (value: unknown): number => {
  if (typeof value === 'string') return overhead + value.length;
  return overhead + (value instanceof Uint8Array ? value.byteLength : 0);
};

let database: ReturnType<typeof open> | undefined;
/** The rows of the statement that runs, batch by batch. */
let batches: Iterator<Told> | undefined;

const run = function* ({ sql, parameters, batchBytes }: Extract<Asked, { kind: 'run' }>): Generator<Told> {
  const statement = database?.prepare(sql);
  if (statement?.reader !== true) throw new Error('only statements that answer rows are run');
  const reading = statement.raw().safeIntegers();
  const names = reading.columns().map(({ name }) => name);
  let rows: (readonly unknown[])[] = [];
  let bytes = 0;
  for (const row of reading.iterate(...parameters)) {
    rows.push(row);
    bytes += row.reduce<number>((sum, value) => sum + sizeOf(value), overhead);
    if (bytes < batchBytes) continue;
    yield { kind: 'rows', names, rows, isLast: false };
    rows = [];
    bytes = 0;
  }
  yield { kind: 'rows', names, rows, isLast: true };
};

const textOf = (cause: unknown, name: 'message' | 'code'): string =>
  typeof cause === 'object' && cause !== null ? String(Reflect.get(cause, name) ?? '') : '';

/** SQLite has one code for all mistakes of a statement. */
const codeOf = (cause: unknown): string => {
  if (/no such (column|table)/.test(textOf(cause, 'message'))) return 'SQLITE_NO_SUCH_NAME';
  if (textOf(cause, 'message') === 'integer overflow') return 'SQLITE_SUM_TOO_LARGE';
  if (/parser stack overflow|Expression tree is too large/.test(textOf(cause, 'message'))) return 'SQLITE_TOO_NESTED';
  // The driver has no code of its own where the file cannot be opened.
  return /Unable to open/.test(textOf(cause, 'message')) ? 'SQLITE_CANTOPEN' : textOf(cause, 'code');
};

const answer = (asked: Asked): void => {
  switch (asked.kind) {
    case 'open':
      database = open(asked);
      tell({ kind: 'open' });
      return;
    case 'run':
      batches = run(asked);
      break;
    case 'next':
      break;
  }
  const next = batches?.next();
  if (next?.done !== false) throw new Error('no rows are left');
  tell(next.value);
};

process.on('message', (asked: Asked) => {
  try {
    answer(asked);
  } catch (cause) {
    batches = undefined;
    tell({ kind: 'fault', message: textOf(cause, 'message'), code: codeOf(cause) });
  }
});
process.on('disconnect', () => process.exit(0));
