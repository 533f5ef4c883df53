/** One trace from a request of a page through gateway and service to the rows, in one process and over HTTP in two. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SpanKind } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createHttpTransport } from '../../src/gateway/upstream/http-upstream.js';
import { createAddresses } from '../../src/platform/http/wire/address.js';
import { serveOperations } from '../../src/platform/http/wire/operations.js';
import { beginning } from '../../src/platform/http/wire/request.js';
import { pathsOf, registerTraces, traceIdsOf, writtenOf } from '../platform/traces.js';
import { captureLog, sign, startGateway } from './harness.js';
import { createOwnService, type OwnService } from './own-service.js';
import { policyOf } from './policies.js';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const traceparent = `00-${traceId}-b7ad6b7169203331-01`;

let service: OwnService;
const exporter = registerTraces();

beforeAll(async () => {
  service = await createOwnService();
});
afterAll(() => service.close());

const listen = async (listener: RequestListener): Promise<string> => {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

/** The service over HTTP, and the lines of its log. */
const serveOverHttp = async () => {
  const { log, lines } = captureLog();
  const addressOf = createAddresses({ trustedProxies: 0, log });
  const { dispatch } = service;
  const begin = beginning({ log });
  const serve = serveOperations({ roots: ['/api/v2'], dispatch, addressOf, begin, log, headers: [] });
  const url = await listen((request, response) => serve(request, response, () => response.writeHead(404).end()));
  return { url, lines };
};

/** Each user sees the sales of one state, by the session's claim. */
const policy = policyOf({
  ...{ dataApp: 'app', workspace: 'space', datamart: 'sales' },
  templates: { delays: { name: 'Delays' } },
  rules: [{ name: 'all', when: 'true', grant: { templates: ['delays'] } }],
  restrictions: [{ name: 'own state', when: 'true', restrict: { dashboardFilters: { State: 'user.claims.region' } } }],
});

const startWith = async (upstream: Parameters<typeof startGateway>[0]) => {
  const { clock } = service.deps;
  const gateway = await startGateway({ policy, clock, ledger: service.ledger, ...upstream });
  const seconds = Math.floor(clock.now().getTime() / 1000);
  const login = (sub: string, more: object = {}) =>
    sign({ ...{ iss: 'guestlist-demo', sub, org_id: 'a', region: 'CA' }, iat: seconds, exp: seconds + 3600, ...more });
  return { ...gateway, login };
};

const taken = (): readonly ReadableSpan[] => {
  const spans = exporter.getFinishedSpans();
  exporter.reset();
  return spans;
};

const ofTrace = (spans: readonly ReadableSpan[], id = traceId): readonly ReadableSpan[] =>
  spans.filter((span) => span.spanContext().traceId === id);

type Gateway = Awaited<ReturnType<typeof startWith>>;

/** Asks for a token, a dashboard and a metric, as a page does, in one trace. */
const openPage = async (gateway: Gateway, serviceUrl: string, session: string, tenant: string, sent = traceparent) => {
  const asked = await gateway.ask(session, undefined, { traceparent: sent });
  const { token } = (await asked.json()) as { token: string };
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', traceparent: sent };
  const dashboardId = `delays--${tenant}`;
  const open = await fetch(`${serviceUrl}/api/v2/guest/dashboards/${dashboardId}`, { headers });
  const { data } = (await open.json()) as { data: { metrics: { metricId: string }[] } };
  const body = JSON.stringify({ dashboardId, dashboardFilter: { State: 'planted-filter' } });
  const path = `/api/v2/guest/metrics/${data.metrics[0]?.metricId}/query`;
  const answer = await fetch(serviceUrl + path, { method: 'POST', headers, body });
  return { token, status: answer.status };
};

const token = '… > POST /embed-token';
const mint = `${token} > find or mint token > call createGuestToken`;
const expected = [
  token,
  `${token} > authenticate`,
  `${token} > find tenant`,
  `${token} > decide`,
  `${token} > provision`,
  `${token} > provision > call createDashboardEmbed > createDashboardEmbed`,
  `${token} > find or mint token`,
  mint,
  `${mint} > createGuestToken`,
  '… > getGuestDashboard',
  '… > queryGuestMetric > answer > queue',
  '… > queryGuestMetric > answer > SQL',
];

const spanOf = (spans: readonly ReadableSpan[], name: string) => spans.find((span) => span.name === name);

describe('one trace', () => {
  it('leads from the login through decision, mint and query to the rows, in one process', async () => {
    const gateway = await startWith({ upstream: service.upstream });
    const { url, lines } = await serveOverHttp();
    taken();
    expect((await openPage(gateway, url, gateway.login('ann'), 'a')).status).toBe(200);
    const spans = ofTrace(taken());
    expect(pathsOf(spans)).toEqual(expect.arrayContaining(expected));
    expect(spanOf(spans, 'createGuestToken')?.kind).toBe(SpanKind.INTERNAL);
    expect(spanOf(spans, 'SQL')?.attributes).toEqual({
      'db.system.name': 'duckdb',
      'db.query.text': expect.stringMatching(/^WITH .* = CAST\(\$1 AS VARCHAR\)/),
      'db.response.returned_rows': 1,
      'guestlist.datasource': 'warehouse-sales',
    });
    expect(lines.map((line) => [line.operation, line.traceId])).toEqual([
      ['getGuestDashboard', traceId],
      ['queryGuestMetric', traceId],
    ]);
    expect(gateway.lines.find(({ event }) => event === 'token.minted')).toMatchObject({ traceId });
  });

  it('leads through a service in another process, and through an answer that is kept', async () => {
    const { url, lines } = await serveOverHttp();
    const transport = createHttpTransport({ baseUrl: url, timeoutMs: 10_000 });
    const gateway = await startWith({ upstream: { ...service.upstream, transport } });
    taken();
    expect((await openPage(gateway, url, gateway.login('bob', { org_id: 'b' }), 'b')).status).toBe(200);
    const spans = ofTrace(taken());
    expect(pathsOf(spans)).toEqual(expect.arrayContaining(expected));
    expect(spanOf(spans, 'createGuestToken')).toMatchObject({
      kind: SpanKind.SERVER,
      parentSpanContext: { isRemote: true },
    });
    expect(new Set(lines.map((line) => line.traceId))).toEqual(new Set([traceId]));
  });

  it('holds no tenant, user, claim, token or value of a filter', async () => {
    const { url } = await serveOverHttp();
    const gateway = await startWith({ upstream: service.upstream });
    taken();
    const planted = { org_id: 'planted-tenant', region: 'planted-state' };
    const session = gateway.login('planted-user', planted);
    const opened = await openPage(gateway, url, session, planted.org_id);
    const refused = await gateway.ask(gateway.login('planted-user', { org_id: 'planted tenant', region: 7 }));
    expect([opened.status, refused.status >= 400]).toEqual([200, true]);
    const spans = taken();
    expect(pathsOf(spans)).toContain('… > queryGuestMetric > answer > SQL');
    const written = writtenOf(spans);
    for (const secret of ['planted', opened.token, session]) expect(written).not.toContain(secret);
  });

  it.each(['', 'nonsense', `ff-${traceId}-b7ad6b7169203331-01`, `00-${'0'.repeat(32)}-b7ad6b7169203331-01`])(
    'is a new one for each request whose header is broken: %j',
    async (sent) => {
      const { url, lines } = await serveOverHttp();
      const gateway = await startWith({ upstream: service.upstream });
      taken();
      expect((await openPage(gateway, url, gateway.login('ann'), 'a', sent)).status).toBe(200);
      const roots = taken().filter(({ parentSpanContext }) => parentSpanContext === undefined);
      expect(roots.map(({ name }) => name)).toEqual(
        expect.arrayContaining(['POST /embed-token', 'getGuestDashboard', 'queryGuestMetric']),
      );
      expect(traceIdsOf(roots)).toHaveLength(roots.length);
      expect(traceIdsOf(roots)).toEqual(expect.arrayContaining(lines.map((line) => line.traceId)));
    },
  );
});
