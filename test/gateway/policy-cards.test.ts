/** Which cards a policy closes, by role, restriction and line, without a session and without a value. */
import { describe, expect, test } from 'vitest';
import { tokenRun } from '../../src/gateway/common/admin-command.js';
import { createCheckCards } from '../../src/gateway/policy-tools/cards.js';
import { createCardsCommand } from '../../src/gateway/policy-tools/cards-command.js';
import { explainGrant } from '../../src/gateway/policy-tools/explain.js';
import { writeExplanation } from '../../src/gateway/policy-tools/explain-text.js';
import { profilesOf } from '../../src/gateway/policy-tools/profiles.js';
import { fixedCapabilities } from '../../src/gateway/upstream/capabilities.js';
import type { NamedRestrictions } from '../../src/model/guest/refused-metrics.js';
import { type Call, UpstreamRefusal } from '../../src/platform/http/interface/client.js';
import { fixedPolicies } from './fixed-policies.js';
import { policyOf } from './policies.js';

const now = new Date('2026-03-04T05:06:07Z');
const rule = (when: string, templates = ['delays']) => ({ name: `all ${when}`, when, grant: { templates } });
const policy = policyOf({
  rules: [rule('"analyst" in user.roles || "head" in user.roles'), rule('"clerk" in user.roles', ['routes'])],
  restrictions: [
    {
      name: 'heads see their region',
      when: '"head" in user.roles',
      restrict: { dashboardFilters: { 'Origin state': 'user.claims.region' } },
    },
    { name: 'no routes in CA', when: 'user.claims.region == "CA"', restrict: { hideMetrics: { delays: ['Routes'] } } },
    { name: 'names are closed', when: '!("admin" in user.roles)', restrict: { hideColumns: ['main.t.name'] } },
  ],
});

const asked: unknown[] = [];
const by = (given: NamedRestrictions, field: 'dashboardFilters' | 'hideColumns', name: string) =>
  given[field].includes(name) ? [{ field, name }] : [];

/** A service with two cards, of which restrictions close one. Only LAX has a copy. */
const upstream = (async (
  _: unknown,
  input: { readonly dashboardId: string; readonly restrictions: NamedRestrictions },
) => {
  asked.push(input);
  if (!['delays', 'delays--LAX', 'routes'].includes(input.dashboardId))
    throw new UpstreamRefusal(400, 'INVALID_DASHBOARD_ID', 'there is none');
  const { restrictions } = input;
  const causes = [
    ...by(restrictions, 'dashboardFilters', 'Origin state'),
    ...by(restrictions, 'hideColumns', 'main.t.name'),
  ];
  const refusal =
    causes.length === 0
      ? null
      : { refuses: 'metric', cause: 'restriction', reason: 'x', by: causes, message: 'No way.' };
  const metric = { metricId: 'm', name: 'Delays', placement: 'METRIC' };
  return {
    data: [
      { ...metric, refusal },
      { ...metric, metricId: 'n', refusal: null },
    ],
    refusal: null,
    error: null,
  };
}) as unknown as Call;
const checkCards = createCheckCards({ upstream, capabilities: fixedCapabilities(['list-refused-metrics']) });

test('a policy tells users apart by roles, and by restrictions that no role decides', () => {
  const named = profilesOf(policy, 'delays').map(({ roles, restrictions }) => [
    roles,
    restrictions.map(({ name }) => name),
  ]);
  expect(named).toEqual([
    [['analyst'], ['names are closed']],
    [['head'], ['heads see their region', 'names are closed']],
    [[], ['no routes in CA']],
  ]);
  expect(profilesOf(policy, 'routes').map(({ roles }) => roles)).toEqual([['clerk'], ['clerk', 'head'], []]);
});

test('each closed card has the restriction with its line', async () => {
  const command = createCardsCommand({ policies: fixedPolicies(policy), checkCards, clock: { now: () => now } });
  const answer = await command.run({ template: 'delays' }, { ...tokenRun, seesData: false });
  expect(answer).toMatchObject({
    profiles: [
      { roles: ['analyst'], cards: { cards: 2, refused: [{ name: 'Delays', by: [{ field: 'hideColumns' }] }] } },
      {
        roles: ['head'],
        cards: {
          refused: [
            {
              by: [
                {
                  field: 'dashboardFilters',
                  from: [{ name: 'heads see their region', at: expect.stringMatching(/:\d+:\d+$/) }],
                },
                { field: 'hideColumns', name: 'main.t.name', from: [{ name: 'names are closed' }] },
              ],
            },
          ],
        },
      },
      { roles: [], restrictions: [{ name: 'no routes in CA' }], cards: { refused: [] } },
    ],
    viewer: null,
  });
});

describe('of a user', () => {
  const claims = { sub: 'kim', org_id: 'LAX', roles: ['head'], region: 'NV-secret' };

  test('the answer is of the tenant’s own dashboard, and no value is sent', async () => {
    asked.length = 0;
    const command = createCardsCommand({ policies: fixedPolicies(policy), checkCards, clock: { now: () => now } });
    const answer = await command.run({ template: 'delays', viewer: { clientId: 'LAX', claims } });
    expect(answer).toMatchObject({ viewer: { source: 'delays', cards: 2, refused: [{ name: 'Delays' }] } });
    expect(JSON.stringify(asked)).toContain('delays--LAX');
    expect(JSON.stringify(asked)).not.toContain('NV-secret');
    const none = { ...claims, roles: ['clerk'] };
    const denied = await command.run({ template: 'delays', viewer: { clientId: 'LAX', claims: none } });
    expect(denied).toMatchObject({ viewer: { denied: expect.stringContaining('does not grant') } });
  });

  test('policy explain names them; of a person without access to data it looks at the template alone', async () => {
    const of = { claims, body: {}, now };
    asked.length = 0;
    const explanation = await explainGrant({ policy, of, checkCards, seesTenant: false });
    expect(JSON.stringify(asked)).not.toMatch(/LAX|clientId/);
    const text = writeExplanation(explanation);
    expect(text).toContain('Cards that the user cannot see\n  delays: 1 of 2\n    "Delays": No way.');
    expect(text).toMatch(/by {2}dashboardFilters.Origin state {2}heads see their region {2}\S+:\d+:\d+/);
    expect(writeExplanation(await explainGrant({ policy, of }))).toContain('the service was not asked');
  });
});

test('a service that cannot say it leaves the cards open', async () => {
  const unable = createCheckCards({ upstream, capabilities: fixedCapabilities([]) });
  const command = createCardsCommand({
    policies: fixedPolicies(policy),
    checkCards: unable,
    clock: { now: () => now },
  });
  expect(await command.run({ template: 'delays' })).toMatchObject({ profiles: null, viewer: null });
});
