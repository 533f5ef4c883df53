/** Builds what belongs to tenants' lives, straight down: where each stands, what is made for it, its hooks and its erasure. */
import type { Call } from '../../contract/client.js';
import type { Clock } from '../../domain/ports.js';
import type { Cache } from '../../platform/cache.js';
import type { Log } from '../../platform/log.js';
import type { AdminCommand } from '../admin.js';
import type { Audit } from '../audit.js';
import type { Eraser } from '../erasure/eraser.js';
import { createErasure } from '../erasure/erasure.js';
import {
  createTenantRevocation,
  createUpstreamEraser,
  type RequireCapability,
  type RevokeTenant,
} from '../erasure/upstream.js';
import { createDeliveries } from '../hooks/deliveries.js';
import { type AnswerHook, createHooks } from '../hooks/hooks.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Policies } from '../policies.js';
import type { Provision } from '../provision.js';
import { createStanding, type TenantStanding } from '../standing.js';
import { tokenKeysOf } from '../token.js';
import { unavailable } from '../upstream.js';
import { createTenantCommands } from './commands.js';
import { createLifecycle } from './lifecycle.js';
import { createTenants } from './tenants.js';
import { createTurns } from './turns.js';
import { createTenantWorks, guardUpstream, type TenantWorks } from './works.js';

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
  readonly clock: Clock;
  readonly log: Log;
};

/** How long a state that another process changed may go unnoticed here. */
const noticedWithinMs = 400;

export type TenantParts = {
  readonly standing: TenantStanding;
  readonly works: TenantWorks;
  /** Makes nothing for a tenant that is suspended or deleted. */
  readonly upstream: Call;
  /** `retire`: drops what the gateways hold and are minting for a tenant. `erasers`: those of everybody who keeps something of one. */
  readonly lifeOf: (
    provision: Pick<Provision, 'ensure'>,
    retire: (clientId: string) => Promise<void>,
    erasers: readonly Eraser[],
  ) => { readonly answerHook: AnswerHook; readonly commands: readonly AdminCommand[] };
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

/**
 * A mint that began before the tenant's state changed may reach the service after its tokens ended there: its gateway finds the epoch
 * raised, and ends it. The second time is for what was minted between, where the tenant was let in again meanwhile.
 */
const retiring =
  (retire: (clientId: string) => Promise<void>, endAtService: RevokeTenant): RevokeTenant =>
  async (clientId) => {
    await retire(clientId);
    try {
      return await endAtService(clientId);
    } finally {
      await retire(clientId);
    }
  };

export const createTenantParts = (options: TenantPartsOptions): TenantParts => {
  const { ledger, clock, log, cache } = options;
  const tenants = createTenants(ledger, clock);
  const works = createTenantWorks(ledger, clock, log);
  const epochOf = () => String(Math.floor(clock.now().getTime() / noticedWithinMs));
  const standing = createStanding({ tenants, epochOf });
  const endAtService = createTenantRevocation(options);
  return {
    standing,
    works,
    upstream: guardUpstream(options.upstream, works),
    lifeOf: (provision, retire, others) => {
      const revoke = retiring(retire, endAtService);
      const revocation: Eraser = { where: 'guest tokens', erase: ({ clientId }) => revoke(clientId) };
      // Tokens end before what they open goes; and what could still tell of the tenant comes after all else.
      const erasers = [revocation, createUpstreamEraser(options), createCacheEraser(cache), ...others];
      const erasure = createErasure({ ledger, erasers, works, clock });
      const lifecycle = createLifecycle({
        ...options,
        tenants,
        takeTurn: createTurns(ledger),
        erasure,
        revoke,
        provision,
        forget: standing.forget,
      });
      const deliveries = createDeliveries(ledger, clock);
      return {
        answerHook: createHooks({ ...options, ...options.hooks, deliveries, lifecycle }),
        commands: createTenantCommands({ ...options, tenants, lifecycle, erasure }),
      };
    },
  };
};
