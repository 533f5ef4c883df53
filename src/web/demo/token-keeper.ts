/** Keeps one guest token fresh: before it must be renewed, when it has expired, and never in a storm. Pure: time and requests are injected. */

export type MintedToken = {
  readonly token: string;
  /** Milliseconds from the answer until it should be renewed; by the server's clock, so that a wrong one here does no harm. */
  readonly refreshInMs: number;
};

/** `retry`: worth another try, after `retryAfterMs` where the server said so. Otherwise the session itself is refused. */
export type MintOutcome<T extends MintedToken> =
  | { readonly kind: 'minted'; readonly minted: T }
  | { readonly kind: 'retry'; readonly retryAfterMs: number | null; readonly reason: string }
  | { readonly kind: 'refused' };

export type TokenKeeperDeps<T extends MintedToken> = {
  /** Asks for a token. It must not throw. */
  readonly mint: () => Promise<MintOutcome<T>>;
  readonly onToken: (minted: T) => void;
  /** Told when a try has failed, with the wait before the next. */
  readonly onTrouble: (reason: string, waitMs: number) => void;
  /** Starts a timer and answers how to stop it. */
  readonly startTimer: (run: () => void, waitMs: number) => () => void;
  readonly isHidden: () => boolean;
  /** From 0 to below 1. */
  readonly random: () => number;
};

export type TokenKeeper = {
  readonly start: () => void;
  /** The present token was refused as expired. */
  readonly expired: () => void;
  /** The page can be seen again. */
  readonly shown: () => void;
  readonly stop: () => void;
};

const [leastWaitMs, firstBackoffMs, longestBackoffMs] = [5_000, 1_000, 60_000];

/** The wait after the given number of failures in a row: doubling, at most a minute, half of it by chance. */
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
  /** A hidden page asks for nothing; it makes up for it once it is seen. */
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
      // Expired again after a failed renewal: the backoff's timer is running already.
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
