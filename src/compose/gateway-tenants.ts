/** Builds what belongs to tenants' lives, straight down: where each stands, what is made for it, its hooks and its erasure. */
import type { Call } from '../contract/client.js';
import type { Clock } from '../domain/ports.js';
import type { Audit } from '../gateway/audit/audit.js';
import type { AdminCommand } from '../gateway/common/admin-command.js';
import type { Eraser } from '../gateway/common/eraser.js';
import { createErasure } from '../gateway/erase/erasure.js';
import { createRevocationEraser, createTenantRevocation } from '../gateway/erase/revocation.js';
import { createUpstreamEraser, type RequireCapability } from '../gateway/erase/upstream.js';
import { createDeliveries } from '../gateway/hooks/deliveries.js';
import { type AnswerHook, createHooks } from '../gateway/hooks/hooks.js';
import { createTenantWorks, guardUpstream, type TenantWorks } from '../gateway/lease/tenant-lease.js';
import { createTurns } from '../gateway/lease/tenant-lock.js';
import type { Ledger } from '../gateway/ledger/ledger.js';
import { createStanding, type TenantStanding } from '../gateway/lifecycle/access.js';
import { createTenantCommands } from '../gateway/lifecycle/commands.js';
import { createLifecycle, type Lifecycle } from '../gateway/lifecycle/lifecycle.js';
import type { Policies } from '../gateway/policy/policies.js';
import type { Provision } from '../gateway/provision/provision.js';
import { createTenants } from '../gateway/tenant/records.js';
import { tokenKeysOf } from '../gateway/token/token.js';
import { unavailable } from '../gateway/upstream/upstream.js';
import type { Cache } from '../platform/cache.js';
import type { Log } from '../platform/log.js';
import type { RevocationParts } from './gateway-revocation.js';

export type HookSettings = {
  /** Any of them may sign; none: hooks are off. */
  readonly secrets: readonly string[];
  readonly toleranceSeconds: number;
};

export type TenantPartsOptions = {
  readonly ledger: Ledger;
  readonly upstream: Call;
  readonly requireCapability: RequireCapability;
  readonly cache: Cache;
  readonly policies: Policies;
  readonly hooks: HookSettings;
  readonly audit: Audit;
  readonly revocation: Pick<RevocationParts, 'epochs' | 'scopes' | 'revocations'>;
  readonly clock: Clock;
  readonly log: Log;
};

export type TenantParts = {
  readonly standing: TenantStanding;
  readonly works: TenantWorks;
  /** Makes nothing for a tenant that is suspended or deleted. */
  readonly upstream: Call;
  /** `erasers`: those of everybody who keeps something of a tenant. */
  readonly lifeOf: (
    provision: Pick<Provision, 'ensure'>,
    erasers: readonly Eraser[],
  ) => { readonly answerHook: AnswerHook; readonly commands: readonly AdminCommand[] } & Pick<Lifecycle, 'finishOwed'>;
};

const createCacheEraser = (cache: Cache): Eraser => ({
  where: 'token cache',
  erase: async ({ clientId }) => {
    try {
      return { erased: { tokens: await cache.deleteByPrefix(tokenKeysOf(clientId)) } };
    } catch (error) {
      throw unavailable('cache-not-reachable', error);
    }
  },
});

export const createTenantParts = (options: TenantPartsOptions): TenantParts => {
  const { ledger, clock, cache } = options;
  const tenants = createTenants(ledger, clock);
  const works = createTenantWorks(ledger, clock);
  const standing = createStanding({ ...options.revocation, tenants });
  const tokens = createTenantRevocation(options.revocation.revocations);
  return {
    standing,
    works,
    upstream: guardUpstream(options.upstream, works),
    lifeOf: (provision, others) => {
      // Tokens end before what they open goes; and what could still tell of the tenant comes after all else.
      const erasers = [
        createRevocationEraser(ledger, tokens),
        createUpstreamEraser(options),
        createCacheEraser(cache),
        ...others,
      ];
      const erasure = createErasure({ ledger, erasers, works, clock });
      const lifecycle = createLifecycle({
        ...options,
        tenants,
        takeTurn: createTurns(ledger),
        erasure,
        tokens,
        provision,
        spread: options.revocation.epochs.spread,
      });
      const deliveries = createDeliveries(ledger, clock);
      return {
        answerHook: createHooks({ ...options, ...options.hooks, deliveries, lifecycle }),
        commands: createTenantCommands({ ...options, tenants, lifecycle, erasure }),
        finishOwed: lifecycle.finishOwed,
      };
    },
  };
};
