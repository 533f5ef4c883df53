/** Shrinks a failing question: removes one part after another while it still fails. */
import type { ACase, ATree } from './cases.js';
import type { AFrame } from './hidden-cases.js';

export type AFailing = { readonly frame: AFrame; readonly question: ACase };

const withoutEach = <T>(items: readonly T[]): readonly (readonly T[])[] =>
  items.map((_, left) => items.filter((_item, index) => index !== left));

const treesBelow = (tree: ATree | null): readonly (ATree | null)[] => {
  if (tree === null) return [];
  if ('all' in tree) return [null, ...tree.all, ...withoutEach(tree.all).map((all) => ({ all }))];
  if ('any' in tree) return [null, ...tree.any, ...withoutEach(tree.any).map((any) => ({ any }))];
  return [null];
};

const plain: Partial<ACase> = {
  having: null,
  calculations: [],
  sorts: [],
  cap: null,
  limit: null,
  offset: 0,
  isWorksheet: false,
  search: null,
};

const smallerFrames = ({ whereRead, token, tables, edges, ...rest }: AFrame): readonly AFrame[] => {
  const frame: AFrame = { ...rest, whereRead, token, tables, edges };
  return [
    ...withoutEach(whereRead).map((left) => ({ ...frame, whereRead: left })),
    ...withoutEach(token).map((left) => ({ ...frame, token: left })),
    ...(tables.length > 1 ? [{ ...frame, tables: tables.slice(0, -1) }] : []),
    ...(frame.derived.length === 0 ? [] : [{ ...frame, derived: [] }]),
    ...(frame.timezone === null ? [] : [{ ...frame, timezone: null }]),
    ...edges.flatMap((edge, index) =>
      edge.join === null ? [] : [{ ...frame, edges: edges.with(index, { ...edge, join: null }) }],
    ),
  ];
};

const smallerQuestions = (question: ACase): readonly ACase[] => [
  ...Object.entries(plain).flatMap(([name, value]) =>
    JSON.stringify(question[name as keyof ACase]) === JSON.stringify(value) ? [] : [{ ...question, [name]: value }],
  ),
  ...(question.ask === 'answer' ? [] : [{ ...question, ask: 'answer' as const }]),
  ...treesBelow(question.where).map((where) => ({ ...question, where })),
  ...withoutEach(question.conditions).map((conditions) => ({ ...question, conditions })),
  ...withoutEach(question.dimensions).map((dimensions) => ({ ...question, dimensions })),
  ...withoutEach(question.measures).map((measures) => ({ ...question, measures })),
  ...withoutEach(question.underlying)
    .filter(({ length }) => length > 0)
    .map((underlying) => ({ ...question, underlying })),
];

const smallerOnes = ({ frame, question }: AFailing): readonly AFailing[] => [
  ...smallerFrames(frame).map((smaller) => ({ frame: smaller, question })),
  ...smallerQuestions(question).map((smaller) => ({ frame, question: smaller })),
];

/** Returns the last failing question after at most `tries` attempts. `fails` returns the fault, or null. */
export const smallest = async (
  first: AFailing,
  fails: (candidate: AFailing) => Promise<unknown>,
  tries: number,
): Promise<unknown> => {
  let [failing, cause, left] = [first, await fails(first), tries];
  for (let isDone = false; !isDone && left > 0; ) {
    isDone = true;
    for (const candidate of smallerOnes(failing)) {
      if (left <= 0) break;
      left -= 1;
      const found = await fails(candidate);
      if (found === null) continue;
      [failing, cause, isDone] = [candidate, found, false];
      break;
    }
  }
  return cause;
};
