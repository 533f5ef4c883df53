/**
 * Waits for a service that does not answer. However many elements wait for it, one of them probes, until the service
 * answers; then all of them go on. Pure: timers and clock are injected.
 */
import { backoffMs } from './backoff.js';
import type { KeeperDeps, MintedToken } from './keeper.js';

export type OutageDeps = Omit<KeeperDeps<MintedToken>, 'mint'>;

export type Waiting = {
  /** Sends one request. Resolves to whether the service answered. Must not reject. */
  readonly probe: () => Promise<boolean>;
  readonly back: () => void;
};

/** An outage ends at most this long after the service has returned, and the time of one request. */
const longestMs = 4_000;
/** A service that fails again within this time has not returned: the waits go on growing. */
const relapseMs = 30_000;

class Outage {
  readonly waiting = new Set<Waiting>();
  readonly #deps: OutageDeps;
  readonly #ended: (failures: number) => void;
  readonly #stopWake: () => void;
  #stopTimer = (): void => {};
  #failures: number;
  #isProbing = false;

  constructor(deps: OutageDeps, failures: number, ended: (failures: number) => void) {
    this.#deps = deps;
    this.#failures = failures;
    this.#ended = ended;
    this.#stopWake = deps.onWake(() => void this.#probe());
    this.#wait();
  }

  #wait(): void {
    this.#failures += 1;
    const waitMs = backoffMs({ failures: this.#failures, longestMs }, this.#deps.random);
    this.#stopTimer = this.#deps.startTimer(() => void this.#probe(), waitMs);
  }

  /** A hidden page sends no request; it probes when it is shown. */
  async #probe(): Promise<void> {
    const [first] = this.waiting;
    if (this.#isProbing || first === undefined || this.#deps.isHidden()) return;
    this.#stopTimer();
    this.#isProbing = true;
    const isBack = await first.probe();
    this.#isProbing = false;
    if (this.waiting.size === 0) return;
    if (!isBack) {
      this.#wait();
      return;
    }
    const all = [...this.waiting];
    this.waiting.clear();
    this.end();
    for (const { back } of all) back();
  }

  end(): void {
    this.#stopTimer();
    this.#stopWake();
    this.#ended(this.#failures);
  }
}

export class Outages {
  readonly #deps: OutageDeps;
  readonly #outages = new Map<string, Outage>();
  readonly #ended = new Map<string, { readonly failures: number; readonly atMs: number }>();

  constructor(deps: OutageDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#outages.size;
  }

  /** Waits for the service with this base URL. Returns a function that ends the wait. */
  wait(baseUrl: string, waiting: Waiting): () => void {
    const outage = this.#outages.get(baseUrl) ?? this.#begin(baseUrl);
    outage.waiting.add(waiting);
    return () => {
      if (outage.waiting.delete(waiting) && outage.waiting.size === 0) outage.end();
    };
  }

  #begin(baseUrl: string): Outage {
    const last = this.#ended.get(baseUrl);
    const isRelapse = last !== undefined && this.#deps.now() - last.atMs < relapseMs;
    const outage = new Outage(this.#deps, isRelapse ? last.failures : 0, (failures) => {
      this.#outages.delete(baseUrl);
      this.#ended.set(baseUrl, { failures, atMs: this.#deps.now() });
    });
    this.#outages.set(baseUrl, outage);
    return outage;
  }
}
