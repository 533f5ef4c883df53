/** A gateway and a service in another process, with a faulty network between them. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createHttpUpstream, type UpstreamSettings } from '../../src/gateway/upstream/http-upstream.js';
import {
  type AnswerBody,
  captureLog,
  createMovableClock,
  demoPolicy,
  startGateway,
  usualUpstream,
} from '../gateway/harness.js';
import { get, post } from '../product/guest.js';
import { type Product, startProduct } from '../product/product.js';
import { busySeconds, type Fault, type FaultProxy, faults, openFaultProxy } from './fault-proxy.js';

let service: Product;
let proxy: FaultProxy;
/** A client with its own dashboard, which no other client may see. */
const stranger = 'STRANGER';
/** Every dashboard in the answer of any login. */
const made = new Set<string>();
beforeAll(async () => {
  service = await startProduct({ args: ['--only', 'service'] });
  proxy = await openFaultProxy(service.url);
  const answer = await post(
    `${service.url}/api/v2/data-app/dashboard-embeds`,
    {
      dashboardId: `delays--${stranger}`,
      clientId: stranger,
      workspaceName: demoPolicy.workspace,
      templateDashboardId: 'delays',
      accessSettings: demoPolicy.templates.get('delays')?.accessSettings,
    },
    service.credentials.demoApiKey,
  );
  expect(answer.status).toBe(200);
});
afterAll(async () => {
  await proxy.close();
  await service.stop();
  await service.remove();
});

/** Short time limits if no answer will arrive; otherwise long ones, since the machine may be busy. */
const settingsFor = (fault: Fault): Partial<UpstreamSettings> => ({
  ...(fault.startsWith('silent') ? { timeoutMs: 1_000, deadlineMs: 1_500 } : { timeoutMs: 20_000, deadlineMs: 30_000 }),
  breakerOpenMs: 20,
  breakerFailures: 4,
});

/** Starts a gateway without caches, behind the proxy. */
const start = async (settings: Partial<UpstreamSettings>) => {
  proxy.decide(() => 'none');
  const { log, lines } = captureLog();
  const clock = createMovableClock();
  const upstream = createHttpUpstream({
    baseUrl: proxy.url,
    apiKey: service.credentials.demoApiKey,
    settings: { ...usualUpstream, ...settings },
    clock,
    log,
  });
  const gateway = await startGateway({ upstream, log, clock, serviceUrl: service.url });
  return { ...gateway, lines, clock };
};
type Started = Awaited<ReturnType<typeof start>>;

let clients = 0;
const newClient = (): string => {
  clients += 1;
  return `X${clients}`;
};
const roles = { analyst: ['analyst'], manager: ['manager'], regional: ['analyst', 'regional'] } as const;
const userOf = (client: string, role: keyof typeof roles = 'analyst') => ({
  iss: 'guestlist-demo',
  sub: `${client}-${role}`,
  org_id: client,
  roles: roles[role],
  region: 'CA',
});

const statusOf = async (token: string, dashboardId: string): Promise<number> =>
  (await get(`${service.url}/api/v2/guest/dashboards/${dashboardId}`, token)).status;

/**
 * Asserts that the token reads what is granted to this client and nothing of other clients, and that the service
 * created it unchanged for this client.
 */
const assertRight = async (answer: AnswerBody, client: string): Promise<void> => {
  for (const { id } of answer.embeds) {
    made.add(id);
    expect(id.endsWith(`--${client}`)).toBe(true);
    expect(await statusOf(answer.token, id)).toBe(200);
  }
  expect(await statusOf(answer.token, `delays--${stranger}`)).not.toBe(200);
  const minted = proxy.carried.filter((each) => Object(each.answer?.body).token === answer.token);
  expect(minted.map(({ fault, answer: given, body }) => [fault, given?.status, Object(body).clientId])).toEqual([
    [expect.stringMatching(/^(none|slow)$/), 200, client],
  ]);
};

const recovered = (gateway: Started, user: object): Promise<AnswerBody> =>
  vi.waitFor(() => gateway.granted(user), { timeout: 30_000, interval: 20 });

/** Returns every embed of the demo's data app, read directly from the service. */
const listEmbedIds = async (): Promise<string[]> => {
  const { body } = await get<{
    data: { embedId: string; externalDashboard: { externalDashboardId: string } | null }[];
  }>(`${service.url}/api/v2/data-app/embeds`, service.credentials.demoApiKey);
  return body.data.map(({ externalDashboard }) => externalDashboard?.externalDashboardId ?? 'none');
};

const mintsOf = (client: string) =>
  proxy.carried.filter(({ path, body }) => path.endsWith('/guest-token/create') && Object(body).clientId === client);

/** The calls of a first login, by path. */
const calls = {
  createDashboardEmbed: '/api/v2/data-app/dashboard-embeds',
  listEmbedMetrics: '/api/v2/data-app/metrics',
  createGuestToken: '/api/v2/guest-token/create',
} as const;

/** Returns the expected statuses of a login if this call meets the fault. */
const outcomeOf = (fault: Fault, target: string): readonly number[] => {
  if (fault === 'none' || fault === 'slow') return [200];
  // A mint is never repeated, and `busy-503` asks for a longer wait than the deadline.
  if (target === calls.createGuestToken || fault === 'busy-503') return [503];
  // The next attempt has only the rest of the deadline.
  return fault.startsWith('silent') ? [200, 503] : [200];
};

describe.each(faults)('%s', (fault) => {
  it.each(Object.entries(calls))(
    'at %s of a first login: no wrong token, no second dashboard, no second mint',
    async (_, target) => {
      // If the service supports exports, provisioning reads an export instead of the metrics.
      const capabilities = target === calls.listEmbedMetrics ? 'none' : 'auto';
      const gateway = await start({ ...settingsFor(fault), capabilities });
      const client = newClient();
      let seen = 0;
      proxy.decide(({ path }) => {
        if (path === target) seen += 1;
        return path === target && seen === 1 ? fault : 'none';
      });
      const response = await gateway.ask(userOf(client));
      expect(outcomeOf(fault, target)).toContain(response.status);
      if (response.status === 503 && fault === 'busy-503') {
        expect(response.headers.get('retry-after')).toBe(String(busySeconds));
      }
      expect(mintsOf(client).length).toBeLessThanOrEqual(1);
      proxy.decide(() => 'none');
      await assertRight(await recovered(gateway, userOf(client)), client);
    },
  );
});

describe('an unavailable service', () => {
  it.each(['reset-before', 'silent-before', 'refused-500', 'html'] as const)(
    '%s: cached tokens are still answered, other requests get Retry-After, and it recovers by itself',
    async (fault) => {
      const gateway = await start(settingsFor(fault));
      const known = [newClient(), newClient(), newClient()];
      const before = await Promise.all(known.map((client) => gateway.granted(userOf(client, 'regional'))));
      proxy.decide(() => fault);
      const unknown = [newClient(), newClient(), newClient(), newClient(), newClient()];
      const refusals = Promise.all(unknown.map((client) => gateway.refused(userOf(client))));
      for (let round = 0; round < 3; round += 1) {
        const meanwhile = await Promise.all(known.map((client) => gateway.granted(userOf(client, 'regional'))));
        expect(meanwhile.map(({ token }) => token)).toEqual(before.map(({ token }) => token));
      }
      for (const refusal of await refusals) {
        expect(refusal).toMatchObject({ status: 503, code: 'UPSTREAM_UNAVAILABLE' });
        expect(refusal.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      }
      expect(gateway.lines.some(({ circuit }) => circuit === 'open')).toBe(true);
      proxy.decide(() => 'none');
      for (const client of unknown) {
        await assertRight(await recovered(gateway, userOf(client)), client);
      }
      expect(gateway.lines.filter(({ circuit }) => circuit !== undefined).at(-1)).toMatchObject({ circuit: 'closed' });
    },
  );

  it('does not block cached answers, even while all slots and the queue are taken', async () => {
    const gateway = await start({ maxConcurrent: 2, maxQueued: 2, timeoutMs: 20_000, deadlineMs: 20_000 });
    const client = newClient();
    const { token } = await gateway.granted(userOf(client));
    proxy.decide(() => 'silent-before');
    let pending = 5;
    const asks = Array.from({ length: 5 }, async () => {
      const { status, headers } = await gateway.ask(userOf(newClient()));
      pending -= 1;
      return { status, retryAfter: headers.get('retry-after') };
    });
    // This request is one more than the limit, and is refused at once.
    expect(await Promise.race(asks)).toMatchObject({ status: 503, retryAfter: expect.stringMatching(/^[1-9]\d*$/) });
    expect(gateway.lines.at(-1)).toMatchObject({ reason: 'upstream-calls-full' });
    await vi.waitFor(() => expect(proxy.kept()).toBe(2), { timeout: 30_000 });
    expect((await gateway.granted(userOf(client))).token).toBe(token);
    expect([pending, proxy.kept()]).toEqual([4, 2]);
    proxy.decide(() => 'none');
    proxy.release();
    expect((await Promise.all(asks)).map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 200, 503]);
  });
});

/** Without `busy-503`, whose `Retry-After` is longer than a test may wait. */
const quick = faults.filter((fault) => !fault.startsWith('silent') && fault !== 'busy-503');
const weighted = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom<Fault>(...quick) },
  { weight: 4, arbitrary: fc.constant<Fault>('none') },
  { weight: 1, arbitrary: fc.constantFrom<Fault>('silent-before', 'silent-after') },
);
const asked = fc.record({ client: fc.nat(2), role: fc.constantFrom('analyst', 'manager', 'regional') });

it('with any sequence of faults and users, every token is right, each dashboard is created once, and every user gets a token in the end', async () => {
  // The proxy closes silent connections after a while. This test does not check how long the gateway waits for slow
  // ones.
  const hangUp = setInterval(proxy.release, 50);
  onTestFinished(() => clearInterval(hangUp));
  await fc.assert(
    fc.asyncProperty(
      fc.array(weighted, { maxLength: 20 }),
      fc.array(asked, { minLength: 1, maxLength: 6 }),
      async (script, asks) => {
        const gateway = await start(settingsFor('none'));
        const own = [newClient(), newClient(), newClient()];
        const left = [...script];
        proxy.decide(() => left.shift() ?? 'none');
        const users = asks.map(({ client, role }) => ({ client: own[client] ?? '', role }));
        const ask = async ({ client, role }: (typeof users)[number]) => {
          const response = await gateway.ask(userOf(client, role));
          expect([200, 503]).toContain(response.status);
          return response.status === 200 ? ((await response.json()) as AnswerBody) : undefined;
        };
        const first = await Promise.all(users.map(ask));
        const second = await Promise.all(users.map(ask));
        proxy.decide(() => 'none');
        const last = await Promise.all(users.map(({ client, role }) => recovered(gateway, userOf(client, role))));
        for (const [index, { client }] of users.entries()) {
          for (const answer of new Set([first[index], second[index], last[index]])) {
            if (answer !== undefined) await assertRight(answer, client);
          }
        }
        // Cached answers need no service.
        proxy.decide(() => 'reset-before');
        const away = await Promise.all(users.map(ask));
        expect(away.map((answer) => answer?.token)).toEqual(last.map(({ token }) => token));
      },
    ),
    { seed: 20_261_121, numRuns: 5 },
  );
});

it('at the end, every dashboard exists exactly once', async () => {
  const all = await listEmbedIds();
  expect(made.size).toBeGreaterThan(0);
  expect([...made].filter((id) => all.filter((each) => each === id).length !== 1)).toEqual([]);
});
