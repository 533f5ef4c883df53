/** Renews one guest token before it expires, with backoff after failures. Pure: timers and requests are injected. */

export type MintedToken = {
  readonly token: string;
  /** Milliseconds from the answer until renewal, computed with the server's clock because the browser's may be wrong. */
  readonly refreshInMs: number;
};

/** `retry`: try again, after `retryAfterMs` if the server gave it. `refused`: the session gets no token; do not retry. */
export type MintOutcome<T extends MintedToken> =
  | { readonly kind: 'minted'; readonly minted: T }
  | { readonly kind: 'retry'; readonly retryAfterMs: number | null; readonly reason: string }
  | { readonly kind: 'refused' };

export type TokenKeeperDeps<T extends MintedToken> = {
  /** Requests a token. Must not throw. */
  readonly mint: () => Promise<MintOutcome<T>>;
  readonly onToken: (minted: T) => void;
  /** Called after a failed request, with the wait before the next one. */
  readonly onTrouble: (reason: string, waitMs: number) => void;
  /** Starts a timer and returns a function that stops it. */
  readonly startTimer: (run: () => void, waitMs: number) => () => void;
  readonly isHidden: () => boolean;
  /** A random number from 0 (included) to 1 (excluded). */
  readonly random: () => number;
};

export type TokenKeeper = {
  readonly start: () => void;
  /** Call when the service refused the current token as expired. */
  readonly expired: () => void;
  /** Call when the page becomes visible. */
  readonly shown: () => void;
  readonly stop: () => void;
};

const [leastWaitMs, firstBackoffMs, longestBackoffMs] = [5_000, 1_000, 60_000];

/** Wait in milliseconds after `failures` failures in a row: doubles up to a minute; half of it is random. */
export const backoffMs = (failures: number, random: () => number): number => {
  const full = Math.min(longestBackoffMs, firstBackoffMs * 2 ** Math.min(failures - 1, 10));
  return Math.round(full / 2 + (full / 2) * random());
};

export const createTokenKeeper = <T extends MintedToken>(deps: TokenKeeperDeps<T>): TokenKeeper => {
  let state = { isStopped: false, isAsking: false, isDue: false, failures: 0, token: '' };
  let stopTimer = () => {};

  const wait = (waitMs: number) => {
    stopTimer();
    stopTimer = deps.startTimer(due, waitMs);
  };
  /** A hidden page sends no request; `shown` sends it later. */
  const due = () => {
    state = { ...state, isDue: deps.isHidden() };
    if (!state.isDue) void ask();
  };
  const trouble = (reason: string, retryAfterMs: number | null) => {
    state = { ...state, failures: state.failures + 1 };
    wait(tellTrouble(deps, reason, Math.max(retryAfterMs ?? 0, backoffMs(state.failures, deps.random))));
  };
  const settle = (outcome: MintOutcome<T>, isExpired: boolean) => {
    if (outcome.kind === 'retry') return trouble(outcome.reason, outcome.retryAfterMs);
    if (outcome.kind === 'refused') return stopTimer();
    const { minted } = outcome;
    if (isExpired && minted.token === state.token) return trouble('The same expired token was answered', null);
    state = { ...state, failures: 0, token: minted.token };
    deps.onToken(minted);
    wait(Math.max(leastWaitMs, minted.refreshInMs));
  };
  const ask = async (isExpired = false): Promise<void> => {
    if (state.isStopped || state.isAsking) return;
    stopTimer();
    state = { ...state, isAsking: true, isDue: false };
    const outcome = await deps.mint();
    state = { ...state, isAsking: false };
    if (!state.isStopped) settle(outcome, isExpired);
  };

  return {
    start: () => void ask(),
    expired: () => {
      // After a failed renewal, the backoff timer is already running.
      if (state.failures === 0) void ask(true);
    },
    shown: () => {
      if (state.isDue) void ask();
    },
    stop: () => {
      state = { ...state, isStopped: true };
      stopTimer();
    },
  };
};

const tellTrouble = (
  { onTrouble }: Pick<TokenKeeperDeps<MintedToken>, 'onTrouble'>,
  reason: string,
  waitMs: number,
) => {
  onTrouble(reason, waitMs);
  return waitMs;
};
