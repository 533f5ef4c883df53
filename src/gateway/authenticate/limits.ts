/** The rate limits of the gateway: requests of one user and one tenant, and failed credentials of one address. */
import type { IncomingMessage } from 'node:http';
import { type AddressOf, createAddresses } from '../../http/address.js';
import { type AssertBudget, type BudgetOptions, createBudget } from '../../platform/budget.js';
import {
  type Attempt,
  type CredentialGuard,
  type CredentialKind,
  createCredentialGuard,
  type NoteFailures,
  noGuard,
} from '../../platform/credential-guard.js';

/** Requests in a minute; null: no limit. */
export type LimitSettings = {
  readonly userPerMinute: number | null;
  readonly tenantPerMinute: number | null;
  /** Sessions from one address that could not be verified. */
  readonly failedSessionsPerMinute: number | null;
  /** Wrong gateway tokens and wrong signatures of hooks from one address. */
  readonly failedCredentialsPerMinute: number | null;
  /** The number of proxies in front that append their caller to X-Forwarded-For; 0: the header is never read. */
  readonly trustedProxies: number;
};

/** `credential` is the hash of the credential; null: there is none to tell apart. */
export type RequestGuard = (request: IncomingMessage, credential: string | null) => Attempt;

export type Limits = {
  /** Throw, or reject with, RATE_LIMITED with the time to wait. */
  readonly assertUser: (user: { readonly userIdentifier: string }) => void | Promise<void>;
  readonly assertTenant: AssertBudget;
  readonly guards: { readonly session: RequestGuard; readonly gatewayToken: RequestGuard; readonly hook: RequestGuard };
};

const openGuard: RequestGuard = () => noGuard('', null);

/** No limits. */
export const noLimits: Limits = {
  assertUser: () => {},
  assertTenant: () => {},
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

/** Makes the limits of one gateway. */
export const createLimits = (options: LimitsOptions): Limits => {
  const { userPerMinute, tenantPerMinute } = options.settings;
  const budgetOf = (name: 'user' | 'tenant', perMinute: number | null): AssertBudget =>
    createBudget(options, { name, what: `requests of this ${name}`, perMinute });
  const assertUser = budgetOf('user', userPerMinute);
  return {
    assertUser: ({ userIdentifier }) => assertUser(userIdentifier),
    assertTenant: budgetOf('tenant', tenantPerMinute),
    guards: createGuards(options),
  };
};
