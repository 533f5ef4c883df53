import { describe, expect, it } from 'vitest';
import { backoffMs } from '../../src/web/token/backoff.js';
import { type MintedToken, type MintOutcome, type Refused, TokenKeeper } from '../../src/web/token/keeper.js';
import { createPageClock, settle } from './page-clock.js';

/** A token keeper with a queue of outcomes, and what one member of it saw. */
const setUp = (outcomes: readonly MintOutcome<MintedToken>[]) => {
  const queue = [...outcomes];
  const clock = createPageClock();
  const seen = {
    mints: 0,
    dead: [] as (string | undefined)[],
    tokens: [] as string[],
    waits: [] as number[],
    refused: [] as Refused[],
  };
  const keeper = new TokenKeeper<MintedToken>({
    ...clock.deps,
    mint: async (dead) => {
      seen.mints += 1;
      seen.dead.push(dead);
      return queue.shift() ?? refused;
    },
  });
  const member = {
    onToken: ({ token }: MintedToken) => void seen.tokens.push(token),
    onRefused: (each: Refused) => void seen.refused.push(each),
    onTrouble: (_: string, waitMs: number) => void seen.waits.push(waitMs),
  };
  const join = async () => {
    const membership = keeper.join(member);
    await settle();
    return membership;
  };
  return { ...clock, keeper, seen, join, member };
};

const minted = (token: string, refreshInMs: number | null = 600_000): MintOutcome<MintedToken> => ({
  kind: 'minted',
  minted: { token, refreshInMs },
});
const refused: MintOutcome<MintedToken> = {
  kind: 'refused',
  refused: { code: 'SESSION_INVALID', message: '', status: 401 },
};
const retry: MintOutcome<MintedToken> = { kind: 'retry', retryAfterMs: null, reason: 'down' };
const away: MintOutcome<MintedToken> = { kind: 'away', retryAfterMs: null, reason: 'no network' };

describe('the token keeper', () => {
  it('renews before the token ends, and not earlier', async () => {
    const { join, seen, advance } = setUp([minted('a'), minted('b')]);
    await join();
    await advance(599_999);
    expect(seen.tokens).toEqual(['a']);
    await advance(1);
    expect(seen.tokens).toEqual(['a', 'b']);
  });

  it('gives the token that it has to a member that joins later', async () => {
    const { join, seen } = setUp([minted('a')]);
    await join();
    await join();
    expect(seen).toMatchObject({ mints: 1, tokens: ['a', 'a'] });
  });

  it('requests one token if several elements report that it has expired', async () => {
    const { join, seen } = setUp([minted('a'), minted('b')]);
    const membership = await join();
    membership.expired('a');
    membership.expired('a');
    await settle();
    membership.expired('a');
    await settle();
    expect(seen.mints).toBe(2);
  });

  it('says which token the service has refused, at that request alone', async () => {
    const { join, seen, advance } = setUp([minted('a'), retry, minted('b'), minted('c')]);
    const membership = await join();
    membership.expired('a');
    await advance(60_000);
    await advance(600_000);
    expect(seen).toMatchObject({ tokens: ['a', 'b', 'c'], dead: [undefined, 'a', 'a', undefined] });
  });

  it('backs off when the same expired token is answered, however often, instead of storming', async () => {
    const { join, seen, advance } = setUp([minted('a'), minted('a'), minted('a'), minted('b')]);
    const membership = await join();
    membership.expired('a');
    await settle();
    membership.expired('a');
    await settle();
    expect(seen).toMatchObject({ mints: 2, tokens: ['a'], waits: [750] });
    await advance(750);
    expect(seen).toMatchObject({ mints: 3, tokens: ['a'], waits: [750, 1500] });
    await advance(1500);
    expect(seen.tokens).toEqual(['a', 'b']);
  });

  it('waits longer after each failure, and at least as long as the server says', async () => {
    const { join, seen, advance } = setUp([retry, retry, { kind: 'retry', retryAfterMs: 30_000, reason: 'busy' }]);
    await join();
    await advance(750);
    await advance(1500);
    expect(seen.waits).toEqual([750, 1500, 30_000]);
    expect(backoffMs({ failures: 50, longestMs: 60_000 }, () => 0.999)).toBeLessThanOrEqual(60_000);
  });

  it('asks a server that is away at least every four seconds, and at once when the page is online again', async () => {
    const { join, seen, advance, wake } = setUp([...Array.from({ length: 20 }, () => away), minted('a')]);
    await join();
    await advance(40_000);
    expect(Math.max(...seen.waits)).toBeLessThanOrEqual(4_000);
    const before = seen.mints;
    await wake();
    expect(seen.mints).toBe(before + 1);
  });

  it('keeps a minimum wait if tokens are due at once, and a growing one if each of them is the same', async () => {
    const { join, seen, advance } = setUp(Array.from({ length: 99 }, () => minted('a', -3_600_000)));
    await join();
    await advance(4_999);
    expect(seen.mints).toBe(1);
    await advance(1);
    expect(seen.mints).toBe(2);
    await advance(600_000);
    expect(seen.mints).toBeLessThan(16);
  });

  it('requests nothing while the page is hidden, and catches up when it is shown', async () => {
    const { join, seen, state, advance, wake } = setUp([minted('a'), minted('b')]);
    await join();
    state.isHidden = true;
    await advance(3_600_000);
    await wake();
    expect(seen.mints).toBe(1);
    state.isHidden = false;
    await wake();
    await wake();
    expect(seen.tokens).toEqual(['a', 'b']);
  });

  it('notices within half a minute that the machine has slept', async () => {
    const { join, seen, sleep, advance } = setUp([minted('a'), minted('b')]);
    await join();
    sleep(3_600_000);
    await advance(30_000);
    expect(seen.tokens).toEqual(['a', 'b']);
  });

  // superset#25153: where the clock of the browser was behind, tokens were renewed after they had expired.
  it('renews in time although the clock was set back', async () => {
    const { join, seen, sleep, advance } = setUp([minted('a'), minted('b')]);
    await join();
    sleep(-86_400_000);
    await advance(600_000);
    expect(seen.tokens).toEqual(['a', 'b']);
  });

  it('counts a request that hangs as one without an answer', async () => {
    const clock = createPageClock();
    const waits: number[] = [];
    const keeper = new TokenKeeper<MintedToken>({ ...clock.deps, mint: () => new Promise(() => {}) });
    keeper.join({ onToken: () => {}, onRefused: () => {}, onTrouble: (_, waitMs) => waits.push(waitMs) });
    await clock.advance(30_000);
    expect(waits).toEqual([750]);
  });

  it('stops at a refusal, and asks again when the page is shown again', async () => {
    const { join, seen, timers, wake } = setUp([minted('a'), refused, minted('b')]);
    const membership = await join();
    membership.expired('a');
    await settle();
    expect(seen.refused).toHaveLength(1);
    expect(timers.size).toBe(0);
    await wake();
    expect(seen.tokens).toEqual(['a', 'b']);
  });

  it('gives out no token after the last member has left, and leaves no timer and no listener', async () => {
    const { keeper, member, seen, timers, wakers } = setUp([minted('late')]);
    keeper.join(member).leave();
    await settle();
    expect(seen.tokens).toEqual([]);
    const membership = keeper.join(member);
    await settle();
    expect(timers.size).toBe(1);
    membership.leave();
    expect([timers.size, wakers.size]).toEqual([0, 0]);
  });
});
