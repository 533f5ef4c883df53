/**
 * The rate limits of the gateway: requests of one user, requests of one tenant, and failed credentials from one
 * address.
 */
import type { IncomingMessage } from 'node:http';
import { type AddressOf, createAddresses } from '../../platform/http/wire/address.js';
import { type AssertBudget, type BudgetOptions, createBudget } from '../../platform/limits/budget.js';
import {
  type Attempt,
  type CredentialGuard,
  type CredentialKind,
  createCredentialGuard,
  type NoteFailures,
  noGuard,
} from '../../platform/limits/credential-guard.js';

/** Limits in requests per minute. Null for no limit. */
export type LimitSettings = {
  readonly userPerMinute: number | null;
  readonly tenantPerMinute: number | null;
  /** Limit of failed session verifications from one address. */
  readonly failedSessionsPerMinute: number | null;
  /** Limit of wrong gateway tokens and wrong hook signatures from one address. */
  readonly failedCredentialsPerMinute: number | null;
  /**
   * Number of proxies in front of the gateway that append the caller's address to X-Forwarded-For. If 0, the header is
   * never read.
   */
  readonly trustedProxies: number;
};

/**
 * Begins an attempt to use a credential. `credential` is its hash. Null if the request has no credential to
 * distinguish.
 */
export type RequestGuard = (request: IncomingMessage, credential: string | null) => Attempt;

export type Limits = {
  /** Throws, or rejects with, RATE_LIMITED and the time to wait. The same holds for `assertTenant`. */
  readonly assertUser: (user: { readonly userIdentifier: string }) => void | Promise<void>;
  readonly assertTenant: AssertBudget;
  /** Of requests that say that a token is dead: each can make the gateway ask the service. Rejects as `assertUser` does. */
  readonly assertReplaces: (user: { readonly userIdentifier: string }) => void | Promise<void>;
  readonly guards: { readonly session: RequestGuard; readonly gatewayToken: RequestGuard; readonly hook: RequestGuard };
};

const openGuard: RequestGuard = () => noGuard('', null);

/** Limits that refuse nothing. */
export const noLimits: Limits = {
  assertUser: () => {},
  assertTenant: () => {},
  assertReplaces: () => {},
  guards: { session: openGuard, gatewayToken: openGuard, hook: openGuard },
};

export type LimitsOptions = BudgetOptions & {
  readonly settings: LimitSettings;
  readonly log: Parameters<typeof createAddresses>[0]['log'];
  /** Shared with the service, if this process serves it too. */
  readonly addressOf?: AddressOf | undefined;
  readonly note?: NoteFailures | undefined;
};

const createGuards = (options: LimitsOptions): Limits['guards'] => {
  const { settings, log } = options;
  const { failedSessionsPerMinute, failedCredentialsPerMinute } = settings;
  const addressOf = options.addressOf ?? createAddresses({ trustedProxies: settings.trustedProxies, log });
  const guardOf = (kind: CredentialKind, failuresPerMinute: number | null): RequestGuard => {
    const guard: CredentialGuard = createCredentialGuard({ ...options, kind, failuresPerMinute });
    return (request, credential) => guard(addressOf(request), credential);
  };
  return {
    session: guardOf('session', failedSessionsPerMinute),
    gatewayToken: guardOf('gatewayToken', failedCredentialsPerMinute),
    hook: guardOf('hook', failedCredentialsPerMinute),
  };
};

/** A page asks once for each token that died. Several tabs, and a few deaths in a row, fit into it. */
const replacesPerMinute = 20;

const whats = {
  user: 'requests of this user',
  tenant: 'requests of this tenant',
  replaces: 'requests of this user to replace a token',
};

/** Creates the limits of one gateway. */
export const createLimits = (options: LimitsOptions): Limits => {
  const { userPerMinute, tenantPerMinute } = options.settings;
  const budgetOf = (name: 'user' | 'tenant' | 'replaces', perMinute: number | null): AssertBudget =>
    createBudget(options, { name, what: whats[name], perMinute });
  const assertUser = budgetOf('user', userPerMinute);
  const assertReplaces = budgetOf('replaces', replacesPerMinute);
  return {
    assertUser: ({ userIdentifier }) => assertUser(userIdentifier),
    assertTenant: budgetOf('tenant', tenantPerMinute),
    assertReplaces: ({ userIdentifier }) => assertReplaces(userIdentifier),
    guards: createGuards(options),
  };
};
