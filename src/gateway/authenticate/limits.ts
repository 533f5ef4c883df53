/** How much one user and one tenant may ask for, and how often an address may fail. platform/budget.ts and credential-guard.ts count. */
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
  /** Sessions of one address that could not be verified. */
  readonly failedSessionsPerMinute: number | null;
  /** Gateway tokens, and signatures of hooks, of one address that were wrong. */
  readonly failedCredentialsPerMinute?: number | null;
  /** How many proxies in front each append to X-Forwarded-For whom they were called by; 0: the header is never read. */
  readonly trustedProxies: number;
};

/** What holds unless it is set otherwise. */
export const defaultLimits = {
  userPerMinute: 300,
  tenantPerMinute: 12_000,
  failedSessionsPerMinute: 300,
  failedCredentialsPerMinute: 300,
  trustedProxies: 0,
} as const satisfies LimitSettings;

/** `credential` is its hash; null: it cannot be told from others. */
export type RequestGuard = (request: IncomingMessage, credential: string | null) => Attempt;

export type Limits = {
  /** Throw, or reject with, RATE_LIMITED that says when to come again. */
  readonly assertUser: (user: { readonly userIdentifier: string }) => void | Promise<void>;
  readonly assertTenant: AssertBudget;
  readonly guards: { readonly session: RequestGuard; readonly gatewayToken: RequestGuard; readonly hook: RequestGuard };
};

const openGuard: RequestGuard = () => noGuard('', null);

/** Lets everybody pass. */
export const noLimits: Limits = {
  assertUser: () => {},
  assertTenant: () => {},
  guards: { session: openGuard, gatewayToken: openGuard, hook: openGuard },
};

export type LimitsOptions = BudgetOptions & {
  readonly settings: LimitSettings;
  readonly log: Parameters<typeof createAddresses>[0]['log'];
  /** Of the process, where it serves more than the gateway. */
  readonly addressOf?: AddressOf | undefined;
  readonly note?: NoteFailures | undefined;
};

const createGuards = (options: LimitsOptions): Limits['guards'] => {
  const { settings, log } = options;
  const { failedSessionsPerMinute, failedCredentialsPerMinute = defaultLimits.failedCredentialsPerMinute } = settings;
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
