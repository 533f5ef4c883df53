import { describe, expect, it } from 'vitest';
import { backoffMs, createTokenKeeper, type MintedToken, type MintOutcome } from '../../src/web/demo/token-keeper.js';

/** A token keeper whose timer the test fires, with a queue of outcomes. */
const setUp = (outcomes: readonly MintOutcome<MintedToken>[]) => {
  const queue = [...outcomes];
  const seen = { mints: 0, tokens: [] as string[], waits: [] as number[], isHidden: false };
  const timers = new Set<() => void>();
  const keeper = createTokenKeeper<MintedToken>({
    mint: async () => {
      seen.mints += 1;
      return queue.shift() ?? { kind: 'refused' };
    },
    onToken: ({ token }) => void seen.tokens.push(token),
    onTrouble: () => {},
    startTimer: (run, waitMs) => {
      seen.waits.push(waitMs);
      timers.add(run);
      return () => void timers.delete(run);
    },
    isHidden: () => seen.isHidden,
    random: () => 0.5,
  });
  const settle = () => new Promise<void>((done) => setImmediate(done));
  const fire = async () => {
    const [run] = timers;
    if (run === undefined) throw new Error('no timer is running');
    timers.delete(run);
    run();
    await settle();
  };
  return { keeper, seen, timers, fire, settle };
};

const minted = (token: string, refreshInMs = 600_000): MintOutcome<MintedToken> => ({
  kind: 'minted',
  minted: { token, refreshInMs },
});
const retry: MintOutcome<MintedToken> = { kind: 'retry', retryAfterMs: null, reason: 'down' };

describe('the token keeper', () => {
  it('renews before the token ends', async () => {
    const { keeper, seen, fire, settle } = setUp([minted('a'), minted('b')]);
    keeper.start();
    await settle();
    expect(seen.waits).toEqual([600_000]);
    await fire();
    expect(seen.tokens).toEqual(['a', 'b']);
  });

  it('requests one token if several elements report that it has expired', async () => {
    const { keeper, seen, settle } = setUp([minted('a'), minted('b')]);
    keeper.start();
    await settle();
    keeper.expired();
    keeper.expired();
    keeper.expired();
    await settle();
    expect(seen.mints).toBe(2);
  });

  it('backs off when the same expired token is answered, instead of storming', async () => {
    const { keeper, seen, settle, fire } = setUp([minted('a'), minted('a'), minted('b')]);
    keeper.start();
    await settle();
    keeper.expired();
    await settle();
    expect(seen.tokens).toEqual(['a']);
    keeper.expired();
    await settle();
    expect(seen.mints).toBe(2);
    await fire();
    expect(seen.tokens).toEqual(['a', 'b']);
  });

  it('waits longer after each failure, and at least as long as the server says', async () => {
    const { keeper, seen, settle, fire } = setUp([
      retry,
      retry,
      { kind: 'retry', retryAfterMs: 30_000, reason: 'busy' },
    ]);
    keeper.start();
    await settle();
    await fire();
    await fire();
    expect(seen.waits).toEqual([750, 1500, 30_000]);
    expect(backoffMs(50, () => 0.999)).toBeLessThanOrEqual(60_000);
  });

  it('keeps a minimum wait if tokens are due at once', async () => {
    const { keeper, seen, settle } = setUp([minted('a', -1000)]);
    keeper.start();
    await settle();
    expect(seen.waits).toEqual([5000]);
  });

  it('requests nothing while the page is hidden, and catches up when it is shown', async () => {
    const { keeper, seen, settle, fire } = setUp([minted('a'), minted('b')]);
    keeper.start();
    await settle();
    seen.isHidden = true;
    await fire();
    expect(seen.mints).toBe(1);
    seen.isHidden = false;
    keeper.shown();
    keeper.shown();
    await settle();
    expect(seen.tokens).toEqual(['a', 'b']);
  });

  it('stops at a refusal, and gives out no token after it was stopped', async () => {
    const refused = setUp([{ kind: 'refused' }]);
    refused.keeper.start();
    await refused.settle();
    expect(refused.timers.size).toBe(0);

    const stopped = setUp([minted('late')]);
    stopped.keeper.start();
    stopped.keeper.stop();
    await stopped.settle();
    expect(stopped.seen.tokens).toEqual([]);
  });
});
