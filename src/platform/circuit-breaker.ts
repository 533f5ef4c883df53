/**
 * Stops asking what does not answer. Closed: everybody asks. Open: nobody does, until a time has passed. Then one work
 * is let through as the probe: it closes the circuit, or opens it again for twice as long.
 */
export type CircuitBreakerOptions = {
  /** Failures in a row that open it; any success between starts the count anew. */
  readonly failures: number;
  /** Milliseconds that it stays open at first, and at most. */
  readonly openMs: number;
  readonly maxOpenMs: number;
  /** Milliseconds of a clock that only goes forward. */
  readonly nowMs: () => number;
  readonly onChange: (state: 'open' | 'closed', openMs: number) => void;
};

/** Nobody may ask now; `remainingMs` until the next probe. */
export class CircuitOpen extends Error {
  override readonly name = 'CircuitOpen';
  constructor(readonly remainingMs: number) {
    super('the circuit is open');
  }
}

/** What became of an admitted work; each must say one of these. */
export type Admission = {
  readonly succeeded: () => void;
  /** `by` is whose request failed; left out: nobody was answered at all. `leaveAloneMs`: what the other side asked for. */
  readonly failed: (by?: string | undefined, leaveAloneMs?: number | undefined) => void;
  /** It says nothing about the other side. */
  readonly void: () => void;
};

export type CircuitBreaker = {
  /** Throws CircuitOpen; admits nothing. */
  readonly assertAsking: () => void;
  /** Throws CircuitOpen. */
  readonly admit: () => Admission;
};

/** Of failures that were answered, those of one asker alone do not open the circuit: it could close it to the others. */
const minAskers = 2;

/** Failures since the last success; `add` says whether they open the circuit. */
const createRun = (failures: number) => {
  let failed = 0;
  let isAnswered = true;
  const askers = new Set<string>();
  return {
    add: (by: string | undefined): boolean => {
      failed += 1;
      if (by === undefined) isAnswered = false;
      else if (askers.size < minAskers) askers.add(by);
      return failed >= failures && (!isAnswered || askers.size >= minAskers);
    },
    end: (): void => {
      failed = 0;
      isAnswered = true;
      askers.clear();
    },
  };
};

export const createCircuitBreaker = (options: CircuitBreakerOptions): CircuitBreaker => {
  const { nowMs, onChange } = options;
  const run = createRun(options.failures);
  // 0: closed.
  let openMs = 0;
  let openUntilMs = 0;
  let isProbing = false;
  const close = (): void => {
    run.end();
    if (openMs > 0) onChange('closed', 0);
    openMs = 0;
  };
  const open = (leaveAloneMs: number): void => {
    openMs = Math.min(Math.max(openMs === 0 ? options.openMs : openMs * 2, leaveAloneMs), options.maxOpenMs);
    openUntilMs = nowMs() + openMs;
    onChange('open', openMs);
  };
  const assertAsking = (): void => {
    if (openMs === 0) return;
    const leftMs = Math.max(openUntilMs - nowMs(), isProbing ? 1 : 0);
    if (leftMs > 0) throw new CircuitOpen(leftMs);
  };
  const admit = (): Admission => {
    assertAsking();
    const isProbe = openMs > 0;
    if (isProbe) isProbing = true;
    const settle = (say: () => void): void => {
      if (isProbe) isProbing = false;
      // What began before the circuit opened has no say in whether it closes: only the probe has.
      if (isProbe || openMs === 0) say();
    };
    return {
      succeeded: () => settle(close),
      failed: (by, leaveAloneMs = 0) => settle(() => (run.add(by) || isProbe ? open(leaveAloneMs) : undefined)),
      void: () => settle(() => {}),
    };
  };
  return { assertAsking, admit };
};
