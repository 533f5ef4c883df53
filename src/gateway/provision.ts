/**
 * Makes sure that a client's copies of the granted templates exist. Idempotent and suspicious: what exists already is
 * taken only after its owner, its template and its metrics were verified. What failed is not remembered.
 */
import { LRUCache } from 'lru-cache';
import { type Call, UpstreamRefusal } from '../contract/client.js';
import { createDashboardEmbed } from '../contract/dashboard-embeds.js';
import { listEmbedMetrics } from '../contract/embeds.js';
import type { Clock } from '../domain/ports.js';
import { Refusal } from '../domain/refusal.js';
import type { Log } from '../platform/log.js';
import { createSingleFlight } from '../platform/single-flight.js';
import { dashboardIdOf } from './dashboard-id.js';
import { createEmbedIndex, type EmbedIndex } from './embed-index.js';
import type { Policy, Template } from './policy-file.js';
import { unavailable } from './upstream.js';

/** A client's copy of a template, verified. */
export type ProvisionedDashboard = { readonly id: string; readonly name: string; readonly template: string };

export type Provision = {
  /** In the order of `templates`. Throws UPSTREAM_UNAVAILABLE, or NO_TENANT where the service takes no such client. */
  readonly ensure: (
    policy: Policy,
    templates: readonly Template[],
    clientId: string,
  ) => Promise<readonly ProvisionedDashboard[]>;
  /** Verifies these again at their next request: the service said something about them that does not fit. */
  readonly forget: (dashboards: readonly ProvisionedDashboard[]) => void;
};

export type ProvisionOptions = {
  readonly upstream: Call;
  readonly clock: Clock;
  readonly log: Log;
  /** How many verified dashboards are remembered. */
  readonly maxRemembered?: number;
};

const maxIdLength = 255;

const idOf = ({ template }: Template, clientId: string): string => {
  const id = dashboardIdOf(template, clientId);
  if (id.length <= maxIdLength) return id;
  throw new Refusal(
    'NO_TENANT',
    `The session's organisation has an id that is too long for a dashboard id of ${maxIdLength} characters.`,
    {
      reason: 'tenant-too-long',
    },
  );
};

/** An operator has to look: the log says at what, the caller only that it does not work now. */
const alarm = (log: Log, reason: string, dashboardId: string, clientId: string): never => {
  log.error(
    { reason, dashboardId, clientId },
    'a dashboard of this client cannot be trusted: an operator must look at it',
  );
  throw unavailable(reason, new Error(`${reason}: ${dashboardId}`));
};

const create = async (upstream: Call, policy: Policy, template: Template, clientId: string, dashboardId: string) => {
  try {
    await upstream(createDashboardEmbed, {
      dashboardId,
      clientId,
      workspaceName: policy.workspace,
      templateDashboardId: template.template,
      isImportMetrics: true,
      metricImportMode: 'METRIC',
      name: template.name,
      isRenameDashboard: true,
      accessSettings: template.accessSettings,
      metadata: { guestlist: { template: template.template, clientId } },
    });
    return 'created';
  } catch (error) {
    if (!(error instanceof UpstreamRefusal)) throw error;
    if (error.code === 'INVALID_DASHBOARD_ID') return 'exists';
    if (error.code === 'CLIENT_ID_ERROR') {
      throw new Refusal('NO_TENANT', "The session's organisation is not one that the analytics service accepts.", {
        reason: 'tenant-unknown-upstream',
        cause: error,
      });
    }
    throw unavailable('provisioning-refused', error);
  }
};

const assertOwn = async (
  options: ProvisionOptions,
  index: EmbedIndex,
  template: Template,
  clientId: string,
  dashboardId: string,
) => {
  const embed = await index.find(dashboardId);
  const mark = embed?.metadata?.guestlist;
  const isOwn =
    typeof mark === 'object' &&
    mark !== null &&
    'template' in mark &&
    'clientId' in mark &&
    mark.template === template.template &&
    mark.clientId === clientId;
  if (!isOwn) alarm(options.log, 'dashboard-of-a-stranger', dashboardId, clientId);
};

const assertImported = async ({ upstream, log }: ProvisionOptions, dashboardId: string, clientId: string) => {
  try {
    const { data } = await upstream(listEmbedMetrics, { embedId: dashboardId, clientId });
    if (data.length === 0) alarm(log, 'dashboard-half-imported', dashboardId, clientId);
  } catch (error) {
    if (error instanceof UpstreamRefusal) alarm(log, 'dashboard-not-readable', dashboardId, clientId);
    throw error;
  }
};

/** Makes the step; what it verified is remembered in this process. */
export const createProvision = (options: ProvisionOptions): Provision => {
  const verified = new LRUCache<string, ProvisionedDashboard>({ max: options.maxRemembered ?? 100_000 });
  const flight = createSingleFlight<ProvisionedDashboard>();
  const index = createEmbedIndex(options.upstream, options.clock);
  const provision = async (
    policy: Policy,
    template: Template,
    clientId: string,
    id: string,
  ): Promise<ProvisionedDashboard> => {
    const outcome = await create(options.upstream, policy, template, clientId, id);
    if (outcome === 'exists') await assertOwn(options, index, template, clientId, id);
    await assertImported(options, id, clientId);
    const dashboard = { id, name: template.name, template: template.template };
    verified.set(id, dashboard);
    if (outcome === 'created') options.log.info({ dashboardId: id, clientId }, 'dashboard created');
    return dashboard;
  };
  const ensureOne = (
    policy: Policy,
    template: Template,
    clientId: string,
  ): ProvisionedDashboard | Promise<ProvisionedDashboard> => {
    const id = idOf(template, clientId);
    return verified.get(id) ?? flight(id, () => provision(policy, template, clientId, id));
  };
  return {
    ensure: async (policy, templates, clientId) =>
      Promise.all(templates.map((template) => ensureOne(policy, template, clientId))),
    forget: (dashboards) => {
      for (const { id } of dashboards) verified.delete(id);
      index.forget();
    },
  };
};
