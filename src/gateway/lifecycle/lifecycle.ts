/**
 * Applies a tenant's event: sign-up, suspension, resumption or deletion. First the event is stored, which permits or
 * refuses logins at once. Then the tokens of a suspended tenant are revoked. Then erasure or provisioning runs under
 * the tenant's lock. The tenant's state follows from all stored events, so their order of arrival does not matter.
 * Every step may be repeated: the next attempt completes an interrupted one.
 */

import { z } from 'zod';
import { Refusal } from '../../model/refusal.js';
import type { Unchanging } from '../../platform/http/interface/callable.js';
import type { Log } from '../../platform/logs/log.js';
import type { Audit } from '../audit/audit.js';
import { type Erasure, type ErasureReport, erasureReport } from '../erase/erasure.js';
import { guestTokens, type TenantRevocation } from '../erase/revocation.js';
import type { TenantLock, WithTenantLock } from '../lease/tenant-lock.js';
import { type TenantState, tenantStates } from '../ledger/tables.js';
import type { Policies } from '../policy/policies.js';
import { policyFor } from '../policy/policy.js';
import type { Provision } from '../provision/provision.js';
import { unknownMs } from '../tenant/known.js';
import type { Tenant, TenantEvent, TenantRecords } from '../tenant/records.js';
import { newestOf, type TenantEventKind } from '../tenant/state.js';
import { unavailable } from '../upstream/unavailable.js';

/** The response to an event. It contains no tenant name, because it is stored beyond the tenant's erasure. */
export const eventAnswer = z.object({
  /** The tenant's state now. */
  state: z.enum(tenantStates),
  /** Whether this event set the state. False if a newer event or a deletion takes precedence. */
  isApplied: z.boolean(),
  /** Number of dashboards that are ready for the first login. */
  provisioned: z.number().optional(),
  /** Why the event did less than it could, and the mend. */
  hint: z.string().optional(),
  erasure: erasureReport.optional(),
});
export type EventAnswer = Unchanging<z.output<typeof eventAnswer>>;

export type Lifecycle = {
  /**
   * Applies an event. Throws UPSTREAM_UNAVAILABLE if the event was stored but not all steps are done yet, and
   * INVALID_REQUEST_BODY if the service accepts no such client.
   */
  readonly apply: (event: TenantEvent) => Promise<EventAnswer>;
  /**
   * Finishes interrupted erasures. Resolves to the number that failed. Tenants that another process has locked do not
   * count.
   */
  readonly finishErasures: () => Promise<number>;
};

export type LifecycleOptions = {
  readonly tenants: TenantRecords;
  readonly withTenantLock: WithTenantLock;
  readonly erasure: Erasure;
  readonly tokens: TenantRevocation;
  readonly provision: Pick<Provision, 'ensure'>;
  readonly policies: Policies;
  readonly audit: Audit;
  readonly log: Log;
  /** Tells every gateway, including this one, that epochs changed. Throws UPSTREAM_UNAVAILABLE. */
  readonly publishEpochs: () => Promise<void>;
};

const stateAfter: Readonly<Record<TenantEventKind, TenantState>> = {
  'signed-up': 'active',
  resumed: 'active',
  suspended: 'suspended',
  deleted: 'deleted',
};

const isSameMoment = (a: Date | null, b: Date): boolean => a?.getTime() === b.getTime();

const isApplied = ({ state, moments }: Tenant, { kind, occurredAt }: TenantEvent): boolean =>
  state === stateAfter[kind] && isSameMoment(newestOf(moments), occurredAt);

export const nothingOnSignUp =
  "No dashboard was created: the policy's onSignUp lists no template. List there what each tenant gets before its first login; without it, dashboards are created at the first login.";

/**
 * Provisions the tenant. Returns undefined if the tenant was suspended or deleted meanwhile: that event takes
 * precedence.
 */
const provisionOf = async (
  { provision, policies }: LifecycleOptions,
  clientId: string,
): Promise<Pick<EventAnswer, 'provisioned' | 'hint'> | undefined> => {
  const policy = policyFor(policies.current(), clientId);
  try {
    const made = await provision.ensure(policy, policy.onSignUp, clientId);
    return { provisioned: made.length, ...(policy.onSignUp.length === 0 ? { hint: nothingOnSignUp } : {}) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.code === 'TENANT_SUSPENDED') return undefined;
    // The host may add the client to its own data shortly after, so the sender should retry.
    if (error.reason === 'tenant-unknown-upstream') throw unavailable('tenant-unknown-upstream', error);
    if (error.reason === 'tenant-not-in-table') {
      throw new Refusal('UPSTREAM_UNAVAILABLE', `clientId: ${error.message} Then repeat the event.`, {
        ...{ reason: error.reason, cause: error, retryAfterSeconds: unknownMs / 1000 },
      });
    }
    if (error.code === 'NO_TENANT') {
      throw new Refusal('INVALID_REQUEST_BODY', `clientId: ${error.message}`, { reason: error.reason, cause: error });
    }
    throw error;
  }
};

/**
 * Stores the event and revokes the tokens of a suspended tenant, before any long operation. Resolves to the tenant's
 * reference.
 */
const begin = async ({ tenants, tokens, publishEpochs }: LifecycleOptions, event: TenantEvent): Promise<string> => {
  const { tenant, tokens: noted } = await tenants.note(event);
  if (noted === null) await publishEpochs();
  else await tokens.resume(noted);
  return tenant.tenantRef;
};

const isLockedByOther = (error: unknown): boolean =>
  error instanceof Refusal && ['tenant-locked', 'tenant-lock-lost'].includes(error.reason);

const load = async (tenants: TenantRecords, clientId: string): Promise<Tenant> => {
  const tenant = await tenants.find(clientId);
  if (tenant === undefined) throw new Error('the row of a tenant whose event was stored is missing');
  return tenant;
};

/** Runs the pending erasure. Returns undefined if none is pending. */
const erase = async (
  { tenants, tokens, erasure }: LifecycleOptions,
  clientId: string,
  lock: TenantLock,
): Promise<ErasureReport | undefined> => {
  const { tenantRef, moments, isErasureOwed } = await load(tenants, clientId);
  if (!isErasureOwed) return undefined;
  if (moments.deleted === null) throw new Error('an erasure is pending for a tenant that was never deleted');
  // Tokens are revoked first, even before `erasure.run` waits for leases of the tenant.
  const ended = { where: guestTokens, erased: await tokens.revoke(clientId) };
  return erasure.run({ clientId, tenantRef }, moments.deleted, lock, ended);
};

/**
 * Returns the report of an erasure that this event asked for and that another process, or an earlier delivery, has
 * finished.
 */
const storedReport = async (
  { erasure }: LifecycleOptions,
  tenantRef: string,
  { kind, occurredAt }: TenantEvent,
): Promise<ErasureReport | undefined> => {
  if (kind !== 'deleted') return undefined;
  const reports = await erasure.list(tenantRef);
  return reports.find(({ deletedAt, finishedAt }) => finishedAt !== null && deletedAt === occurredAt.toISOString());
};

/** Finishes one interrupted erasure. */
const finish = async (options: LifecycleOptions, clientId: string): Promise<void> => {
  const { tenants, withTenantLock, publishEpochs, audit } = options;
  const tenant = await tenants.find(clientId);
  if (tenant === undefined) return;
  const report = await withTenantLock(tenant.tenantRef, (lock) => erase(options, clientId, lock));
  if (report === undefined) return;
  await publishEpochs();
  const detail = { event: 'tenant-deleted', isTakenOver: true, isComplete: report.isComplete };
  await audit.record({ kind: 'erasure', code: 'OK', detail });
};

export const createLifecycle = (options: LifecycleOptions): Lifecycle => {
  const { tenants, withTenantLock, publishEpochs, log } = options;
  return {
    apply: async (event) => {
      const { kind, clientId, occurredAt } = event;
      const tenantRef = await begin(options, event);
      return withTenantLock(tenantRef, async (lock) => {
        const report = await erase(options, clientId, lock);
        const before = await load(tenants, clientId);
        const isSignUp = kind === 'signed-up' && isSameMoment(before.moments['signed-up'], occurredAt);
        const made = isSignUp && before.state === 'active' ? await provisionOf(options, clientId) : undefined;
        if (report !== undefined) await publishEpochs();
        const tenant = await load(tenants, clientId);
        const erased = report ?? (isApplied(tenant, event) ? await storedReport(options, tenantRef, event) : undefined);
        return {
          state: tenant.state,
          isApplied: isApplied(tenant, event),
          ...made,
          ...(erased === undefined ? {} : { erasure: erased }),
        };
      });
    },
    finishErasures: async () => {
      let failures = 0;
      for (const clientId of await tenants.listOwed()) {
        try {
          await finish(options, clientId);
        } catch (err) {
          if (isLockedByOther(err)) continue;
          failures += 1;
          log.warn({ event: 'erasure.failed', err }, 'failed to complete a pending erasure; retrying');
        }
      }
      return failures;
    },
  };
};
