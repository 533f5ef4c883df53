import type { CacheOutcome } from './cache/result-cache.js';

/** What the engine tells of itself; no tenant is in it. */
export type EngineMetrics = {
  /** Each question, once it is answered or somebody else's answer is waited for. */
  readonly answered: (outcome: CacheOutcome) => void;
  /** Kept rows that had to make room. */
  readonly evicted: () => void;
  /** Queries that found the line full, or left it after too long. */
  readonly refused: (why: 'full' | 'late') => void;
  readonly watch: (what: 'cacheBytes' | 'waiting', read: () => number) => void;
};

const nothing = (): void => {};

export const noMetrics: EngineMetrics = { answered: nothing, evicted: nothing, refused: nothing, watch: nothing };
