/**
 * What follows of an event of a tenant's life. First it is noted, which stops or lets in logins at once; then its tokens end, where
 * it is to have none; then, in the tenant's turn, what its state asks for is brought about: the state of all events known, so that it does not matter which of them comes
 * last. Every step may be repeated: one that was cut off is done by the next attempt.
 */
import { Refusal } from '../../domain/refusal.js';
import type { Log } from '../../platform/log.js';
import type { Audit } from '../audit/audit.js';
import type { Erasure, ErasureReport } from '../erase/erasure.js';
import { guestTokens, type TenantRevocation } from '../erase/revocation.js';
import type { TenantLock, WithTenantLock } from '../lease/tenant-lock.js';
import type { TenantState } from '../ledger/ledger.js';
import type { Policies } from '../policy/policies.js';
import { policyFor } from '../policy/policy.js';
import type { Provision } from '../provision/provision.js';
import type { Tenant, TenantEvent, TenantRecords } from '../tenant/records.js';
import { newestOf, type TenantEventKind } from '../tenant/state.js';
import { unavailable } from '../upstream/upstream.js';

/** Names no tenant: it is kept beyond the tenant's erasure. */
export type EventAnswer = {
  /** Where the tenant stands now. */
  readonly state: TenantState;
  /** Whether it stands there by this event; false: a newer one, or a deletion, weighs more. */
  readonly isApplied: boolean;
  /** How many dashboards are ready for the first login. */
  readonly provisioned?: number;
  readonly erasure?: ErasureReport;
};

export type Lifecycle = {
  /** Throws UPSTREAM_UNAVAILABLE where it is noted and not all of it is done, INVALID_REQUEST_BODY where it never can be. */
  readonly apply: (event: TenantEvent) => Promise<EventAnswer>;
  /** Finishes the deletions that were cut off. Answers how many could not be finished now; those of whoever is at it do not count. */
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
  /** Tells every gateway, this one too, that the state of some tenant has changed. Throws UPSTREAM_UNAVAILABLE. */
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

/** Undefined where the tenant was suspended or deleted while its dashboards were made: that event weighs more. */
const provisionOf = async (
  { provision, policies }: LifecycleOptions,
  clientId: string,
): Promise<{ readonly provisioned: number } | undefined> => {
  const policy = policyFor(policies.current(), clientId);
  try {
    return { provisioned: (await provision.ensure(policy, policy.onSignUp, clientId)).length };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.code === 'TENANT_SUSPENDED') return undefined;
    // Its host may add the client to its own data a moment later.
    if (error.reason === 'tenant-unknown-upstream') throw unavailable('tenant-unknown-upstream', error);
    if (error.code === 'NO_TENANT') {
      throw new Refusal('INVALID_REQUEST_BODY', `clientId: ${error.message}`, { reason: error.reason, cause: error });
    }
    throw error;
  }
};

/** Noted, and the tokens of a suspended tenant ended: before anything that takes long. Answers the tenant's reference. */
const begin = async (
  { tenants, tokens, publishEpochs }: LifecycleOptions,
  event: TenantEvent,
): Promise<string> => {
  const { tenant, tokens: noted } = await tenants.note(event);
  if (noted === null) await publishEpochs();
  else await tokens.resume(noted);
  return tenant.tenantRef;
};

const isLockedByOther = (error: unknown): boolean =>
  error instanceof Refusal && ['tenant-locked', 'tenant-lock-lost'].includes(error.reason);

const load = async (tenants: TenantRecords, clientId: string): Promise<Tenant> => {
  const tenant = await tenants.find(clientId);
  if (tenant === undefined) throw new Error('a tenant whose event was noted is not there');
  return tenant;
};

/** Undefined where nothing is owed. */
const erase = async (
  { tenants, tokens, erasure }: LifecycleOptions,
  clientId: string,
  lock: TenantLock,
): Promise<ErasureReport | undefined> => {
  const { tenantRef, moments, isErasureOwed } = await load(tenants, clientId);
  if (!isErasureOwed) return undefined;
  if (moments.deleted === null) throw new Error('the erasure of a tenant that was never deleted');
  // Before all else, also before what is being made for the tenant is waited for.
  const ended = { where: guestTokens, erased: await tokens.revoke(clientId) };
  return erasure.run({ clientId, tenantRef }, moments.deleted, lock, ended);
};

/** One deletion that was cut off. */
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
        return {
          state: tenant.state,
          isApplied: isApplied(tenant, event),
          ...made,
          ...(report === undefined ? {} : { erasure: report }),
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
