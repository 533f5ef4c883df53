/**
 * Stops requests to a dependency that does not respond. Closed: all requests pass. Open: every request is refused until
 * a time has passed. Then one request passes as the probe. The probe closes the circuit, or opens it again for twice as
 * long.
 */
export type CircuitBreakerOptions = {
  /** Consecutive failures that open the circuit. Any success resets the count. */
  readonly failures: number;
  /** Milliseconds that the circuit stays open after it opens for the first time. `maxOpenMs` is the upper limit. */
  readonly openMs: number;
  readonly maxOpenMs: number;
  /** Returns the milliseconds of a monotonic clock. */
  readonly nowMs: () => number;
  readonly onChange: (state: 'open' | 'closed', openMs: number) => void;
};

/** The circuit is open. `remainingMs` is the time until the next probe. */
export class CircuitOpen extends Error {
  override readonly name = 'CircuitOpen';
  constructor(readonly remainingMs: number) {
    super('the circuit is open');
  }
}

/** Reports the outcome of an admitted request. The caller must call exactly one of these functions. */
export type Admission = {
  readonly succeeded: () => void;
  /**
   * `by` identifies the caller whose request failed. It is undefined if the dependency gave no answer to anybody.
   * `leaveAloneMs` is the time that the dependency asked callers to wait.
   */
  readonly failed: (by?: string | undefined, leaveAloneMs?: number | undefined) => void;
  /** The outcome says nothing about the state of the dependency. */
  readonly void: () => void;
};

export type CircuitBreaker = {
  /** Throws CircuitOpen if the circuit is open. Admits no request. */
  readonly assertAsking: () => void;
  /** Admits one request. Throws CircuitOpen if the circuit is open. */
  readonly admit: () => Admission;
};

/**
 * Failures with an answer open the circuit only if at least two callers had them. Otherwise one caller could close the
 * dependency to all others.
 */
const minAskers = 2;

/** Counts failures since the last success. `add` returns whether these failures open the circuit. */
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
  // The value 0 means that the circuit is closed.
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
      // A request that began before the circuit opened cannot close it. Only the probe can.
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
