/** How much of a database's time each client took lately, and which client is loud: it takes far more than the others do. */
import type { Timing } from '../../platform/work/time.js';

/** Time that was taken so long ago counts by a third (1/e). */
const memoryMs = 10_000;
/** A client that has taken less is never loud: a dashboard of six cards takes as much. */
const leastMs = 1_000;
/** A loud client has taken so many times what the others took on average. */
const greatestShare = 4;
/** A client is loud for as long as another one has asked within this time. */
const recentMs = 1_000;
/** A client that has taken less than this is forgotten. */
const forgottenMs = 1;

type Share = {
  /** Time that ended queries took, as of `atMs`. */
  ms: number;
  atMs: number;
  /** Queries that run, and the sum of the moments at which they began. */
  running: number;
  begunMs: number;
};

export type Shares = {
  readonly asked: (client: string) => void;
  /** Returns what is called at the end of the query. */
  readonly begun: (client: string) => () => void;
  readonly isLoud: (client: string) => boolean;
  /** Whether nothing is remembered of any client. */
  readonly isEmpty: () => boolean;
};

const takenBy = ({ ms, atMs, running, begunMs }: Share, nowMs: number): number =>
  ms * Math.exp((atMs - nowMs) / memoryMs) + running * nowMs - begunMs;

const end = (share: Share, beganMs: number, nowMs: number): void => {
  const { ms, atMs } = share;
  share.ms = ms * Math.exp((atMs - nowMs) / memoryMs) + nowMs - beganMs;
  share.atMs = nowMs;
  share.running -= 1;
  share.begunMs -= beganMs;
};

const begin = (share: Share, nowMs: number): void => {
  share.running += 1;
  share.begunMs += nowMs;
};

const nothingTaken = (atMs: number): Share => ({ ms: 0, atMs, running: 0, begunMs: 0 });

/** Who asked last, and who asked last of all others. */
const createLastAsked = () => {
  let last = { client: '', atMs: Number.NEGATIVE_INFINITY };
  let before = last;
  return {
    note: (client: string, atMs: number): void => {
      if (client !== last.client) before = last;
      last = { client, atMs };
    },
    ofOthers: (client: string): number => (client === last.client ? before : last).atMs,
  };
};

export const createShares = ({ nowMs }: Pick<Timing, 'nowMs'>): Shares => {
  const shares = new Map<string, Share>();
  const all = nothingTaken(nowMs());
  const lastAsked = createLastAsked();
  let sweptMs = nowMs();
  const sweep = (): void => {
    const now = nowMs();
    if (now - sweptMs < recentMs) return;
    sweptMs = now;
    for (const [client, share] of shares)
      if (share.running === 0 && now - share.atMs >= recentMs && takenBy(share, now) < forgottenMs)
        shares.delete(client);
  };
  return {
    asked: (client) => {
      sweep();
      lastAsked.note(client, nowMs());
      if (!shares.has(client)) shares.set(client, nothingTaken(nowMs()));
    },
    begun: (client) => {
      const share = shares.get(client) ?? nothingTaken(nowMs());
      shares.set(client, share);
      const beganMs = nowMs();
      begin(share, beganMs);
      begin(all, beganMs);
      return () => {
        end(share, beganMs, nowMs());
        end(all, beganMs, nowMs());
      };
    },
    isLoud: (client) => {
      const [share, others, now] = [shares.get(client), shares.size - 1, nowMs()];
      if (share === undefined || others < 1 || now - lastAsked.ofOthers(client) > recentMs) return false;
      const taken = takenBy(share, now);
      return taken > leastMs && taken > (greatestShare * (takenBy(all, now) - taken)) / others;
    },
    isEmpty: () => {
      sweep();
      return shares.size === 0;
    },
  };
};
