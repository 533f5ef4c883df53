/** Builds the token step, and what ends the tokens that a changed policy no longer grants. */
import { randomUUID } from 'node:crypto';
import type { Call } from '../contract/client.js';
import type { ForgetClient } from '../gateway/common/eraser.js';
import type { SessionSteps } from '../gateway/embed-token.js';
import { createPolicyTokens } from '../gateway/ledger/policy-tokens.js';
import type { Provision } from '../gateway/provision/provision.js';
import type { Revocations } from '../gateway/revocation/revocations.js';
import { createTokenCache, type TokenCache } from '../gateway/token/cache.js';
import { createConfirmedToken } from '../gateway/token/confirmed-token.js';
import type { HeldMetricLists } from '../gateway/token/metric-lists.js';
import {
  createRetirement,
  type Retire,
  type Retirement,
  type RetirementOptions,
} from '../gateway/token/revoke-ungranted.js';
import { createTokenStep, Outdated, tokenKeysOf } from '../gateway/token/token.js';
import { isRefusedByUpstream } from '../gateway/upstream/unavailable.js';
import type { GatewayParts } from './create-gateway.js';
import type { RevocationParts } from './gateway-revocation.js';
import type { TenantParts } from './gateway-tenants.js';

type TokenParts = Pick<TenantParts, 'standing' | 'works'> &
  Pick<RetirementOptions, 'tenantOf' | 'decide'> & {
    readonly upstream: Call;
    readonly keyId: string;
    readonly revocation: RevocationParts;
    readonly provision: Pick<Provision, 'forget'>;
    readonly metricLists: HeldMetricLists;
  };

/** By revocation: what the service cannot be told now is kept in the ledger and told later. The users stay logged in. */
const retireBy =
  ({ revoke }: Pick<Revocations, 'revoke'>): Retire =>
  async (what) => {
    const options = { reason: 'the policy changed', keepsSessions: true };
    if (what.kind === 'policy') await revoke({ by: 'all' }, options);
    else await revoke({ by: 'user', userIdentifier: what.userIdentifier, clientId: what.clientId }, options);
  };

/** Follows the policy from now on. */
const startRetirement = (
  { policies, ledger, clock, log }: GatewayParts,
  { revocation, tenantOf, decide }: TokenParts,
): Retirement => {
  const policyTokens = createPolicyTokens(ledger, randomUUID());
  const retire = retireBy(revocation.revocations);
  const retirement = createRetirement({ retire, tenantOf, decide, policyTokens, clock, log });
  policies.subscribe({ changed: retirement.changed });
  retirement
    .begin(policies.current())
    .catch((err: unknown) => log.error({ err }, 'tokens of an earlier policy may live: it is looked at again'));
  return retirement;
};

const createFindToken = (options: GatewayParts, parts: TokenParts, cache: TokenCache) => {
  const { upstream, standing, works, metricLists, keyId, revocation } = parts;
  return createConfirmedToken({
    listMetrics: metricLists,
    upstream,
    tokenStep: (mintWith) =>
      createTokenStep({
        upstream: mintWith,
        baseUrl: options.upstream.baseUrl,
        keyId,
        ...revocation,
        generationOf: standing.generationOf,
        during: works.during,
        cache,
        clock: options.clock,
        minimumLifeMs: options.minimumLifeMs,
      }),
  });
};

export type TokenSteps = Pick<SessionSteps, 'token' | 'remember'> & { readonly forget: ForgetClient };

export const createTokens = (options: GatewayParts, parts: TokenParts): TokenSteps => {
  const { sharing } = parts.revocation;
  const cache = createTokenCache({ sharing, apiKey: options.upstream.apiKey, clock: options.clock });
  const findToken = createFindToken(options, parts, cache);
  const retirement = startRetirement(options, parts);
  return {
    token: async (of, policy, account) => {
      await retirement.expect(policy, of.grant.expiryMs);
      try {
        return await findToken({ ...of, dataApp: policy.dataApp }, policy, account);
      } catch (error) {
        // The service may have lost a dashboard that was verified here: look again at the next request.
        if (isRefusedByUpstream(error)) await parts.provision.forget(of.dashboards, of.clientId);
        throw error;
      }
    },
    remember: ({ token, expiresAtMs }, live, policy) => {
      retirement.remember(token, { ...live, expiresAtMs });
      if (options.policies.current() !== policy) throw new Outdated('the policy has changed');
    },
    forget: (clientId) => cache.forget(tokenKeysOf(clientId)) + retirement.forgetClient(clientId),
  };
};
