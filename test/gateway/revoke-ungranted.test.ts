/** Revocation of tokens that a changed policy no longer grants. */
import { describe, expect, it } from 'vitest';
import type { PolicyTokens } from '../../src/gateway/ledger/policy-tokens.js';
import { createPolicyStep } from '../../src/gateway/policy/decide.js';
import type { Policy } from '../../src/gateway/policy/policy.js';
import { createTenantStep } from '../../src/gateway/tenant/resolve.js';
import { createIssuedTokens, type IssuedToken } from '../../src/gateway/token/issued-tokens.js';
import { createRevokeUngranted, type RevokeTarget } from '../../src/gateway/token/revoke-ungranted.js';
import { fixedCapabilities } from '../../src/gateway/upstream/capabilities.js';
import { Refusal } from '../../src/model/refusal.js';
import type { WireResponse } from '../../src/platform/http/interface/client.js';
import { analyst, captureLog, createMovableClock, manager, startGateway } from './harness.js';
import { openTestLedger } from './ledgers.js';
import { changeablePolicies, policyOf } from './policies.js';
import { createScriptedUpstream } from './scripted-upstream.js';

const revokePath = '/api/v2/guest-token/revoke';

/** An upstream that supports revocation. */
const revoking = () => {
  const upstream = createScriptedUpstream();
  upstream.state.intercept = ({ path }): WireResponse | undefined =>
    path === revokePath ? { status: 200, body: { data: { revoked: 1 }, error: null } } : undefined;
  return {
    ...upstream,
    revoked: () => upstream.calls.filter(({ path }) => path === revokePath).map(({ body }) => body),
  };
};

const rules = (analysts: readonly string[], managers: readonly string[], more: object = {}) => ({
  rules: [
    { name: 'analysts', when: '"analyst" in user.roles', grant: { templates: analysts, ...more } },
    { name: 'managers', when: '"manager" in user.roles', grant: { templates: managers } },
  ],
});
const both = ['delays', 'routes'];
const optionsOf = ({ transport }: ReturnType<typeof revoking>) => ({
  transport,
  apiKey: 'the-api-key',
  baseUrl: 'http://service.test',
  capabilities: fixedCapabilities(['revoke-guest-tokens']),
});
const userOf = ({ iss, sub }: typeof analyst) => `${iss}|${sub}`;

const start = async (first: object, upstream = revoking()) => {
  const policies = changeablePolicies(policyOf(first));
  const gateway = await startGateway({ policies, upstream: optionsOf(upstream) });
  return { ...gateway, upstream, change: (next: object) => policies.change(policyOf(next)) };
};

describe('a policy that grants less', () => {
  it('revokes the tokens of users who lose something, at the service, and no others', async () => {
    const { granted, upstream, change } = await start(rules(both, both));
    const [lost, kept] = [await granted(analyst), await granted(manager)];
    await change(rules(['delays'], both));
    expect(upstream.revoked()).toEqual([{ clientId: 'LAX', userIdentifier: userOf(analyst) }]);
    expect((await granted(manager)).token).toBe(kept.token);
    const next = await granted(analyst);
    expect(next.token).not.toBe(lost.token);
    expect(next.embeds.map(({ id }) => id)).toEqual(['delays--LAX']);
    // If the access is granted again, the user gets a new token: the old one was revoked at the service.
    await change(rules(both, both));
    expect((await granted(analyst)).token).not.toBe(lost.token);
  });

  it.each([
    ['a rule that is gone', { rules: rules(both, both).rules.slice(1) }],
    ['a permission less', rules(both, both)],
    [
      'a restriction',
      {
        ...rules(both, both, { permissions: ['isEnableDownloadMetrics'] }),
        restrictions: [
          { name: 'r', when: '"analyst" in user.roles', restrict: { dashboardFilters: { State: '"CA"' } } },
        ],
      },
    ],
    [
      'a metric hidden',
      {
        ...rules(both, both, { permissions: ['isEnableDownloadMetrics'] }),
        restrictions: [
          { name: 'r', when: '"analyst" in user.roles', restrict: { hideMetrics: { delays: ['Average delay'] } } },
        ],
      },
    ],
    ['a shorter life', rules(both, both, { permissions: ['isEnableDownloadMetrics'], expiryMinutes: 5 })],
    ['another timezone', rules(both, both, { permissions: ['isEnableDownloadMetrics'], timezone: '"Europe/Lisbon"' })],
    [
      'an expression that fails',
      {
        ...rules(both, both),
        restrictions: [{ name: 'r', when: '"analyst" in user.roles', restrict: { rls: { x: 'user.claims.region' } } }],
      },
    ],
    [
      'another tenant for the session',
      {
        ...rules(both, both, { permissions: ['isEnableDownloadMetrics'] }),
        session: {
          claims: { org_id: 'string', roles: 'list<string>' },
          tenant: '"analyst" in claims.roles ? "ATL" : claims.org_id',
          roles: 'claims.roles',
        },
      },
    ],
    [
      "columns to filter by, in place of the embed's",
      rules(both, both, {
        permissions: ['isEnableDownloadMetrics'],
        accessPermissions: {
          isAllowEndUserDashboardFilter: true,
          dashboardFilterColumns: [{ tableName: 'main.flights', columns: ['origin'] }],
        },
      }),
    ],
    [
      'an override',
      {
        ...rules(both, both, { permissions: ['isEnableDownloadMetrics'] }),
        tenants: [{ name: 'o', clientIds: ['LAX'], withoutRules: ['analysts'] }],
      },
    ],
  ])('a policy that grants less than before revokes tokens: %s', async (_, next) => {
    const { granted, upstream, change } = await start(rules(both, both, { permissions: ['isEnableDownloadMetrics'] }));
    await granted(analyst);
    await granted(manager);
    await change(next);
    expect(upstream.revoked()).toEqual([{ clientId: 'LAX', userIdentifier: userOf(analyst) }]);
  });

  it('includes a user who was shown the value of a restriction that is hidden now, not the reverse', async () => {
    const restricted = (show?: true) => ({
      ...rules(both, both),
      restrictions: [
        {
          name: 'r',
          when: '"analyst" in user.roles',
          restrict: { dashboardFilters: { State: '"CA"' }, ...(show && { show }) },
        },
      ],
    });
    const { granted, upstream, change } = await start(restricted());
    await granted(analyst);
    await granted(manager);
    await change(restricted(true));
    expect(upstream.revoked()).toEqual([]);
    await granted(analyst);
    await change(restricted());
    expect(upstream.revoked()).toEqual([{ clientId: 'LAX', userIdentifier: userOf(analyst) }]);
  });

  it.each([
    ['a comment', {}],
    [
      'a rule for others',
      { rules: [...rules(both, both).rules, { name: 'new', when: '"x" in user.roles', grant: { templates: both } }] },
    ],
    ['a dashboard more', rules([...both, 'third-one'], both)],
    ['a longer life', rules(both, both, { expiryMinutes: 90 })],
  ])('does not include %s', async (_, next) => {
    const { granted, upstream, change } = await start(rules(both, both));
    const { token } = await granted(manager);
    await granted(analyst);
    await change({ ...rules(both, both), ...next });
    expect(upstream.revoked()).toEqual([]);
    expect((await granted(manager)).token).toBe(token);
  });
});

describe('a request that runs while the policy changes', () => {
  it('is decided again, and does not answer a token that was minted before', async () => {
    const upstream = revoking();
    const { granted, change } = await start(rules(both, both), upstream);
    const usual = upstream.state.intercept;
    let release = (): void => {};
    const minting = new Promise<void>((arrived) => {
      upstream.state.intercept = (request) =>
        request.path === '/api/v2/guest-token/create' ? mintLate() : usual(request);
      const mintLate = async () => {
        upstream.state.intercept = usual;
        arrived();
        await new Promise<void>((resolve) => {
          release = resolve;
        });
        return { status: 200, body: { token: 'minted-before' } };
      };
    });
    const answer = granted(analyst);
    await minting;
    await change(rules(['delays'], both));
    release();
    expect((await answer).embeds.map(({ id }) => id)).toEqual(['delays--LAX']);
    expect((await answer).token).toBe('guest-token-1');
  });
});

describe('tokens of an earlier process', () => {
  const restart = async (first: Policy, second: Policy, advanceMs: number) => {
    const ledger = await openTestLedger();
    const clock = createMovableClock();
    const upstream = revoking();
    const options = { ledger, clock, upstream: optionsOf(upstream) };
    await (await startGateway({ ...options, policies: changeablePolicies(first) })).granted(analyst);
    clock.advance(advanceMs);
    const claims = { ...analyst, iat: clock.now().getTime() / 1000, exp: clock.now().getTime() / 1000 + 600 };
    await (await startGateway({ ...options, policies: changeablePolicies(second) })).granted(claims);
    return upstream.revoked();
  };

  it('are revoked if the policy has changed, since nothing else is known of them', async () => {
    expect(await restart(policyOf(), policyOf({ expiryMinutes: 30 }), 0)).toEqual([{ all: true }]);
  });

  it('stay valid if the policy is the same or has the same meaning, or if they have expired', async () => {
    expect(await restart(policyOf(), { ...policyOf(), digest: 'of another layout' }, 0)).toEqual([]);
    expect(await restart(policyOf(), policyOf({ expiryMinutes: 30 }), 3 * 3_600_000)).toEqual([]);
  });
});

describe('leak 17: changed attributes of a user', () => {
  it('take effect at the next request', async () => {
    const restrictions = [
      { name: 'r', when: '"regional" in user.roles', restrict: { dashboardFilters: { State: 'user.claims.region' } } },
    ];
    const { granted, refused, upstream } = await start({ ...rules(both, ['delays']), restrictions });
    const first = await granted({ ...analyst, roles: ['analyst', 'regional'], region: 'CA' });
    const moved = await granted({ ...analyst, roles: ['analyst', 'regional'], region: 'NV' });
    expect(moved.token).not.toBe(first.token);
    expect(JSON.stringify(upstream.lastMint())).toContain('"State":"NV"');
    expect((await granted({ ...analyst, roles: ['manager'] })).embeds).toHaveLength(1);
    expect((await refused({ ...analyst, roles: [] })).code).toBe('NO_POLICY');
  });
});

describe('a revocation that fails', () => {
  const parts = async (retire: (what: RevokeTarget) => Promise<void>, maxTokens?: number) => {
    const clock = createMovableClock();
    const { log, lines } = captureLog();
    const waiting: (() => void)[] = [];
    const settled: string[] = [];
    const policyTokens: PolicyTokens = {
      note: async () => {},
      areOthersLive: async () => false,
      settleOwn: async (meaning) => void settled.push(meaning),
      settleAll: async () => {},
    };
    const decide = createPolicyStep(clock);
    const tenantOf = createTenantStep(() => expect.fail('no host is asked'));
    const after = (_: number, task: () => void) => void waiting.push(task);
    const retirement = createRevokeUngranted({
      revoke: retire,
      tenantOf,
      decide,
      policyTokens,
      clock,
      log,
      after,
      maxTokens,
    });
    const policy = policyOf(rules(both, both));
    const answer = (subject: string) => {
      const session = {
        issuer: 'i',
        subject,
        userIdentifier: subject,
        issuedAtMs: null,
        claims: { org_id: 'LAX', roles: ['analyst'] },
      };
      const grant = decide(policy, session, 'LAX', {});
      const expiresAtMs = clock.now().getTime() + grant.expiryMs;
      retirement.remember(`token of ${subject}`, { clientId: 'LAX', session, asked: {}, grant, expiresAtMs });
    };
    const narrow = () => retirement.policyChanged(policyOf(rules(['delays'], both)), policy);
    return { answer, narrow, lines, waiting, settled, clock };
  };

  it('a failed revocation is stored, and retried until it succeeds', async () => {
    let fails = 2;
    const done: RevokeTarget[] = [];
    const { answer, narrow, waiting, settled, lines } = await parts(async (what) => {
      fails -= 1;
      if (fails >= 0) throw new Error('the service is down');
      done.push(what);
    });
    answer('ann');
    await narrow();
    expect([done, settled, waiting.length]).toEqual([[], [], 1]);
    waiting.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
    waiting.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
    expect(done).toEqual([{ kind: 'user', clientId: 'LAX', userIdentifier: 'ann' }]);
    expect(waiting).toEqual([]);
    expect(lines.filter(({ level }) => level === 50)).toHaveLength(2);
  });

  it('leaves the token valid until it expires if the service cannot revoke, and the log says so', async () => {
    const { answer, narrow, waiting, lines } = await parts(async () => {
      throw new Refusal('NOT_SUPPORTED', 'not supported here');
    });
    answer('ann');
    await narrow();
    expect(waiting).toEqual([]);
    expect(lines.map(({ msg }) => msg).join()).toContain('they stay valid until they expire');
  });

  it('affects all tokens if some could not be recorded, or too many would be revoked one by one', async () => {
    const revoked: RevokeTarget[] = [];
    const retire = async (what: RevokeTarget) => void revoked.push(what);
    const few = await parts(retire, 2);
    for (const name of ['a', 'b', 'c']) few.answer(name);
    await few.narrow();
    expect(revoked).toEqual([{ kind: 'policy' }]);
    const many = await parts(retire);
    for (let index = 0; index <= 1000; index += 1) many.answer(`u${index}`);
    await many.narrow();
    expect(revoked).toEqual([{ kind: 'policy' }, { kind: 'policy' }]);
  });
});

it('holds few of the tokens that have expired', () => {
  let nowMs = 0;
  const tokens = createIssuedTokens(100_000, () => nowMs);
  const live = { clientId: 'LAX', session: {}, asked: {}, grant: {} } as IssuedToken;
  for (; nowMs < 20_000; nowMs += 1) tokens.remember(`token ${nowMs}`, { ...live, expiresAtMs: nowMs + 100 });
  expect(tokens.list(0).length).toBeLessThan(1000);
  expect(tokens.list(nowMs)).toHaveLength(99);
  expect(tokens.lostUntilMs()).toBe(0);
});
