/**
 * Long work in slices. The event loop serves nobody while work goes on without waiting for anything outside of the process: the embedded
 * database and the in-process service answer in the same thread, so a thousand awaited calls to them are one block of time.
 */

/** To be awaited between small steps of long work: once a slice is over, everything else that waits on the event loop goes first. */
export type Breathe = () => Promise<void> | undefined;

export type BreatheOptions = {
  /** How long work may go on before others have their turn. */
  readonly sliceMs?: number;
  /** A monotonic clock, in milliseconds. */
  readonly nowMs?: () => number;
  /** Calls back once the event loop has gone round. */
  readonly afterOthers?: (then: () => void) => void;
};

/** Slices of its own: all work that shares the event loop shares one, since together they keep it from others. */
export const createBreathe = ({
  sliceMs = 8,
  nowMs = () => performance.now(),
  afterOthers = setImmediate,
}: BreatheOptions = {}): Breathe => {
  let endsAtMs = Number.NEGATIVE_INFINITY;
  let turn: Promise<void> | undefined;
  return () => {
    // Who comes while others have their turn waits for its end with everybody else.
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

/** Of this process. */
export const breathe = createBreathe();
