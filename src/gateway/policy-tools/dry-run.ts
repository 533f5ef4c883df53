/**
 * A dry run of a policy for one user. It computes the grant from the claims with the functions that serve requests, but
 * needs no server and no upstream. `guestlist policy test`, `explain` and `plan` use it.
 */
import { Refusal } from '../../model/refusal.js';
import type { JwtClaims } from '../../platform/keys/jwt.js';
import { type Session, sessionOf } from '../authenticate/signed-session.js';
import { copyIdOf } from '../common/dashboard-id.js';
import type { EmbedTokenBody } from '../common/wire.js';
import { createPolicyDecision, type Grant, type PolicyDecision } from '../policy/decide.js';
import { type Policy, policyFor } from '../policy/policy.js';
import { PolicyFaults } from '../policy/source.js';
import type { ProvisionedDashboard } from '../provision/provision.js';
import { createTenantStep, type TenantOf } from '../tenant/resolve.js';

/** The inputs of a dry run: the claims of the session, the body, and the time. */
export type PolicyCase = {
  readonly claims: JwtClaims;
  readonly body: EmbedTokenBody;
  readonly now: Date;
  /** The host's answer to assume, if the policy looks tenants up at the host. */
  readonly lookup?: readonly string[] | undefined;
  /** The place of the case, as `file:line:column`. */
  readonly at?: string | undefined;
};

export type Granted = {
  readonly isGranted: true;
  /** The policy as it applies to this tenant. */
  readonly policy: Policy;
  readonly session: Session;
  readonly clientId: string;
  readonly grant: Grant;
  /** The grant, with the rules and restrictions that each part came from. */
  readonly decision: PolicyDecision;
  /** The tenant's copies of the granted templates, whether they exist yet or not. */
  readonly dashboards: readonly ProvisionedDashboard[];
};
/** `session` and `clientId` are null if the request was denied before they were known. */
export type Denied = {
  readonly isGranted: false;
  readonly policy: Policy;
  readonly session: Session | null;
  readonly clientId: string | null;
  readonly refusal: Refusal;
};
export type DryRun = Granted | Denied;

const dashboardsOf = ({ templates }: Grant, clientId: string): readonly ProvisionedDashboard[] =>
  templates.map((template) => ({
    id: copyIdOf(template.template, clientId),
    name: template.name,
    template: template.template,
  }));

/** Returns a tenant step that never calls the host. It uses the host's answer in the case. */
export const tenantOfCase = ({ lookup, at }: Pick<PolicyCase, 'lookup' | 'at'>): TenantOf =>
  createTenantStep((_, http) => {
    if (lookup !== undefined) return () => lookup;
    const message = `the policy asks the host for tenants (${http.at}), which a dry run does not do. Give the host's answer: lookup: [<clientId>, ...] in a test or a line of the sample, or --lookup`;
    throw new PolicyFaults([{ at: at ?? http.at, message }]);
  });

/**
 * Decides one case. A denial is a result. Rejects with PolicyFaults if the policy asks the host and the case has no
 * answer.
 */
export const evaluateCase = async (
  base: Policy,
  of: PolicyCase,
  tenantOf: TenantOf = tenantOfCase(of),
): Promise<DryRun> => {
  const { claims, body, now } = of;
  let session: Session | null = null;
  let clientId: string | null = null;
  let policy = base;
  try {
    session = sessionOf(claims);
    clientId = await tenantOf(base, session, body.tenant);
    policy = policyFor(base, clientId);
    const decision = createPolicyDecision({ now: () => now })(policy, session, clientId, body);
    const { grant } = decision;
    return { isGranted: true, policy, session, clientId, grant, decision, dashboards: dashboardsOf(grant, clientId) };
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    return { isGranted: false, policy, session, clientId, refusal };
  }
};
