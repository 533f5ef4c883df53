import type { Clock } from '../../model/ports.js';
import { Refusal } from '../../model/refusal.js';
import type { Log } from '../../platform/logs/log.js';
import { createLru } from '../../platform/work/lru.js';
import { createSingleFlight } from '../../platform/work/single-flight.js';
import type { Template } from '../policy/policy.js';
import { unavailable } from '../upstream/unavailable.js';
import { type DashboardRow, isVerifiedAt, type TenantDashboards } from './ledger.js';
import type { MakeDashboard, MakeRequest } from './make-dashboard.js';

/** The status of one copy: verified, or the time (ms since 1970) before which it is not retried. */
export type CopyStatus = 'verified' | number;

/** The status of tenants' copies, in this process's memory. */
export type ProvisionMemory = {
  /** Returns the statuses by template. Undefined if nothing is stored for this tenant at this location. */
  readonly find: (place: string, clientId: string) => ReadonlyMap<string, CopyStatus> | undefined;
  readonly set: (place: string, clientId: string, template: string, what: CopyStatus) => void;
  /** Deletes the tenant's statuses at all locations. */
  readonly forget: (clientId: string) => void;
};

/** Creates the memory. `max` is the maximum number of tenants. */
export const createProvisionMemory = (max: number): ProvisionMemory => {
  // The names of locations have one length, so location and client concatenated are a unique key.
  const held = createLru<string, Map<string, CopyStatus>>(max);
  const places = new Set<string>();
  return {
    find: (place, clientId) => held.get(place + clientId),
    set: (place, clientId, template, what) => {
      places.add(place);
      const known = held.get(place + clientId);
      if (known === undefined) held.set(place + clientId, new Map([[template, what]]));
      else known.set(template, what);
    },
    forget: (clientId) => {
      for (const place of places) held.delete(place + clientId);
    },
  };
};

/** A client's copy of a template, verified. */
export type ProvisionedDashboard = { readonly id: string; readonly name: string; readonly template: string };

/** The dashboard, or the error that prevented its provisioning. */
export type EnsureResult =
  | { readonly template: Template; readonly dashboard: ProvisionedDashboard }
  | { readonly template: Template; readonly error: unknown };

export type EnsureDashboardOptions = {
  readonly make: MakeDashboard;
  readonly memory: ProvisionMemory;
  readonly clock: Clock;
  readonly log: Log;
};

export type EnsureRequest = MakeRequest & {
  /** The key of the location in the memory. */
  readonly at: string;
  /** The client's rows in the ledger, or the error from reading them. */
  readonly read: TenantDashboards | { readonly error: unknown };
  /** Whether to retry copies that failed recently, without waiting for the pause to end. */
  readonly isForced: boolean;
};

const firstPauseMs = 5_000;
const longestPauseMs = 600_000;

/** Returns when a failed copy is retried, in ms since 1970. The pause doubles after each failure. */
const retryAtMs = (row: DashboardRow | undefined): number | undefined =>
  row === undefined || row.failedAt === null
    ? undefined
    : row.failedAt.getTime() + Math.min(firstPauseMs * 2 ** Math.max(0, row.failures - 1), longestPauseMs);

const deferred = (): Refusal => unavailable('provisioning-deferred', new Error('it failed a moment ago'));

/**
 * Ensures one template's copy for one client. Returns at once if the copy is verified in this process's memory or in
 * the ledger, else makes it. Never rejects. After a failure, a best-effort copy is retried after a pause, and a
 * required copy at each request.
 */
export const createEnsureDashboard = ({ make, memory, clock, log }: EnsureDashboardOptions) => {
  const flight = createSingleFlight<void>();
  const isPutOff = ({ template, isForced }: EnsureRequest, until: number | undefined): until is number =>
    !isForced && template.provisioning === 'best-effort' && until !== undefined && until > clock.now().getTime();
  return async (settling: EnsureRequest): Promise<EnsureResult> => {
    const { at, clientId, template, dashboardId, place, read, requestId } = settling;
    const name = template.template;
    const settled = { template, dashboard: { id: dashboardId, name: template.name, template: name } };
    const known = memory.find(at, clientId)?.get(name);
    if (known === 'verified') return settled;
    if (isPutOff(settling, known)) return { template, error: deferred() };
    if ('error' in read) return { template, error: read.error };
    const row = read.dashboards.find((one) => one.template === name);
    if (!isVerifiedAt(row, place)) {
      const until = retryAtMs(row);
      if (isPutOff(settling, until)) {
        memory.set(at, clientId, name, until);
        return { template, error: deferred() };
      }
      try {
        await flight(`${at}${dashboardId}`, () => make(settling));
      } catch (error) {
        const reason = error instanceof Refusal ? error.reason : undefined;
        log.warn(
          { event: 'provision.failed', err: error, template: name, tenant: clientId, requestId, reason },
          'failed to provision a dashboard',
        );
        return { template, error };
      }
    }
    memory.set(at, clientId, name, 'verified');
    return settled;
  };
};
