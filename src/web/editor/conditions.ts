/**
 * Conditions as a shelf shows them: a list, in which `isOr` says that this one or the one before suffices. So all of
 * the list's groups must pass, and one condition of each. A tree that is nested deeper stays as it is. Pure.
 */

type Leaf = { readonly predicate: unknown };
/** A group of which one must pass, with groups in it. */
export type Deep<L extends Leaf> = { readonly any: readonly Tree<L>[] };
type Tree<L extends Leaf> = L | { readonly all: readonly Tree<L>[] } | { readonly any: readonly Tree<L>[] };
/** A condition in a list. */
export type Either<L extends Leaf> = L & { readonly isOr?: true | undefined };

const isLeaf = <L extends Leaf>(tree: Tree<L>): tree is L => 'predicate' in tree;

/** The trees that must all pass. */
const conjuncts = <L extends Leaf>(tree: Tree<L>): readonly (L | Deep<L>)[] => {
  if (isLeaf(tree)) return [tree];
  return 'all' in tree ? tree.all.flatMap((one) => conjuncts(one)) : [tree];
};

const inList = <L extends Leaf>(group: readonly L[]): readonly Either<L>[] =>
  group.map((leaf, at) => (at === 0 ? leaf : { ...leaf, isOr: true }));

/** Returns the conditions of a tree that a shelf shows, and the others. */
export const shelvesOf = <L extends Leaf>(
  tree: Tree<L> | undefined,
): { readonly shown: readonly Either<L>[]; readonly deep: readonly Deep<L>[] } => {
  const groups = (tree === undefined ? [] : conjuncts(tree)).map((one) => {
    if (isLeaf<L>(one)) return { leaves: [one] };
    const leaves = one.any.filter((item): item is L => isLeaf(item));
    return leaves.length === one.any.length ? { leaves } : { deep: one };
  });
  return {
    shown: groups.flatMap(({ leaves }) => (leaves === undefined ? [] : inList(leaves))),
    deep: groups.flatMap(({ deep }) => (deep === undefined ? [] : [deep])),
  };
};

/** The places at which a group of the list begins. */
const groupsOf = <L extends Leaf>(list: readonly Either<L>[]): readonly (readonly L[])[] => {
  const groups: L[][] = [];
  for (const { isOr, ...leaf } of list) {
    const last = groups.at(-1);
    if (isOr === true && last !== undefined) last.push(leaf as unknown as L);
    else groups.push([leaf as unknown as L]);
  }
  return groups;
};

/** Returns the tree of a list. Undefined without conditions. */
export const treeOf = <L extends Leaf>(list: readonly Either<L>[], deep: readonly Deep<L>[]): Tree<L> | undefined => {
  const groups = groupsOf(list).map((group) => (group.length === 1 && group[0] ? group[0] : { any: group }));
  const all: readonly Tree<L>[] = [...deep, ...groups];
  const [only] = all;
  if (only === undefined) return undefined;
  return all.length === 1 && !isLeaf(only) ? only : { all };
};

const depthOf = <L extends Leaf>(tree: Tree<L>): number =>
  isLeaf(tree) ? 0 : 1 + Math.max(0, ...('all' in tree ? tree.all : tree.any).map(depthOf));

/** Groups in groups that the service takes. */
const greatestDepth = 3;

/** Whether conditions can be added beside the trees: together they are one level deeper. */
export const hasRoomBeside = <L extends Leaf>(deep: readonly Deep<L>[] = []): boolean =>
  deep.every((tree) => depthOf(tree) < greatestDepth);

/** Every condition of a tree. */
export const leavesOf = <L extends Leaf>(tree: Tree<L>): readonly L[] =>
  isLeaf(tree) ? [tree] : ('all' in tree ? tree.all : tree.any).flatMap((one) => leavesOf(one));

/** Returns the tree with other names of its measures. */
export const renamedIn = <L extends Leaf & { readonly measure: string }>(
  tree: Deep<L>,
  write: (name: string) => string,
): Deep<L> => {
  const walk = (one: Tree<L>): Tree<L> => {
    if (isLeaf(one)) return { ...one, measure: write(one.measure) };
    return 'all' in one ? { all: one.all.map(walk) } : { any: one.any.map(walk) };
  };
  return { any: tree.any.map(walk) };
};
