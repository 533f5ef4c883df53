/** Tokens are cached only until the next write. */
import { expect, it } from 'vitest';
import type { HashedToken } from '../../../src/model/brand.js';
import { cacheTokenLookups, type GuestTokenStore } from '../../../src/service/store/guest-tokens.js';

type Find = GuestTokenStore['findByHash'];
type Found = NonNullable<Awaited<ReturnType<Find>>>;

const hash = 'hash' as HashedToken;

/** A database whose look-ups end when the test says so. */
const createDatabase = () => {
  const state = { writes: 0, token: { id: 'token' } as Found | undefined, finds: 0 };
  const ends: (() => void)[] = [];
  const find: Find = async () => {
    state.finds += 1;
    const { token } = state;
    await new Promise<void>((resolve) => ends.push(resolve));
    return token;
  };
  const endFirst = (): void => ends.shift()?.();
  const remembered = cacheTokenLookups(find, () => state.writes);
  const ask = async (): Promise<Found | undefined> => {
    const asked = remembered(hash);
    endFirst();
    return asked;
  };
  return { state, remembered, ask, endFirst };
};

it('is asked once while nothing is written', async () => {
  const { state, ask } = createDatabase();
  expect(await ask()).toEqual({ id: 'token' });
  expect(await ask()).toEqual({ id: 'token' });
  expect(state.finds).toBe(1);
});

it('a token that is not there is asked for each time', async () => {
  const { state, ask } = createDatabase();
  state.token = undefined;
  expect(await ask()).toBeUndefined();
  state.token = { id: 'made' } as Found;
  expect(await ask()).toEqual({ id: 'made' });
});

it('what was found is let go at the first question after a write', async () => {
  const { state, ask } = createDatabase();
  await ask();
  state.writes += 1;
  state.token = undefined;
  expect(await ask()).toBeUndefined();
  expect(state.finds).toBe(2);
});

it('what was read before a write is not remembered after it, whoever asked meanwhile', async () => {
  const { state, remembered, ask, endFirst } = createDatabase();
  const early = remembered(hash);
  state.writes += 1;
  state.token = undefined;
  const late = remembered(hash);
  endFirst();
  expect(await early).toEqual({ id: 'token' });
  endFirst();
  expect(await late).toBeUndefined();
  expect(await ask()).toBeUndefined();
});

it('nothing is remembered of a server, to which others write', () => {
  const find: Find = async () => undefined;
  expect(cacheTokenLookups(find, null)).toBe(find);
});
