/** A parsed YAML file that knows the place (`file:line:column`) of each value, so that faults can name it. */
import { type Document, isMap, isNode, isScalar, isSeq, Lexer, LineCounter, parseDocument, visit } from 'yaml';

/** One fault of a file: `at` is `file:line:column`. */
export type FileFault = { readonly at: string; readonly message: string };

export type Path = readonly (string | number)[];

type Problem = { readonly offset: number; readonly message: string };

/** Returns the keys that a map has already. The parser's own check compares each key with all before it. */
const findRepeatedKeys = (document: Document): readonly Problem[] => {
  const problems: Problem[] = [];
  visit(document, {
    Map: (_, { items }) => {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        const { value } = isScalar(key) ? key : { value: key };
        if (seen.has(value)) problems.push({ offset: nodeOffset(key), message: 'Map keys must be unique' });
        seen.add(value);
      }
    },
  });
  return problems;
};

const nodeOffset = (node: unknown): number => (isNode(node) ? node.range?.[0] : undefined) ?? 0;

/** Faults of one file that are told. To find the place of each takes time, and nobody mends more at once. */
export const mostFaults = 200;

/** What helps where a text has a colon, as the type of a claim `map<string, { id: string }>`. */
const mendOf = (message: string): string =>
  message.startsWith('Nested mappings are not allowed')
    ? '. Write a text that has ": " between quotes, such as "map<string, { id: string }>"'
    : '';

/** Returns the content of the document. Aliases that cannot be resolved, or that expand too far, are a problem. */
const readContent = (document: Document): { readonly content: unknown; readonly problems: readonly Problem[] } => {
  const errors = document.errors.map(({ pos, message }) => ({ offset: pos[0], message }));
  const problems = (errors.length > 0 ? errors : findRepeatedKeys(document))
    .slice(0, mostFaults)
    .map(({ offset, message }) => ({ offset, message: `not valid YAML: ${message}${mendOf(message)}` }));
  if (problems.length > 0) return { content: null, problems };
  try {
    return { content: document.toJS(), problems };
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    return { content: null, problems: [{ offset: 0, message: `not valid YAML: ${error.message}` }] };
  }
};

/** Characters of one file. Parsing takes seconds for some megabytes. */
const maxCharacters = 2_000_000;

/** Levels of nesting. A policy needs about ten; the parser needs the stack for each, and fails at about a thousand. */
const maxLevels = 64;

const opening: ReadonlySet<string> = new Set(['[', '{']);
const closing: ReadonlySet<string> = new Set([']', '}']);
/** Each begins a level within its line: `- - - text`. */
const inLine: ReadonlySet<string> = new Set(['-', '?']);
/** Marks of the lexer that stand for no character of the text. */
const marks: ReadonlySet<string> = new Set(['\u0002', '\u0018', '\u001f']);

/** Returns where the text is nested too deeply for the parser. Levels by indentation alone cost their spaces. */
const findTooDeep = (text: string): Problem | undefined => {
  let [offset, brackets, indicators] = [0, 0, 0];
  for (const token of new Lexer().lex(text)) {
    if (opening.has(token)) brackets += 1;
    else if (closing.has(token)) brackets -= 1;
    else if (inLine.has(token)) indicators += 1;
    else if (token.includes('\n')) indicators = 0;
    if (brackets + indicators > maxLevels) return { offset, message: `more than ${maxLevels} levels of nesting` };
    if (!marks.has(token)) offset += token.length;
  }
  return undefined;
};

/** What keeps the text from being parsed at all. */
const findExcess = (text: string): Problem | undefined => {
  if (text.length <= maxCharacters) return findTooDeep(text);
  const [most, found] = [maxCharacters, text.length].map((count) => count.toLocaleString('en'));
  return { offset: 0, message: `the file has ${found} characters, and may have ${most}: split it into several files` };
};

/** The place of an offset in a text that was not parsed. */
const placeIn = (text: string, offset: number): { readonly line: number; readonly col: number } => {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, col: (before.at(-1)?.length ?? 0) + 1 };
};

/**
 * Where the values of a text are: a table with a row for each node, a parent before its children. A thread hands it on
 * without a copy.
 */
type Places = {
  /** `width` numbers for each row: where the node begins and ends, where its key begins, and the row after its last descendant. */
  readonly rows: Int32Array<ArrayBuffer>;
  /** A JSON list: the key of each row in its map, or its index in its list. */
  readonly keys: string;
  /** The offset of each line. */
  readonly lines: readonly number[];
};
const width = 4;
/** Stands for a place that a row does not have. */
const nowhere = -1;

const placesOf = (document: Document, { lineStarts }: LineCounter): Places => {
  const rows: number[] = [];
  const keys: string[] = [];
  const add = (node: unknown, key: string, keyStart: number): void => {
    const [start, end] = (isNode(node) ? node.range : undefined) ?? [nowhere, nowhere];
    const row = rows.push(start, end, keyStart, 0) - width;
    keys.push(key);
    if (isMap(node)) {
      for (const { key: own, value } of node.items)
        if (isScalar(own)) add(value, String(own.value), own.range?.[0] ?? nowhere);
    } else if (isSeq(node)) for (const [index, item] of node.items.entries()) add(item, String(index), nowhere);
    rows[row + width - 1] = rows.length / width;
  };
  add(document.contents, '', nowhere);
  return { rows: Int32Array.from(rows), keys: JSON.stringify(keys), lines: lineStarts };
};

/** Finds the rows of nodes. The children of a node are indexed once. */
const createFindRow = ({ rows, keys }: Places) => {
  const names: readonly string[] = JSON.parse(keys);
  const known = new Map<number, ReadonlyMap<string, number>>();
  const numberOf = (row: number, at: number): number => rows[row * width + at] ?? nowhere;
  const childrenOf = (row: number): ReadonlyMap<string, number> => {
    const indexed = known.get(row);
    if (indexed !== undefined) return indexed;
    const children = new Map<string, number>();
    for (let child = row + 1; child < numberOf(row, 3); child = numberOf(child, 3))
      children.set(names[child] ?? '', child);
    known.set(row, children);
    return children;
  };
  const find = (row: number, key: string | number) => childrenOf(row).get(String(key));
  /** The row of the node at the path, or of the last one on the way to it. */
  const rowAt = (path: Path): number => {
    let row = 0;
    for (const key of path) {
      const child = find(row, key);
      if (child === undefined || numberOf(child, 0) === nowhere) return row;
      row = child;
    }
    return row;
  };
  const startOf = (row: number): number => Math.max(numberOf(row, 0), 0);
  return {
    rangeAt: (path: Path): readonly [start: number, end: number] => {
      const row = rowAt(path);
      return [startOf(row), Math.max(numberOf(row, 1), 0)];
    },
    keyAt: (path: Path, key: string): number => {
      const row = rowAt(path);
      const child = find(row, key);
      const start = child === undefined ? nowhere : numberOf(child, 2);
      return start === nowhere ? startOf(row) : start;
    },
  };
};

/** What the parser found in a text, as plain values. `places` is null for a text that was not parsed. */
export type ParsedText = {
  readonly content: unknown;
  readonly problems: readonly Problem[];
  readonly places: Places | null;
};

/** Parses the text. Takes seconds for the longest texts. Never throws: `problems` has the syntax errors. */
const parseText = (text: string): ParsedText => {
  const excess = findExcess(text);
  if (excess !== undefined) return { content: null, problems: [excess], places: null };
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false });
  return { ...readContent(document), places: placesOf(document, lines) };
};

const createPlaceOf = (text: string, places: Places | null) => {
  if (places === null) return (offset: number) => placeIn(text, offset);
  const counter = new LineCounter();
  for (const start of places.lines) counter.addNewLine(start);
  return counter.linePos;
};

/** A parsed text with its name in faults, `file`. The text is parsed here, unless a thread has done so. */
export const createSource = (text: string, file: string, parsed: ParsedText = parseText(text)) => {
  const { content, problems, places } = parsed;
  const { rangeAt, keyAt } = createFindRow(places ?? { rows: new Int32Array(), keys: '[]', lines: [] });
  const placeOf = createPlaceOf(text, places);
  const at = (offset: number): string => {
    const { line, col } = placeOf(offset);
    return `${file}:${line}:${col}`;
  };
  return {
    ...{ file, text, content, places },
    at,
    /** The syntax errors. */
    problems: problems.map(({ offset, message }): FileFault => ({ at: at(offset), message })),
    offsetOf: (path: Path): number => rangeAt(path)[0],
    /** Returns the offset of the key itself, for a key that is not allowed. */
    offsetOfKey: keyAt,
    /**
     * Returns the offset of a character of a scalar's value, or of the scalar's start if the scalar is folded or
     * escaped.
     */
    offsetIn: (path: Path, value: string, offset: number): number => {
      const [start, end] = rangeAt(path);
      const inside = text.slice(start, end).indexOf(value);
      return inside < 0 ? start : start + inside + offset;
    },
  };
};
export type Source = ReturnType<typeof createSource>;
