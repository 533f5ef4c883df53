/** Two gateways in front of one service: a changed policy of one ends its own tokens, and not those of the other. */
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import type { Policy } from '../../src/gateway/policy/policy.js';
import { fixedCapabilities } from '../../src/gateway/upstream/capabilities.js';
import { sign, startGateway } from './harness.js';
import { openTestLedger } from './ledgers.js';
import { createOwnService, servicePolicy } from './own-service.js';
import { basePolicy, changeablePolicies, policyOf } from './policies.js';

let service: Awaited<ReturnType<typeof createOwnService>>;
beforeAll(async () => {
  service = await createOwnService();
});

/** Grants one template instead of two. */
const narrowPolicy: Policy = policyOf({
  ...{ dataApp: 'app', workspace: 'space', datamart: 'sales' },
  session: { ...basePolicy.session, claims: { ...basePolicy.session.claims } },
  templates: { delays: { name: 'Delays' } },
  rules: [{ name: 'all', when: 'true', grant: { templates: ['delays'] } }],
});

type Overrides = NonNullable<Parameters<typeof startGateway>[0]>;
const open = async (overrides: Overrides) => {
  const policies = changeablePolicies(overrides.policy ?? servicePolicy);
  const gateway = await startGateway({ upstream: service.upstream, clock: service.deps.clock, ...overrides, policies });
  return { ...gateway, policies };
};
const newOrg = () => `c${randomUUID().slice(0, 8)}`;
const sessionOf = (org: string, sub = 'ann'): string => {
  const nowSeconds = Math.floor(service.deps.clock.now().getTime() / 1000);
  return sign({ iss: 'guestlist-demo', sub, org_id: org, iat: nowSeconds, exp: nowSeconds + 3600 });
};
/** A token of a program that calls the interface itself. */
const mintUnnamed = async (clientId: string): Promise<string> => {
  const { body } = await service.upstream.transport({
    ...{ method: 'POST', path: '/api/v2/guest-token/create', query: {}, bearer: service.upstream.apiKey },
    body: { clientId, dataAppName: 'app' },
  });
  return (body as { token: string }).token;
};
const isAlive = async (token: string): Promise<boolean> =>
  (await service.store.guestTokens.findByHash(service.deps.tokens.hash(token))) !== undefined;

describe('a changed policy of one of two gateways', () => {
  it('ends the tokens that it grants no more, for the same user of the same tenant at that gateway alone', async () => {
    const [one, other] = [await open({ ledger: await openTestLedger() }), await open({ ledger: service.ledger })];
    const ann = sessionOf(newOrg());
    const [own, foreign] = [(await one.granted(ann)).token, (await other.granted(ann)).token];
    expect(own).not.toBe(foreign);
    await one.policies.change(narrowPolicy);
    expect([await isAlive(own), await isAlive(foreign)]).toEqual([false, true]);
    expect((await other.granted(ann)).token).toBe(foreign);
  });

  it('ends, at its next start, the tokens of its former processes, and those that name no gateway', async () => {
    const ledger = await openTestLedger();
    const [one, other] = [await open({ ledger }), await open({ ledger: service.ledger })];
    const [ann, ben] = [sessionOf(newOrg()), sessionOf(newOrg(), 'ben')];
    const former = [(await one.granted(ann)).token, (await one.granted(ben)).token];
    const foreign = (await other.granted(ann)).token;
    const unnamed = await mintUnnamed(newOrg());
    await open({ ledger, policy: narrowPolicy });
    await vi.waitFor(async () => {
      expect(await Promise.all([...former, unnamed].map(isAlive))).toEqual([false, false, false]);
    });
    expect(await isAlive(foreign)).toBe(true);
  });

  it('is told apart by the configured id, which two ledgers of one deployment share', async () => {
    const deploymentId = `deployment-${randomUUID()}`;
    const ann = sessionOf(newOrg());
    const [one, replica] = [
      await open({ ledger: await openTestLedger(), deploymentId }),
      await open({ ledger: await openTestLedger(), deploymentId }),
    ];
    const tokens = [(await one.granted(ann)).token, (await replica.granted(ann)).token];
    await one.policies.change(narrowPolicy);
    expect(await Promise.all(tokens.map(isAlive))).toEqual([false, false]);
  });

  it('ends the tokens of all gateways at a service that cannot tell them apart', async () => {
    const upstream = {
      ...service.upstream,
      capabilities: fixedCapabilities(['revoke-guest-tokens', 'list-guest-tokens']),
    };
    const [one, other] = [
      await open({ ledger: await openTestLedger(), upstream }),
      await open({ ledger: service.ledger }),
    ];
    const ann = sessionOf(newOrg());
    const tokens = [(await one.granted(ann)).token, (await other.granted(ann)).token];
    await one.policies.change(narrowPolicy);
    expect(await Promise.all(tokens.map(isAlive))).toEqual([false, false]);
  });

  it('an operator still ends the tokens of a tenant at every gateway', async () => {
    const [one, other] = [await open({ ledger: await openTestLedger() }), await open({ ledger: service.ledger })];
    const org = newOrg();
    const tokens = [(await one.granted(sessionOf(org))).token, (await other.granted(sessionOf(org))).token];
    await one.run('revoke', { by: 'tenant', tenant: org, reason: 'a test' });
    expect(await Promise.all(tokens.map(isAlive))).toEqual([false, false]);
  });
});

it('a service refuses a name that it would not store', async () => {
  const { status } = await service.upstream.transport({
    ...{ method: 'POST', path: '/api/v2/guest-token/create', query: {}, bearer: service.upstream.apiKey },
    ...{ body: { clientId: 'c', dataAppName: 'app' }, gateway: 'a name with spaces' },
  });
  expect(status).toBe(400);
});
