/**
 * An upstream in memory that stores what it receives and can be made to fail. Other tests run the gateway with the real
 * service.
 */
import type { WireRequest, WireResponse } from '../../src/platform/http/interface/client.js';

type Dashboard = { embedId: string; metadata: unknown; name: string; metrics: { name: string; metricId: string }[] };

/** An answer; with headers if it is sent over HTTP. */
export type ScriptedAnswer = WireResponse & { readonly headers?: Readonly<Record<string, string>> };

const refusal = (status: number, code: string): WireResponse => ({
  status,
  body: { error: { code, message: `scripted ${code}`, status } },
});

const field = (body: unknown, name: string): unknown =>
  typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;

export const createScriptedUpstream = () => {
  const dashboards = new Map<string, Dashboard>();
  const calls: WireRequest[] = [];
  const tokens = new Map<string, { clientId: string; user: string; isLive: boolean }>();
  const state = {
    /** Replaces the upstream's answer if it returns one. */
    intercept: (_: WireRequest): ScriptedAnswer | Promise<ScriptedAnswer> | undefined => undefined,
    /** Awaited before a finished answer is sent. */
    beforeAnswer: (_: WireRequest): Promise<void> | void => undefined,
    metricsOf: (id: string) => [
      { name: 'Flights a day', metricId: `${id}/m1` },
      { name: 'Average delay', metricId: `${id}/m2` },
    ],
    pageSize: 2,
    /** Whether a single embed can be asked for. */
    findsEmbeds: true,
  };

  const create = ({ body }: WireRequest): WireResponse => {
    const id = String(field(body, 'dashboardId'));
    if (dashboards.has(id)) return refusal(400, 'INVALID_DASHBOARD_ID');
    const name = String(field(body, 'name'));
    dashboards.set(id, { embedId: id, metadata: field(body, 'metadata'), name, metrics: state.metricsOf(id) });
    return { status: 200, body: { id, error: null, name } };
  };

  const list = ({ query }: WireRequest): WireResponse => {
    const all = [...dashboards].map(([id, dashboard]) => ({
      embedId: dashboard.embedId,
      embedType: 'dashboard',
      name: dashboard.name,
      externalDashboard: { externalDashboardId: id, metadata: dashboard.metadata, name: dashboard.name },
      externalMetric: null,
      embedMetadata: null,
    }));
    if (query.embedId !== undefined && state.findsEmbeds) {
      return { status: 200, body: { data: all.filter(({ embedId }) => embedId === query.embedId), error: null } };
    }
    const start = (Number(query.pageNumber) - 1) * state.pageSize;
    return { status: 200, body: { data: all.slice(start, start + state.pageSize), error: null } };
  };

  const metrics = ({ query }: WireRequest): WireResponse => {
    const dashboard = dashboards.get(String(query.embedId));
    if (dashboard === undefined) return refusal(400, 'INVALID_EMBED_ID');
    return { status: 200, body: { data: dashboard.metrics, error: null } };
  };

  const mint = ({ body }: WireRequest): WireResponse => {
    const token = `guest-token-${tokens.size + 1}`;
    const user = String(field(field(body, 'params'), 'userIdentifier'));
    tokens.set(token, { clientId: String(field(body, 'clientId')), user, isLive: true });
    return { status: 200, body: { token } };
  };

  const listTokens = ({ query }: WireRequest): WireResponse => {
    const at = new Date(0).toISOString();
    const live = [...tokens].filter(([, { user, isLive }]) => isLive && user === query.userIdentifier);
    const data = live.map(([id, { clientId }]) => ({ id, clientId, createdAt: at, expiresAt: null, lastUsedAt: null }));
    return { status: 200, body: { data } };
  };

  const revokeTokens = ({ body }: WireRequest): WireResponse => {
    const [clientId, user, token] = ['clientId', 'userIdentifier', 'token'].map((name) => field(body, name));
    const meant = [...tokens].filter(
      ([each, of]) =>
        of.isLive &&
        (field(body, 'all') === true ||
          each === token ||
          (of.clientId === clientId && (user === undefined || user === of.user))),
    );
    for (const [, of] of meant) of.isLive = false;
    return { status: 200, body: { data: { revoked: meant.length }, error: null } };
  };

  const answer = (request: WireRequest): WireResponse => {
    const key = `${request.method} ${request.path}`;
    if (key === 'POST /api/v2/data-app/dashboard-embeds') return create(request);
    if (key === 'GET /api/v2/data-app/embeds') return list(request);
    if (key === 'GET /api/v2/data-app/metrics') return metrics(request);
    if (key === 'POST /api/v2/guest-token/create') return mint(request);
    if (key === 'GET /api/v2/guest-token') return listTokens(request);
    if (key === 'POST /api/v2/guest-token/revoke') return revokeTokens(request);
    return refusal(404, 'NOT_FOUND');
  };

  const transport = async (request: WireRequest): Promise<ScriptedAnswer> => {
    calls.push(request);
    const intercepted = await state.intercept(request);
    await new Promise((resolve) => setImmediate(resolve));
    const answered = intercepted ?? answer(request);
    await state.beforeAnswer(request);
    return answered;
  };
  const callsTo = (path: string) => calls.filter((call) => call.path === path);
  return {
    transport,
    state,
    calls,
    dashboards,
    refusal,
    isLive: (token: string) => tokens.get(token)?.isLive ?? false,
    liveOf: (userIdentifier: string) =>
      [...tokens].filter(([, { user, isLive }]) => isLive && user === userIdentifier).map(([token]) => token),
    created: () => callsTo('/api/v2/data-app/dashboard-embeds'),
    mints: () => callsTo('/api/v2/guest-token/create'),
    listings: () => callsTo('/api/v2/data-app/embeds'),
    lastMint: () => callsTo('/api/v2/guest-token/create').at(-1)?.body,
  };
};
export type ScriptedUpstream = ReturnType<typeof createScriptedUpstream>;
