/**
 * The real service in this process with a template and its tenants' copies, and a gateway's ledger that lists the
 * copies.
 */

import type { AuditEvent } from '../../src/gateway/audit/audit.js';
import { dashboardIdOf } from '../../src/gateway/common/dashboard-id.js';
import { type LedgerTables, openLedger } from '../../src/gateway/ledger/ledger.js';
import { loadPolicy } from '../../src/gateway/policy/load.js';
import { type Policy, policyFor } from '../../src/gateway/policy/policy.js';
import { createRolloutLedger } from '../../src/gateway/rollout/ledger.js';
import type { Rollouts, StartedRollout } from '../../src/gateway/rollout/rollout.js';
import { createTemplateVersions } from '../../src/gateway/rollout/template-versions.js';
import { fixedCapabilities } from '../../src/gateway/upstream/capabilities.js';
import { createUpstream } from '../../src/gateway/upstream/upstream.js';
import { capabilityNames } from '../../src/model/capability.js';
import type { DashboardContent } from '../../src/model/dashboard/dashboard.js';
import type { ApiKeyCaller } from '../../src/model/guest/caller.js';
import type { Call, Transport } from '../../src/platform/http/interface/client.js';
import { createDispatch } from '../../src/platform/http/wire/bind.js';
import { inProcessTransport } from '../../src/platform/http/wire/in-process.js';
import { hashToken } from '../../src/platform/keys/keys.js';
import { getDashboardContent, replaceDashboardContent } from '../../src/service/dashboards/content.js';
import { createDashboardEmbed } from '../../src/service/dashboards/embeds.js';
import { exportEmbed, importDashboard } from '../../src/service/dashboards/transfer.js';
import { createAuthenticate } from '../../src/service/keys/authenticate.js';
import { createLastUses } from '../../src/service/keys/last-use.js';
import { createHandlers, operations } from '../../src/service/operations.js';
import { columnRef, metric as over, stays } from '../engine/world.js';
import { createWorld, stateFilter } from '../service/world.js';
import type { Backing } from '../suites/metadata.js';
import { captureLog, createMovableClock } from './harness.js';

const workspaceName = 'space';
const service = { kind: 'serviceToken', tokenId: 't' } as const;

/** `entry` is the template's entry in the policy, and `more` what else the policy says. */
const policyOf = (template: string, entry = '{ name: Sales }', more = ''): Policy =>
  loadPolicy(
    `
version: 1
dataApp: app
workspace: space
datamart: sales
session:
  claims: { org_id: string }
  tenant: claims.org_id
  roles: '["member"]'
templates:
  ${template}: ${entry}
rules:
  - name: all
    when: 'true'
    grant: { templates: [${template}] }
${more}`,
    'policy.yaml',
  );

const metric = (metricId: string, y: number) => ({
  metricId,
  name: `Metric ${metricId}`,
  lineage: [],
  placement: 'METRIC' as const,
  definition: over('sales', {
    dimensions: [{ name: 'Shop', column: columnRef('sales.shop') }],
    measures: [{ name: `Count ${y}`, aggregate: 'COUNT' as const }],
  }),
});

/** Three metrics one below the other, and one filter. */
export const firstEdition: DashboardContent = {
  metrics: [metric('count', 0), metric('by-shop', 4), metric('by-state', 8)],
  layout: ['count', 'by-shop', 'by-state'].map((metricId, index) => ({ metricId, x: 0, y: index * 4, w: 12, h: 4 })),
  filters: [stateFilter],
  gridMargin: [8, 8],
};

type Metric = DashboardContent['metrics'][number];

/** Returns the content with one metric changed. `name` is the metric's name in the first edition. */
export const withMetric = (content: DashboardContent, name: string, parts: Partial<Metric>): DashboardContent => ({
  ...content,
  metrics: content.metrics.map((one) => (one.name === `Metric ${name}` ? { ...one, ...parts } : one)),
});

/** Changes one metric, removes one, adds one, and widens the margin. */
export const secondEdition = (first: DashboardContent): DashboardContent => {
  const changed = withMetric(first, 'by-shop', { name: 'Shops' });
  const gone = first.metrics.find(({ name }) => name === 'Metric by-state')?.metricId;
  return {
    ...changed,
    gridMargin: [16],
    metrics: [...changed.metrics.filter(({ metricId }) => metricId !== gone), metric('by-client', 12)],
    layout: [
      ...first.layout.filter(({ metricId }) => metricId !== gone),
      { metricId: 'by-client', x: 0, y: 8, w: 6, h: 4 },
    ],
  };
};

export type RolloutHouse = Awaited<ReturnType<typeof openRolloutHouse>>;
export type Board = Awaited<ReturnType<typeof openBoard>>;

/** Gateway and service share a database, as in the product's default setup. */
export const openRolloutHouse = async (backing?: Backing) => {
  const world = await createWorld(backing);
  const { store, deps } = world;
  const { log } = captureLog();
  const apiKey = 'key-of-app';
  await store.apiKeys.insert({
    id: 'k',
    name: 'k',
    hash: hashToken(apiKey),
    dataAppId: 'id-app',
    createdAt: deps.clock.now(),
    expiresAt: null,
  });
  const lastUses = createLastUses({ store, clock: deps.clock, log });
  const authenticate = createAuthenticate({ store, clock: deps.clock, tokens: deps.tokens, lastUses });
  const dispatch = createDispatch({ operations, handlers: createHandlers(deps), authenticate, log });
  const transport: Transport = inProcessTransport(dispatch);
  const upstream: Call = createUpstream(transport, apiKey);
  const ledger = await openLedger(world.database.connect<LedgerTables>());
  const clock = createMovableClock();
  const events: AuditEvent[] = [];
  const caller: ApiKeyCaller = world.api();
  const capabilities = fixedCapabilities(capabilityNames);
  const versions = createTemplateVersions({ ledger, upstream, clock, capabilities });
  const rolloutLedger = createRolloutLedger(ledger, clock);
  return {
    world,
    ledger,
    versions,
    capabilities,
    upstream,
    clock,
    events,
    log,
    caller,
    rolloutLedger,
    audit: { record: async (event: AuditEvent) => void events.push(event) },
    close: world.close,
  };
};

/** A new template with functions to change it and its copies. */
export const openBoard = async (house: RolloutHouse, template: string) => {
  const { world, versions, ledger, clock, caller } = house;
  const { deps, store } = world;
  const readTemplate = async () => getDashboardContent(deps)(service, { dashboardId: template, workspaceName });
  const publish = async (change: (content: DashboardContent) => DashboardContent): Promise<void> => {
    const { content, digest } = await readTemplate();
    const command = { dashboardId: template, workspaceName, content: change(content), expectedDigest: digest };
    await replaceDashboardContent(deps)(service, command, stays);
  };
  await importDashboard(deps)(
    service,
    { workspaceName, dashboardId: template, importDashboardData: firstEdition },
    stays,
  );

  const idOf = (clientId: string): string => dashboardIdOf(template, clientId);

  /** Copies the current template and records the copies, as provisioning does. */
  const provision = async (
    clientIds: readonly string[],
    isNoted = true,
    policy = policyOf(template),
  ): Promise<void> => {
    const { version } = await versions.record(policy, template);
    const entry = policy.templates.get(template);
    if (entry === undefined) throw new Error(`the policy has no template ${template}`);
    const now = clock.now();
    for (const clientId of clientIds) {
      await createDashboardEmbed(deps)(
        caller,
        {
          dashboardId: idOf(clientId),
          clientId,
          workspaceName,
          name: policyFor(policy, clientId).templates.get(template)?.name,
          accessSettings: entry.accessSettings,
          templateDashboardId: template,
          isImportMetrics: true,
          isRenameDashboard: true,
          metadata: { guestlist: { template, clientId } },
        },
        stays,
      );
    }
    if (clientIds.length === 0) return;
    const tenants = clientIds.map((clientId) => ({ clientId, tenantRef: ledger.refOf(clientId) }));
    await ledger.db
      .insertInto('tenants')
      .values(
        tenants.map(({ clientId, tenantRef }) => ({
          tenant_ref: tenantRef,
          client_id: clientId,
          state: 'active' as const,
          occurred_at: null,
          created_at: now,
          updated_at: now,
        })),
      )
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    await ledger.db
      .insertInto('dashboards')
      .values(
        tenants.map(({ clientId, tenantRef }) => ({
          tenant_ref: tenantRef,
          template,
          dashboard_id: idOf(clientId),
          upstream: 'u',
          key_ref: 'k',
          template_version: isNoted ? version : null,
          attempt: 'a',
          started_at: now,
          created_at: now,
          verified_at: now,
          doubted_at: null,
          failed_at: null,
          failed_step: null,
          failure: null,
        })),
      )
      .execute();
  };

  const read = (clientId: string) => getDashboardContent(deps)(caller, { dashboardId: idOf(clientId), workspaceName });
  return {
    template,
    policy: policyOf(template),
    policyWith: (entry: string, more = '') => policyOf(template, entry, more),
    idOf,
    provision,
    publish,
    readTemplate,
    read,
    /** Returns the export of the interface, byte by byte. */
    exported: async (clientId: string): Promise<string> =>
      JSON.stringify(
        operations.exportEmbed.encode(await exportEmbed(deps)(caller, { embedId: idOf(clientId) }), () => {
          throw new Error('an export has no parts');
        }),
      ),
    /** Renames a metric as a guest of the tenant. */
    renames: async (clientId: string, from: string, name: string): Promise<void> => {
      const found = (await read(clientId)).content.metrics.find((one) => one.name === from);
      const owner = { dataAppId: caller.dataAppId, clientId };
      if (found === undefined || !(await store.metrics.change(found.metricId, owner, { name })))
        throw new Error(`${clientId} has no metric ${from}`);
    },
    /** Changes the copy as the host's backend. */
    edits: async (clientId: string, change: (content: DashboardContent) => DashboardContent): Promise<void> => {
      const { content, digest } = await read(clientId);
      const command = { dashboardId: idOf(clientId), workspaceName, content: change(content), expectedDigest: digest };
      await replaceDashboardContent(deps)(caller, command, stays);
    },
  };
};

/** Continues interrupted roll-outs, waits for their end, and returns their ids and what kept others from going on. */
export const takeOverAll = async ({ takeOver }: Pick<Rollouts, 'takeOver'>, policy: Policy) => {
  const begun: StartedRollout[] = [];
  const faults: unknown[] = [];
  const failures = await takeOver(policy, {
    begun: (rollout) => void begun.push(rollout),
    failed: (_, error) => void faults.push(error),
  });
  const outcomes = await Promise.allSettled(begun.map(({ done }) => done));
  return { ids: begun.map(({ id }) => id), failures, faults, outcomes };
};
