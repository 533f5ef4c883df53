/** One template of one client: what is remembered of it, else what the ledger says, else it is made now, or put off. */

import type { Clock } from '../../domain/ports.js';
import { Refusal } from '../../domain/refusal.js';
import type { Log } from '../../platform/log.js';
import { createSingleFlight } from '../../platform/single-flight.js';
import type { Template } from '../policy/policy.js';
import { unavailable } from '../upstream/upstream.js';
import type { MakeDashboard, Making } from './make-dashboard.js';
import type { ProvisionMemory } from './memory.js';
import { type DashboardRow, isVerifiedAt, type TenantDashboards } from './provisioned-rows.js';

/** A client's copy of a template, verified. */
export type ProvisionedDashboard = { readonly id: string; readonly name: string; readonly template: string };

/** The dashboard, or why there is none. */
export type Settled =
  | { readonly template: Template; readonly dashboard: ProvisionedDashboard }
  | { readonly template: Template; readonly error: unknown };

export type SettleOptions = {
  readonly make: MakeDashboard;
  readonly memory: ProvisionMemory;
  readonly clock: Clock;
  readonly log: Log;
};

export type Settling = Making & {
  /** The place's name in the memory. */
  readonly at: string;
  /** The ledger's word on the client, or why there is none. */
  readonly read: TenantDashboards | { readonly error: unknown };
  /** Also what failed a moment ago. */
  readonly isForced: boolean;
};

const firstPauseMs = 5_000;
const longestPauseMs = 600_000;

/** When what failed is tried again: later each time. */
const retryAtMs = (row: DashboardRow | undefined): number | undefined =>
  row === undefined || row.failedAt === null
    ? undefined
    : row.failedAt.getTime() + Math.min(firstPauseMs * 2 ** Math.max(0, row.failures - 1), longestPauseMs);

const deferred = (): Refusal => unavailable('provisioning-deferred', new Error('it failed a moment ago'));

/** Never rejects. Only what is of best effort is put off: whoever needs a dashboard asks for it at each request. */
export const createSettleTemplate = ({ make, memory, clock, log }: SettleOptions) => {
  const flight = createSingleFlight<void>();
  const isPutOff = ({ template, isForced }: Settling, until: number | undefined): until is number =>
    !isForced && template.provisioning === 'best-effort' && until !== undefined && until > clock.now().getTime();
  return async (settling: Settling): Promise<Settled> => {
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
        log.warn({ template: name, clientId, requestId, reason }, 'a dashboard could not be provisioned');
        return { template, error };
      }
    }
    memory.set(at, clientId, name, 'verified');
    return settled;
  };
};
