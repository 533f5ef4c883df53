import { describe, expect, it } from 'vitest';
import { fixedCapabilities } from '../../src/gateway/upstream/capabilities.js';
import { createHttpUpstream } from '../../src/gateway/upstream/http-upstream.js';
import { capabilityNames } from '../../src/model/capability.js';
import { createOpenApi } from '../../src/platform/http/interface/openapi.js';
import { operations } from '../../src/service/operations.js';
import { refusalOf } from '../engine/world.js';
import { analyst, captureLog, createMovableClock, startGateway, usualUpstream } from './harness.js';
import { listen } from './scripted-service.js';

const document = createOpenApi(operations, { version: '1.0.0' });
const own = { guestlist: { template: 'delays', clientId: 'LAX' } };
const metrics = [{ name: 'Flights a day', metricId: 'm' }];

/** An upstream at a service that gives this answer to the request for its document. */
const start = async (
  answer: () => { status: number; body: unknown },
  capabilities: 'auto' | 'none' | ['find-embed'],
) => {
  const asked: unknown[] = [];
  const baseUrl = await listen(({ url, headers }, response) => {
    asked.push([url, headers.authorization]);
    const { status, body } = answer();
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  const clock = createMovableClock();
  const settings = { ...usualUpstream, retries: 0, capabilities };
  const { log } = captureLog();
  const upstream = createHttpUpstream({ baseUrl: `${baseUrl}/base`, apiKey: 'key', settings, clock, log });
  return { capabilities: upstream.capabilities, asked, clock };
};

/** The capabilities that an upstream finds in this document. */
const documented = async (body: unknown): Promise<readonly string[]> => {
  const { capabilities } = await start(() => ({ status: 200, body }), 'auto');
  const found = await Promise.all(
    capabilityNames.map(async (name) => ((await capabilities?.supports(name)) === true ? [name] : [])),
  );
  return found.flat();
};

describe("a service's OpenAPI document", () => {
  it('shows that a Guestlist service has every capability', async () => {
    expect(await documented(document)).toEqual(capabilityNames);
  });

  it('is checked operation by operation, since an older service may lack some', async () => {
    const { '/api/v2/guest-token/revoke': _, ...paths } = document.paths;
    const embeds = document.paths['/api/v2/data-app/embeds'];
    const older = {
      ...document,
      paths: { ...paths, '/api/v2/data-app/embeds': { ...embeds, get: { ...embeds?.get, parameters: [] } } },
    };
    expect(await documented(older)).toEqual(
      capabilityNames.filter((name) => name !== 'revoke-guest-tokens' && name !== 'find-embed'),
    );
  });

  it.each([
    ['of another maker, with the same paths', { ...document, info: { title: 'Other', version: '1' } }],
    ['that is text', 'Guestlist'],
    ['that is nothing', undefined],
    ['without paths', { info: { title: 'Guestlist' } }],
    ['whose paths are a list', { info: { title: 'Guestlist' }, paths: [] }],
  ])('shows no capability if it is %s', async (_, other) => {
    expect(await documented(other)).toEqual([]);
  });
});

describe('the capabilities of an upstream', () => {
  it('are read from its document once without the key, and again when they are old', async () => {
    let body: unknown = document;
    const { capabilities, asked, clock } = await start(() => ({ status: 200, body }), 'auto');
    const answers = await Promise.all(capabilityNames.map((name) => capabilities?.supports(name)));
    expect(new Set(answers)).toEqual(new Set([true]));
    // In production, the service shows its document only to callers of the interface.
    expect(asked).toEqual([['/base/openapi.json', expect.stringMatching(/^Bearer ./)]]);
    body = {};
    expect(await capabilities?.supports('find-embed')).toBe(true);
    clock.advance(600_000);
    expect(await capabilities?.supports('find-embed')).toBe(false);
  });

  it('are "not supported here" for a service without a document, with what is missing and why', async () => {
    const { capabilities } = await start(() => ({ status: 404, body: {} }), 'auto');
    const messages: string[] = [];
    for (const name of capabilityNames) {
      expect(await capabilities?.supports(name)).toBe(false);
      const refusal = await refusalOf(() => capabilities?.requireCapability(name));
      expect(refusal.code).toBe('NOT_SUPPORTED');
      messages.push(refusal.message);
    }
    expect(messages[capabilityNames.indexOf('find-embed')]).toContain('list embeds page by page');
    expect(messages.filter((message) => /[Ii]nterface/.test(message))).toHaveLength(capabilityNames.length);
    expect(new Set(messages).size).toBe(capabilityNames.length);
  });

  it('are unknown while the service fails, which is a different answer', async () => {
    let status = 503;
    const { capabilities } = await start(() => ({ status, body: document }), 'auto');
    expect(await capabilities?.supports('delete-dashboard')).toBe(false);
    await expect(capabilities?.requireCapability('delete-dashboard')).rejects.toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
    });
    status = 200;
    await capabilities?.requireCapability('delete-dashboard');
  });

  it('are exactly those that the operator lists, without a request', async () => {
    const listed = await start(() => ({ status: 200, body: document }), ['find-embed']);
    expect(await listed.capabilities?.supports('find-embed')).toBe(true);
    expect(await listed.capabilities?.supports('delete-dashboard')).toBe(false);
    const none = await start(() => ({ status: 200, body: document }), 'none');
    expect(await none.capabilities?.supports('find-embed')).toBe(false);
    expect([...listed.asked, ...none.asked]).toEqual([]);
  });
});

describe('an existing dashboard', () => {
  /** Starts a gateway. The embed is the last of many; the upstream handles `embedId` as given. */
  const start = async (
    knowsParameter: 'yes' | 'ignores it' | 'refuses it' | 'answers another',
    metadata: unknown = own,
  ) => {
    const base = await startGateway();
    const { upstream } = base;
    for (const id of ['a', 'b', 'c', 'delays--LAX']) {
      upstream.dashboards.set(id, { embedId: id, metadata: id === 'a' ? own : metadata, name: id, metrics });
    }
    upstream.state.findsEmbeds = knowsParameter !== 'ignores it';
    upstream.state.intercept = ({ path, query }) => {
      if (path !== '/api/v2/data-app/embeds' || query.embedId === undefined || knowsParameter === 'ignores it') return;
      if (knowsParameter === 'refuses it') return upstream.refusal(400, 'INVALID_REQUEST_BODY');
      const id = knowsParameter === 'yes' ? query.embedId : 'a';
      const externalDashboard = { externalDashboardId: id, metadata: upstream.dashboards.get(id)?.metadata, name: id };
      const embed = { embedId: id, embedType: 'dashboard', name: id, externalMetric: null, embedMetadata: null };
      return { status: 200, body: { data: [{ ...embed, externalDashboard }], error: null } };
    };
    const gateway = await startGateway({
      upstream: {
        transport: upstream.transport,
        apiKey: 'the-api-key',
        baseUrl: 'http://service.test',
        capabilities: fixedCapabilities(['find-embed']),
      },
    });
    return { gateway, upstream };
  };

  it('is looked up by its id, without reading the list', async () => {
    const { gateway, upstream } = await start('yes');
    await gateway.granted(analyst);
    expect(upstream.listings().map(({ query }) => query.embedId)).toEqual(['delays--LAX']);
  });

  it.each(['ignores it', 'refuses it', 'answers another'] as const)(
    'is found in the list if the service %s',
    async (knows) => {
      const { gateway, upstream } = await start(knows);
      await gateway.granted(analyst);
      expect(upstream.listings().length).toBeGreaterThan(1);
    },
  );

  it.each(['yes', 'ignores it', 'refuses it', 'answers another'] as const)(
    'is refused if it belongs to another client and the service: %s',
    async (knows) => {
      const { gateway, upstream } = await start(knows, { guestlist: { template: 'delays', clientId: 'ATL' } });
      expect(await gateway.refused(analyst)).toMatchObject({ status: 503, code: 'UPSTREAM_UNAVAILABLE' });
      expect(upstream.mints()).toEqual([]);
      expect(gateway.lines.some(({ reason }) => reason === 'dashboard-of-a-stranger')).toBe(true);
    },
  );
});
