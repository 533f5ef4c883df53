/**
 * Finds the claims that an expression needs and that a source of claims never gives, from the expression's text. A claim
 * that the expression asks for by `has()` may be missing: the branch for a session with it is not read then. Pure.
 */
import { type ASTNode, parse } from '@marcbachmann/cel-js';

/** A claim that is always given, by its path, such as `o.id`. `isOpen`: whether it may have any members. */
export type GivenClaim = { readonly path: readonly string[]; readonly isOpen: boolean };

const isNode = (value: unknown): value is ASTNode =>
  typeof value === 'object' && value !== null && 'op' in value && 'args' in value;

const nodesIn = (value: unknown): readonly ASTNode[] => {
  if (isNode(value)) return [value];
  return Array.isArray(value) ? value.flatMap(nodesIn) : [];
};

const memberOf = (part: unknown): string | undefined => {
  if (typeof part === 'string') return part;
  return isNode(part) && part.op === 'value' && typeof part.args === 'string' ? part.args : undefined;
};

/** Returns the path of a claim: `claims.o.id` and `claims["o"].id` are the same. Undefined for other nodes. */
const claimPathOf = ({ op, args }: ASTNode): readonly string[] | undefined => {
  if (op === 'id') return args === 'claims' ? [] : undefined;
  if ((op !== '.' && op !== '[]') || !Array.isArray(args) || !isNode(args[0])) return undefined;
  const parent = claimPathOf(args[0]);
  const member = memberOf(args[1]);
  return parent === undefined || member === undefined ? undefined : [...parent, member];
};

const begins = (path: readonly string[], start: readonly string[]): boolean =>
  start.every((part, index) => path[index] === part);

const isGiven = (path: readonly string[], given: readonly GivenClaim[]): boolean =>
  given.some((claim) => begins(claim.path, path) || (claim.isOpen && begins(path, claim.path)));

/** Returns whether the condition is known, since it asks for a claim that is always given or never. */
const known = (node: ASTNode, given: readonly GivenClaim[]): boolean | undefined => {
  const { op } = node;
  const parts = nodesIn(node.args);
  if (op === 'call' && Array.isArray(node.args) && (node.args[0] as unknown) === 'has') {
    const path = parts[0] === undefined ? undefined : claimPathOf(parts[0]);
    if (path === undefined) return undefined;
    if (!isGiven(path, given)) return false;
    return given.some((claim) => begins(claim.path, path)) ? true : undefined;
  }
  const values = parts.map((part) => known(part, given));
  if (op === '!_') return values[0] === undefined ? undefined : !values[0];
  if (op === '&&') return values.includes(false) ? false : values.every((value) => value === true) || undefined;
  if (op === '||') return values.includes(true) ? true : values.every((value) => value === false) ? false : undefined;
  return undefined;
};

const missingIn = (node: ASTNode, given: readonly GivenClaim[]): readonly (readonly string[])[] => {
  const path = claimPathOf(node);
  if (path !== undefined) return path.length === 0 || isGiven(path, given) ? [] : [path];
  const parts = nodesIn(node.args);
  if (node.op === 'call' && Array.isArray(node.args) && (node.args[0] as unknown) === 'has') return [];
  if (node.op === '?:' && parts[0] !== undefined) {
    const condition = known(parts[0], given);
    const read = condition === undefined ? parts : [parts[0], parts[condition ? 1 : 2]];
    return read.flatMap((part) => (part === undefined ? [] : missingIn(part, given)));
  }
  const decides = node.op === '&&' ? false : node.op === '||' ? true : undefined;
  const end = decides === undefined ? -1 : parts.findIndex((part) => known(part, given) === decides);
  return parts.slice(0, end === -1 ? undefined : end + 1).flatMap((part) => missingIn(part, given));
};

/** Returns the claims, such as `claims.o.id`, that `source` reads and that are never given. */
export const missingClaims = (source: string, given: readonly GivenClaim[]): readonly string[] => [
  ...new Set(missingIn(parse(source).ast, given).map((path) => ['claims', ...path].join('.'))),
];
