/** What a command prints for people: colours, tables and progress. Other programs get the same text without colours. */
import { styleText } from 'node:util';
import { writeTable } from '../../gateway/policy-tools/text-table.js';

type Style = 'bold' | 'red' | 'green' | 'yellow';
/** The part of a stream that colours and progress need. */
export type TerminalStream = Pick<NodeJS.WriteStream, 'write'> &
  Partial<Pick<NodeJS.WriteStream, 'isTTY' | 'hasColors'>>;

/** Styles the text if `stream` is a terminal with colours. Node.js reads NO_COLOR, NODE_DISABLE_COLORS and TERM for that. */
export const paint = (style: Style, text: string, stream: TerminalStream = process.stdout): string =>
  stream.isTTY === true && stream.hasColors?.() === true ? styleText(style, text, { validateStream: false }) : text;

/** Prints why a command ends. */
export const printError = (message: string): void =>
  console.error(`${paint('red', 'guestlist:', process.stderr)} ${message}`);

/** Words of states that people look for in a table. */
const stateStyles: ReadonlyMap<string, Style> = new Map([
  ...['complete', 'ready', 'done', 'up-to-date', 'finished', 'written'].map((word) => [word, 'green'] as const),
  ...['partial', 'paused', 'suspended', 'conflict', 'unfinished', 'behind'].map((word) => [word, 'yellow'] as const),
  ...['failed', 'unreadable', 'UNREADABLE', 'stopped', 'deleted'].map((word) => [word, 'red'] as const),
]);

/** Names come from the database or from other people: a terminal must not run what they contain. */
export const printable = (text: string): string => text.replace(/[^\P{Cc}\n]/gu, '\uFFFD');

/** An argument that people paste into a shell: in quotes, unless a shell reads it as it is. */
export const shellText = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

const paintLine = (line: string): string => {
  const [word = ''] = line.split(' ', 1);
  const style = stateStyles.get(word);
  return style === undefined ? line : paint(style, word) + line.slice(word.length);
};

/** The table of every command: a header in capitals, columns two spaces apart. `none`: the text without rows. */
export const tableText = (
  header: readonly string[],
  rows: readonly (readonly string[])[],
  none = 'There are none.',
): string => {
  if (rows.length === 0) return none;
  const cells = rows.map((row) => row.map((cell) => printable(cell).replaceAll('\n', '\uFFFD')));
  const [first = '', ...lines] = writeTable([header.map((name) => name.toUpperCase()), ...cells]).split('\n');
  return [paint('bold', first), ...lines.map(paintLine)].join('\n');
};

/** One line on the terminal that says how far a long task is. Without a terminal, nothing is written. */
export const createProgress = (stream: TerminalStream = process.stderr) => {
  const write = (text: string): void => void (stream.isTTY === true && stream.write(`\r\u001B[K${text}`));
  return {
    say: (text: string): void => write(printable(text).replaceAll('\n', ' ')),
    /** Removes the line. */
    end: (): void => write(''),
  };
};

/** Runs a task that says how far it is. The line is gone when it ends, also by an error. */
export const withProgress = async <Done>(
  work: (say: (text: string) => void) => Promise<Done>,
  stream: TerminalStream = process.stderr,
): Promise<Done> => {
  const progress = createProgress(stream);
  try {
    return await work(progress.say);
  } finally {
    progress.end();
  }
};
