import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createHttpTransport } from '../../src/gateway/upstream/http-upstream.js';
import { createUpstream } from '../../src/gateway/upstream/upstream.js';
import { createClient } from '../../src/platform/http/interface/client.js';
import { createDashboardEmbed } from '../../src/service/dashboards/contract/embeds.js';
import { listEmbedMetrics } from '../../src/service/embeds/contract/embeds.js';
import { createGuestToken } from '../../src/service/guest-tokens/contract/guest-tokens.js';

const serve = async (listener: RequestListener): Promise<string> => {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};
const upstreamAt = (baseUrl: string, timeoutMs = 2_000) =>
  createUpstream(createHttpTransport({ baseUrl, timeoutMs }), 'the-key');
const question = { embedId: 'delays--LAX', clientId: 'LAX & co' };
const unavailable = expect.objectContaining({ code: 'UPSTREAM_UNAVAILABLE' });

describe('the HTTP transport', () => {
  it('sends method, path, query, body and key', async () => {
    const seen: unknown[] = [];
    const baseUrl = await serve((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        const { authorization, 'content-type': type } = request.headers;
        seen.push([request.method, request.url, authorization, type, body]);
        const answer = request.method === 'GET' ? { data: [], error: null } : { token: 't' };
        response.end(JSON.stringify(answer));
      });
    });
    const call = createClient(createHttpTransport({ baseUrl: `${baseUrl}/base/`, timeoutMs: 2_000 }), 'the-key');
    await call(listEmbedMetrics, question);
    expect(await call(createGuestToken, { clientId: 'LAX', dataAppName: 'flights' })).toEqual({ token: 't' });
    expect(seen).toEqual([
      ['GET', '/base/api/v2/data-app/metrics?embedId=delays--LAX&clientId=LAX+%26+co', 'Bearer the-key', undefined, ''],
      [
        'POST',
        '/base/api/v2/guest-token/create',
        'Bearer the-key',
        'application/json',
        '{"clientId":"LAX","dataAppName":"flights"}',
      ],
    ]);
  });

  it('throws UPSTREAM_UNAVAILABLE if nothing listens', async () => {
    const baseUrl = await serve(() => {});
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    await expect(upstreamAt(`http://127.0.0.1:${port}`)(listEmbedMetrics, question)).rejects.toEqual(unavailable);
    await expect(upstreamAt(baseUrl, 50)(listEmbedMetrics, question)).rejects.toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
      reason: 'upstream-timeout',
    });
  });

  it.each<[string, RequestListener]>([
    ['500', (_, response) => response.writeHead(500).end('{"error":{"code":"X","message":"m"}}')],
    ['an answer that is not JSON', (_, response) => response.end('<html>')],
    ['an answer of another shape', (_, response) => response.end('{"data":[{"id":1}]}')],
    ['404 without the envelope', (_, response) => response.writeHead(404).end('not found')],
    [
      'an answer that breaks off',
      (_, response) => {
        response.writeHead(200, { 'content-length': '100' }).write('{');
        response.destroy();
      },
    ],
  ])('throws UPSTREAM_UNAVAILABLE for %s', async (_, listener) => {
    await expect(upstreamAt(await serve(listener))(listEmbedMetrics, question)).rejects.toEqual(unavailable);
  });

  it('follows no redirect, which would send the key to another address', async () => {
    const seen: unknown[] = [];
    const target = await serve((request, response) => {
      seen.push(request.headers.authorization);
      response.end('{"data":[],"error":null}');
    });
    const baseUrl = await serve((request, response) => {
      response.writeHead(307, { location: `${target}${request.url}` }).end();
    });
    await expect(upstreamAt(baseUrl)(listEmbedMetrics, question)).rejects.toEqual(unavailable);
    expect(seen).toEqual([]);
  });

  it("passes on the service's own refusals", async () => {
    const baseUrl = await serve((_, response) => {
      response.writeHead(400).end('{"error":{"code":"INVALID_DASHBOARD_ID","message":"taken"}}');
    });
    const call = upstreamAt(baseUrl);
    const input = { dashboardId: 'd', workspaceName: 'w', clientId: 'c' };
    const accessSettings = {
      datamartName: 'm',
      isAllowEmailReports: false,
      isAllowManageMetrics: false,
      isAllowCreateDashboardView: false,
      isAllowMetricCreation: false,
      isAllowMetricDeletion: false,
      isAllowMetricLayoutChange: false,
      isAllowMetricUpdate: false,
      isAllowUnderlyingData: false,
      metricCreationMode: 'DRAG_DROP' as const,
    };
    await expect(call(createDashboardEmbed, { ...input, accessSettings })).rejects.toMatchObject({
      name: 'UpstreamRefusal',
      status: 400,
      code: 'INVALID_DASHBOARD_ID',
    });
  });
});
