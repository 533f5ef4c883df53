/**
 * Splits long work into slices. The embedded database and the in-process service run in this thread. A thousand awaited
 * calls to them therefore block the event loop as one piece of work, and no other request is served meanwhile.
 */

/** Await this function between small steps of long work. If the slice is over, all other tasks on the event loop run first. */
export type Breathe = () => Promise<void> | undefined;

export type BreatheOptions = {
  /** Milliseconds that work may run before other tasks get their turn. */
  readonly sliceMs?: number;
  /** A monotonic clock, in milliseconds. */
  readonly nowMs?: () => number;
  /** Calls `then` after the event loop has completed one round. */
  readonly afterOthers?: (then: () => void) => void;
};

/**
 * Creates a `Breathe` with its own slices. All work on one event loop must share one, because its pieces block other
 * tasks together.
 *
 * @internal Tests only: they move its clock.
 */
export const createBreathe = ({
  sliceMs = 8,
  nowMs = () => performance.now(),
  afterOthers = setImmediate,
}: BreatheOptions = {}): Breathe => {
  let endsAtMs = Number.NEGATIVE_INFINITY;
  let turn: Promise<void> | undefined;
  return () => {
    // While other tasks have their turn, every caller waits for the same end of that turn.
    if (turn !== undefined) return turn;
    if (nowMs() < endsAtMs) return undefined;
    turn = new Promise((resolve) => {
      afterOthers(() => {
        turn = undefined;
        endsAtMs = nowMs() + sliceMs;
        resolve();
      });
    });
    return turn;
  };
};

/** The `Breathe` that all work in this process shares. */
export const breathe = createBreathe();

/** Long work in small steps, with a `yield` between two of them. Its result is the same at once and in slices. */
export type Sliced<Result> = Generator<undefined, Result, undefined>;

/** Does the work for each item in a step of its own. */
export function* eachInSteps<Item, Result>(
  items: readonly Item[],
  work: (item: Item, index: number) => Result,
): Sliced<readonly Result[]> {
  const results: Result[] = [];
  for (const [index, item] of items.entries()) {
    results.push(work(item, index));
    yield;
  }
  return results;
}

/** Does all steps, for callers that nothing waits for: the command line, a start, a thread. */
export const atOnce = <Result>(work: Sliced<Result>): Result => {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
};

/** Does the steps in slices, between which other tasks run. */
export const inSlices = async <Result>(work: Sliced<Result>, pause: Breathe = breathe): Promise<Result> => {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    await pause();
  }
};
