/**
 * A session of several tenants gets tokens of these alone, whatever it asks for, and learns no id or name of another one.
 * On a page, an element uses tokens of its own tenant alone, in whatever order answers come.
 * `npm run isolation -- --only resellers` runs many more cases.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { WireRequest } from '../../src/platform/http/interface/client.js';
import { createJoinUrl } from '../../src/web/token/by-url.js';
import type { Membership, MintedToken, MintOutcome } from '../../src/web/token/keeper.js';
import { type AnswerBody, analyst, startGateway } from '../gateway/harness.js';
import { basePolicy, policyOf } from '../gateway/policies.js';
import { countOfCases } from './count.js';

const numRuns = Math.ceil(countOfCases(1000, 2000) / 10);
const seed = Number(process.env.ISOLATION_SEED ?? 20_261_129);

const ids = ['LAX', 'SFO', 'ATL', 'JFK'] as const;
const nameOf = (id: string) => `Company ${id}`;
const claims = { ...basePolicy.session.claims, org_id: 'list<string>' };

const anId = fc.constantFrom(...ids);
const anAsked = fc.oneof(
  { weight: 6, arbitrary: fc.option(anId, { nil: undefined }) },
  fc.tuple(anId, anId).map(([one, other]) => `${one},${other}`),
  fc.tuple(anId, fc.constantFrom(' ', '\u200b', '%', '*', "' OR 1=1")).map(([id, more]) => id + more),
  fc.constantFrom('lax', '*', '__proto__', 'constructor', '["LAX"]', '{"id":"LAX"}'),
);
const aRequest = fc.record({
  own: fc.shuffledSubarray([...ids], { minLength: 1 }),
  user: fc.constantFrom('rita', 'ben'),
  asked: anAsked,
});

type Answer = Pick<AnswerBody, 'token' | 'embeds'> & {
  readonly tenant?: string;
  readonly tenants?: readonly { readonly id: string }[];
  readonly error?: { readonly code: string; readonly tenants?: readonly { readonly id: string }[] };
};

/** The tenant of the token that this request must get; undefined: it must be refused. */
const expected = (own: readonly string[], asked: string | undefined): string | undefined =>
  own.find((id) => (asked === undefined ? own.length === 1 : id === asked));

test('a session gets tokens of its own tenants alone, and no id or name of another one', {
  timeout: 600_000,
}, async () => {
  const { ask, upstream } = await startGateway({
    policy: policyOf({ session: { ...basePolicy.session, claims } }),
    capabilities: ['list-tenant-names'],
  });
  upstream.state.intercept = ({ path, body }: WireRequest) => {
    if (path !== '/api/v2/data-app/clients/names') return undefined;
    const names = (body as { clientIds: string[] }).clientIds.map((clientId) => ({ clientId, name: nameOf(clientId) }));
    return { status: 200, body: { data: { column: 'main.airports.name', names, isWhole: true }, error: null } };
  };
  const tenantOfToken = new Map<string, string>();
  const tally = { granted: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(aRequest, async ({ own, user, asked }) => {
      const session = { ...analyst, sub: user, org_id: own };
      const response = await ask(session, asked === undefined ? undefined : { tenant: asked });
      const text = await response.text();
      const { token, embeds, tenant, tenants, error }: Answer = JSON.parse(text);
      const tenantOfAnswer = expected(own, asked);
      const told = text.replace(token, '');
      for (const id of ids.filter((each) => !own.includes(each))) expect(told).not.toContain(id);
      const listed = (tenants ?? error?.tenants ?? []).map(({ id }) => id);
      expect(listed).toEqual(own.length === 1 ? [] : own);
      if (tenantOfAnswer === undefined) {
        tally.refused += 1;
        expect([response.status, error?.code, token]).toEqual([403, 'NO_TENANT', undefined]);
        return;
      }
      tally.granted += 1;
      expect([response.status, tenant]).toEqual([200, own.length === 1 ? undefined : tenantOfAnswer]);
      expect(embeds.map(({ id }) => id.split('--')[1])).toEqual(embeds.map(() => tenantOfAnswer));
      expect(tenantOfToken.get(token) ?? tenantOfAnswer).toBe(tenantOfAnswer);
      tenantOfToken.set(token, tenantOfAnswer);
    }),
    { numRuns, seed },
  );
  expect(Math.min(tally.granted, tally.refused)).toBeGreaterThan(numRuns / 10);
});

type Step = { readonly at: number; readonly does: 'join' | 'leave' | 'expired'; readonly tenant: string };
const aStep: fc.Arbitrary<Step> = fc.record({
  at: fc.nat({ max: 3 }),
  does: fc.constantFrom('join', 'join', 'leave', 'expired'),
  tenant: anId,
});

const url = 'https://host.example/embed-token';
const still = {
  startTimer: () => () => undefined,
  now: () => 0,
  isHidden: () => false,
  onWake: () => () => undefined,
  random: () => 0,
};

/** Elements of a page that join, switch and leave, while the answers to their requests come in any order. */
const runPage = async (scheduler: fc.Scheduler, steps: readonly Step[]) => {
  let count = 0;
  const answer = scheduler.scheduleFunction(async (tenant: string): Promise<MintOutcome<MintedToken>> => {
    count += 1;
    return { kind: 'minted', minted: { token: `token ${count} of ${tenant}`, refreshInMs: null } };
  });
  const joinUrl = createJoinUrl<MintedToken>(still, (_, { tenant }) => answer(tenant ?? 'nobody'));
  const elements = new Map<number, { readonly membership: Membership; readonly tokens: string[] }>();
  const seen: { readonly tenant: string; readonly token: string; readonly isLate: boolean }[] = [];
  const leave = (at: number): void => {
    elements.get(at)?.membership.leave();
    elements.delete(at);
  };
  const join = (at: number, tenant: string): void => {
    leave(at);
    const tokens: string[] = [];
    const membership = joinUrl(url, tenant, {
      onToken: ({ token }) => {
        seen.push({ tenant, token, isLate: elements.get(at)?.tokens !== tokens });
        tokens.push(token);
      },
      onRefused: () => undefined,
    });
    elements.set(at, { membership, tokens });
  };
  const act = ({ at, does, tenant }: Step): void => {
    const element = elements.get(at);
    if (does === 'join') join(at, tenant);
    else if (does === 'leave') leave(at);
    else element?.membership.expired(element.tokens.at(-1) ?? '');
  };
  scheduler.scheduleSequence(steps.map((step) => async () => act(step)));
  await scheduler.waitIdle();
  return seen;
};

test('an element uses no token of another tenant, and none after it left', async () => {
  let used = 0;
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), fc.array(aStep, { minLength: 2, maxLength: 12 }), async (scheduler, steps) => {
      const seen = await runPage(scheduler, steps);
      for (const { tenant, token, isLate } of seen)
        expect([token, isLate]).toEqual([expect.stringMatching(new RegExp(`of ${tenant}$`)), false]);
      used += seen.length;
    }),
    { numRuns, seed },
  );
  expect(used).toBeGreaterThan(numRuns);
});
