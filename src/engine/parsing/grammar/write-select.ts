import type { ParsedSelect, Path, SelectHole, Template } from '../sql-parser.js';
import { isBlock, nameOf } from './block.js';
import type { Grammar } from './grammar.js';
import { assertNames, knownOf } from './known.js';
import { type Ctes, ctesFor, type Known, ownerOf, type Scope, variableOf } from './scope.js';
import { createTemplate } from './template.js';
import type { Column, Item, Joined, Query, Select } from './tree.js';
import { type Around, quoted, writeExpression, writeGroup, writeOrder } from './write-expression.js';

/**
 * Writes a SELECT from its tree. In place of a table stands a hole or the number of a CTE of the same text, under a name that no text can say: so a
 * table of the database is never named, even where the database would have taken a name for another thing than we do.
 */
export const writeSelect = (query: Query, grammar: Grammar, refuse: Around['refuse']): Omit<ParsedSelect, 'shown'> => {
  const tables: Path[] = [];
  const variables = new Set<string>();
  const template = createTemplate<SelectHole>(() => refuse('more to be run than fits a statement', 'sql-too-long', 0));
  const place: Place = {
    grammar,
    refuse,
    put: template.put,
    hole: template.hole,
    addTable: (path) => {
      const at = tables.findIndex((table) => table.join('\0') === path.join('\0'));
      return at < 0 ? tables.push(path) - 1 : at;
    },
    addVariable: (name) => variables.add(name),
    count: createCounter(),
    inlined: new Map(),
    depth: 0,
    scope: null,
    ctes: null,
    role: { kind: 'outermost', isBlock: isBlock(query, grammar), block: [] },
  };
  const { role } = place;
  writeQuery(place, query);
  const block = role.kind === 'outermost' && role.isBlock ? role.block : null;
  return { template: template.parts() as Template<SelectHole>, tables, variables: [...variables], block };
};

/** What the result's columns are for: `named`, they are read by their names; `values`, they are not. */
type Role =
  | { readonly kind: 'outermost'; readonly isBlock: boolean; block: NonNullable<ParsedSelect['block']> }
  | { readonly kind: 'named' | 'values' };

type Place = Pick<Around, 'grammar' | 'refuse' | 'put'> & {
  readonly hole: (hole: SelectHole) => void;
  readonly addTable: (path: Path) => number;
  readonly addVariable: (name: string) => void;
  readonly count: () => number;
  /** Writes a CTE where it is read, by its number. */
  readonly inlined: Map<number, (place: Place) => void>;
  /** How many SELECTs are around this one. */
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

/** MySQL takes 63 SELECTs in each other. */
const greatestDepth = 50;

const writeQuery = (outer: Place, query: Query): void => {
  const place: Place = { ...outer, depth: outer.depth + 1 };
  if (place.depth > greatestDepth)
    place.refuse(`more than ${greatestDepth} SELECTs within each other`, 'sql-too-deep', 0);
  const within: Place = { ...place, ctes: writeCtes(place, query) };
  const scope = writeBody(within, query.body);
  writeOrder(aroundOf({ ...within, scope }), query.order);
  if (query.limit !== null) place.put(` LIMIT ${query.limit}`);
  if (query.offset !== null) place.put(` OFFSET ${query.offset}`);
};

const writeCtes = (place: Place, query: Query): Ctes => {
  const numbers = query.ctes.map(() => place.count());
  query.ctes.forEach(({ query: inner }, index) => {
    const number = numbers[index] ?? 0;
    const ctes = ctesFor(query, numbers, place.ctes, index);
    const write = (at: Place): void => writeQuery({ ...at, ctes, scope: null, role: { kind: 'named' } }, inner);
    if (place.grammar.features.has('inline-ctes')) place.inlined.set(number, write);
    else {
      place.put(`${index === 0 ? 'WITH ' : ', '}${cteName(number)} AS (`);
      write(place);
      place.put(query.ctes.length - 1 === index ? ') ' : ')');
    }
  });
  return ctesFor(query, numbers, place.ctes);
};

/** The names that ORDER BY knows. */
const writeBody = (place: Place, body: Query['body']): Scope | null => {
  if (body.kind === 'select') return writeBlock(place, body);
  if (body.kind === 'query') writeNested(place, body);
  else {
    body.items.forEach((item, index) => {
      const role: Role = index === 0 ? place.role : { kind: 'values' };
      if (index > 0) place.put(` ${body.operator} `);
      if (item.kind === 'select') writeBlock({ ...place, role }, item);
      else writeNested({ ...place, role }, item);
    });
  }
  return place.scope;
};

const writeNested = (place: Place, body: Exclude<Query['body'], Select>): void => {
  place.put('(');
  if (body.kind === 'query') writeQuery(place, body);
  else writeBody(place, body);
  place.put(')');
};

const writeBlock = (place: Place, select: Select): Scope => {
  const scope: Scope = { known: knownOf(place, select.from), outer: place.scope };
  const within: Place = { ...place, scope };
  const around = aroundOf(within);
  if (place.role.kind === 'outermost') assertNames(place, select.items);
  place.put(select.isDistinct ? 'SELECT DISTINCT ' : 'SELECT ');
  select.items.forEach((item, index) => {
    if (index > 0) place.put(', ');
    writeItem(within, item);
  });
  writeSources(within, select.from, scope.known);
  writeWhere(within, select, scope.known);
  writeGroup(around, select.group);
  if (select.isRollup) place.put(' WITH ROLLUP');
  if (select.having !== null) {
    place.put(' HAVING ');
    writeExpression(around, select.having);
  }
  return scope;
};

const writeSources = (place: Place, from: readonly Joined[], known: readonly Known[]): void => {
  from.forEach(({ join, on, using }, index) => {
    const source = known[index];
    if (source === undefined) return;
    if (join === '') place.put(' FROM ');
    else place.put(join === ',' ? ', ' : ` ${join} `);
    writeSource(place, source);
    if (using.length > 0) place.put(` USING (${using.map(quoted).join(', ')})`);
    if (on === null) return;
    place.put(' ON ');
    writeExpression(aroundOf(place), on);
  });
};

const writeSource = (place: Place, { alias, of }: Known): void => {
  if (of.kind === 'table') {
    place.hole({ kind: 'table', table: of.number, alias });
    return;
  }
  const inlined = of.kind === 'cte' ? place.inlined.get(of.number) : undefined;
  if (of.kind === 'cte' && inlined === undefined) place.put(cteName(of.number));
  else {
    place.put('(');
    if (of.kind === 'query') {
      // It does not see the tables beside it.
      writeQuery({ ...place, scope: place.scope?.outer ?? null, role: { kind: 'named' } }, of);
    } else inlined?.(place);
    place.put(')');
  }
  place.put(` AS ${quoted(alias)}`);
};

const writeWhere = (place: Place, { where }: Select, known: readonly Known[]): void => {
  const { role } = place;
  const isOpen = role.kind === 'outermost' && role.isBlock;
  if (where !== null || isOpen) place.put(' WHERE ');
  if (where !== null) writeExpression(aroundOf(place), where);
  if (!isOpen) return;
  if (where === null) place.put('TRUE');
  place.hole({ kind: 'conditions' });
  role.block = known.flatMap(({ alias, of }) => (of.kind === 'table' ? [{ table: of.number, alias }] : []));
};

const writeItem = (place: Place, item: Item): void => {
  if (item.kind === 'all') writeAll(place, item);
  else writeNamed(place, item);
};

const writeNamed = (place: Place, item: Extract<Item, { kind: 'item' }>): void => {
  const { expression, alias, location } = item;
  writeExpression(aroundOf(place), expression);
  const name = nameOf(item);
  if (name === undefined && place.role.kind === 'outermost')
    place.refuse('a column of the result without a name; write AS and a name behind it', 'sql-name', location);
  // What a database calls a column without alias is not alike everywhere; where an alias is known in WHERE, it is given to none that has no need.
  const isPlain = expression.kind === 'column' && expression.path.length === 1;
  const isCalled = isPlain
    ? place.role.kind === 'outermost' && !place.grammar.features.has('global-aliases')
    : expression.kind === 'column' && place.role.kind !== 'values';
  if (name !== undefined && (alias !== null || isCalled)) place.put(` AS ${quoted(name)}`);
};

const writeAll = (place: Place, { of, location }: Extract<Item, { kind: 'all' }>): void => {
  if (of.length > 0) place.put(`${ownerIn(place, { path: [...of, '*'], location })}.`);
  place.put('*');
};

/** The alias before a column, in quotes. */
const ownerIn = (place: Place, { path, location }: Pick<Column, 'path' | 'location'>): string => {
  const owner = ownerOf(path, place.scope, place.grammar);
  return owner === undefined
    ? place.refuse('a column of a table that its FROM does not name', 'sql-name', location)
    : quoted(owner);
};

const aroundOf = (place: Place): Around => ({
  grammar: place.grammar,
  refuse: place.refuse,
  put: place.put,
  isVariable: (path) => variableOf(path) !== undefined,
  query: (query) => writeQuery({ ...place, role: { kind: 'values' } }, query),
  column: (column, isItem) => {
    const name = variableOf(column.path);
    if (name === undefined) writeColumn(place, column);
    else {
      place.addVariable(name);
      place.hole({ kind: 'variable', name, isItem });
    }
  },
});

const writeColumn = (place: Place, column: Column): void => {
  const { path } = column;
  if (path.length > 1) place.put(`${ownerIn(place, column)}.`);
  place.put(quoted(path.at(-1) ?? ''));
};
