/**
 * Reports and alerts over real parts: gateway, service, rows, ledger and mail server. `openReporting` is for one test file.
 */

import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, vi } from 'vitest';
import { createReports, startReports } from '../../src/compose/reports.js';
import type { MailSetup } from '../../src/delivery/mail-setup.js';
import type { MetricDefinition } from '../../src/model/dashboard/metric.js';
import { hostMade } from '../../src/model/dashboard/metric.js';
import type { Renderer } from '../../src/model/guest/render.js';
import { createTag } from '../../src/platform/caches/tags.js';
import type { Channel } from '../../src/platform/config/channels.js';
import { loadBrands } from '../../src/platform/config/mail-brands.js';
import { defaultSettings } from '../../src/platform/config/settings.js';
import { inProcessTransport } from '../../src/platform/http/wire/in-process.js';
import { createCredentialGuard } from '../../src/platform/limits/credential-guard.js';
import { createMemoryLimiters } from '../../src/platform/limits/limiter.js';
import { unlisted } from '../../src/platform/work/running-work.js';
import { createFolder } from '../engine/world.js';
import { captureLog, createMovableClock, sign, startGateway } from '../gateway/harness.js';
import { createOwnService } from '../gateway/own-service.js';
import { basePolicy, changeablePolicies, policyOf } from '../gateway/policies.js';
import { statements } from '../service/world.js';
import type { Backing } from '../suites/metadata.js';
import { testSealer } from '../suites/sealer.js';
import { openMailbox } from './mailbox.js';
import { createRounds, type Rounds } from './rounds.js';

/** Signs hooks. */
export const hookSecret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
const origin = 'https://analytics.example';
const allows = { isAllowEmailReports: true, isAllowUnderlyingData: true };
export const all = {
  name: 'all',
  when: 'true',
  grant: { templates: ['delays'], permissions: ['isEnableDownloadMetrics'] },
};
export const reportPolicy = (overrides: object = {}) =>
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
export const restricted = (states: readonly string[]) =>
  reportPolicy({
    restrictions: [{ name: 'states', when: 'true', restrict: { dashboardFilters: { State: JSON.stringify(states) } } }],
  });

/** That of the service's tags, as in the product. */
const tag = createTag(Buffer.alloc(32, 7));
export const daily = { every: 'day', at: '08:00', timezone: 'Europe/Berlin' };

/** `on`: where the metadata are. */
export const openReporting = async (
  on?: Backing,
  channels: readonly Channel[] = [],
  more: Partial<MailSetup['mail']> = {},
) => {
  const mailbox = await openMailbox();
  const { mail } = defaultSettings();
  const chosen = {
    ...{ allowedDomains: ['customer.example', 'partner.example'], isTlsRequired: false, perTenantPerMinute: 1000 },
    spreadMinutes: 0,
    dashboardUrl: 'https://app.example/reports/{dashboardId}',
  };
  const from = 'reports@analytics.example';
  const settings = { ...mail, ...chosen, from, ...more };
  const setup: MailSetup = {
    mail: settings,
    sender: { from, smtpUrl: mailbox.url },
    channels,
    origin,
    brandOf: loadBrands(settings, '.').brandOf,
    dkim: null,
    hooks: { secrets: [hookSecret], toleranceSeconds: 300 },
  };
  const connected = createReports(setup);
  /** Stuck: nothing is drawn until its caller gives up. Broken: each drawing fails. */
  const drawing = { isStuck: false, isBroken: false };
  /** In place of a browser, whose reads test/delivery/rendering tests: a picture is what the caller of the drawing reads. */
  const renderer: Renderer = {
    render: async ({ caller, target, assertStillGood }, gone) => {
      await assertStillGood();
      if (drawing.isBroken) throw new Error('the browser ended');
      if (drawing.isStuck) return new Promise((_, reject) => gone.addEventListener('abort', () => reject(gone.reason)));
      const read = inProcessTransport(service.dispatch, async () => caller);
      const { dashboardId } = target;
      const board = { query: {}, bearer: '', path: `/api/v2/guest/dashboards/${dashboardId}` };
      const { body } = await read({ method: 'GET', body: undefined, ...board });
      const [metric] = (body as { data: { metrics: { metricId: string }[] } }).data.metrics;
      const path = `/api/v2/guest/metrics/${metric?.metricId}/csv`;
      const drawn = await read({ method: 'POST', query: {}, bearer: '', path, body: { dashboardId } });
      return Buffer.from(String(drawn.body));
    },
  };
  const overrides = { reports: connected.reports, renderer };
  const service: Awaited<ReturnType<typeof createOwnService>> = await createOwnService(on, overrides);
  const folder = await createFolder();

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

  const running = new Set<Rounds>();
  /** Plans and sends until the check passes, and returns its result. */
  const until = <T>(check: () => T | Promise<T>): Promise<T> =>
    vi.waitFor(
      async () => {
        for (const { run } of running) await run();
        return check();
      },
      { timeout: 40_000, interval: 20 },
    );

  const start = async (first = reportPolicy()) => {
    const clock = createMovableClock();
    const policies = changeablePolicies(first);
    const recipients = { sealer: testSealer, keepDays: 30 };
    const { upstream, ledger } = service;
    const gateway = await startGateway({ upstream, ledger, policies, clock, recipients });
    const { findReportRight, listTenantUsers } = gateway;
    if (findReportRight === null || listTenantUsers === null) throw new Error('sessions must be kept');
    const { log, lines } = captureLog();
    const findDataAppId = async () => service.api().dataAppId;
    const rights = { findReportRight, listTenantUsers, isTenantActive: gateway.isTenantActive, findDataAppId };
    connected.connect({ ...rights, service, tag, clock: service.deps.clock });
    const mailGuard = createCredentialGuard({
      ...{ kind: 'hook', failuresPerMinute: 20, limiters: createMemoryLimiters({ clock }), scope: 'test', clock },
    });
    const admission = { mailGuard, addressOf: () => '127.0.0.1' };
    const parts = { admission, setup, reports: connected.reports, service, ...rights, clock: service.deps.clock, log };
    const work = new Map<string, readonly [count: number, seconds: number]>();
    const rounds = createRounds();
    const { router, close } = startReports({
      ...parts,
      countWork: (kind, ...numbers) => void work.set(kind, numbers),
      tag,
      timing: rounds.timing,
      running: unlisted,
    });
    running.add(rounds);
    onTestFinished(async () => {
      running.delete(rounds);
      await close();
    });
    const clientId = `c${randomUUID().slice(0, 8)}`;
    return { ...gateway, policies, clock, router, work, reportLines: lines, clientId };
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
    until(async () => {
      const [row] = await rowsOf(scheduleId);
      expect(['sent', 'skipped', 'failed']).toContain(row?.state);
      return [row?.state, row?.reason];
    });
  /** Waits until each recipient of the latest moment has an outcome, and returns the outcomes by recipient. */
  const settled = (scheduleId: string) =>
    until(async () => {
      const rows = await service.store.deliveries.list(scheduleId, 100);
      const latest = rows.filter(({ moment }) => moment.getTime() === rows[0]?.moment.getTime());
      const ends = latest.map(({ state }) => state);
      expect(ends.length).toBeGreaterThan(0);
      expect(ends.every((state) => ['sent', 'skipped', 'failed', 'shared'].includes(state))).toBe(true);
      return latest
        .filter(({ state }) => state !== 'shared')
        .map(({ recipient, state, reason }) => `${recipient.replace(/^.*\||\..*$/g, '')} ${reason ?? state}`)
        .toSorted();
    });
  const metricsOf = async ({ token, board }: User) =>
    (await dataOf<{ metrics: { metricId: string }[] }>(call('GET', board, token))).metrics;
  const csvOf = async (user: User, dashboardFilter: Readonly<Record<string, unknown>> = {}): Promise<string> => {
    const [metric] = await metricsOf(user);
    const body = { dashboardId: user.board.split('/').at(-1), dashboardFilter };
    return String((await call('POST', `/api/v2/guest/metrics/${metric?.metricId}/csv`, user.token, body)).body);
  };
  const arrived = (): readonly string[] =>
    mailbox.received.flatMap(({ mail }) => mail.attachments.map(({ content }) => content.toString('utf8')));

  /** Adds a metric to the template, so that every copy made from now on has it. */
  const addMetric = async (template: string, name: string, definition: MetricDefinition): Promise<void> => {
    const metricId = `${template}-${name}`;
    const metric = { metricId, workspaceId: 'w', name, definition, lineage: [], owner: null, ...hostMade };
    await service.store.metrics.insert(metric);
    const board = `board-${template}`;
    const placed = (await service.store.dashboards.listMetrics(board)).map(({ metric }) => metric.metricId);
    const all = [...placed, metricId].map((id) => ({ metricId: id, placement: 'METRIC' as const }));
    await service.store.dashboards.placeMetrics(board, all, service.deps.clock.now());
  };
  let files = 0;
  /** Replaces the rows of the host's database by these statements after the usual ones. */
  const changeRows = async (more: readonly string[]): Promise<void> => {
    files += 1;
    const path = await folder.build(`sales-${files}`, [...statements, ...more]);
    for (const name of ['sales', 'sales2']) {
      const source = await service.store.datasources.findById(`source-${name}`);
      if (source?.datasourceType !== 'DUCKDB') throw new Error('the world reads a file');
      await service.store.datasources.update({ ...source, path });
    }
  };
  const close = async (): Promise<void> => {
    await service.close();
    await mailbox.close();
    await folder.remove();
  };
  return {
    ...{ mailbox, service, connected, setup, call, dataOf, start, login, schedule, sendNow, rowsOf, until, ended },
    ...{ settled, drawing },
    ...{ metricsOf, csvOf, arrived, addMetric, changeRows, close },
  };
};

export type Reporting = Awaited<ReturnType<typeof openReporting>>;
export type Started = Awaited<ReturnType<Reporting['start']>>;
export type User = Awaited<ReturnType<Reporting['login']>>;
