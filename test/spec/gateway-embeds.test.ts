/**
 * Embeds that a policy grants, and tokens that it no longer grants, with the built service: what a guest can read with
 * them, and what no token can read any more.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadPolicy } from '../../src/gateway/policy/load.js';
import type { Policy } from '../../src/gateway/policy/policy.js';
import { fixedCapabilities } from '../../src/gateway/upstream/capabilities.js';
import { createHttpTransport } from '../../src/gateway/upstream/http-upstream.js';
import { capabilityNames } from '../../src/model/capability.js';
import { sign, startGateway } from '../gateway/harness.js';
import { changeablePolicies } from '../gateway/policies.js';
import { call, cloneBoard, type House, noon, ok, openHouse, settings } from './house.js';

let house: House;
/** Ids of embeds of the data app `shop`, by their content. */
let embeds: { readonly board: string; readonly byRegion: string; readonly guarded: string };

const embedOf = async (metricId?: string): Promise<string> => {
  const embed = {
    embedType: metricId === undefined ? 'dashboard' : 'metric',
    dashboardId: 'board',
    workspaceName: 'shop',
  };
  return (
    await ok(house, 'createEmbed', {
      ...embed,
      accessSettings: settings,
      ...(metricId === undefined ? {} : { metricId }),
    })
  ).id;
};

beforeAll(async () => {
  house = await openHouse();
  await cloneBoard(house, 'of-globex-alone', 'globex');
  embeds = { board: await embedOf(), byRegion: await embedOf('by-region'), guarded: await embedOf('guarded') };
});
afterAll(() => house.close());

const policyOf = (parts: object): Policy =>
  loadPolicy(
    JSON.stringify({
      version: 1,
      dataApp: 'shop',
      workspace: 'shop',
      datamart: 'shop',
      session: {
        claims: { org_id: 'string', roles: 'list<string>', regions: 'list<string>' },
        tenant: 'claims.org_id',
        roles: 'claims.roles',
      },
      templates: { board: { name: 'Board', accessSettings: { isAllowUnderlyingData: true } } },
      ...parts,
    }),
    'shop.yaml',
  );
const granting = (grant: object, ...restrictions: object[]) => ({
  rules: [{ name: 'all', when: 'true', grant: { permissions: ['isEnableUnderlyingData'], ...grant } }],
  restrictions: restrictions.map((restrict, index) => ({
    name: `r${index}`,
    when: '"regional" in user.roles',
    restrict,
  })),
});

const open = async (parts: object) => {
  const policies = changeablePolicies(policyOf(parts));
  const clock = { now: () => noon, advance: () => {} };
  const transport = createHttpTransport({ baseUrl: house.url(), timeoutMs: 10_000 });
  const capabilities = fixedCapabilities(capabilityNames);
  const upstream = { transport, apiKey: house.apiKey, baseUrl: house.url(), capabilities };
  const { granted, refused, lines } = await startGateway({ policies, upstream, clock });
  const claims = (org_id: string, more: object = {}) => {
    const seconds = noon.getTime() / 1000;
    return sign({ iss: 'guestlist-demo', sub: 'ann', org_id, roles: [], iat: seconds, exp: seconds + 3600, ...more });
  };
  return {
    lines,
    change: (next: object) => policies.change(policyOf(next)),
    login: (org_id: string, more?: object, body?: object) => granted(claims(org_id, more), body),
    refusal: (org_id: string, more?: object) => refused(claims(org_id, more)),
  };
};
const regional = { roles: ['regional'], regions: ['north', 'east'] };

const rowsOf = async (bearer: string, metricId: string, dashboardId?: string) => {
  const input = { metricId, ...(dashboardId === undefined ? {} : { dashboardId }) };
  return (await ok(house, 'queryGuestMetric', input, { bearer })).data;
};
const statusOf = async (bearer: string, metricId: string, dashboardId?: string) =>
  (
    await call(
      house,
      'queryGuestMetric',
      { metricId, ...(dashboardId === undefined ? {} : { dashboardId }) },
      { bearer },
    )
  ).status;

describe('a metric embed that the policy grants', () => {
  test("reads only the tenant's rows and, with a restriction, only those that it leaves", async () => {
    const { login } = await open(
      granting({ embeds: [embeds.byRegion] }, { dashboardFilters: { Region: 'user.claims.regions' } }),
    );
    const acme = await login('acme');
    expect(acme.embeds).toEqual([{ id: embeds.byRegion, name: expect.any(String), type: 'metric' }]);
    expect(await rowsOf(acme.token, embeds.byRegion)).toEqual([
      { Region: 'north', Revenue: 130, Sales: 2 },
      { Region: 'south', Revenue: 50, Sales: 1 },
      { Region: 'west', Revenue: 20, Sales: 1 },
    ]);
    const few = await login('acme', regional);
    expect(await rowsOf(few.token, embeds.byRegion)).toEqual([{ Region: 'north', Revenue: 130, Sales: 2 }]);
    const globex = await login('globex', regional);
    expect(await rowsOf(globex.token, embeds.byRegion)).toEqual([
      { Region: 'east', Revenue: 2000, Sales: 1 },
      { Region: 'north', Revenue: 1000, Sales: 1 },
    ]);
    // The embed opens neither another metric of its dashboard, nor the metric as a dashboard.
    for (const [metricId, dashboardId] of [
      ['revenue', undefined],
      ['by-region', 'board'],
      ['by-region', embeds.board],
      [embeds.guarded, undefined],
    ] as const) {
      expect(await statusOf(acme.token, metricId, dashboardId), `${metricId} ${dashboardId}`).toBe(403);
    }
  });

  test('gets its RLS variables from the policy, and is refused without them', async () => {
    const bound = await open(granting({ embeds: [embeds.guarded] }, { rls: { region: 'user.claims.regions' } }));
    const { token } = await bound.login('acme', regional);
    expect(await rowsOf(token, embeds.guarded)).toEqual([{ Revenue: 130 }]);
    // Without the role, the variable has no value, and the service refuses to read without a restriction.
    const { token: open_ } = await bound.login('acme');
    expect(await statusOf(open_, embeds.guarded)).not.toBe(200);
  });
});

describe('a shared dashboard that the policy grants', () => {
  test('is filtered like the copies of templates', async () => {
    const { login } = await open(
      granting(
        { templates: ['board'], embeds: [embeds.board] },
        {
          dashboardFilters: { Region: 'user.claims.regions' },
          hideMetrics: { board: ['Metric guarded'], [embeds.board]: ['Metric guarded'] },
        },
      ),
    );
    const { token, embeds: shown } = await login('acme', regional);
    expect(shown.map(({ id, type }) => [id, type])).toEqual([
      ['board--acme', 'dashboard'],
      [embeds.board, 'dashboard'],
    ]);
    for (const { id } of shown) {
      const { data } = await ok(house, 'getGuestDashboard', { dashboardId: id }, { bearer: token });
      expect(data.metrics.map(({ name }) => name)).not.toContain('Metric guarded');
      const metricId = data.metrics.find(({ name }) => name === 'Metric by-region')?.metricId ?? '';
      expect(await rowsOf(token, metricId, id)).toEqual([{ Region: 'north', Revenue: 130, Sales: 2 }]);
    }
  });

  test('is denied if the embed belongs to another client or does not exist, and the log names it', async () => {
    for (const [id, reason, named] of [
      ['of-globex-alone', 'mint-field-refused', 'params.allowedEmbeds'],
      ['no-such-embed', 'granted-embed-unknown', 'no-such-embed'],
    ] as const) {
      const { refusal, lines } = await open(granting({ embeds: [id] }));
      const { status, code, message } = await refusal('acme');
      expect([status, code]).toEqual([403, 'POLICY_UNDECIDED']);
      expect(message).not.toContain(id);
      expect(JSON.stringify(lines.find((line) => line.reason === reason))).toContain(named);
    }
    const { login } = await open(granting({ embeds: ['of-globex-alone'] }));
    expect((await login('globex')).embeds.map(({ id }) => id)).toEqual(['of-globex-alone']);
  });
});

describe('a token that a changed policy no longer grants', () => {
  test('is refused by the service, while tokens that are still granted work', async () => {
    const rules = (forRegional: readonly string[]) => ({
      rules: [
        { name: 'regional', when: '"regional" in user.roles', grant: { embeds: forRegional } },
        { name: 'others', when: 'user.roles.size() == 0', grant: { embeds: [embeds.byRegion] } },
      ],
    });
    const { login, change } = await open(rules([embeds.byRegion, embeds.board]));
    const lost = await login('acme', { ...regional, sub: 'bob' });
    const kept = await login('acme');
    const other = await login('globex');
    expect(await statusOf(lost.token, embeds.byRegion)).toBe(200);
    await change(rules([embeds.byRegion]));
    expect(await statusOf(lost.token, embeds.byRegion)).toBe(401);
    for (const { token } of [kept, other]) expect(await statusOf(token, embeds.byRegion)).toBe(200);
    expect((await login('acme')).token).toBe(kept.token);
    const next = await login('acme', { ...regional, sub: 'bob' });
    expect(next.embeds.map(({ id }) => id)).toEqual([embeds.byRegion]);
    expect(await statusOf(next.token, embeds.byRegion)).toBe(200);
  });
});
