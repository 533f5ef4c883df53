/**
 * Several gateways with one Redis mint exactly one token for each grant, whatever happens to Redis and to one of the
 * gateways.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isPostgresThere } from '../suites/postgres.js';
import { isRedisServerThere } from '../suites/redis.js';
import { runToEnd } from './product.js';
import {
  askFor,
  type Call,
  createGate,
  dashboardPath,
  gatewayToken,
  mintPath,
  type Replicas,
  sessionOf,
  startReplicas,
  userOf,
} from './replicas.js';

const isThere = (await isPostgresThere()) && isRedisServerThere();
const tenants = ['LAX', 'ATL', 'SFO', 'ORD'];

let replicas: Replicas;
beforeAll(async () => {
  if (isThere) replicas = await startReplicas();
});
afterAll(() => replicas?.stop());

type User = { readonly sub: string; readonly org_id: string };

const usersNamed = (prefix: string, count: number): readonly User[] =>
  Array.from({ length: count }, (_, index) => ({
    sub: `${prefix}-${index}`,
    org_id: tenants[index % tenants.length] ?? '',
  }));

const countBy = <T>(items: readonly T[], keyOf: (item: T) => string): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1);
  return counts;
};

const mintsOf = (users: readonly User[]): Map<string, number> =>
  countBy(
    replicas.proxy.to(mintPath).filter((call) => users.some(({ sub }) => userOf(call) === `|${sub}`)),
    userOf,
  );

/** Sends `count` requests at once, each user's spread over all gateways. Returns the tokens by user. */
const askAll = async (users: readonly User[], count: number): Promise<Map<string, Set<string>>> => {
  const sessions = users.map((user) => sessionOf(user));
  const tokens = new Map(users.map(({ sub }) => [sub, new Set<string>()]));
  await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const which = index % users.length;
      const gateway = replicas.gateways[Math.floor(index / users.length) % 3];
      if (gateway === undefined) throw new Error('no gateway');
      const { status, code, token } = await askFor(gateway, sessions[which] ?? '');
      expect(`${status} ${code}`).toBe('200 OK');
      tokens.get(users[which]?.sub ?? '')?.add(token);
    }),
  );
  return tokens;
};

describe.skipIf(!isThere)('three gateways and one Redis', () => {
  test('1,000 requests at once, cold: one mint for each grant, each dashboard made once', async () => {
    const users = usersNamed('cold', 20);
    const tokens = await askAll(users, 1000);
    expect([...tokens.values()].map((those) => those.size)).toEqual(users.map(() => 1));
    expect([...mintsOf(users).values()]).toEqual(users.map(() => 1));
    const made = replicas.proxy.to(dashboardPath).filter(({ status }) => status === 200);
    expect(made.map(({ body }) => JSON.parse(body).dashboardId).toSorted()).toEqual(
      tenants.map((tenant) => `delays--${tenant}`).toSorted(),
    );
    const listed = await fetch(`${replicas.service.url}/api/v2/guest-token`, {
      headers: { authorization: `Bearer ${replicas.service.credentials.demoApiKey}` },
    });
    expect(((await listed.json()) as { data: unknown[] }).data).toHaveLength(users.length);
  });

  test('Redis stopped and started meanwhile: a mint for each process at most, and one token once it is back', async () => {
    const users = usersNamed('outage', 20);
    let minted = 0;
    replicas.proxy.state.after = async ({ path }: Call) => {
      if (path !== mintPath) return;
      minted += 1;
      // At this moment, some tokens are stored, some are being minted, and some are not begun.
      if (minted === 5) await replicas.redis.stop();
      if (minted === 30) await replicas.redis.start();
    };
    const first = askAll(users, 500);
    await first;
    replicas.proxy.state.after = () => {};
    await replicas.redis.stop();
    await replicas.redis.start();
    for (const [user, mints] of mintsOf(users)) expect(mints, user).toBeLessThanOrEqual(3);
    const before = mintsOf(users);
    // Each gateway notices by itself that Redis is available again.
    await expect
      .poll(async () => [...(await askAll(users, 60)).values()].map((those) => those.size), { timeout: 20_000 })
      .toEqual(users.map(() => 1));
    const [settled, again] = [await askAll(users, 60), await askAll(users, 60)];
    expect(again).toEqual(settled);
    expect(mintsOf(users)).toEqual(before);
    const known = await first;
    for (const [user, those] of settled)
      expect([...(known.get(user) ?? [])]).toEqual(expect.arrayContaining([...those]));
  });

  test('the holder of a lease is killed: one orphan at most, and the others go on when its lease ends', async () => {
    const user = { sub: 'killed-holder', org_id: 'LAX' };
    const holder = await replicas.startGateway();
    const held = createGate();
    const killed = createGate();
    replicas.proxy.state.after = async (call) => {
      if (call.path !== mintPath || userOf(call) !== `|${user.sub}`) return;
      replicas.proxy.state.after = () => {};
      held.open();
      await killed.opened;
    };
    const lost = askFor(holder, sessionOf(user)).catch(() => 'cut off');
    await held.opened;
    const waiting = replicas.gateways.flatMap((gateway) => [1, 2, 3].map(() => askFor(gateway, sessionOf(user))));
    await holder.stop('SIGKILL');
    expect(await lost).toBe('cut off');
    const answers = await Promise.all(waiting);
    killed.open();
    await holder.remove();
    expect(answers.map(({ status }) => status)).toEqual(waiting.map(() => 200));
    expect(new Set(answers.map(({ token }) => token)).size).toBe(1);
    expect([...mintsOf([user]).values()]).toEqual([2]);
  });
});

describe.skipIf(!isThere)('a user is revoked', () => {
  const isGood = async (token: string): Promise<boolean> => {
    const url = `${replicas.service.url}/api/v2/guest/dashboards/delays--LAX`;
    const { status } = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
    return status === 200;
  };
  const revoke = async (sub: string): Promise<string> => {
    const args = ['revoke', 'user', sub, '--no-issuer', '--reason', 'left', '--url', replicas.gateways[0]?.url ?? ''];
    const { code, output } = await runToEnd(args, { GUESTLIST_GATEWAY_TOKEN: gatewayToken });
    expect(output).toContain('Revoked');
    expect(code).toBe(0);
    return output;
  };
  /**
   * Asserts that every gateway soon refuses the session and keeps refusing it, and that a new login gets a new token.
   */
  const expectRevoked = async (user: User, session: string, known: readonly string[]): Promise<void> => {
    const codes = async () =>
      Promise.all(replicas.gateways.map(async (gateway) => (await askFor(gateway, session)).code));
    await expect.poll(codes, { timeout: 10_000 }).toEqual(['SESSION_INVALID', 'SESSION_INVALID', 'SESSION_INVALID']);
    expect(new Set(await codes())).toEqual(new Set(['SESSION_INVALID']));
    for (const token of known) expect(await isGood(token)).toBe(false);
    const login = () => sessionOf({ ...user, iat: Math.floor(Date.now() / 1000) });
    // `iat` has whole seconds, so a login counts as new only from the next second on.
    await expect
      .poll(async () => (await askFor(replicas.gateways[0] ?? { url: '' }, login())).code, { timeout: 30_000 })
      .toBe('OK');
    const tokens = await Promise.all(replicas.gateways.map(async (gateway) => (await askFor(gateway, login())).token));
    expect(new Set(tokens).size).toBe(1);
    expect(known).not.toContain(tokens[0]);
    expect(await isGood(tokens[0] ?? '')).toBe(true);
  };

  test('revoking a user with a live session ends a token that gateways share, while another mint is under way', async () => {
    const user = { sub: 'revoked', org_id: 'LAX' };
    const session = sessionOf(user);
    const shared = await Promise.all(replicas.gateways.map(async (gateway) => (await askFor(gateway, session)).token));
    expect(new Set(shared).size).toBe(1);
    expect(await isGood(shared[0] ?? '')).toBe(true);
    const minted = createGate();
    const released = createGate();
    const inFlight: string[] = [];
    replicas.proxy.state.after = async (call) => {
      if (call.path !== mintPath || userOf(call) !== '|revoked') return;
      inFlight.push(JSON.parse(call.answer).token);
      minted.open();
      await released.opened;
    };
    // Another role has another grant, which another gateway mints than the one that revokes.
    const other = askFor(replicas.gateways[2] ?? { url: '' }, sessionOf({ ...user, roles: ['manager'] }));
    await minted.opened;
    expect(await revoke(user.sub)).toContain('Tokens that worked until now: 2');
    replicas.proxy.state.after = () => {};
    released.open();
    expect(await other).toMatchObject({ status: 401, code: 'SESSION_INVALID' });
    await expectRevoked(user, session, [...shared, ...inFlight]);
  });

  test('while Redis hangs: what it still holds afterwards is never answered again', async () => {
    const user = { sub: 'revoked-in-outage', org_id: 'LAX' };
    const session = sessionOf(user);
    const { token } = await askFor(replicas.gateways[1] ?? { url: '' }, session);
    replicas.redis.child().kill('SIGSTOP');
    await revoke(user.sub);
    replicas.redis.child().kill('SIGCONT');
    await expectRevoked(user, session, [token]);
  });
});
