/**
 * Reports from the operation to the mailbox: real gateway, service, rows, ledger and mail server. What arrives is what
 * the recipient's own token reads at that moment, and nothing leaves by a right that has ended.
 */
import { randomUUID } from 'node:crypto';
import express from 'express';
import fc from 'fast-check';
import request from 'supertest';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createReports, type MailSetup, startReports } from '../../src/compose/reports.js';
import { inProcessTransport } from '../../src/http/in-process.js';
import { createSealingKey } from '../../src/platform/sealing.js';
import { defaultSettings } from '../../src/platform/settings.js';
import { captureLog, createMovableClock, sign, startGateway, startSeconds } from '../gateway/harness.js';
import { createOwnService, type OwnService } from '../gateway/own-service.js';
import { basePolicy, changeablePolicies, policyOf } from '../gateway/policies.js';
import { createOwnDatabase, isPostgresThere, type OwnDatabase } from '../suites/postgres.js';
import { testSealer } from '../suites/sealer.js';
import { type Mailbox, openMailbox } from './mailbox.js';

const origin = 'https://analytics.example';
const allows = { isAllowEmailReports: true, isAllowUnderlyingData: true };
const all = {
  name: 'all',
  when: 'true',
  grant: { templates: ['delays'], permissions: ['isEnableDownloadMetrics'] },
};
const reportPolicy = (overrides: object = {}) =>
  policyOf({
    dataApp: 'app',
    workspace: 'space',
    datamart: 'sales',
    session: { ...basePolicy.session, claims: { ...basePolicy.session.claims } },
    templates: { delays: { name: 'Delays', accessSettings: allows }, routes: { name: 'Routes' } },
    rules: [all],
    ...overrides,
  });
/** The policy of a host that shows each user the states that the session names. */
const restricted = (states: readonly string[]) =>
  reportPolicy({
    restrictions: [{ name: 'states', when: 'true', restrict: { dashboardFilters: { State: JSON.stringify(states) } } }],
  });

const daily = { every: 'day', at: '08:00', timezone: 'Europe/Berlin' };

describe.skipIf(!(await isPostgresThere()))('reports', () => {
  let own: OwnDatabase;
  let mailbox: Mailbox;
  let service: OwnService;
  let connected: ReturnType<typeof createReports>;
  let setup: MailSetup;
  beforeAll(async () => {
    own = await createOwnDatabase();
    mailbox = await openMailbox();
    const { mail } = defaultSettings();
    const chosen = {
      ...{ allowedDomains: ['customer.example'], isTlsRequired: false, perTenantPerMinute: 1000 },
      dashboardUrl: 'https://app.example/reports/{dashboardId}',
    };
    const from = 'reports@analytics.example';
    setup = { mail: { ...mail, ...chosen, from }, from, smtpUrl: mailbox.url, origin };
    connected = createReports(setup);
    service = await createOwnService(own.url, { reports: connected.reports });
  }, 60_000);
  afterAll(async () => {
    await service.close();
    await mailbox.close();
    await own.drop();
  });
  beforeEach(() => {
    mailbox.received.length = 0;
  });

  const call = async (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, bearer: string, body?: object) => {
    const query = method === 'GET' || method === 'DELETE' ? (body as Record<string, string>) : {};
    const sent = method === 'GET' || method === 'DELETE' ? undefined : body;
    return inProcessTransport(service.dispatch)({ method, path, query: query ?? {}, body: sent, bearer });
  };
  const dataOf = async <T>(answer: ReturnType<typeof call>): Promise<T> => {
    const { status, body } = await answer;
    if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
    return (body as { data: T }).data;
  };

  const start = async (first = reportPolicy()) => {
    const clock = createMovableClock();
    const policies = changeablePolicies(first);
    const recipients = { sealer: testSealer, keepDays: 30 };
    const { upstream, ledger } = service;
    const gateway = await startGateway({ upstream, ledger, policies, clock, recipients });
    const { findReportRight } = gateway;
    if (findReportRight === null) throw new Error('sessions must be kept');
    connected.connect({ findReportRight, service });
    const { log, lines } = captureLog();
    const parts = { setup, reports: connected.reports, service, findReportRight, clock: service.deps.clock, log };
    const { router, close } = startReports({
      ...parts,
      encryptionKey: createSealingKey(),
      everyMs: { plan: 50, send: 20 },
    });
    onTestFinished(close);
    const clientId = `c${randomUUID().slice(0, 8)}`;
    return { ...gateway, policies, clock, router, reportLines: lines, clientId };
  };
  type Started = Awaited<ReturnType<typeof start>>;

  const login = async ({ granted }: Started, org: string, more: object = {}) => {
    const session = { iss: 'guestlist-demo', sub: `ann-${org}`, org_id: org, email: 'ann@customer.example', ...more };
    const { token, embeds } = await granted(sign(session));
    return { token, session, board: `/api/v2/guest/dashboards/${embeds[0]?.id}` };
  };
  type User = Awaited<ReturnType<typeof login>>;
  const schedule = ({ token, board }: User, more: object = {}) =>
    dataOf<{ id: string }>(
      call('POST', `${board}/schedules`, token, { name: 'Daily', format: 'csv', recurrence: daily, ...more }),
    );
  const sendNow = async ({ token, board }: User, scheduleId: string): Promise<void> =>
    void (await dataOf(call('POST', `${board}/schedules/send`, token, { scheduleId })));
  const rowsOf = async (scheduleId: string) => service.store.deliveries.list(scheduleId, 10);
  /** Waits until the report has ended, and returns how. */
  const ended = (scheduleId: string) =>
    vi.waitFor(
      async () => {
        const [row] = await rowsOf(scheduleId);
        expect(['sent', 'skipped', 'failed']).toContain(row?.state);
        return [row?.state, row?.reason];
      },
      { timeout: 15_000, interval: 50 },
    );
  const metricsOf = async ({ token, board }: User) =>
    (await dataOf<{ metrics: { metricId: string }[] }>(call('GET', board, token))).metrics;
  const csvOf = async (user: User): Promise<string> => {
    const [metric] = await metricsOf(user);
    const body = { dashboardId: user.board.split('/').at(-1) };
    return String((await call('POST', `/api/v2/guest/metrics/${metric?.metricId}/csv`, user.token, body)).body);
  };
  const arrived = (): readonly string[] =>
    mailbox.received.flatMap(({ mail }) => mail.attachments.map(({ content }) => content.toString('utf8')));

  test('arrive as the recipient’s own token reads at that moment, for any tenant and restriction', async () => {
    const started = await start();
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('a', 'b'),
        fc.subarray(['CA', 'NV', 'NY'], { minLength: 1 }),
        fc.subarray(['CA', 'NV', 'NY'], { minLength: 1 }),
        async (org, before, after) => {
          mailbox.received.length = 0;
          await started.policies.change(restricted(before));
          const early = await login(started, org);
          const { id } = await schedule(early);
          await started.policies.change(restricted(after));
          const late = await login(started, org);
          await sendNow(late, id);
          expect(await ended(id)).toEqual(['sent', null]);
          expect(arrived()).toEqual([await csvOf(late)]);
          await dataOf(call('DELETE', `${late.board}/schedules`, late.token, { scheduleId: id }));
        },
      ),
      { numRuns: 6 },
    );
  }, 120_000);

  test('show a tenant its own rows only, though names and addresses are the same', async () => {
    const started = await start();
    const users = [await login(started, 'a'), await login(started, 'b')];
    const texts = await Promise.all(users.map(csvOf));
    expect(new Set(texts).size).toBe(2);
    for (const user of users) {
      const { id } = await schedule(user);
      await sendNow(user, id);
      await ended(id);
    }
    expect(arrived()).toEqual(texts);
  });

  test('are planned, and sent to the address of the session', async () => {
    const started = await start();
    const user = await login(started, 'a', { sub: 'planned' });
    const { id } = await schedule(user);
    await service.store.schedules.setNext(id, service.deps.clock.now());
    expect(await ended(id)).toEqual(['sent', null]);
    const [one] = mailbox.received;
    expect([one?.recipients, one?.mail.subject]).toEqual([['ann@customer.example'], 'Daily: Delays']);
    expect(one?.mail.text).toContain('https://app.example/reports/');
  }, 30_000);

  test.each(['xlsx', 'link'])('hold what the format %s says', async (format) => {
    const started = await start();
    const user = await login(started, 'a', { sub: `format-${format}` });
    const { id } = await schedule(user, { format });
    await sendNow(user, id);
    expect(await ended(id)).toEqual(['sent', null]);
    const files = mailbox.received.flatMap(({ mail }) =>
      mail.attachments.map(({ content }) => content.subarray(0, 2).toString()),
    );
    expect(files).toEqual(format === 'link' ? [] : ['PK']);
  });

  describe('by a right that has ended', () => {
    const noRight = ['skipped', 'no-right'];
    const endings: readonly (readonly [string, (started: Started, user: User) => Promise<unknown>])[] = [
      [
        'the policy grants nothing',
        ({ policies }) => policies.change(reportPolicy({ rules: [{ ...all, when: 'false' }] })),
      ],
      [
        'the policy grants another dashboard',
        ({ policies }) => policies.change(reportPolicy({ rules: [{ ...all, grant: { templates: ['routes'] } }] })),
      ],
      [
        'the policy grants no downloads',
        ({ policies }) => policies.change(reportPolicy({ rules: [{ ...all, grant: { templates: ['delays'] } }] })),
      ],
      ['the tenant is suspended', ({ run, clientId }) => Promise.resolve(run('tenant-suspend', { clientId }))],
      [
        'the user is revoked',
        ({ run, clock }, { session }) => {
          clock.advance(1000);
          return Promise.resolve(
            run('revoke', { by: 'user', subject: session.sub, issuer: session.iss, reason: 'left' }),
          );
        },
      ],
      [
        'the user’s next session has another role',
        async (started, { session }) => {
          await started.policies.change(reportPolicy({ rules: [{ ...all, when: '!("left" in user.roles)' }] }));
          started.clock.advance(1000);
          await started.refused(sign({ ...session, roles: ['left'], iat: startSeconds + 1 }));
        },
      ],
    ];

    test.each(endings)(
      'are not sent: %s',
      async (_, end) => {
        const started = await start();
        const user = await login(started, started.clientId, { roles: [] });
        const { id } = await schedule(user);
        await end(started, user);
        await service.store.schedules.setNext(id, service.deps.clock.now());
        expect(await ended(id)).toEqual(noRight);
        expect(mailbox.received).toEqual([]);
      },
      30_000,
    );

    test('are not sent: the embed allows them no longer', async () => {
      const started = await start();
      const user = await login(started, started.clientId);
      const { id } = await schedule(user);
      const embedId = user.board.split('/').at(-1) ?? '';
      const embed = await service.store.embeds.findById(service.api().dataAppId, embedId);
      if (embed?.accessSettings == null) throw new Error('the copy has an embed');
      const accessSettings = { ...embed.accessSettings, isAllowEmailReports: false };
      await service.store.embeds.update({ ...embed, accessSettings });
      await service.store.schedules.setNext(id, service.deps.clock.now());
      expect(await ended(id)).toEqual(noRight);
      expect(mailbox.received).toEqual([]);
    }, 30_000);

    test('are erased with the tenant, and never sent', async () => {
      const started = await start();
      const user = await login(started, started.clientId);
      const { id } = await schedule(user);
      await started.run('tenant-delete', { clientId: started.clientId });
      expect(await rowsOf(id)).toEqual([]);
      expect(await service.store.schedules.pause(id)).toBe(false);
      expect(await service.dumpAll()).not.toContain(started.clientId);
    }, 30_000);
  });

  describe('are not scheduled', () => {
    test.each([
      ['another domain', { email: 'ann@evil.example' }],
      ['an address that is not verified', { email_verified: false }],
      ['two addresses', { email: 'ann@customer.example, eve@evil.example' }],
      ['no address', { email: undefined }],
    ])('to %s', async (_, claims) => {
      const started = await start();
      const user = await login(started, started.clientId, claims);
      const { status, body } = await call('POST', `${user.board}/schedules`, user.token, {
        ...{ name: 'Daily', format: 'csv', recurrence: daily },
      });
      expect([status, JSON.stringify(body)]).toEqual([403, expect.stringContaining('no e-mail address')]);
    });

    test('for a user of another data app who bears the same names', async () => {
      const started = await start();
      await login(started, 'a', { sub: 'namesake' });
      const owner = { clientId: 'a', userIdentifier: 'guestlist-demo|namesake' };
      const own = { dataAppId: service.api().dataAppId, ...owner };
      expect(await connected.reports.check(own)).toBe('ready');
      expect(await connected.reports.check({ ...own, dataAppId: service.api('other').dataAppId })).toBe('no-address');
    });

    test('where the template does not allow them', async () => {
      const templates = { delays: { name: 'Delays' } };
      const started = await start(reportPolicy({ templates }));
      const user = await login(started, started.clientId);
      const { status } = await call('GET', `${user.board}/schedules`, user.token);
      expect(status).toBe(403);
    });
  });

  test('end with one click, which needs the whole address', async () => {
    const started = await start();
    const user = await login(started, started.clientId);
    const { id } = await schedule(user);
    await sendNow(user, id);
    await ended(id);
    const header = /^List-Unsubscribe: <https:\/\/analytics\.example([^>]+)>/m.exec(
      (mailbox.received[0]?.raw ?? '').replace(/\r\n[ \t]+/g, ' ').replace(/<\s+/g, '<'),
    );
    const path = header?.[1] ?? '';
    const app = express().use(started.router);
    const isPaused = async () =>
      (await dataOf<{ isPaused: boolean }[]>(call('GET', `${user.board}/schedules`, user.token)))[0]?.isPaused;
    expect((await request(app).post(`${path.slice(0, -1)}${path.endsWith('A') ? 'B' : 'A'}`)).status).toBe(404);
    expect((await request(app).post(`/reports/unsubscribe/${id}`)).status).toBe(404);
    expect((await request(app).get(path)).status).toBe(200);
    expect(await isPaused()).toBe(false);
    const { status, headers } = await request(app).post(path).type('form').send({ 'List-Unsubscribe': 'One-Click' });
    expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
    expect(await isPaused()).toBe(true);
  });

  test('leave no address, name or number in the log', async () => {
    const started = await start();
    const user = await login(started, started.clientId);
    const { id } = await schedule(user, { name: 'Unmistakable' });
    await sendNow(user, id);
    await ended(id);
    expect(started.reportLines.length).toBeGreaterThan(0);
    expect(JSON.stringify(started.reportLines)).not.toMatch(/customer\.example|Unmistakable/);
  });
});
