/** Undo and redo without end, for drafts and for boards. */
export type History<State> = {
  readonly past: readonly State[];
  readonly present: State;
  readonly future: readonly State[];
};

export const historyOf = <State>(present: State): History<State> => ({ past: [], present, future: [] });

/** Adds a state. The same state again changes nothing; another one ends what could be redone. */
export const changed = <State>(history: History<State>, next: State): History<State> =>
  next === history.present ? history : { past: [...history.past, history.present], present: next, future: [] };

export const undone = <State>(history: History<State>): History<State> => {
  const before = history.past.at(-1);
  if (before === undefined) return history;
  return { past: history.past.slice(0, -1), present: before, future: [history.present, ...history.future] };
};

export const redone = <State>(history: History<State>): History<State> => {
  const [next, ...future] = history.future;
  if (next === undefined) return history;
  return { past: [...history.past, history.present], present: next, future };
};
