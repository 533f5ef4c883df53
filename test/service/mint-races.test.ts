/** Mints that run at the same time as revocations, deletions, and the creation of boards under an old name. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hashToken, isSameHash } from '../../src/platform/keys/keys.js';
import { revokeGuestTokens } from '../../src/service/guest-tokens/guest-token-admin.js';
import { createGuestToken } from '../../src/service/guest-tokens/guest-tokens.js';
import { createAuthenticate } from '../../src/service/keys/authenticate.js';
import type { Store } from '../../src/service/store/store.js';
import { createWorld, type World } from './world.js';

let world: World;
beforeAll(async () => {
  world = await createWorld();
  await world.template('board');
  await world.clone('board', 'board--a');
});
afterAll(() => world.close());

/** Mints a token. `meanwhile` runs after the mint's first read and before all others. */
const mintDuring = async (meanwhile: () => Promise<unknown>, params: object = {}): Promise<string> => {
  const { store, deps, api } = world;
  const delayed: Store = {
    ...store,
    guestTokens: {
      ...store.guestTokens,
      currentEpoch: async (subject) => {
        const epoch = await store.guestTokens.currentEpoch(subject);
        await meanwhile();
        return epoch;
      },
    },
  };
  const mint = createGuestToken({ ...deps, store: delayed });
  return (await mint(api(), { clientId: 'a', dataAppName: 'app', params })).token;
};

const authenticate = (token: string) => {
  const { store, deps } = world;
  const lastUses = { note: () => {} };
  return createAuthenticate({ store, clock: deps.clock, tokens: deps.tokens, lastUses })(['guestToken'], token);
};

describe('a revocation during a mint', () => {
  test.each([
    ['of its client', { clientId: 'a' }, false],
    ['of its user', { clientId: 'a', userIdentifier: 'ana' }, false],
    ['of its data app', { all: true }, false],
    ['of another user', { clientId: 'a', userIdentifier: 'bob' }, true],
    ['of another client', { clientId: 'b' }, true],
  ] as const)('%s: the token is %s', async (_, which, isGood) => {
    const revoke = () => revokeGuestTokens(world.deps)(world.api(), which);
    const token = await mintDuring(revoke, { userIdentifier: 'ana' });
    if (isGood) expect(await authenticate(token)).toMatchObject({ kind: 'guest' });
    else await expect(authenticate(token)).rejects.toMatchObject({ code: 'AUTHENTICATION_ERROR' });
  });

  test('the next mint is good', async () => {
    expect(await authenticate(await mintDuring(async () => {}))).toMatchObject({ kind: 'guest' });
  });
});

test('a data app that is deleted during a mint: refused, with what to do', async () => {
  const other = await createWorld();
  const before = world;
  world = other;
  try {
    const mint = mintDuring(() => other.store.dataApps.delete('id-app'));
    await expect(mint).rejects.toMatchObject({ code: 'INVALID_REQUEST_BODY', reason: 'deleted-meanwhile' });
  } finally {
    world = before;
    await other.close();
  }
});

test('a refused mint sends nothing more on a connection that another request may use', async () => {
  const { store, deps, api } = world;
  let isOver = false;
  const late: string[] = [];
  const watched: Store = {
    ...store,
    transaction: (work) =>
      store.transaction(async (inner) => {
        const findById: typeof inner.workspaces.findById = (id) => {
          if (isOver) late.push(id);
          return inner.workspaces.findById(id);
        };
        try {
          return await work({ ...inner, workspaces: { ...inner.workspaces, findById } });
        } finally {
          isOver = true;
        }
      }),
  };
  const params = { allowedEmbeds: ['absent', 'board--a'] };
  const mint = createGuestToken({ ...deps, store: watched })(api(), { clientId: 'a', dataAppName: 'app', params });
  await expect(mint).rejects.toMatchObject({ code: 'DASHBOARD_PARAM_ERROR' });
  // Lets operations that are already running finish first.
  for (let turn = 0; turn < 5; turn++) await store.dataApps.findByName('app');
  expect(late).toEqual([]);
});

describe('a credential that is found', () => {
  test('is compared once more, as a whole', async () => {
    const token = await mintDuring(async () => {});
    const { store, deps } = world;
    const found = await store.guestTokens.findByHash(hashToken(token));
    if (found === undefined) throw new Error('the token was not stored');
    // An index that returns a wrong row: its hash is compared again, so the row is not accepted.
    const broken = { ...store, guestTokens: { ...store.guestTokens, findByHash: async () => found } };
    const ask = createAuthenticate({
      store: broken,
      clock: deps.clock,
      tokens: deps.tokens,
      lastUses: { note: () => {} },
    });
    expect(await ask(['guestToken'], token)).toMatchObject({ kind: 'guest' });
    await expect(ask(['guestToken'], `${token} `)).rejects.toMatchObject({ code: 'AUTHENTICATION_ERROR' });
    await expect(ask(['guestToken'], token.toUpperCase())).rejects.toMatchObject({ code: 'AUTHENTICATION_ERROR' });
  });

  test('hashes are equal only if every character is', () => {
    const hash = hashToken('a');
    expect([isSameHash(hash, hashToken('a')), isSameHash(hash, hashToken('b'))]).toEqual([true, false]);
    expect(isSameHash(hash, hash.slice(1) as typeof hash)).toBe(false);
    expect(isSameHash(hash, hash.toUpperCase() as typeof hash)).toBe(false);
  });
});

describe('a dashboard that is deleted and created again under its name', () => {
  const california = { values: { State: 'CA' }, isShowOnUrl: true };
  const remove = async (): Promise<void> => {
    const dashboard = await world.store.dashboards.findByExternalId('id-app', 'anew');
    if (dashboard !== undefined) await world.store.dashboards.delete(dashboard);
  };
  const opensAgain = async (params: (metricId: string) => object): Promise<readonly (number | string)[]> => {
    const metricId = await world.clone('board', 'anew');
    const guest = await world.mint(params(metricId));
    const before = await world.count(guest, metricId, 'anew');
    await remove();
    const again = await world.clone('board', 'anew');
    const after = await world.count(guest, again, 'anew').catch((error: { code: string }) => error.code);
    await remove();
    return [Number(before), typeof after === 'string' ? after : Number(after)];
  };

  test.each([
    ['a filter of the dashboard', () => ({ dashboardAppFilters: [{ dashboardId: 'anew', ...california }] }), 2],
    ['a filter of its metric', (metricId: string) => ({ appFilters: [{ metricId, values: { shop: 's1' } }] }), 2],
    ['hidden metrics', () => ({ hideDashboardMetrics: [{ dashboardId: 'anew', metricIds: [] }] }), 5],
  ])('is not opened by a token with %s: that restriction would not bind it', async (_, params, rows) => {
    expect(await opensAgain(params)).toEqual([rows, 'UNAUTHORIZED']);
  });

  test('is opened by a token without restrictions, which opens all of its client', async () => {
    expect(await opensAgain(() => ({}))).toEqual([5, 5]);
  });

  test('is opened by a token that restricts its template: what is said of a template holds for its copies', async () => {
    expect(await opensAgain(() => ({ dashboardAppFilters: [{ dashboardId: 'board', ...california }] }))).toEqual([
      2, 2,
    ]);
    expect(await opensAgain(() => ({ appFilters: [{ metricId: 'board-count', values: { shop: 's1' } }] }))).toEqual([
      2, 2,
    ]);
  });
});
