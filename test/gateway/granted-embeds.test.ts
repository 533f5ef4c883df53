/**
 * Embeds that a policy grants by their ids, in addition to copies of templates. test/spec/gateway-embeds.test.ts tests
 * them with the real service.
 */
import { describe, expect, it } from 'vitest';
import type { WireRequest } from '../../src/platform/http/interface/client.js';
import { analyst, startGateway } from './harness.js';
import { policyOf } from './policies.js';
import { createScriptedUpstream } from './scripted-upstream.js';

const listed = {
  overview: {
    embedId: 'overview',
    embedType: 'dashboard',
    name: 'Overview',
    externalDashboard: { externalDashboardId: 'overview-board', metadata: null, name: 'Overview' },
    externalMetric: null,
    embedMetadata: null,
  },
  'one-number': {
    embedId: 'one-number',
    embedType: 'metric',
    name: 'One number',
    externalDashboard: null,
    externalMetric: { metricId: 'm-late', name: 'Late' },
    embedMetadata: null,
  },
};
type Id = keyof typeof listed;

const isId = (id: string): id is Id => Object.hasOwn(listed, id);

/** A service with those embeds. `isOld`: it cannot be asked for a single embed. */
const upstreamWith = ({ isOld = false, foreign = [] as readonly string[] } = {}) => {
  const upstream = createScriptedUpstream();
  upstream.state.intercept = ({ path, query }: WireRequest) => {
    const embedId = String(query.embedId ?? '');
    if (path === '/api/v2/data-app/embeds') {
      if (embedId !== '' && isOld) return upstream.refusal(400, 'INVALID_REQUEST_BODY');
      if (embedId !== '') return { status: 200, body: { data: isId(embedId) ? [listed[embedId]] : [], error: null } };
      if (isOld && query.isPagination !== 'true')
        return { status: 200, body: { data: Object.values(listed), error: null } };
    }
    if (path === '/api/v2/data-app/metrics' && foreign.includes(embedId))
      return upstream.refusal(400, 'EMBED_PARAM_ERROR');
    if (path === '/api/v2/data-app/metrics' && isId(embedId)) {
      const { externalMetric } = listed[embedId];
      return { status: 200, body: { data: [externalMetric ?? { metricId: 'm-total', name: 'Total' }], error: null } };
    }
    return undefined;
  };
  return upstream;
};

const grant = (more: object) => ({ rules: [{ name: 'all', when: 'true', grant: more }] });
const start = (policy: object, upstream = upstreamWith()) =>
  startGateway({
    policy: policyOf(policy),
    upstream: { transport: upstream.transport, apiKey: 'the-api-key', baseUrl: 'http://service.test' },
  }).then((gateway) => ({ ...gateway, upstream }));
const both = ['overview', 'one-number'];

describe('granted embeds', () => {
  it('are in the token and in the answer, after the copies of templates', async () => {
    const { granted, upstream } = await start(grant({ templates: ['delays'], embeds: both }));
    expect((await granted(analyst)).embeds).toEqual([
      { id: 'delays--LAX', name: 'Delays', type: 'dashboard' },
      { id: 'overview', name: 'Overview', type: 'dashboard' },
      { id: 'one-number', name: 'One number', type: 'metric' },
    ]);
    expect(upstream.lastMint()).toMatchObject({ params: { allowedEmbeds: ['delays--LAX', 'one-number', 'overview'] } });
  });

  it('may be the complete grant: then no dashboard is created', async () => {
    const { granted, upstream } = await start(grant({ embeds: ['one-number'] }));
    expect((await granted(analyst)).embeds).toEqual([{ id: 'one-number', name: 'One number', type: 'metric' }]);
    expect(upstream.created()).toEqual([]);
  });

  it('are found at a service that cannot be asked for a single embed', async () => {
    const { granted } = await start(grant({ embeds: both }), upstreamWith({ isOld: true }));
    expect((await granted(analyst)).embeds.map(({ id }) => id)).toEqual(both);
  });

  it('can be selected by the body, and nothing else can', async () => {
    const { granted, refused, upstream, lines } = await start(grant({ templates: ['delays'], embeds: both }));
    expect((await granted(analyst, { embeds: ['one-number'] })).embeds).toHaveLength(1);
    expect(upstream.lastMint()).toMatchObject({ params: { allowedEmbeds: ['one-number'] } });
    const answer = await refused(analyst, { embeds: ['one-number', 'overview-board'] });
    expect([answer.status, answer.code]).toEqual([403, 'EMBED_NOT_GRANTED']);
    expect(lines.at(-1)?.detail).toContain('"delays--LAX", "overview", "one-number"');
  });
});

describe('restrictions on granted embeds', () => {
  const restrict = (parts: object) => ({
    ...grant({ templates: ['delays'], embeds: both }),
    restrictions: [{ name: 'r', when: 'true', restrict: parts }],
  });

  it('leak 19: apply to every granted embed, as they do to copies', async () => {
    const { granted, upstream } = await start(
      restrict({ dashboardFilters: { State: '"CA"' }, rls: { region: '"west"' }, appFilters: { size: '7' } }),
    );
    await granted(analyst);
    const metricIds = ['delays--LAX/m1', 'delays--LAX/m2', 'm-late', 'm-total'];
    const values = { State: 'CA' };
    expect(upstream.lastMint()).toMatchObject({
      params: {
        dashboardAppFilters: [
          { dashboardId: 'delays--LAX', values },
          { dashboardId: 'overview-board', values },
          { dashboardId: 'one-number', values },
        ],
        rlsSettings: metricIds.map((metricId) => ({ metricId, values: { region: 'west' } })),
        appFilters: metricIds.map((metricId) => ({ metricId, values: { size: 7 } })),
      },
    });
  });

  it('hide a metric of a shared dashboard by its embed, and remove the embed of a metric that is hidden anywhere', async () => {
    const { granted, upstream } = await start(
      restrict({ hideMetrics: { overview: ['Total'], delays: ['Late', 'm1'] } }),
    );
    expect((await granted(analyst)).embeds.map(({ id }) => id)).toEqual(['delays--LAX', 'overview']);
    expect(upstream.lastMint()).toMatchObject({
      params: {
        allowedEmbeds: ['delays--LAX', 'overview'],
        hideDashboardMetrics: [
          { dashboardId: 'delays--LAX', metricIds: ['Late', 'm1'] },
          { dashboardId: 'overview-board', metricIds: ['m-total'] },
        ],
      },
    });
    const { code } = await (
      await start({ ...restrict({ hideMetrics: { delays: ['Late'] } }), ...grant({ embeds: ['one-number'] }) })
    ).refused(analyst);
    expect(code).toBe('POLICY_UNDECIDED');
  });

  it('leak 12: that would restrict no metric deny the request', async () => {
    const upstream = upstreamWith();
    upstream.state.metricsOf = () => [{ name: 'Only', metricId: 'only' }];
    const policy = {
      ...grant({ templates: ['delays'] }),
      restrictions: [{ name: 'r', when: 'true', restrict: { rls: { a: '"x"' }, hideMetrics: { delays: ['Only'] } } }],
    };
    const { refused, lines } = await start(policy, upstream);
    expect((await refused(analyst)).code).toBe('POLICY_UNDECIDED');
    expect(lines.find(({ reason }) => reason === 'restriction-binds-nothing')).toBeDefined();
    expect(upstream.mints()).toEqual([]);
  });
});

describe('a granted embed that cannot be shown denies the request, and the log says why', () => {
  it('if the service does not have it', async () => {
    const { refused, lines, upstream } = await start(grant({ templates: ['delays'], embeds: ['gone'] }));
    const answer = await refused(analyst);
    expect([answer.status, answer.code]).toEqual([403, 'POLICY_UNDECIDED']);
    expect(answer.message).not.toContain('gone');
    const line = lines.find(({ reason }) => reason === 'granted-embed-unknown');
    expect(line?.cause).toContain('the policy grants the embed "gone"');
    expect(upstream.mints()).toEqual([]);
  });

  it('if it belongs to another client', async () => {
    const upstream = upstreamWith({ foreign: ['overview'] });
    const policy = {
      ...grant({ embeds: both }),
      restrictions: [{ name: 'r', when: 'true', restrict: { rls: { region: '"west"' } } }],
    };
    const { refused, lines } = await start(policy, upstream);
    expect((await refused(analyst)).code).toBe('POLICY_UNDECIDED');
    expect(lines.find(({ reason }) => reason === 'granted-embed-not-readable')).toMatchObject({
      upstream: { code: 'EMBED_PARAM_ERROR' },
    });
    expect(upstream.mints()).toEqual([]);
  });

  it('if the service refuses it at mint', async () => {
    const upstream = upstreamWith();
    const { intercept } = upstream.state;
    upstream.state.intercept = (request) =>
      request.path === '/api/v2/guest-token/create'
        ? upstream.refusal(400, 'DASHBOARD_PARAM_ERROR')
        : intercept(request);
    const { refused } = await start(grant({ embeds: ['overview'] }), upstream);
    expect((await refused(analyst)).code).toBe('POLICY_UNDECIDED');
  });
});
