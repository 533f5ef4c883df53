/**
 * Ensures that a client's copies of the granted templates exist. Verified copies are stored in this process's memory
 * and in the ledger; only the others need the upstream (make-dashboard.ts). A `best-effort` template whose copy cannot
 * be made now is left out of the result and retried later. A `required` one fails the request.
 */
import { hash } from 'node:crypto';
import type { Clock } from '../../model/ports.js';
import type { RunningWork } from '../../model/query/running.js';
import { Refusal } from '../../model/refusal.js';
import type { Call } from '../../platform/http/interface/client.js';
import type { Log } from '../../platform/logs/log.js';
import { mapBounded } from '../../platform/work/bounded.js';
import { unlisted } from '../../platform/work/running-work.js';
import { createSingleFlight } from '../../platform/work/single-flight.js';
import type { Audit } from '../audit/audit.js';
import { copyIdOf, dashboardIdOf } from '../common/dashboard-id.js';
import type { Eraser } from '../common/eraser.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Policy, Template } from '../policy/policy.js';
import { tenantSourcesOf } from '../policy/tenant-source.js';
import type { AssertKnown } from '../tenant/known.js';
import { type Capabilities, fixedCapabilities } from '../upstream/capabilities.js';
import { unavailable } from '../upstream/unavailable.js';
import { createEmbedIndex } from './embed-index.js';
import {
  createEnsureDashboard,
  createProvisionMemory,
  type EnsureRequest,
  type EnsureResult,
  type ProvisionedDashboard,
  type ProvisionMemory,
} from './ensure-dashboard.js';
import type { CopyLocation, DashboardRow, TenantDashboards } from './ledger.js';
import { createProvisionLedger, isVerifiedAt } from './ledger.js';
import { type BringToPublished, createMakeDashboard, tenantDeleted } from './make-dashboard.js';
import type { TemplateVersion } from './verify-copy.js';

export type { EnsureResult, ProvisionedDashboard } from './ensure-dashboard.js';

export type ProvisionRequest = {
  readonly policy: Policy;
  readonly templates: readonly Template[];
  readonly clientId: string;
  readonly requestId?: string | undefined;
  /** Whether to retry copies that failed recently, without waiting for the pause to end. */
  readonly isForced?: boolean;
};

export type Provision = {
  /**
   * Returns the copies in the order of `templates`, without best-effort ones that cannot be made now. Throws
   * UPSTREAM_UNAVAILABLE, TENANT_SUSPENDED if the client was deleted, or NO_TENANT if the service accepts no such
   * client or the policy serves none.
   */
  readonly ensure: (
    policy: Policy,
    templates: readonly Template[],
    clientId: string,
    requestId?: string,
  ) => Promise<readonly ProvisionedDashboard[]>;
  /**
   * Returns those of the copies that exist and are verified, in the order of `templates`. Makes and verifies none. Throws
   * as `ensure` does for the client.
   */
  readonly findVerified: (
    policy: Policy,
    templates: readonly Template[],
    clientId: string,
  ) => Promise<readonly ProvisionedDashboard[]>;
  /** Whether all these copies are verified in this process's memory, so that `ensure` needs no I/O. */
  readonly areVerified: (policy: Policy, templates: readonly Template[], clientId: string) => boolean;
  /** As `ensure`, but returns a result or an error for each template. Throws NO_TENANT if the clientId is too long, or as `assertKnown`. */
  readonly ensureEach: (request: ProvisionRequest) => Promise<readonly EnsureResult[]>;
  /**
   * Marks these copies to be verified again at the next request, because the service contradicted their verification.
   */
  readonly forget: (dashboards: readonly ProvisionedDashboard[], clientId: string) => Promise<void>;
  /** Returns all rows of a tenant, including dashboards that were only begun. */
  readonly listDashboards: (tenantRef: string) => Promise<readonly DashboardRow[]>;
  /** Deletes a tenant's rows in memory and in the ledger, but nothing at the upstream. */
  readonly eraser: Eraser;
};

export type ProvisionOptions = {
  readonly upstream: Call;
  /**
   * With `keyId`, identifies the upstream and the API key. A copy that was verified with other ones is verified again.
   */
  readonly baseUrl: string;
  readonly keyId: string;
  /** What the service supports beyond the interface. If left out, nothing. */
  readonly capabilities?: Capabilities | undefined;
  readonly ledger: Ledger;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly log: Log;
  /** Stores the content of a template's version before the first row refers to it. */
  readonly keepVersion?: ((version: TemplateVersion) => Promise<void>) | undefined;
  readonly bringToPublished: BringToPublished;
  /** Called before copies are made. Left out: every tenant counts as known. */
  readonly assertKnown?: AssertKnown | undefined;
  /** Lists what runs. Left out: nothing is listed. */
  readonly running?: Pick<RunningWork, 'during'> | undefined;
  /** Maximum number of tenants in this process's memory of verified copies. */
  readonly maxRemembered?: number;
};

/** Maximum number of templates in progress at once for one request. */
const maxParallel = 4;

type NamedPlace = { readonly place: CopyLocation; readonly at: string };

/** Returns a function that computes the location once for each policy, since every request needs it. */
const createPlaces = ({ baseUrl, keyId }: ProvisionOptions) => {
  const places = new WeakMap<Policy, NamedPlace>();
  return (policy: Policy): NamedPlace => {
    const known = places.get(policy);
    if (known !== undefined) return known;
    const place = {
      upstream: hash('sha256', JSON.stringify([baseUrl, policy.dataApp, policy.workspace]), 'hex'),
      keyRef: hash('sha256', JSON.stringify(['key', keyId]), 'hex'),
    };
    const named = { place, at: place.upstream + place.keyRef };
    places.set(policy, named);
    return named;
  };
};

/** Whether the error is temporary and concerns only this template. */
const isOfOne = (error: unknown): boolean => error instanceof Refusal && error.code === 'UPSTREAM_UNAVAILABLE';

/** Returns the dashboards that are available. Throws if a required one is missing, or none is available. */
const granted = (settled: readonly EnsureResult[]): readonly ProvisionedDashboard[] => {
  const failed = settled.flatMap((one) => ('error' in one ? [one] : []));
  const fatal = failed.find(({ template, error }) => template.provisioning === 'required' || !isOfOne(error));
  if (fatal !== undefined) throw fatal.error;
  const dashboards = settled.flatMap((one) => ('dashboard' in one ? [one.dashboard] : []));
  if (dashboards.length > 0) return dashboards;
  throw unavailable('nothing-provisioned', failed[0]?.error);
};

type Missing = Pick<EnsureRequest, 'at' | 'clientId' | 'read' | 'place'>;

/** Returns the names of the templates whose copies are to be made or verified at the service. */
const listMissing = (
  memory: ProvisionMemory,
  { at, clientId, read, place }: Missing,
  templates: readonly Template[],
): readonly string[] => {
  if ('error' in read) return [];
  const known = memory.find(at, clientId);
  const isThere = (name: string): boolean =>
    known?.get(name) === 'verified' ||
    isVerifiedAt(
      read.dashboards.find((row) => row.template === name),
      place,
    );
  return templates.map(({ template }) => template).filter((name) => !isThere(name));
};

const createSettle = (
  options: ProvisionOptions,
  { memory, provisioned, index, placeOf }: Pick<Parts, 'memory' | 'provisioned' | 'index' | 'placeOf'>,
) => {
  const { ledger, clock, log, keepVersion = async () => {}, capabilities = fixedCapabilities([]) } = options;
  const { assertKnown = async () => {}, running = unlisted } = options;
  const { isKnownVersion } = provisioned;
  const make = createMakeDashboard({ ...options, provisioned, index, capabilities, keepVersion, isKnownVersion });
  const settleTemplate = createEnsureDashboard({ make, memory, clock, log });
  const reading = createSingleFlight<TenantDashboards>();
  const settle = async ({ policy, templates, clientId, requestId, isForced = false }: ProvisionRequest) => {
    const named = templates.map((template) => ({ template, dashboardId: copyIdOf(template.template, clientId) }));
    const tenantRef = ledger.refOf(clientId);
    const read = await reading(tenantRef, () => provisioned.read(tenantRef)).catch((error: unknown) => ({ error }));
    if ('state' in read && read.state === 'deleted') throw tenantDeleted();
    const common = { policy, clientId, tenantRef, requestId, isForced, read, ...placeOf(policy) };
    for (const template of listMissing(memory, common, templates)) {
      await assertKnown(policy, clientId, tenantSourcesOf(policy, clientId, template));
    }
    return mapBounded(named, maxParallel, (one) => settleTemplate({ ...common, ...one }));
  };
  return (request: ProvisionRequest) => {
    const { templates, clientId, requestId = null } = request;
    const [first] = templates;
    const subject = templates.length === 1 && first !== undefined ? first.template : `${templates.length} templates`;
    return running.during({ kind: 'provisioning', subject, canEnd: false, clientId, requestId }, ({ begins }) => {
      begins();
      return settle(request);
    });
  };
};

const createParts = (options: ProvisionOptions) => ({
  memory: createProvisionMemory(options.maxRemembered ?? 100_000),
  provisioned: createProvisionLedger(options.ledger),
  index: createEmbedIndex(options),
  placeOf: createPlaces(options),
});
type Parts = ReturnType<typeof createParts>;

const createFindVerified =
  ({ ledger }: ProvisionOptions, { provisioned, placeOf }: Parts): Provision['findVerified'] =>
  async (policy, templates, clientId) => {
    const { place } = placeOf(policy);
    const { state, dashboards } = await provisioned.read(ledger.refOf(clientId));
    if (state === 'deleted') throw tenantDeleted();
    return templates.flatMap(({ template, name }) => {
      const id = copyIdOf(template, clientId);
      const row = dashboards.find((one) => one.template === template);
      return isVerifiedAt(row, place) ? [{ id, name, template }] : [];
    });
  };

/** Creates the provisioning step. Concurrent requests for one copy share one attempt to make it. */
export const createProvision = (options: ProvisionOptions): Provision => {
  const parts = createParts(options);
  const { memory, provisioned, index, placeOf } = parts;
  const settle = createSettle(options, parts);
  const areVerified: Provision['areVerified'] = (policy, templates, clientId) => {
    if (templates.length === 0) return true;
    const known = memory.find(placeOf(policy).at, clientId);
    return known !== undefined && templates.every(({ template }) => known.get(template) === 'verified');
  };
  return {
    ensureEach: settle,
    areVerified,
    ensure: async (policy, templates, clientId, requestId) => {
      if (areVerified(policy, templates, clientId)) {
        return templates.map(({ template, name }) => ({ id: dashboardIdOf(template, clientId), name, template }));
      }
      return granted(await settle({ policy, templates, clientId, requestId }));
    },
    findVerified: createFindVerified(options, parts),
    forget: async (dashboards, clientId) => {
      memory.forget(clientId);
      index.forget();
      const templates = dashboards.map(({ template }) => template);
      try {
        await provisioned.markUnverified(options.ledger.refOf(clientId), templates, options.clock.now());
      } catch (err) {
        options.log.error(
          { event: 'provision.note_failed', err, tenant: clientId },
          'failed to mark dashboards for verification',
        );
      }
    },
    listDashboards: async (tenantRef) => (await provisioned.read(tenantRef)).dashboards,
    eraser: {
      where: 'ledger of dashboards',
      erase: async ({ clientId, tenantRef }, lock) => {
        memory.forget(clientId);
        return { erased: { rows: await provisioned.erase(tenantRef, lock) } };
      },
    },
  };
};
