/**
 * Resolves the tenant of a request. The policy's `session.tenant` gives the session's tenants, and the body may choose
 * one of them.
 */
import type { Clock } from '../../model/ports.js';
import { Refusal } from '../../model/refusal.js';
import { hookSecretMend, isHookSecret } from '../../platform/config/hook-secrets.js';
import { weaknessOfBytes } from '../../platform/keys/secret-strength.js';
import type { Log } from '../../platform/logs/log.js';
import type { Session } from '../authenticate/signed-session.js';
import type { ForgetClient } from '../common/eraser.js';
import type { Reason } from '../common/reasons.js';
import { celClaims } from '../policy/claim-values.js';
import { explainMisfits, refuseUnsafeClaim } from '../policy/expression.js';
import type { Policy } from '../policy/policy.js';
import { PolicyFaults } from '../policy/source.js';
import type { TenantTable } from '../policy/tenant-csv.js';
import { isTenantId, tenantIdShape } from '../policy/tenant-id.js';
import { closeTenantRule, type TenantHttp } from '../policy/tenant-rule.js';
import { createTenantLookup, type FindTenants, type TenantLookup } from './lookup.js';

/** A session, or the claims that an event of an organization has of it: `isPartial`. */
export type Claimed = Pick<Session, 'claims'> & { readonly isPartial?: boolean };

/**
 * Returns the clientId of a session, from the policy's tenant rule. If the rule gives several, `asked` must be one of
 * them. Returns a promise only if the host must be called. Throws, or rejects with, NO_TENANT or UPSTREAM_UNAVAILABLE, or
 * INVALID_REQUEST_BODY for a claim with a number that JSON may have rounded.
 */
export type TenantOf = (policy: Policy, session: Claimed, asked: string | undefined) => string | Promise<string>;

/** The tenant of a request, and all that its session may choose from. */
export type ResolvedTenant = { readonly clientId: string; readonly own: readonly string[] };

/** As `TenantOf`. Refusals are TenantRefusals if the session has tenants. */
export type ResolveTenant = (
  policy: Policy,
  session: Claimed,
  asked: string | undefined,
) => ResolvedTenant | Promise<ResolvedTenant>;

/** The session must choose one of its own tenants. */
export class TenantRefusal extends Refusal {
  constructor(
    message: string,
    reason: Reason<'NO_TENANT'>,
    /** The session's own tenants. */
    readonly own: readonly string[],
  ) {
    super('NO_TENANT', message, { reason });
  }
}

export type Tenants = {
  /** Resolves the tenant with any policy, including one that is not in force. */
  readonly of: TenantOf;
  /**
   * Resolves the tenant with the policy in force. Begins to watch that policy's tenant table, and stops watching the
   * earlier policy's.
   */
  readonly inForce: TenantOf;
  /** As `inForce`, with all tenants of the session. */
  readonly resolve: ResolveTenant;
  /** Prepares a policy before its first request. Throws PolicyFaults for a missing or weak secret. */
  readonly open: (policy: Policy) => void;
  /** Deletes the cached responses of the host that contain a client. */
  readonly forget: ForgetClient;
};

/** Returns the value of an environment variable, or undefined if it is not set. */
export type ReadVariable = (name: string) => string | undefined;

/** The source of the policy's secrets. */
export type SecretSource = {
  readonly readVariable?: ReadVariable | undefined;
  /** Whether to refuse secrets that are easy to guess, as in production. Default: false. */
  readonly strongSecrets?: boolean | undefined;
};

export type TenantsOptions = SecretSource & {
  readonly clock: Clock;
  readonly log: Log;
};

const refuse = (message: string, reason: Reason<'NO_TENANT'>, cause?: unknown): never => {
  throw new Refusal('NO_TENANT', message, { reason, cause });
};

const evaluate = ({ tenant: { key }, claims }: Policy, session: Claimed): unknown => {
  let value: unknown;
  try {
    value = key.evaluate({ claims: celClaims(session.claims, claims, session.isPartial) });
  } catch (cause) {
    refuseUnsafeClaim(key.source, session.claims, claims, cause);
    const misfits = explainMisfits(key.source, session.claims, claims);
    const mend = misfits.length === 0 ? ['Issue sessions with that claim.'] : misfits;
    return refuse(
      `The session names no organisation: the policy's tenant expression "${key.source}" gives nothing for its claims. ${mend.join(' ')}`,
      'tenant-undecided',
      cause,
    );
  }
  if ([value].flat().includes(null)) refuseUnsafeClaim(key.source, session.claims, claims);
  return value;
};

/**
 * Returns a function that evaluates the policy's tenant expression. The value depends only on claims, so it is cached
 * for each session with the latest policy.
 */
const createGiven = () => {
  const given = new WeakMap<Claimed, { readonly policy: Policy; readonly value: unknown }>();
  return (policy: Policy, session: Claimed): unknown => {
    const last = given.get(session);
    if (last?.policy === policy) return last.value;
    const value = evaluate(policy, session);
    given.set(session, { policy, value });
    return value;
  };
};

/** Returns the valid ids from the claims or the host, without duplicates. */
const idsOf = (value: unknown): readonly string[] => {
  const ids = Array.isArray(value) ? value : [value];
  if (ids.length === 0) {
    return refuse('The session belongs to no organisation. Issue sessions that name at least one.', 'no-tenants');
  }
  if (!ids.every(isTenantId)) {
    return refuse(`The session's organisation is not a usable id: it must be ${tenantIdShape}.`, 'tenant-malformed');
  }
  return ids.length === 1 ? ids : [...new Set(ids)];
};

const chooseOf = (found: unknown, asked: string | undefined): ResolvedTenant => {
  const own = idsOf(found);
  if (asked !== undefined) {
    if (own.includes(asked)) return { clientId: asked, own };
    throw new TenantRefusal(
      "The tenant of the body is not one that this session belongs to. Leave it out, or choose one of the session's own.",
      'tenant-not-own',
      own,
    );
  }
  const [only, ...others] = own;
  if (only !== undefined && others.length === 0) return { clientId: only, own };
  throw new TenantRefusal(
    `This session belongs to ${own.length} organisations. Choose one of them in the body: {"tenant": "..."}.`,
    'tenant-not-chosen',
    own,
  );
};

/** Returns the chosen tenant of a lookup. Throws if the lookup found no tenant. */
const chooseFound = (tenants: readonly string[], asked: string | undefined): ResolvedTenant =>
  tenants.length === 0
    ? refuse(
        'The organisation of the session is not one that analytics are set up for. Add it to the lookup of tenants.',
        'tenant-unknown',
      )
    : chooseOf(tenants, asked);

const findAll = (table: TenantTable, keys: readonly string[]): readonly string[] =>
  keys.flatMap((key) => table.find(key) ?? []);

const secretFault = (secret: string, strongSecrets: boolean): string | undefined => {
  if (secret === '') return 'is not set';
  if (!isHookSecret(secret)) return 'is no secret of Standard Webhooks with 24 to 64 bytes';
  return strongSecrets ? weaknessOfBytes(secret) : undefined;
};

const readSecret = (
  { secretVariable, at }: TenantHttp,
  { readVariable, strongSecrets = false }: SecretSource,
): string => {
  const secret = readVariable?.(secretVariable) ?? '';
  const fault = secretFault(secret, strongSecrets);
  if (fault === undefined) return secret;
  const mend = `${hookSecretMend}, for the gateway and for the host`;
  throw new PolicyFaults([{ at, message: `the variable ${secretVariable} ${fault}: ${mend}` }]);
};

/**
 * Throws PolicyFaults if the secret of a policy's lookup is missing or weak, since that policy could resolve no tenant.
 */
export const assertTenantSecret = ({ tenant }: Policy, secrets: SecretSource): void => {
  if (tenant.by === 'http') readSecret(tenant.http, secrets);
};

const openLookup = (http: TenantHttp, options: TenantsOptions): TenantLookup => {
  const { clock, log } = options;
  try {
    return createTenantLookup({ http, secret: readSecret(http, options), clock, log });
  } catch (cause) {
    if (!(cause instanceof PolicyFaults)) throw cause;
    throw new Refusal('UPSTREAM_UNAVAILABLE', 'The lookup of organisations is not set up; the log has the reason.', {
      reason: 'tenant-secret-missing',
      cause,
    });
  }
};

type LookupOf = (policy: Policy, http: TenantHttp) => FindTenants;

/** Creates the tenant step. `lookupOf` returns the lookup of a policy that looks tenants up at the host. */
export const createTenantStep = (lookupOf: LookupOf): TenantOf => tenantOf(createResolve(lookupOf));

const tenantOf =
  (resolve: ResolveTenant): TenantOf =>
  (policy, session, asked) => {
    const found = resolve(policy, session, asked);
    return found instanceof Promise ? found.then(({ clientId }) => clientId) : found.clientId;
  };

const createResolve = (lookupOf: LookupOf): ResolveTenant => {
  const givenBy = createGiven();
  return (policy, session, asked) => {
    const { tenant } = policy;
    const given = givenBy(policy, session);
    if (tenant.by === 'expression') return chooseOf(given, asked);
    const keys = idsOf(given);
    if (tenant.by === 'table') return chooseFound(findAll(tenant.table.current(), keys), asked);
    const found = lookupOf(policy, tenant.http)(keys);
    return found instanceof Promise ? found.then((later) => chooseFound(later, asked)) : chooseFound(found, asked);
  };
};

/**
 * Creates the tenant step of a running gateway. The cached responses of the host belong to one policy, and are deleted
 * with it.
 */
export const createTenants = (options: TenantsOptions): Tenants => {
  const lookups = new WeakMap<Policy, TenantLookup>();
  const resolve = createResolve((policy, http) => {
    const lookup = lookups.get(policy) ?? openLookup(http, options);
    lookups.set(policy, lookup);
    return lookup;
  });
  const of = tenantOf(resolve);
  const seen = new WeakSet<Policy>();
  let newest: Policy | null = null;
  /** A request that began under an earlier policy must not put that policy in force again. */
  const follow = (policy: Policy): void => {
    if (policy === newest || seen.has(policy)) return;
    if (newest !== null) closeTenantRule(newest.tenant);
    seen.add(policy);
    newest = policy;
    if (policy.tenant.by === 'table') policy.tenant.table.watch({ log: options.log });
  };
  return {
    of,
    inForce: (policy, session, asked) => {
      follow(policy);
      return of(policy, session, asked);
    },
    resolve: (policy, session, asked) => {
      follow(policy);
      return resolve(policy, session, asked);
    },
    open: (policy) => {
      assertTenantSecret(policy, options);
      follow(policy);
    },
    forget: (clientId) => (newest === null ? 0 : (lookups.get(newest)?.forget(clientId) ?? 0)),
  };
};
