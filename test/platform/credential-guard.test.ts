/**
 * A flood of wrong credentials does not affect valid ones from the same address, up to a rate. The clock stands still.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import { Refusal } from '../../src/model/refusal.js';
import {
  type CredentialKind,
  createCredentialGuard,
  type NoteFailures,
} from '../../src/platform/limits/credential-guard.js';
import { createMemoryLimiters, type Limiters } from '../../src/platform/limits/limiter.js';

let nowMs = 0;
const pass = (ms: number): void => {
  nowMs += ms;
};
beforeEach(() => {
  nowMs = 1_800_000_000_000;
});

const clock = { now: () => new Date(nowMs) };

const start = (options: { kind?: CredentialKind; limiters?: Limiters; failuresPerMinute?: number | null } = {}) => {
  const noted: string[] = [];
  const note: NoteFailures = {
    failed: () => {},
    limited: (kind) => void noted.push(`limited ${kind}`),
    blocked: (kind, address) => void noted.push(`blocked ${kind} ${address}`),
  };
  const guard = createCredentialGuard({
    kind: 'guestToken',
    failuresPerMinute: 3,
    limiters: createMemoryLimiters({ clock }),
    scope: 's',
    clock,
    note,
    ...options,
  });
  /** Verifies a credential as a caller does. Returns undefined, or the reason of the limit that was reached. */
  const use = async (address: string, credential: string | null, isGood = false): Promise<string | undefined> => {
    const attempt = guard(address, credential);
    try {
      attempt.assertMayVerify();
      if (isGood) attempt.passed();
      else await attempt.failed();
      return undefined;
    } catch (error) {
      if (error instanceof Refusal && error.code === 'RATE_LIMITED') return error.reason;
      throw error;
    }
  };
  let wrong = 0;
  const fail = async (address: string, count: number): Promise<(string | undefined)[]> => {
    const seen: (string | undefined)[] = [];
    for (let at = 0; at < count; at += 1) {
      wrong += 1;
      seen.push(await use(address, `wrong-${wrong}`));
    }
    return seen;
  };
  return { guard, use, fail, noted };
};

describe('wrong credentials of one address', () => {
  it('are told that they are wrong, and beyond the limit to come again', async () => {
    const { fail, noted } = start();
    expect(await fail('a', 6)).toEqual([
      ...Array(4).fill(undefined),
      'failed-guestToken-limit',
      'failed-guestToken-limit',
    ]);
    expect(await fail('b', 4)).toEqual(Array(4).fill(undefined));
    expect(noted).toEqual(['blocked guestToken a', 'limited guestToken', 'limited guestToken', 'blocked guestToken b']);
    pass(60_000);
    expect(await fail('a', 4)).toEqual(Array(4).fill(undefined));
  });

  it('hold up no good one of that address, known or new', async () => {
    const { use, fail } = start();
    await use('a', 'known', true);
    await fail('a', 5);
    for (let at = 0; at < 190; at += 1) expect(await use('a', `new-${at}`, true)).toBeUndefined();
    expect(await use('a', 'known', true)).toBeUndefined();
  });

  it('are verified so often in a second, whatever comes; those known pass beyond that', async () => {
    const { use, fail } = start();
    await use('a', 'known', true);
    await fail('a', 5);
    const seen = await fail('a', 500);
    expect(seen.filter((reason) => reason === 'failed-guestToken-limit')).toHaveLength(199);
    expect(seen.filter((reason) => reason === 'new-credentials-limit')).toHaveLength(301);
    expect(await use('a', 'new', true)).toBe('new-credentials-limit');
    expect(await use('a', 'known', true)).toBeUndefined();
    expect(await use('b', 'new', true)).toBeUndefined();
    pass(1000);
    expect(await use('a', 'new', true)).toBeUndefined();
  });

  it('ask the shared counter no more once there are too many', async () => {
    let asked = 0;
    const take = async () => {
      asked += 1;
      return { granted: asked > 3 ? 0 : 1, windowEndsInMs: 60_000 };
    };
    const { fail } = start({ limiters: { create: () => ({ take }), close: () => {} } });
    await fail('a', 100);
    expect(asked).toBe(4);
  });
});

describe('a credential', () => {
  it('a credential that was revoked after it had been good counts as a wrong one', async () => {
    const { use } = start();
    await use('a', 'once', true);
    for (let at = 0; at < 3; at += 1) expect(await use('a', 'once')).toBeUndefined();
    expect(await use('a', 'once')).toBe('same-failed-credential');
  });

  it('a credential that was wrong as often as an address may be is not looked at, from wherever it comes', async () => {
    const { use } = start({ failuresPerMinute: 30 });
    for (let at = 0; at < 30; at += 1) expect(await use(`a${at}`, 'revoked')).toBeUndefined();
    expect(await use('b', 'revoked')).toBe('same-failed-credential');
    expect(await use('b', 'another', true)).toBeUndefined();
    pass(60_000);
    expect(await use('b', 'revoked', true)).toBeUndefined();
  });
});

it('a limit of null counts nothing', async () => {
  const { fail, use } = start({ failuresPerMinute: null });
  expect(new Set(await fail('a', 1000))).toEqual(new Set([undefined]));
  for (let at = 0; at < 100; at += 1) expect(await use('a', 'same')).toBeUndefined();
});
