/**
 * Finds the place in an expression that is at fault, by asking about smaller and smaller parts of its text: operands, and
 * arguments of calls. Brackets, quotes and operators tell which parts there are, in the SQL of every database alike. A
 * part that is cut wrongly is no expression, so it is not at fault, and the place is a less exact one.
 */

/** Whether a part of the text, taken as an expression, has the fault that the whole has. */
export type HasFault = (part: string) => Promise<boolean>;

type Token = { readonly text: string; readonly from: number; readonly to: number };
type Span = { readonly from: number; readonly to: number };
/** `depth`: how many brackets are open around it; a bracket is outside of itself. `opens`: where its bracket begins. */
type Placed = Token & { readonly depth: number; readonly opens: number | undefined };

const token =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|[\p{L}_][\p{L}\p{N}_$.]*|\d[\w.]*|::|->>|->|\|\||<=>|<=|>=|<>|!=|\S/gu;

const opening = new Set(['(', '[', '{', 'case']);
const closing = new Set([')', ']', '}', 'end']);

/** Weakest first: a part is split at its weakest operators, so that each operand is a part that is computed by itself. */
const operators: readonly ReadonlySet<string>[] = ['or', 'and', '= <> != < > <= >= <=>', '||', '+ -', '* / %'].map(
  (words) => new Set(words.split(' ')),
);
const isOperator = ({ text }: Token): boolean => operators.some((level) => level.has(text));

/** What stands between the parts within brackets. */
const between = new Set([',', 'when', 'then', 'else', 'as', 'from', 'distinct']);

const tokensOf = (sql: string): readonly Placed[] => {
  const open: number[] = [];
  return [...sql.matchAll(token)].map(({ 0: found, index }) => {
    const text = found.toLowerCase();
    const opens = closing.has(text) ? open.pop() : undefined;
    const placed = { text, from: index, to: index + found.length, depth: open.length, opens };
    if (opening.has(text)) open.push(index);
    return placed;
  });
};

const spanOf = (tokens: readonly Placed[]): readonly Span[] => {
  const [first, last] = [tokens[0], tokens.at(-1)];
  return first === undefined || last === undefined ? [] : [{ from: first.from, to: last.to }];
};

/** The parts between the tokens at which `isCut` says so. */
const cutAt = (tokens: readonly Placed[], isCut: (one: Placed, index: number) => boolean): readonly Span[] => {
  const cuts = tokens.flatMap((one, index) => (isCut(one, index) ? [index] : []));
  return [-1, ...cuts].flatMap((cut, at) => spanOf(tokens.slice(cut + 1, cuts[at] ?? tokens.length)));
};

/** The tokens without brackets around all of them. */
const unwrapped = (tokens: readonly Placed[]): readonly Placed[] => {
  const isAround = (at: number): boolean => {
    const first = tokens[at];
    return first?.text === '(' && tokens[tokens.length - 1 - at]?.opens === first.from;
  };
  let around = 0;
  while (isAround(around)) around += 1;
  return tokens.slice(around, tokens.length - around);
};

/** The weakest operators between operands of these tokens. A sign before an operand is none. */
const weakest = (tokens: readonly Placed[]): readonly Placed[] => {
  const depth = tokens[0]?.depth;
  const found = tokens.filter((one, at) => {
    const before = tokens[at - 1];
    return one.depth === depth && isOperator(one) && before !== undefined && !isOperator(before);
  });
  const level = operators.find((words) => found.some(({ text }) => words.has(text)));
  return found.filter(({ text }) => level?.has(text));
};

/** The arguments of calls, and the parts of CASE. */
const innerParts = (tokens: readonly Placed[]): readonly Span[] => {
  const depth = tokens[0]?.depth ?? 0;
  const isOuter = (one: Placed): boolean => one.depth <= depth;
  return cutAt(tokens, (one) => isOuter(one) || (one.depth === depth + 1 && between.has(one.text)));
};

/**
 * Returns the offset at which the smallest part begins that has the fault; of operands that have it only together, the
 * operator at which they meet. Asks about at most `mostAsked` parts, and knows no smaller one then. The whole has the
 * fault.
 */
export const findFault = async (sql: string, hasFault: HasFault, mostAsked = 24): Promise<number> => {
  const all = tokensOf(sql);
  let left = mostAsked;
  const isAtFault = async ({ from, to }: Span): Promise<boolean> => {
    left -= 1;
    return left >= 0 && (await hasFault(sql.slice(from, to)));
  };
  const within = async ({ from, to }: Span): Promise<number> => {
    const tokens = unwrapped(all.filter((one) => one.from >= from && one.to <= to));
    const start = tokens[0]?.from ?? from;
    const cuts = weakest(tokens);
    const isCut = new Set(cuts);
    const parts = cuts.length === 0 ? innerParts(tokens) : cutAt(tokens, (one) => isCut.has(one));
    for (const part of parts) if (await isAtFault(part)) return within(part);
    for (const [at, cut] of cuts.slice(0, -1).entries()) {
      if (await isAtFault({ from: start, to: parts[at + 1]?.to ?? cut.to })) return cut.from;
    }
    return left < 0 ? start : (cuts.at(-1)?.from ?? start);
  };
  return within({ from: 0, to: sql.length });
};
