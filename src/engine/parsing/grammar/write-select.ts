import type { ParsedSelect, Path, SelectHole, Summed, Template } from '../sql-parser.js';
import type { Grammar } from './grammar.js';
import {
  assertNames,
  type Ctes,
  ctesFor,
  isBlock,
  type Known,
  knownOf,
  nameOf,
  ownerOf,
  type Scope,
  tablesFor,
  variableOf,
} from './scope.js';
import { createTemplate } from './template.js';
import type { Call, Column, Item, Joined, Query, Select } from './tree.js';
import { type ExpressionWriter, quoted, writeExpression, writeGroup, writeOrder } from './write-expression.js';

/** Some databases would sum text and dates too. */
const needsNumbers: ReadonlySet<string> = new Set(['SUM', 'AVG']);

/** The column in `SUM(x)`. Undefined for every other call, and where the database itself refuses what has no sum. */
export const summedBy = ({ name, args }: Call, { features }: Grammar): Summed | undefined => {
  const aggregate = name.toUpperCase();
  const [only] = args === 'all' ? [] : args;
  if (!features.has('sums-anything') || !needsNumbers.has(aggregate) || only?.kind !== 'column') return undefined;
  return variableOf(only.path) === undefined ? { aggregate, path: only.path } : undefined;
};

/**
 * Writes a SELECT from its tree. Each table becomes a hole, and each CTE gets a generated name, so the written SQL
 * never names a table of the database.
 */
export const writeSelect = (
  query: Query,
  grammar: Grammar,
  refuse: ExpressionWriter['refuse'],
): Omit<ParsedSelect, 'shown'> => {
  const tables: Path[] = [];
  const variables = new Set<string>();
  const sums: NonNullable<ParsedSelect['sums']>[number][] = [];
  const template = createTemplate<SelectHole>(() => refuse('more to be run than fits a statement', 'sql-too-long', 0));
  const state: WriteState = {
    grammar,
    refuse,
    put: template.put,
    hole: template.hole,
    addTable: (path) => {
      const at = tables.findIndex((table) => table.join('\0') === path.join('\0'));
      return at < 0 ? tables.push(path) - 1 : at;
    },
    addVariable: (name) => variables.add(name),
    addSum: (sum) => sums.push(sum),
    count: createCounter(),
    inlined: new Map(),
    depth: 0,
    scope: null,
    ctes: null,
    role: { kind: 'outermost', isBlock: isBlock(query, grammar), block: [] },
  };
  const { role } = state;
  writeQuery(state, query);
  const block = role.kind === 'outermost' && role.isBlock ? role.block : null;
  return { template: template.parts() as Template<SelectHole>, tables, variables: [...variables], block, sums };
};

/** `named`: the result's columns are read by name. `values`: they are not. */
type Role =
  | { readonly kind: 'outermost'; readonly isBlock: boolean; block: NonNullable<ParsedSelect['block']> }
  | { readonly kind: 'named' | 'values' };

type WriteState = Pick<ExpressionWriter, 'grammar' | 'refuse' | 'put'> & {
  readonly hole: (hole: SelectHole) => void;
  readonly addTable: (path: Path) => number;
  readonly addVariable: (name: string) => void;
  readonly addSum: (sum: NonNullable<ParsedSelect['sums']>[number]) => void;
  readonly count: () => number;
  /** Writes an inlined CTE, by its number. */
  readonly inlined: Map<number, (state: WriteState) => void>;
  /** Nesting level of this SELECT. */
  readonly depth: number;
  readonly scope: Scope | null;
  readonly ctes: Ctes | null;
  readonly role: Role;
};

const createCounter = (): (() => number) => {
  let count = 0;
  return () => count++;
};

const cteName = (number: number): string => quoted(`gl_cte_${number}`);

/** MySQL allows 63 nested SELECTs. */
const greatestDepth = 50;

const writeQuery = (outer: WriteState, query: Query): void => {
  const state: WriteState = { ...outer, depth: outer.depth + 1 };
  if (state.depth > greatestDepth)
    state.refuse(`more than ${greatestDepth} SELECTs within each other`, 'sql-too-deep', 0);
  const within: WriteState = { ...state, ctes: writeCtes(state, query) };
  const scope = writeBody(within, query.body);
  writeOrder(writerOf({ ...within, scope }), query.order);
  if (query.limit !== null) state.put(` LIMIT ${query.limit}`);
  if (query.offset !== null) state.put(` OFFSET ${query.offset}`);
};

const writeCtes = (state: WriteState, query: Query): Ctes => {
  const numbers = query.ctes.map(() => state.count());
  query.ctes.forEach(({ query: inner }, index) => {
    const number = numbers[index] ?? 0;
    const ctes = ctesFor(query, numbers, state.ctes, index);
    const write = (at: WriteState): void => writeQuery({ ...at, ctes, scope: null, role: { kind: 'named' } }, inner);
    if (state.grammar.features.has('inline-ctes')) state.inlined.set(number, write);
    else {
      state.put(`${index === 0 ? 'WITH ' : ', '}${cteName(number)} AS (`);
      write(state);
      state.put(query.ctes.length - 1 === index ? ') ' : ')');
    }
  });
  return ctesFor(query, numbers, state.ctes);
};

/** Returns the scope that ORDER BY sees. */
const writeBody = (state: WriteState, body: Query['body']): Scope | null => {
  if (body.kind === 'select') return writeBlock(state, body);
  if (body.kind === 'query') writeNested(state, body);
  else {
    body.items.forEach((item, index) => {
      const role: Role = index === 0 ? state.role : { kind: 'values' };
      if (index > 0) state.put(` ${body.operator} `);
      if (item.kind === 'select') writeBlock({ ...state, role }, item);
      else writeNested({ ...state, role }, item);
    });
  }
  return state.scope;
};

const writeNested = (state: WriteState, body: Exclude<Query['body'], Select>): void => {
  state.put('(');
  if (body.kind === 'query') writeQuery(state, body);
  else writeBody(state, body);
  state.put(')');
};

const writeBlock = (state: WriteState, select: Select): Scope => {
  const scope: Scope = { known: knownOf(state, select.from), outer: state.scope };
  const within: WriteState = { ...state, scope };
  const writer = writerOf(within);
  if (state.role.kind === 'outermost') assertNames(state, select.items);
  state.put(select.isDistinct ? 'SELECT DISTINCT ' : 'SELECT ');
  select.items.forEach((item, index) => {
    if (index > 0) state.put(', ');
    writeItem(within, item);
  });
  writeSources(within, select.from, scope.known);
  writeWhere(within, select, scope.known);
  writeGroup(writer, select.group);
  if (select.isRollup) state.put(' WITH ROLLUP');
  if (select.having !== null) {
    state.put(' HAVING ');
    writeExpression(writer, select.having);
  }
  return scope;
};

const writeSources = (state: WriteState, from: readonly Joined[], known: readonly Known[]): void => {
  from.forEach(({ join, on, using }, index) => {
    const source = known[index];
    if (source === undefined) return;
    if (join === '') state.put(' FROM ');
    else state.put(join === ',' ? ', ' : ` ${join} `);
    writeSource(state, source);
    if (using.length > 0) state.put(` USING (${using.map(quoted).join(', ')})`);
    if (on === null) return;
    state.put(' ON ');
    writeExpression(writerOf(state), on);
  });
};

const writeSource = (state: WriteState, { alias, of }: Known): void => {
  if (of.kind === 'table') {
    state.hole({ kind: 'table', table: of.number, alias });
    return;
  }
  const inlined = of.kind === 'cte' ? state.inlined.get(of.number) : undefined;
  if (of.kind === 'cte' && inlined === undefined) state.put(cteName(of.number));
  else {
    state.put('(');
    if (of.kind === 'query') {
      // A derived table does not see the other relations of its FROM.
      writeQuery({ ...state, scope: state.scope?.outer ?? null, role: { kind: 'named' } }, of);
    } else inlined?.(state);
    state.put(')');
  }
  state.put(` AS ${quoted(alias)}`);
};

const writeWhere = (state: WriteState, { where }: Select, known: readonly Known[]): void => {
  const { role } = state;
  const isOpen = role.kind === 'outermost' && role.isBlock;
  if (where !== null || isOpen) state.put(' WHERE ');
  if (where !== null) writeExpression(writerOf(state), where);
  if (!isOpen) return;
  if (where === null) state.put('TRUE');
  state.hole({ kind: 'conditions' });
  role.block = known.flatMap(({ alias, of }) => (of.kind === 'table' ? [{ table: of.number, alias }] : []));
};

const writeItem = (state: WriteState, item: Item): void => {
  if (item.kind === 'all') writeAll(state, item);
  else writeNamed(state, item);
};

const writeNamed = (state: WriteState, item: Extract<Item, { kind: 'item' }>): void => {
  const { expression, alias, location } = item;
  // Only here: HAVING and ORDER BY could mean an alias.
  writeExpression({ ...writerOf(state), called: (call) => noteSum(state, call) }, expression);
  const name = nameOf(item);
  if (name === undefined && state.role.kind === 'outermost')
    state.refuse('a column of the result without a name; write AS and a name behind it', 'sql-name', location);
  // Databases name a column without an alias differently, so it gets one. Where aliases are visible in WHERE, only
  // columns that need an alias get one.
  const isPlain = expression.kind === 'column' && expression.path.length === 1;
  const isCalled = isPlain
    ? state.role.kind === 'outermost' && !state.grammar.features.has('global-aliases')
    : expression.kind === 'column' && state.role.kind !== 'values';
  if (name !== undefined && (alias !== null || isCalled)) state.put(` AS ${quoted(name)}`);
};

const noteSum = ({ grammar, scope, addSum }: WriteState, call: Call): void => {
  const sum = summedBy(call, grammar);
  if (sum !== undefined) addSum({ ...sum, tables: tablesFor(sum.path, scope, grammar) });
};

const writeAll = (state: WriteState, { of, location }: Extract<Item, { kind: 'all' }>): void => {
  if (of.length > 0) state.put(`${ownerIn(state, { path: [...of, '*'], location })}.`);
  state.put('*');
};

/** The quoted alias that qualifies a column. */
const ownerIn = (state: WriteState, { path, location }: Pick<Column, 'path' | 'location'>): string => {
  const owner = ownerOf(path, state.scope, state.grammar);
  return owner === undefined
    ? state.refuse('a column of a table that its FROM does not name', 'sql-name', location)
    : quoted(owner);
};

const writerOf = (state: WriteState): ExpressionWriter => ({
  grammar: state.grammar,
  refuse: state.refuse,
  put: state.put,
  isVariable: (path) => variableOf(path) !== undefined,
  query: (query) => writeQuery({ ...state, role: { kind: 'values' } }, query),
  column: (column, isItem) => {
    const name = variableOf(column.path);
    if (name === undefined) writeColumn(state, column);
    else {
      state.addVariable(name);
      state.hole({ kind: 'variable', name, isItem });
    }
  },
});

const writeColumn = (state: WriteState, column: Column): void => {
  const { path } = column;
  if (path.length > 1) state.put(`${ownerIn(state, column)}.`);
  state.put(quoted(path.at(-1) ?? ''));
};
