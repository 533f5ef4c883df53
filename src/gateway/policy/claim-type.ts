/**
 * The types of claims, as `session.claims` of a policy declares them: a small language of texts, and YAML maps for
 * objects. A declared type is kept as its text, so that it can be handed on as JSON, compared and shown. Must not read a
 * session: claim-values.ts does.
 */
import { isRecord } from '../../model/is-record.js';

/** The types that a claim had before it could be nested. `string | list<string>` is read as a list. */
export const plainClaimTypes = ['string', 'int', 'double', 'bool', 'list<string>', 'string | list<string>'] as const;

/** Levels of objects, lists and maps in one claim. */
const maxClaimDepth = 6;
/** Members of all objects in the claims of one policy. */
export const maxClaimMembers = 500;
/** Characters of the text of one type. */
const maxTypeText = 20_000;

export type ClaimMember = { readonly type: ClaimType; readonly isOptional: boolean };

/** A parsed type. `texts`: a text, or a list of texts. */
export type ClaimType =
  | { readonly kind: 'string' | 'int' | 'double' | 'bool' | 'texts' }
  | { readonly kind: 'list' | 'map'; readonly of: ClaimType }
  | { readonly kind: 'object'; readonly members: ReadonlyMap<string, ClaimMember> };

/** The text is no type. `path` has the keys of the YAML maps around it. */
export class ClaimTypeFault extends Error {
  override readonly name = 'ClaimTypeFault';
  constructor(
    message: string,
    readonly path: readonly (string | number)[] = [],
  ) {
    super(message);
  }
}

const forms =
  'string, int, double, bool, list<T>, map<string, T>, string | list<string>, or an object with its members: { id: string, name?: string }';

const tokenPattern = /\s*(?:([A-Za-z_$][\w$-]*)|("(?:[^"\\]|\\.)*"|'[^']*')|([<>{},:?|]))/y;

const quoted = (text: string): string => JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);

type Token = { readonly text: string; readonly kind: 'word' | 'quoted' | 'mark' };

const unquote = (text: string): string => {
  if (text.startsWith("'")) return text.slice(1, -1);
  try {
    return JSON.parse(text);
  } catch {
    throw new ClaimTypeFault(`${text} is no text in quotes`);
  }
};

const tokensOf = (text: string): readonly Token[] => {
  const tokens: Token[] = [];
  tokenPattern.lastIndex = 0;
  const end = text.trimEnd().length;
  for (let at = 0; at < end; at = tokenPattern.lastIndex) {
    tokenPattern.lastIndex = at;
    const [, word, inQuotes, mark] = tokenPattern.exec(text) ?? [];
    if (word !== undefined) tokens.push({ text: word, kind: 'word' });
    else if (inQuotes !== undefined) tokens.push({ text: unquote(inQuotes), kind: 'quoted' });
    else if (mark !== undefined) tokens.push({ text: mark, kind: 'mark' });
    else throw new ClaimTypeFault(`${quoted(text)} is no type of a claim: expected ${forms}`);
  }
  return tokens;
};

const assertMember = (name: string, known: ReadonlyMap<string, ClaimMember>): void => {
  if (name === '' || name === '__proto__') throw new ClaimTypeFault(`${JSON.stringify(name)} cannot name a member`);
  if (known.has(name)) throw new ClaimTypeFault(`the member ${JSON.stringify(name)} is declared twice`);
};

const tooDeep = `objects, lists and maps may be nested ${maxClaimDepth} deep`;

/** Goes through the tokens of a text, from left to right. */
const createCursor = (text: string) => {
  const tokens = tokensOf(text);
  let next = 0;
  const fail = (): never => {
    const rest = tokens[next];
    const found = rest === undefined ? 'the end' : quoted(rest.text);
    throw new ClaimTypeFault(`${quoted(text)} is no type of a claim: ${found} was not expected. Types: ${forms}`);
  };
  const isNext = (mark: string): boolean => tokens[next]?.kind !== 'quoted' && tokens[next]?.text === mark;
  const takes = (mark: string): boolean => {
    const found = isNext(mark);
    if (found) next += 1;
    return found;
  };
  return {
    ...{ fail, isNext, takes },
    take: (mark: string): void => {
      if (!takes(mark)) fail();
    },
    takeName: (): string => {
      const token = tokens[next];
      if (token === undefined || token.kind === 'mark') return fail();
      next += 1;
      return token.text;
    },
    isAtEnd: (): boolean => next === tokens.length,
  };
};
type Cursor = ReturnType<typeof createCursor>;

const parseObject = (cursor: Cursor, depth: number): ClaimType => {
  const members = new Map<string, ClaimMember>();
  while (!cursor.takes('}')) {
    const name = cursor.takeName();
    assertMember(name, members);
    const isOptional = cursor.takes('?');
    cursor.take(':');
    members.set(name, { type: parseUnion(cursor, depth), isOptional });
    if (!cursor.isNext('}')) cursor.take(',');
  }
  return { kind: 'object', members };
};

const parseOne = (cursor: Cursor, depth: number): ClaimType => {
  if (depth > maxClaimDepth + 1) throw new ClaimTypeFault(tooDeep);
  if (cursor.takes('{')) return parseObject(cursor, depth + 1);
  for (const kind of ['string', 'int', 'double', 'bool'] as const) if (cursor.takes(kind)) return { kind };
  const kind = cursor.takes('list') ? 'list' : cursor.takes('map') ? 'map' : cursor.fail();
  cursor.take('<');
  if (kind === 'map') {
    cursor.take('string');
    cursor.take(',');
  }
  const of = parseUnion(cursor, depth + 1);
  cursor.take('>');
  return { kind, of };
};

const parseUnion = (cursor: Cursor, depth: number): ClaimType => {
  const first = parseOne(cursor, depth);
  if (!cursor.takes('|')) return first;
  const either = [first, parseOne(cursor, depth)].map(writeClaimType).toSorted().join(' | ');
  if (either === 'list<string> | string' && !cursor.isNext('|')) return { kind: 'texts' };
  throw new ClaimTypeFault(`${either} is no type of a claim: of unions there is one, string | list<string>`);
};

/** Parses the text of a type. Throws ClaimTypeFault. */
export const parseClaimType = (text: string): ClaimType => {
  if (text.length > maxTypeText) throw new ClaimTypeFault(`a type may have ${maxTypeText} characters`);
  const cursor = createCursor(text);
  const type = parseUnion(cursor, 1);
  return cursor.isAtEnd() ? type : cursor.fail();
};

const writeName = (name: string): string => (/^[A-Za-z_$][\w$-]*$/.test(name) ? name : JSON.stringify(name));

/** Writes the type as a text that `parseClaimType` reads. One type has one text. */
export const writeClaimType = (type: ClaimType): string => {
  if (type.kind === 'texts') return 'string | list<string>';
  if (type.kind === 'list') return `list<${writeClaimType(type.of)}>`;
  if (type.kind === 'map') return `map<string, ${writeClaimType(type.of)}>`;
  if (type.kind !== 'object') return type.kind;
  const members = [...type.members].map(
    ([name, member]) => `${writeName(name)}${member.isOptional ? '?' : ''}: ${writeClaimType(member.type)}`,
  );
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
};

/** Number of members of all objects in the type. */
export const countMembers = (type: ClaimType): number => {
  if (type.kind === 'list' || type.kind === 'map') return countMembers(type.of);
  if (type.kind !== 'object') return 0;
  return [...type.members.values()].reduce((count, member) => count + 1 + countMembers(member.type), 0);
};

const at = <T>(key: string | number, work: () => T): T => {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ClaimTypeFault)) throw error;
    throw new ClaimTypeFault(error.message, [key, ...error.path]);
  }
};

const depthOf = (type: ClaimType): number => {
  if (type.kind === 'list' || type.kind === 'map') return 1 + depthOf(type.of);
  if (type.kind !== 'object') return 0;
  return 1 + Math.max(0, ...[...type.members.values()].map((member) => depthOf(member.type)));
};

const readValue = (value: unknown): ClaimType => {
  if (typeof value === 'string') return parseClaimType(value);
  if (Array.isArray(value) && value.length === 1) return { kind: 'list', of: at(0, () => readValue(value[0])) };
  if (!isRecord(value)) throw new ClaimTypeFault(`is no type of a claim: expected ${forms}`);
  const members = new Map<string, ClaimMember>();
  for (const [key, declared] of Object.entries(value)) {
    const isOptional = key.endsWith('?');
    const name = isOptional ? key.slice(0, -1) : key;
    at(key, () => {
      assertMember(name, members);
      members.set(name, { type: readValue(declared), isOptional });
    });
  }
  return { kind: 'object', members };
};

/**
 * Reads a declaration of the file: a text, an object of declarations, or a list of one declaration. Throws
 * ClaimTypeFault.
 */
export const readClaimType = (value: unknown): ClaimType => {
  const type = readValue(value);
  if (depthOf(type) > maxClaimDepth) throw new ClaimTypeFault(tooDeep);
  return type;
};
