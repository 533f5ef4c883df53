/**
 * Keeps one guest token fresh for all elements that share its source: asks for the next one before the token ends, once for
 * all of them, and backs off after failures. Pure: timers, clock and requests are injected.
 */
import { type Backoff, backoffMs, noBackoff } from './backoff.js';

export type MintedToken = {
  readonly token: string;
  /** Milliseconds from the answer until renewal; null: unknown, so the token is used until the service refuses it. */
  readonly refreshInMs: number | null;
};

/** A tenant of the session. The name is text of a database. */
export type OwnTenant = { readonly id: string; readonly name?: string };

/** Why a session gets no token. `message` is for end users only if the status is 403. `tenants`: it must choose one of them. */
export type Refused = {
  readonly code: string;
  readonly message: string;
  readonly status: number;
  readonly tenants?: readonly OwnTenant[];
};

/**
 * `away`: no answer, or a proxy's; asked again within seconds. `retry`: the server is there and could not answer; asked
 * again with growing waits. Both wait at least `retryAfterMs`. `refused`: the session gets no token.
 */
export type MintOutcome<T extends MintedToken> =
  | { readonly kind: 'minted'; readonly minted: T }
  | { readonly kind: 'away' | 'retry'; readonly retryAfterMs: number | null; readonly reason: string }
  | { readonly kind: 'refused'; readonly refused: Refused };

export type KeeperDeps<T extends MintedToken> = {
  /** Requests a token. `dead`: the token that the service has refused. Must not throw. */
  readonly mint: (dead: string | undefined) => Promise<MintOutcome<T>>;
  /** Starts a timer and returns a function that stops it. */
  readonly startTimer: (run: () => void, waitMs: number) => () => void;
  /** The wall clock in milliseconds. Only differences are used, so a wrong clock does no harm. */
  readonly now: () => number;
  readonly isHidden: () => boolean;
  /** Calls `run` when the page is shown again or online again. Returns a function that ends this. */
  readonly onWake: (run: () => void) => () => void;
  /** A random number from 0 (included) to 1 (excluded). */
  readonly random: () => number;
};

export type Member<T extends MintedToken> = {
  readonly onToken: (minted: T) => void;
  readonly onRefused: (refused: Refused) => void;
  /** Called after a failed request, with the wait before the next one. */
  readonly onTrouble?: (reason: string, waitMs: number) => void;
};

export type Membership = {
  /** Call when the service refused this token. Asks for a new one, unless another member did so already. */
  readonly expired: (token: string) => void;
  /** Asks now if the last request failed or was refused. */
  readonly retry: () => void;
  readonly leave: () => void;
};

/** A token is asked for at most this often, however short it lives. */
const leastWaitMs = 5_000;
/** A timer sleeps with the machine. In steps of this length, it notices the lost time soon after. */
const longestTimerMs = 30_000;
const longestAskMs = 30_000;
const longestBackoffMs: Readonly<Record<'away' | 'retry', number>> = { away: 4_000, retry: 60_000 };

export class TokenKeeper<T extends MintedToken> {
  readonly #deps: KeeperDeps<T>;
  readonly #members = new Set<Member<T>>();
  #minted: T | undefined;
  #isRefused = false;
  /** The token that the service refused last. A source that answers it again is out of date. */
  #expiredToken: string | undefined;
  #backoff: Backoff = noBackoff;
  /** How often in a row the source answered the token that the page has already. */
  #repeats = 0;
  #isAsking = false;
  /** Whether a request waits for the page to be shown. */
  #isDue = false;
  #stopTimer = (): void => {};
  #stopWake = (): void => {};

  constructor(deps: KeeperDeps<T>) {
    this.#deps = deps;
  }

  get isEmpty(): boolean {
    return this.#members.size === 0;
  }

  /** Gives the member the current token, or asks for one. Calls nothing before it has returned. */
  join(member: Member<T>): Membership {
    if (this.isEmpty) this.#stopWake = this.#deps.onWake(() => this.#wake());
    this.#members.add(member);
    queueMicrotask(() => {
      if (!this.#members.has(member)) return;
      if (this.#minted !== undefined) member.onToken(this.#minted);
      else if (this.#backoff.failures === 0) void this.#ask();
    });
    return {
      expired: (token) => this.#expired(token),
      retry: () => {
        if (this.#isRefused || this.#backoff.failures > 0) void this.#ask();
      },
      leave: () => {
        this.#members.delete(member);
        if (this.isEmpty) this.#stop();
      },
    };
  }

  #stop(): void {
    this.#stopTimer();
    this.#stopWake();
    this.#minted = undefined;
    this.#expiredToken = undefined;
    this.#isRefused = false;
    this.#isDue = false;
    this.#backoff = noBackoff;
  }

  #expired(token: string): void {
    if (this.#minted !== undefined && this.#minted.token !== token) return;
    this.#expiredToken = token;
    // After a failed request, the backoff timer is already running.
    if (this.#backoff.failures === 0) void this.#ask();
  }

  async #ask(): Promise<void> {
    if (this.#isAsking || this.isEmpty) return;
    this.#stopTimer();
    this.#isAsking = true;
    this.#isDue = false;
    const outcome = await this.#mintInTime();
    this.#isAsking = false;
    if (!this.isEmpty) this.#settle(outcome);
  }

  /** A request that hangs, as after the machine has slept, counts as one without an answer. */
  async #mintInTime(): Promise<MintOutcome<T>> {
    let stop = (): void => {};
    const late = new Promise<MintOutcome<T>>((resolve) => {
      const reason = 'No token came in time.';
      stop = this.#deps.startTimer(() => resolve({ kind: 'away', retryAfterMs: null, reason }), longestAskMs);
    });
    const outcome = await Promise.race([this.#deps.mint(this.#expiredToken), late]);
    stop();
    return outcome;
  }

  #settle(outcome: MintOutcome<T>): void {
    if (outcome.kind === 'refused') this.#refuse(outcome.refused);
    else if (outcome.kind !== 'minted') this.#fail(outcome.kind, outcome.reason, outcome.retryAfterMs);
    else if (outcome.minted.token === this.#expiredToken)
      this.#fail('retry', 'The same expired token was answered', null);
    else this.#accept(outcome.minted);
  }

  #accept(minted: T): void {
    this.#repeats = minted.token === this.#minted?.token ? this.#repeats + 1 : 0;
    this.#minted = minted;
    this.#expiredToken = undefined;
    this.#isRefused = false;
    this.#backoff = noBackoff;
    if (minted.refreshInMs !== null) this.#wait(Math.max(this.#leastWaitMs, minted.refreshInMs));
    for (const { onToken } of [...this.#members]) onToken(minted);
  }

  /** If the clock of the page is ahead, each token seems to be due at once. */
  get #leastWaitMs(): number {
    return Math.min(leastWaitMs * 2 ** this.#repeats, longestBackoffMs.retry);
  }

  #refuse(refused: Refused): void {
    this.#minted = undefined;
    this.#isRefused = true;
    this.#backoff = noBackoff;
    for (const { onRefused } of [...this.#members]) onRefused(refused);
  }

  #fail(kind: 'away' | 'retry', reason: string, retryAfterMs: number | null): void {
    this.#backoff = { failures: this.#backoff.failures + 1, longestMs: longestBackoffMs[kind] };
    const waitMs = Math.max(retryAfterMs ?? 0, backoffMs(this.#backoff, this.#deps.random));
    this.#wait(waitMs);
    for (const { onTrouble } of [...this.#members]) onTrouble?.(reason, waitMs);
  }

  #wait(waitMs: number, lastNow = this.#deps.now()): void {
    this.#stopTimer();
    const stepMs = Math.min(waitMs, longestTimerMs);
    const next = (): void => {
      // A clock that was set back must not delay the request: at least the step has passed.
      const leftMs = waitMs - Math.max(stepMs, this.#deps.now() - lastNow);
      if (leftMs > 0) this.#wait(leftMs);
      else this.#due();
    };
    this.#stopTimer = this.#deps.startTimer(next, stepMs);
  }

  /** A hidden page sends no request; `#wake` sends it later. */
  #due(): void {
    this.#isDue = this.#deps.isHidden();
    if (!this.#isDue) void this.#ask();
  }

  #wake(): void {
    if (this.#deps.isHidden()) return;
    if (this.#isDue || this.#isRefused || this.#backoff.failures > 0) void this.#ask();
  }
}
