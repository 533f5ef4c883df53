/**
 * Computes the worst-case cost of an expression from its text: the number of steps if every list of the session has the
 * maximum length. One step is one node of the expression, about 30 ns. Evaluation blocks the event loop, so a policy
 * that costs too much is refused when it is loaded.
 */
import type { ASTNode } from '@marcbachmann/cel-js';

/** Maximum length of a list in a claim or in `user.roles`. A longer one counts as a claim of the wrong type. */
export const maxClaimList = 256;
/** Maximum length of a text in a claim, in UTF-16 units. A longer one counts as a claim of the wrong type. */
export const maxClaimText = 4096;
/** Maximum steps of one expression. This is enough to compare every role with every entry of one claim. */
export const maxExpressionCost = 300_000;
/** Maximum steps of all expressions that one request may evaluate, about 30 ms. */
export const maxPolicyCost = 1_000_000;
/**
 * Number of evaluations of an expression that reads `now`: one for each minute of the next hour, and some to find the
 * exact time of a change.
 */
export const evaluationsOverTime = 80;

/**
 * What a value can hold: a list or a map with its maximum length, or an object with its declared members. Null: a value
 * without parts.
 */
export type Shape =
  | { readonly kind: 'list' | 'map'; readonly size: number; readonly element: Shape }
  | { readonly kind: 'object'; readonly members: ReadonlyMap<string, Shape> }
  | null;
/** Shapes of the variables by name. */
export type Shapes = ReadonlyMap<string, Shape>;
type List = Extract<Shape, { readonly size: number }>;
type Costed = { readonly cost: number; readonly shape: Shape };

export const listOf = (element: Shape, size = maxClaimList): List => ({ kind: 'list', size, element });
/** A map of a claim. Going through it reads its keys. */
export const mapOf = (element: Shape): List => ({ kind: 'map', size: maxClaimList, element });
export const objectOf = (members: ReadonlyMap<string, Shape>): Shape => ({ kind: 'object', members });

/** An unknown value could be a list of the session. */
const unknown = listOf(null);

const comprehensions = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);

const isNode = (value: unknown): value is ASTNode =>
  typeof value === 'object' && value !== null && 'op' in value && 'args' in value;

const nodesIn = (value: unknown): readonly ASTNode[] => {
  if (isNode(value)) return [value];
  return Array.isArray(value) ? value.flatMap(nodesIn) : [];
};

const isCel = (node: unknown): boolean => isNode(node) && node.op === 'id' && node.args === 'cel';

const sum = (parts: readonly Costed[]): number => parts.reduce((cost, part) => cost + part.cost, 0);
const sizeOf = (shape: Shape): number => (shape === null || shape.kind === 'object' ? 1 : shape.size);

/** The number of values in the shape, which a comparison of two such values may read. */
const weightOf = (shape: Shape): number => {
  if (shape === null) return 1;
  if (shape.kind !== 'object') return shape.size * weightOf(shape.element);
  return [...shape.members.values()].reduce((weight, member) => weight + weightOf(member), 1);
};
const heaviest = (shapes: Iterable<Shape>): Shape => {
  let found: Shape = null;
  for (const shape of shapes) if (shape !== null && weightOf(shape) >= weightOf(found)) found = shape;
  return found;
};
const elementOf = (shape: Shape): Shape => (shape === null || shape.kind === 'object' ? null : shape.element);

/** The shape of a member. An undeclared one is unknown. */
const memberOf = (shape: Shape, name: string): Shape => {
  if (shape?.kind === 'map') return shape.element;
  const member = shape?.kind === 'object' ? shape.members.get(name) : undefined;
  return member === undefined ? unknown : member;
};

/** The shape at an index that is known only at evaluation. */
const entryOf = (shape: Shape): Shape => {
  if (shape === null) return null;
  return (shape.kind === 'object' ? heaviest(shape.members.values()) : shape.element) ?? unknown;
};

/** What a loop goes through: a list, or the keys of a map. */
const iterated = (shape: Shape): List => {
  if (shape?.kind === 'map') return listOf(null, shape.size);
  return shape?.kind === 'list' ? shape : unknown;
};

/** Returns the cost of a loop over its receiver. Its body runs once for each entry. */
const costOfLoop = (name: string, receiver: Costed, given: readonly ASTNode[], shapes: Shapes): Costed => {
  const [variable, ...bodies] = given;
  const list = iterated(receiver.shape);
  const inner = new Map([...shapes, [String(variable?.args), list.element]]);
  const costed = bodies.map((body) => costOf(body, inner));
  const cost = 1 + receiver.cost + list.size * (1 + sum(costed));
  if (name === 'filter') return { cost, shape: list };
  return { cost, shape: name === 'map' ? listOf(costed.at(-1)?.shape ?? null, list.size) : null };
};

const costOfCall = ({ op, args }: ASTNode, shapes: Shapes): Costed => {
  const [name, first, rest] = args as unknown as readonly [string, unknown, unknown];
  const [receiver, given] = op === 'rcall' ? [first, nodesIn(rest)] : [undefined, nodesIn(first)];
  const on = isNode(receiver) ? costOf(receiver, shapes) : { cost: 0, shape: null };
  if (op === 'rcall' && comprehensions.has(name)) return costOfLoop(name, on, given, shapes);
  if (name === 'bind' && isCel(receiver)) {
    const [variable, value, body] = given as readonly [ASTNode, ASTNode, ASTNode];
    const bound = costOf(value, shapes);
    const { cost, shape } = costOf(body, new Map([...shapes, [String(variable.args), bound.shape]]));
    return { cost: 1 + bound.cost + cost, shape };
  }
  const costed = given.map((argument) => costOf(argument, shapes));
  const cost = 1 + on.cost + sum(costed);
  if (name === 'split') return { cost: cost + maxClaimText, shape: listOf(null, maxClaimText) };
  if (name === 'dyn') return { cost, shape: costed[0]?.shape ?? null };
  return { cost: cost + (name === 'join' ? sizeOf(on.shape) : 0), shape: null };
};

/**
 * Returns the cost of an operator. Comparing two values reads both, a search reads all that it looks through, and
 * joining two lists reads their entries.
 */
const costOfOperator = (op: string, parts: readonly Costed[]): Costed => {
  const cost = 1 + sum(parts);
  const shapes = parts.map(({ shape }) => shape).filter((shape) => shape !== null);
  if (op === '[]') return { cost, shape: entryOf(parts[0]?.shape ?? null) };
  if (op === '?:') return { cost, shape: heaviest(parts.slice(1).map(({ shape }) => shape)) };
  if (op === '+' && shapes.length > 0) {
    const entries = shapes.reduce((count, shape) => count + sizeOf(shape), 0);
    return { cost: cost + entries, shape: listOf(heaviest(shapes.map(elementOf)), entries) };
  }
  // Finding a name in a map reads no entry.
  const isRead = op === '==' || op === '!=' || (op === 'in' && parts[1]?.shape?.kind !== 'map');
  if (!isRead) return { cost, shape: null };
  return { cost: shapes.reduce((read, shape) => read + weightOf(shape), cost), shape: null };
};

/** The name of a member that the text itself has: `claims.o` or `claims["o"]`. */
const namedMember = ({ op, args }: ASTNode): string | undefined => {
  if (op === '.') return args[1];
  return op === '[]' && args[1].op === 'value' && typeof args[1].args === 'string' ? args[1].args : undefined;
};

const costOf = (node: ASTNode, shapes: Shapes): Costed => {
  const { op, args } = node;
  if (op === 'value') return { cost: 1, shape: null };
  if (op === 'id') {
    const known = shapes.get(args);
    return { cost: 1, shape: known === undefined ? unknown : known };
  }
  if (op === 'call' || op === 'rcall') return costOfCall(node, shapes);
  const parts = nodesIn(args).map((part) => costOf(part, shapes));
  if (op === 'list') {
    const element = heaviest(parts.map(({ shape }) => shape));
    return { cost: 1 + sum(parts), shape: listOf(element, parts.length) };
  }
  const member = namedMember(node);
  if (member !== undefined) return { cost: 1 + sum(parts), shape: memberOf(parts[0]?.shape ?? null, member) };
  // The values of a map in the expression are unknown.
  if (op === '.?' || op === '[?]') return { cost: 1 + sum(parts), shape: unknown };
  return costOfOperator(op, parts);
};

/** Returns the steps of one evaluation. `shapes` has every variable. */
export const expressionCost = (ast: ASTNode, shapes: Shapes): number => costOf(ast, shapes).cost;
