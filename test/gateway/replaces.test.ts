/** A gateway in front of a service that another gateway also serves: a token that the other one killed is replaced. */
import { hash, randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { fixedCapabilities } from '../../src/gateway/upstream/capabilities.js';
import { createMemoryLimiters } from '../../src/platform/limits/limiter.js';
import { createMovableClock, sign, startGateway, usualLimits } from './harness.js';
import { openTestLedger } from './ledgers.js';
import { createOwnService, servicePolicy } from './own-service.js';

const digestOf = (token: string): string => hash('sha256', token, 'hex');

let service: Awaited<ReturnType<typeof createOwnService>>;
beforeAll(async () => {
  service = await createOwnService();
});

type Overrides = Parameters<typeof startGateway>[0];
/** Two gateways, each with its own ledger, as two deployments have. `mounted` is the one that users ask. */
const openBoth = async (overrides: Overrides = {}) => {
  const { upstream, ledger } = service;
  const mounted = await startGateway({
    ...{ upstream, policy: servicePolicy, clock: service.deps.clock },
    ...{ ledger: await openTestLedger(), ...overrides },
  });
  const other = await startGateway({ upstream, ledger, policy: servicePolicy, clock: service.deps.clock });
  const org = `c${randomUUID().slice(0, 8)}`;
  const nowSeconds = Math.floor(service.deps.clock.now().getTime() / 1000);
  const sessionOf = (sub: string) =>
    sign({ iss: 'guestlist-demo', sub, org_id: org, iat: nowSeconds, exp: nowSeconds + 3600 });
  const reads = async (token: string): Promise<number> => {
    const tokens = await service.store.guestTokens.findByHash(service.deps.tokens.hash(token));
    return tokens === undefined ? 401 : 200;
  };
  const kill = (clientId = org) => other.run('revoke', { by: 'tenant', tenant: clientId, reason: 'a test' });
  return { mounted, other, org, sessionOf, reads, kill };
};

describe('replaces', () => {
  it('gets another token where another gateway has revoked the cached one, which it would get otherwise', async () => {
    const { mounted, sessionOf, reads, kill } = await openBoth();
    const ann = sessionOf('ann');
    const { token } = await mounted.granted(ann);
    await kill();
    expect(await reads(token)).toBe(401);
    // The fault: the gateway knows nothing of the revocation.
    expect((await mounted.granted(ann)).token).toBe(token);
    const next = await mounted.granted(ann, { replaces: digestOf(token) });
    expect([next.token === token, await reads(next.token)]).toEqual([false, 200]);
    expect((await mounted.granted(ann)).token).toBe(next.token);
    expect((await mounted.granted(ann, { replaces: digestOf(token) })).token).toBe(next.token);
  });

  it('mints once for all tabs that ask together', async () => {
    const { mounted, sessionOf, kill } = await openBoth();
    const ann = sessionOf('ann');
    const { token } = await mounted.granted(ann);
    await kill();
    const all = await Promise.all(Array.from({ length: 6 }, () => mounted.granted(ann, { replaces: digestOf(token) })));
    expect(new Set(all.map((answer) => answer.token)).size).toBe(1);
    expect(all[0]?.token).not.toBe(token);
  });

  it('keeps a token that the service still takes: a caller cannot make the gateway mint', async () => {
    const { mounted, sessionOf, reads } = await openBoth();
    const ann = sessionOf('ann');
    const { token } = await mounted.granted(ann);
    expect((await mounted.granted(ann, { replaces: digestOf(token) })).token).toBe(token);
    expect(await reads(token)).toBe(200);
  });

  it("touches nobody else's token, and tells nothing of it: not another user's, not another tenant's, not an unknown one", async () => {
    const { mounted, org, sessionOf, reads, kill } = await openBoth({
      // This upstream can't say what lives, so a token that were looked at would be dropped.
      upstream: { ...service.upstream, capabilities: fixedCapabilities([]) },
    });
    const nowSeconds = Math.floor(service.deps.clock.now().getTime() / 1000);
    const stranger = sign({
      iss: 'guestlist-demo',
      sub: 'ann',
      org_id: `${org}x`,
      iat: nowSeconds,
      exp: nowSeconds + 3600,
    });
    const sessions = [sessionOf('ann'), sessionOf('ben'), stranger];
    const [ann, ben, eve] = await Promise.all(sessions.map((session) => mounted.granted(session)));
    const answer = async (session = '', named = ''): Promise<object> =>
      mounted.granted(session, { replaces: digestOf(named) });
    await kill();
    for (const named of [ann?.token, eve?.token, 'a token that nobody has'])
      expect(await answer(sessions[1], named)).toEqual(ben);
    expect(await answer(sessions[2], ann?.token)).toEqual(eve);
    for (const [index, session] of sessions.entries())
      expect((await mounted.granted(session)).token).toBe([ann, ben, eve][index]?.token);
    expect(await reads(eve?.token ?? '')).toBe(200);
  });

  it('drops the token where the service cannot say, and mints anew', async () => {
    const { mounted, sessionOf, reads } = await openBoth({
      upstream: { ...service.upstream, capabilities: fixedCapabilities([]) },
    });
    const ann = sessionOf('ann');
    const { token } = await mounted.granted(ann);
    const next = await mounted.granted(ann, { replaces: digestOf(token) });
    expect([next.token === token, await reads(next.token)]).toEqual([false, 200]);
  });

  it('is limited for each user, whatever it names', async () => {
    const clock = createMovableClock(service.deps.clock.now().getTime());
    const limits = { settings: usualLimits, limiters: createMemoryLimiters({ clock }) };
    const { mounted, sessionOf } = await openBoth({ limits });
    const ann = sessionOf('ann');
    const ask = async (session: string): Promise<number> =>
      (await mounted.ask(session, { replaces: digestOf(randomUUID()) })).status;
    const statuses: number[] = [];
    for (let count = 0; count < 21; count += 1) statuses.push(await ask(ann));
    expect(statuses).toEqual([...Array.from({ length: 20 }, () => 200), 429]);
    expect([await ask(sessionOf('ben')), (await mounted.ask(ann)).status]).toEqual([200, 200]);
  });

  it.each(['', 'x', 'A'.repeat(64), `${'a'.repeat(63)}g`, 'a'.repeat(65)])(
    'a template that replaces %j is refused',
    async (replaces) => {
      const { mounted, sessionOf } = await openBoth();
      const { code, message } = await mounted.refused(sessionOf('ann'), { replaces });
      expect([code, message]).toEqual(['INVALID_REQUEST_BODY', expect.stringContaining('replaces')]);
    },
  );
});
