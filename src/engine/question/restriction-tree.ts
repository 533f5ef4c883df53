/**
 * The token's conditions on tables that a metric does not join, as a tree of the ways to these tables. A hidden row must not count for any question, so each
 * semi-join meets the part of the tree that starts at its rows.
 */
import type { Step } from './paths.js';
import type { ResolvedCondition } from './resolve.js';

/** From a joined table to another one, and what is asked of the last row. */
export type Way = { readonly steps: readonly Step[]; readonly conditions: readonly ResolvedCondition[] };

type Branch = {
  readonly step: Step;
  readonly conditions: readonly ResolvedCondition[];
  readonly next: RestrictionTree;
};
export type RestrictionTree = readonly Branch[];

/** One row of the step's far table: it passes the conditions, and a chain of rows exists for each of `branches`, from that very row. */
export type Link = {
  readonly step: Step;
  readonly conditions: readonly ResolvedCondition[];
  readonly branches: readonly Chain[];
};
export type Chain = readonly Link[];

/** Steps that two ways have in common lead to one row. */
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

/** What the tree asks of the joined rows, each branch by one chain. Left out: a branch that a chain of `asked` starts with, which asks the same and more. */
export const chainsOf = (tree: RestrictionTree, asked: readonly Chain[]): readonly Chain[] =>
  tree.filter(({ step }) => !asked.some(([first]) => first !== undefined && isSame(first.step, step))).map(chainOf);

const chainOf = ({ step, conditions, next }: Branch): Chain => {
  const [only, ...others] = next;
  return only !== undefined && others.length === 0
    ? [{ step, conditions, branches: [] }, ...chainOf(only)]
    : [{ step, conditions, branches: next.map(chainOf) }];
};

/** The way, with everything that the tree asks of each of its rows. */
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

/** Whether the chain holds a condition that the caller may not learn about. */
export const isHiddenChain = (chain: Chain): boolean =>
  chain.some(({ conditions, branches }) => conditions.some(({ isHidden }) => isHidden) || branches.some(isHiddenChain));
