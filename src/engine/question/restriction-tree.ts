/**
 * The token's conditions on tables that the metric does not join, as a tree of the paths to these tables. A hidden
 * row must not count for any question, so every semi-join includes the part of the tree that starts at its rows.
 */
import type { Step } from './paths.js';
import type { ResolvedCondition } from './resolve.js';

/** The path from a joined table to another one, and the conditions on the last table. */
export type Way = { readonly steps: readonly Step[]; readonly conditions: readonly ResolvedCondition[] };

type Branch = {
  readonly step: Step;
  readonly conditions: readonly ResolvedCondition[];
  readonly next: RestrictionTree;
};
export type RestrictionTree = readonly Branch[];

/** A row of the step's far table that passes the conditions and has a chain of rows for each of `branches`. */
export type Link = {
  readonly step: Step;
  readonly conditions: readonly ResolvedCondition[];
  readonly branches: readonly Chain[];
};
export type Chain = readonly Link[];

/** Builds the tree. Steps that two paths share lead to one row. */
export const growTree = (ways: readonly Way[]): RestrictionTree => {
  const firsts = ways.flatMap(({ steps: [first] }) => first ?? []);
  return firsts
    .filter((step, index) => firsts.findIndex((other) => isSame(other, step)) === index)
    .map((step) => {
      const along = ways.filter(({ steps: [first] }) => first !== undefined && isSame(first, step));
      return {
        step,
        conditions: along.flatMap(({ steps, conditions }) => (steps.length === 1 ? conditions : [])),
        next: growTree(along.map(({ steps, conditions }) => ({ steps: steps.slice(1), conditions }))),
      };
    });
};

/**
 * One chain per branch of the tree, without the branches that a chain of `asked` starts with: that chain includes the
 * branch's conditions.
 */
export const chainsOf = (tree: RestrictionTree, asked: readonly Chain[]): readonly Chain[] =>
  tree.filter(({ step }) => !asked.some(([first]) => first !== undefined && isSame(first.step, step))).map(chainOf);

const chainOf = ({ step, conditions, next }: Branch): Chain => {
  const [only, ...others] = next;
  return only !== undefined && others.length === 0
    ? [{ step, conditions, branches: [] }, ...chainOf(only)]
    : [{ step, conditions, branches: next.map(chainOf) }];
};

/** The path as a chain, with all conditions of the tree on each of its rows. */
export const walk = (tree: RestrictionTree, { steps: [step, ...rest], conditions }: Way): Chain => {
  if (step === undefined) return [];
  const { conditions: restrictions, next } = tree.find((branch) => isSame(branch.step, step)) ?? nothing;
  const [following] = rest;
  return [
    {
      step,
      conditions: following === undefined ? [...restrictions, ...conditions] : restrictions,
      branches: next.filter((branch) => following === undefined || !isSame(branch.step, following)).map(chainOf),
    },
    ...walk(next, { steps: rest, conditions }),
  ];
};

const nothing: Pick<Branch, 'conditions' | 'next'> = { conditions: [], next: [] };

const isSame = (a: Step, b: Step): boolean => a.relationship === b.relationship;

/** Whether the chain has a condition that the caller may not know of. */
export const isHiddenChain = (chain: Chain): boolean =>
  chain.some(({ conditions, branches }) => conditions.some(({ isHidden }) => isHidden) || branches.some(isHiddenChain));

/** Whether the chain has a condition of the token, and so decides over the rows from which it leads. */
export const isOfToken = (chain: Chain): boolean =>
  chain.some(({ conditions, branches }) => conditions.some((one) => one.isOfToken) || branches.some(isOfToken));
