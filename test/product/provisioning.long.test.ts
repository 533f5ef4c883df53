/**
 * Provisioning with a service in another process: a gateway is killed at each step, two gateways run at once, and a
 * tenant is deleted meanwhile.
 */
import type { KyselyPlugin } from 'kysely';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Ledger, type LedgerTables, openLedger } from '../../src/gateway/ledger/ledger.js';
import { templateVersionOf } from '../../src/gateway/provision/template-version.js';
import { type Capabilities, fixedCapabilities } from '../../src/gateway/upstream/capabilities.js';
import { createHttpTransport } from '../../src/gateway/upstream/http-upstream.js';
import { capabilityNames } from '../../src/model/capability.js';
import { openDatabase } from '../../src/platform/databases/database.js';
import { createClient, type Transport } from '../../src/platform/http/interface/client.js';
import { deleteDashboard, exportDashboard, exportEmbed } from '../../src/service/dashboards/contract/dashboards.js';
import { createDashboardEmbed } from '../../src/service/dashboards/contract/embeds.js';
import { listEmbedMetrics, listEmbeds } from '../../src/service/embeds/contract/embeds.js';
import { analyst, captureLog, demoPolicy, manager, startGateway } from '../gateway/harness.js';
import { openTestLedger } from '../gateway/ledgers.js';
import { createRecordingAudit } from '../gateway/recording-audit.js';
import { createOwnDatabase, isPostgresThere } from '../suites/postgres.js';
import { type Product, startProduct } from './product.js';

const hasPostgres = await isPostgresThere();
let service: Product;
let transport: Transport;

beforeAll(async () => {
  service = await startProduct({ args: ['--only', 'service'] });
  transport = createHttpTransport({ baseUrl: service.url, timeoutMs: 20_000 });
});

afterAll(async () => {
  await service.stop();
  await service.remove();
});

const call = () => createClient(transport, service.credentials.demoApiKey);
const all = fixedCapabilities(capabilityNames);
const none = fixedCapabilities([]);

type Around = { readonly transport?: Transport; readonly capabilities?: Capabilities };

const startAt = (ledger: Ledger, around: Around = {}) =>
  startGateway({
    ledger,
    audit: createRecordingAudit(),
    upstream: { apiKey: service.credentials.demoApiKey, baseUrl: service.url, transport, capabilities: all, ...around },
  });

const countMetrics = async (embedId: string, clientId: string): Promise<number> =>
  (await call()(listEmbedMetrics, { embedId, clientId })).data.length;

const isThere = async (embedId: string): Promise<boolean> => (await call()(listEmbeds, { embedId })).data.length > 0;

const rowsOf = ({ db, refOf }: Ledger, clientId: string) =>
  db.selectFrom('dashboards').selectAll().where('tenant_ref', '=', refOf(clientId)).execute();

/** Creates a copy as a service leaves it if it is killed after creating the dashboard and before its metrics. */
const makeHalf = (clientId: string, metadata: Record<string, unknown>) =>
  call()(createDashboardEmbed, {
    dashboardId: `delays--${clientId}`,
    clientId,
    workspaceName: 'flights',
    templateDashboardId: 'delays',
    accessSettings: demoPolicy.templates.get('delays')?.accessSettings ?? expect.fail('no template'),
    metadata,
  });

/** A process that dies at its n-th step, before or after the step. Everything it does afterwards fails. */
const createMortal = (ledger: Ledger, at: number, when: 'before' | 'after') => {
  let steps = 0;
  let isDead = false;
  const die = (): never => {
    isDead = true;
    throw new Error('killed');
  };
  const enter = (): number => {
    if (isDead) die();
    steps += 1;
    return steps === at && when === 'before' ? die() : steps;
  };
  const leave = (step: number): void => {
    if (isDead || (step === at && when === 'after')) die();
  };
  const asked = new WeakMap<object, number>();
  const plugin: KyselyPlugin = {
    transformQuery: ({ node, queryId }) => {
      if (isDead) die();
      // Only statements on the dashboards' table are steps of provisioning, and not the one that looks for interrupted
      // copies, which joins their tenants.
      const text = JSON.stringify(node);
      if (text.includes('dashboards') && !text.includes('InnerJoin')) asked.set(queryId, enter());
      return node;
    },
    transformResult: async ({ result, queryId }) => {
      leave(asked.get(queryId) ?? -1);
      return result;
    },
  };
  const mortal: Transport = async (request, signal) => {
    const step = enter();
    const answer = await transport(request, signal);
    leave(step);
    return answer;
  };
  return { ledger: { ...ledger, db: ledger.db.withPlugin(plugin) }, transport: mortal, isDead: () => isDead };
};

describe('a kill', () => {
  // The steps are read, begin, create, export, complete; the token is minted after them.
  const points = [1, 2, 3, 4, 5].flatMap((at) => (['before', 'after'] as const).map((when) => [when, at] as const));

  test.each(points)('%s step %i leads to exactly one complete dashboard', async (when, at) => {
    const ledger = await openTestLedger();
    const mortal = createMortal(ledger, at, when);
    const clientId = `K${at}${when}`;
    const first = await startAt(mortal.ledger, { transport: mortal.transport });
    expect((await first.refused({ ...analyst, org_id: clientId })).status).toBe(503);
    expect(mortal.isDead()).toBe(true);
    const { granted } = await startAt(ledger);
    const { embeds } = await granted({ ...analyst, org_id: clientId });
    expect(embeds.map(({ id }) => id)).toEqual([`delays--${clientId}`]);
    expect(await countMetrics(`delays--${clientId}`, clientId)).toBe(4);
    const rows = await rowsOf(ledger, clientId);
    expect(rows.map(({ dashboard_id, verified_at }) => [dashboard_id, verified_at !== null])).toEqual([
      [`delays--${clientId}`, true],
    ]);
  });
});

describe('a half-imported copy', () => {
  const mark = (clientId: string) => ({ guestlist: { template: 'delays', clientId } });

  test('is made anew where the service can delete dashboards', async () => {
    await makeHalf('HALF1', mark('HALF1'));
    expect(await countMetrics('delays--HALF1', 'HALF1')).toBe(0);
    const ledger = await openTestLedger();
    await (await startAt(ledger)).granted({ ...analyst, org_id: 'HALF1' });
    expect(await countMetrics('delays--HALF1', 'HALF1')).toBe(4);
    expect(await rowsOf(ledger, 'HALF1')).toMatchObject([{ failures: 0, template_version: expect.any(String) }]);
  });

  test('a half-imported copy with a part of its metrics is made anew where the ledger says that it was begun and never finished', async () => {
    const ledger = await openTestLedger();
    const mortal = createMortal(ledger, 3, 'before');
    const first = await startAt(mortal.ledger, { transport: mortal.transport });
    await first.refused({ ...analyst, org_id: 'HALF2' });
    const { granted, refused, clock } = await startAt(ledger);
    await granted({ ...analyst, org_id: 'WHOLE' });
    const { data } = await call()(exportEmbed, { embedId: 'delays--WHOLE' });
    const metrics = data.metrics.slice(0, 1);
    const layout = data.layout.filter(({ metricId }) => metricId === metrics[0]?.metricId);
    await call()(createDashboardEmbed, {
      dashboardId: 'delays--HALF2',
      clientId: 'HALF2',
      workspaceName: 'flights',
      accessSettings: demoPolicy.templates.get('delays')?.accessSettings ?? expect.fail('no template'),
      importDashboardData: { ...data, metrics, layout },
      metadata: mark('HALF2'),
    });
    expect(await countMetrics('delays--HALF2', 'HALF2')).toBe(1);
    // The process that began the copy may still be working on it.
    for (let round = 0; round < 2; round += 1) {
      expect((await refused({ ...analyst, org_id: 'HALF2' })).status).toBe(503);
      expect(await countMetrics('delays--HALF2', 'HALF2')).toBe(1);
    }
    // Another process may take over an attempt after a minute.
    clock.advance(60_001);
    await granted({ ...analyst, org_id: 'HALF2' });
    expect(await countMetrics('delays--HALF2', 'HALF2')).toBe(4);
  });

  test('is refused where the service cannot, in words that say what to do; then it is made', async () => {
    await makeHalf('HALF3', mark('HALF3'));
    const { refused, granted, lines } = await startAt(await openTestLedger(), { capabilities: none });
    expect(await refused({ ...analyst, org_id: 'HALF3' })).toMatchObject({ status: 503, code: 'UPSTREAM_UNAVAILABLE' });
    const alarms = lines.filter(({ reason }) => reason === 'dashboard-half-imported');
    expect(alarms).toContainEqual(expect.objectContaining({ mend: expect.stringContaining('Delete the copy') }));
    await call()(deleteDashboard, { dashboardId: 'delays--HALF3' });
    await granted({ ...analyst, org_id: 'HALF3' });
    expect(await countMetrics('delays--HALF3', 'HALF3')).toBe(4);
  });

  test("is never touched where the mark is another client's or nobody's", async () => {
    await makeHalf('HALF4', mark('SOMEBODY'));
    await makeHalf('HALF5', {});
    const { refused } = await startAt(await openTestLedger());
    for (const org_id of ['HALF4', 'HALF5']) {
      expect((await refused({ ...analyst, org_id })).status).toBe(503);
      expect(await isThere(`delays--${org_id}`)).toBe(true);
      expect(await countMetrics(`delays--${org_id}`, org_id)).toBe(0);
    }
  });
});

test('the version of a template is the same by itself and by its copies', async () => {
  const ledger = await openTestLedger();
  const { granted } = await startAt(ledger);
  await granted({ ...manager, org_id: 'VER' });
  const organization = createClient(transport, service.credentials.serviceToken);
  for (const { template, template_version } of await rowsOf(ledger, 'VER')) {
    const { data } = await organization(exportDashboard, { dashboardId: template, workspaceName: 'flights' });
    expect(template_version).toBe(templateVersionOf(data));
    const [metric, ...others] = data.metrics;
    const renamed = { ...data, metrics: [{ ...(metric ?? expect.fail('no metric')), name: 'Renamed' }, ...others] };
    expect(templateVersionOf(renamed)).not.toBe(template_version);
  }
});

test('a copy that was there before the ledger has a version where it is exactly a known one', async () => {
  const before = await openTestLedger();
  for (const org_id of ['OLD1', 'OLD2']) await (await startAt(before)).granted({ ...analyst, org_id });
  const ledger = await openTestLedger();
  const { granted } = await startAt(ledger);
  const versionOf = async (clientId: string) => (await rowsOf(ledger, clientId))[0]?.template_version;
  await granted({ ...analyst, org_id: 'OLD1' });
  expect(await versionOf('OLD1')).toBeNull();
  await granted({ ...analyst, org_id: 'FRESH' });
  await granted({ ...analyst, org_id: 'OLD2' });
  expect(await versionOf('OLD2')).toBe(await versionOf('FRESH'));
  expect(await versionOf('FRESH')).toMatch(/^[0-9a-f]{64}$/);
});

describe('a tenant that is deleted while its dashboard is made', () => {
  const deleteAfterCreate =
    (ledger: Ledger, clientId: string): Transport =>
    async (request, signal) => {
      const answer = await transport(request, signal);
      if (request.path.endsWith('/dashboard-embeds')) {
        const tenantRef = ledger.refOf(clientId);
        await ledger.db
          .updateTable('tenants')
          .set({ state: 'deleted', client_id: null })
          .where('tenant_ref', '=', tenantRef)
          .execute();
        await ledger.db.deleteFrom('dashboards').where('tenant_ref', '=', tenantRef).execute();
      }
      return answer;
    };

  test('keeps nothing of it, and gets nothing any more', async () => {
    const ledger = await openTestLedger();
    const { refused } = await startAt(ledger, { transport: deleteAfterCreate(ledger, 'GONE1') });
    const session = { ...analyst, org_id: 'GONE1' };
    expect(await refused(session)).toMatchObject({ status: 403, code: 'TENANT_SUSPENDED' });
    expect(await isThere('delays--GONE1')).toBe(false);
    expect(await rowsOf(ledger, 'GONE1')).toEqual([]);
    const calls: string[] = [];
    const later = await startAt(ledger, {
      transport: (request, signal) => {
        calls.push(request.path);
        return transport(request, signal);
      },
    });
    expect(await later.refused(session)).toMatchObject({ status: 403, code: 'TENANT_SUSPENDED' });
    expect(calls).toEqual([]);
  });

  test('leaves a row for what cannot be taken back', async () => {
    const ledger = await openTestLedger();
    const around = { transport: deleteAfterCreate(ledger, 'GONE2'), capabilities: none };
    const { refused, lines } = await startAt(ledger, around);
    expect((await refused({ ...analyst, org_id: 'GONE2' })).code).toBe('TENANT_SUSPENDED');
    expect(await rowsOf(ledger, 'GONE2')).toMatchObject([
      { dashboard_id: 'delays--GONE2', failed_step: 'undo', failure: 'not-supported', verified_at: null },
    ]);
    expect(lines.some(({ level, dashboardId }) => level === 50 && dashboardId === 'delays--GONE2')).toBe(true);
  });
});

test.skipIf(!hasPostgres)('two gateways on one PostgreSQL make each dashboard of each tenant once', async () => {
  const { url, drop } = await createOwnDatabase();
  const databases = await Promise.all([1, 2].map(() => openDatabase({ databaseUrl: url, folder: null })));
  onTestFinished(async () => {
    for (const database of databases) await database.close();
    await drop();
  });
  const gateways = await Promise.all(
    databases.map(async (database) => {
      const { log, lines } = captureLog();
      const ledger = await openLedger(database.connect<LedgerTables>());
      const upstream = { apiKey: service.credentials.demoApiKey, baseUrl: service.url, transport, capabilities: all };
      return { ...(await startGateway({ ledger, log, audit: createRecordingAudit(), upstream })), lines, ledger };
    }),
  );
  const clients = Array.from({ length: 12 }, (_, index) => `TWO${index}`);
  const answers = await Promise.all(
    clients.flatMap((org_id) => gateways.map(({ granted }) => granted({ ...manager, org_id }))),
  );
  expect(answers.every(({ embeds }) => embeds.length === 2)).toBe(true);
  const made = gateways.flatMap(({ lines }) => lines.filter(({ event }) => event === 'tenant.provisioned'));
  expect(new Set(made.map(({ dashboardId }) => dashboardId)).size).toBe(24);
  expect(made).toHaveLength(24);
  const [gateway] = gateways;
  const rows = await gateway?.ledger.db.selectFrom('dashboards').selectAll().execute();
  expect(rows).toHaveLength(24);
  expect(rows?.every((row) => row.verified_at !== null && row.template_version !== null)).toBe(true);
});
