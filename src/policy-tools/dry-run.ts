/**
 * One user before a policy, without a server and without an upstream: the steps of session.ts from the claims to the
 * grant, by the same functions. What `guestlist policy test`, `explain` and `plan` run.
 */
import { Refusal } from '../domain/refusal.js';
import { type Session, sessionOf } from '../gateway/authenticate/signed-session.js';
import type { EmbedTokenBody } from '../gateway/common/wire.js';
import { createPolicyDecision, type Grant, type PolicyDecision } from '../gateway/policy/decide.js';
import { type Policy, policyFor } from '../gateway/policy/policy.js';
import { PolicyFaults } from '../gateway/policy/source.js';
import { idOf, type ProvisionedDashboard } from '../gateway/provision/provision.js';
import { createTenantStep, type TenantOf } from '../gateway/tenant/resolve.js';
import type { JwtClaims } from '../platform/jwt.js';

/** What a request brings: the claims of its session, its body, and the moment. */
export type PolicyCase = {
  readonly claims: JwtClaims;
  readonly body: EmbedTokenBody;
  readonly now: Date;
  /** What the host is taken to answer, where the policy looks its tenants up there. */
  readonly lookup?: readonly string[] | undefined;
  /** Where the case is written, as `file:line:column`. */
  readonly at?: string | undefined;
};

export type Granted = {
  readonly isGranted: true;
  /** The policy as it is for this tenant. */
  readonly policy: Policy;
  readonly session: Session;
  readonly clientId: string;
  readonly grant: Grant;
  /** The grant with the record of where its parts came from. */
  readonly decision: PolicyDecision;
  /** The tenant's copies of the templates, as they are or will be provisioned. */
  readonly dashboards: readonly ProvisionedDashboard[];
};
/** Null: the request did not come as far. */
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
    id: idOf(template, clientId),
    name: template.name,
    template: template.template,
  }));

/** The host is not asked: the case says what it answers. */
const tenantOfCase = ({ lookup, at }: PolicyCase): TenantOf =>
  createTenantStep((_, http) => {
    if (lookup !== undefined) return () => lookup;
    const message = `the policy asks the host for tenants (${http.at}), which is not done here: say what it answers, by lookup: [<clientId>, ...] in a test or a line of the sample, or by --lookup`;
    throw new PolicyFaults([{ at: at ?? http.at, message }]);
  });

/** Throws only what is no refusal: PolicyFaults where the policy asks the host for tenants, and nobody said what that answers. */
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
