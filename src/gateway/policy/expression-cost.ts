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

/** The maximum length of a list, and the shape of its elements. Null if the value is not a list. */
export type Shape = { readonly size: number; readonly element: Shape } | null;
/** Shapes of the variables by path, such as `user.roles`. */
export type Shapes = ReadonlyMap<string, Shape>;
type Costed = { readonly cost: number; readonly shape: Shape };

export const listOf = (element: Shape, size = maxClaimList): Shape => ({ size, element });

/** An unknown value could be a list of the session. */
const unknown: Shape = listOf(null);

const comprehensions = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);

const isNode = (value: unknown): value is ASTNode =>
  typeof value === 'object' && value !== null && 'op' in value && 'args' in value;

const nodesIn = (value: unknown): readonly ASTNode[] => {
  if (isNode(value)) return [value];
  return Array.isArray(value) ? value.flatMap(nodesIn) : [];
};

/** Returns the path of a variable as text, such as `user.claims.groups`. Undefined if the node is not a plain path. */
const pathOf = ({ op, args }: ASTNode): string | undefined => {
  if (op === 'id') return String(args);
  if (op !== '.' || !Array.isArray(args) || !isNode(args[0])) return undefined;
  const parent = pathOf(args[0]);
  return parent === undefined ? undefined : `${parent}.${String(args[1])}`;
};

const sizeOf = (shape: Shape): number => shape?.size ?? 1;
const sum = (parts: readonly Costed[]): number => parts.reduce((cost, part) => cost + part.cost, 0);
const longest = (shapes: readonly Shape[]): Shape =>
  shapes.reduce<Shape>((found, shape) => (shape !== null && sizeOf(shape) >= sizeOf(found) ? shape : found), null);

/** Returns the cost of a loop over its receiver. Its body runs once for each entry. */
const costOfLoop = (name: string, receiver: Costed, given: readonly ASTNode[], shapes: Shapes): Costed => {
  const [variable, ...bodies] = given;
  const list = receiver.shape ?? unknown;
  const inner = new Map([...shapes, [String(variable?.args), list?.element ?? null]]);
  const costed = bodies.map((body) => costOf(body, inner));
  const size = sizeOf(list);
  const cost = 1 + receiver.cost + size * (1 + sum(costed));
  if (name === 'filter') return { cost, shape: list };
  return { cost, shape: name === 'map' ? listOf(costed.at(-1)?.shape ?? null, size) : null };
};

const costOfCall = ({ op, args }: ASTNode, shapes: Shapes): Costed => {
  const [name, first, rest] = args as unknown as readonly [string, unknown, unknown];
  const [receiver, given] = op === 'rcall' ? [first, nodesIn(rest)] : [undefined, nodesIn(first)];
  const on = isNode(receiver) ? costOf(receiver, shapes) : { cost: 0, shape: null };
  if (op === 'rcall' && comprehensions.has(name)) return costOfLoop(name, on, given, shapes);
  if (name === 'bind' && isNode(receiver) && pathOf(receiver) === 'cel') {
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

/** Returns the cost of an operator. Comparing or joining two lists reads both, and a search reads the whole list. */
const costOfOperator = (op: string, parts: readonly Costed[]): Costed => {
  const cost = 1 + sum(parts);
  const lists = parts.map(({ shape }) => shape).filter((shape) => shape !== null);
  const entries = lists.reduce((count, list) => count + sizeOf(list), 0);
  if (op === '[]') return { cost, shape: parts[0]?.shape === null ? null : (parts[0]?.shape?.element ?? unknown) };
  if (op === '?:') return { cost, shape: longest(parts.slice(1).map(({ shape }) => shape)) };
  const isCompared = ['==', '!=', 'in', '+'].includes(op);
  if (op === '+' && lists.length > 0)
    return { cost: cost + entries, shape: listOf(longest(lists)?.element ?? null, entries) };
  return { cost: cost + (isCompared ? entries : 0), shape: null };
};

const costOf = (node: ASTNode, shapes: Shapes): Costed => {
  const { op, args } = node;
  const path = pathOf(node);
  const known = path === undefined ? undefined : shapes.get(path);
  if (known !== undefined) return { cost: path?.split('.').length ?? 1, shape: known };
  if (op === 'value') return { cost: 1, shape: null };
  if (op === 'call' || op === 'rcall') return costOfCall(node, shapes);
  const parts = nodesIn(args).map((part) => costOf(part, shapes));
  if (op === 'list') {
    const element = longest(parts.map(({ shape }) => shape));
    return { cost: 1 + sum(parts), shape: listOf(element, parts.length) };
  }
  // The values of a map or an undeclared field are unknown.
  if (op === 'id' || op === '.' || op === '.?' || op === '[?]') return { cost: 1 + sum(parts), shape: unknown };
  return costOfOperator(op, parts);
};

/** Returns the steps of one evaluation. `shapes` has every variable, and every declared field of a variable. */
export const expressionCost = (ast: ASTNode, shapes: Shapes): number => costOf(ast, shapes).cost;
