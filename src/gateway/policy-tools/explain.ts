/**
 * Explains a decision: the result of the gateway's own steps, with the file and line that each part of the grant comes
 * from (gateway/policy/record.ts). An explanation contains claim values and filters, so it must never be logged.
 */
import { capabilityNames } from '../../model/capability.js';
import { errors } from '../../model/errors.js';
import { Refusal } from '../../model/refusal.js';
import { UpstreamRefusal } from '../../platform/http/interface/client.js';
import type { GuestTokenRequest } from '../../service/guest-tokens/contract/guest-tokens.js';
import { misfits } from '../policy/claim-values.js';
import { combineRestrictions } from '../policy/combine.js';
import { ExpressionFault } from '../policy/expression.js';
import type { Policy } from '../policy/policy.js';
import { type FieldRecord, recordBounds, recordOf } from '../policy/record.js';
import type { TenantOf } from '../tenant/resolve.js';
import { type FindEmbeds, type FoundEmbed, shownEmbeds } from '../token/granted-embeds.js';
import { guestRequestOf, needsMetrics } from '../token/guest-request.js';
import type { ListMetrics } from '../token/metric-lists.js';
import { fixedCapabilities } from '../upstream/capabilities.js';
import { isAboutTheRequest } from '../upstream/unavailable.js';
import type { CheckCards, DashboardCards } from './cards.js';
import { type DryRun, evaluateCase, type Granted, type PolicyCase } from './dry-run.js';
import { type Examined, examinePolicy } from './examine.js';

export type Denial = {
  readonly code: string;
  readonly message: string;
  readonly reason: string;
  /** The expression that could not be evaluated, if that was the cause. */
  readonly fault: Examined['fault'];
};

/** The answer of a request that another step than the policy decided. */
export type OtherAnswer = { readonly code: string; readonly meaning: string; readonly fix: string };

/** An explanation as plain JSON. `now` is ISO 8601. */
export type Explanation = {
  /** The real outcome, if another step than the policy decided it, such as the tenant's suspension; else null. */
  readonly answer: OtherAnswer | null;
  readonly policy: { readonly file: string; readonly digest: string };
  readonly now: string;
  readonly user: string | null;
  readonly tenant: { readonly clientId: string; readonly expression: string; readonly at: string } | null;
  readonly roles: readonly string[] | null;
  /** What the policy reads roles from. */
  readonly rolesFrom: { readonly expression: string; readonly at: string };
  /** Hints about unusual claims or an unusual body. */
  readonly notes: readonly string[];
  readonly rules: readonly Examined[];
  readonly restrictions: readonly Examined[];
  readonly fields: readonly FieldRecord[];
  readonly denial: Denial | null;
  /** The token request that the gateway sends to its upstream. Null if denied. */
  readonly request: GuestTokenRequest | null;
  /**
   * The source of the metrics in `request`. `placeholders`: the upstream was not called, or does not have the dashboard
   * yet.
   */
  readonly metrics: 'listed' | 'placeholders' | 'not needed';
  /** The cards of each granted dashboard that the user cannot see. Null: denied, or no service was asked. */
  readonly cards: readonly DashboardCards[] | null;
};

export type ExplainOptions = {
  readonly policy: Policy;
  readonly of: PolicyCase;
  /**
   * Lists metrics at the upstream. If left out, or if the upstream has no such dashboard yet, placeholders are used.
   */
  readonly listMetrics?: ListMetrics | undefined;
  /** Finds embeds at the upstream. If left out, each embed counts as a dashboard with the same id. */
  readonly findEmbeds?: FindEmbeds | undefined;
  readonly tenantOf?: TenantOf | undefined;
  /** Asks the service which cards restrictions close. If left out, it is not asked. */
  readonly checkCards?: CheckCards | undefined;
  /** Whether the tenant's own dashboards may be looked at; otherwise their templates are. Default: true. */
  readonly seesTenant?: boolean | undefined;
};

const standIns: FindEmbeds = async (ids) => ids.map((id) => ({ id, name: id, shows: { dashboardId: id } }));

/** Returns a placeholder for the metrics of a dashboard, which only the upstream can list. */
const placeholderOf = (dashboardId: string) => [
  { metricId: `<each metric of ${dashboardId} that is not hidden>`, name: '' },
];

const claimNotes = ({ claims }: Policy, { claims: given }: PolicyCase): readonly string[] => {
  const registered = ['iss', 'sub', 'aud', 'exp', 'nbf', 'iat', 'jti'];
  const unread = Object.keys(given).filter((name) => !Object.hasOwn(claims, name) && !registered.includes(name));
  return [
    ...[...misfits(given, claims)].map(
      ([name, { place, expected, given: came }]) =>
        `Claim "${name}" is no ${claims[name]}, as the policy declares it: at ${place} ${expected} was expected, ${came} came. What reads it is undecided.`,
    ),
    ...unread.map((name) => `The policy declares no claim "${name}" (session.claims), so it is never read.`),
  ];
};

const narrowingNotes = (dryRun: DryRun): readonly string[] => {
  if (!dryRun.isGranted) return [];
  const { grant } = dryRun;
  const kept = grant.templates.map(({ template }) => template);
  const left = new Set(
    grant.because.rules.flatMap((rule) => rule.grant.templates).filter((name) => !kept.includes(name)),
  );
  return [...left].map((name) => `Template "${name}" is granted, and left out since the body does not ask for it.`);
};

const denialOf = ({ code, message, reason, cause }: Refusal): Denial => {
  const fault = cause instanceof ExpressionFault ? { at: cause.at, expression: cause.source, code: cause.code } : null;
  // Left out for an ExpressionFault, whose message would repeat `fault`.
  const why = cause instanceof Error && fault === null ? ` (${cause.message})` : '';
  return { code, message: `${message}${why}`, reason, fault };
};

/** Describes the answer of a step other than the policy, by the table of codes. */
export const otherAnswer = (code: string): OtherAnswer => {
  if (code === 'OK') return { code, meaning: 'The request was answered with a token.', fix: '' };
  const entry = Object.hasOwn(errors, code) ? errors[code as keyof typeof errors] : undefined;
  return { code, meaning: entry?.meaning ?? '', fix: entry?.fix ?? '' };
};

type Outcome = Pick<Explanation, 'denial' | 'request' | 'metrics' | 'cards'>;

const denied = (refusal: Refusal): Outcome => ({
  ...{ denial: denialOf(refusal), request: null, metrics: 'not needed', cards: null },
});

/** Whether the error is the upstream's response that it has no such dashboard. */
const isAnswered = (error: unknown): boolean => {
  const cause = error instanceof Refusal ? error.cause : error;
  return cause instanceof UpstreamRefusal && isAboutTheRequest(cause);
};

type Asking = Pick<ExplainOptions, 'listMetrics' | 'findEmbeds' | 'checkCards' | 'seesTenant'>;

/** The cards of the dashboards that the grant opens. Of a dashboard that the service does not have, nothing is said. */
const cardsOf = async (
  { policy, clientId, decision, ...granted }: Granted,
  embeds: readonly FoundEmbed[],
  { checkCards, seesTenant = true }: Asking,
): Promise<readonly DashboardCards[] | null> => {
  if (checkCards === undefined) return null;
  const found: DashboardCards[] = [];
  for (const { id, source, type } of shownEmbeds({ ...granted, embeds })) {
    if (type !== 'dashboard') continue;
    const ofTenant = seesTenant ? { clientId, dashboardId: id } : undefined;
    const { restrictions, grant } = decision;
    const cards = await checkCards({ policy, source, ofTenant, names: grant.source, restrictions });
    if (cards !== undefined) found.push(cards);
  }
  return found;
};

/** Returns the token request, or the denial. A grant that cannot be expressed as a token request is denied too. */
const outcomeOf = async (dryRun: DryRun, asking: Asking): Promise<Outcome> => {
  const { listMetrics, findEmbeds = standIns } = asking;
  if (!dryRun.isGranted) return denied(dryRun.refusal);
  let hasPlaceholders = false;
  const list: ListMetrics = async (dashboardId, clientId) => {
    try {
      if (listMetrics !== undefined) return await listMetrics(dashboardId, clientId);
    } catch (error) {
      // The dashboard does not exist before the tenant's first login.
      if (!isAnswered(error)) throw error;
    }
    hasPlaceholders = true;
    return placeholderOf(dashboardId);
  };
  try {
    const embeds = await findEmbeds(dryRun.grant.embeds);
    const of = { ...dryRun, embeds, dataApp: dryRun.policy.dataApp };
    const request = await guestRequestOf(of, list, fixedCapabilities(capabilityNames));
    const cards = await cardsOf(dryRun, embeds, asking);
    if (!needsMetrics(dryRun.grant)) return { denial: null, request, metrics: 'not needed', cards };
    return { denial: null, request, metrics: hasPlaceholders ? 'placeholders' : 'listed', cards };
  } catch (error) {
    if (!(error instanceof Refusal) || error.code === 'UPSTREAM_UNAVAILABLE') throw error;
    return denied(error);
  }
};

/** Explains one case. Rejects with UPSTREAM_UNAVAILABLE if the metrics cannot be listed at the upstream. */
export const explainGrant = async (options: ExplainOptions): Promise<Explanation> => {
  const { policy, of, tenantOf } = options;
  const dryRun = await evaluateCase(policy, of, tenantOf);
  const { session, clientId } = dryRun;
  const examined = examinePolicy(dryRun, of.now);
  const { at, source } = policy.tenant.key;
  return {
    answer: null,
    policy: { file: policy.file, digest: policy.digest },
    now: of.now.toISOString(),
    user: session?.subject ?? null,
    tenant: clientId === null ? null : { clientId, expression: source, at },
    roles: examined?.roles ?? null,
    rolesFrom: { expression: policy.roles.source, at: policy.roles.at },
    notes: [...claimNotes(policy, of), ...narrowingNotes(dryRun)],
    rules: examined?.rules ?? [],
    restrictions: examined?.restrictions ?? [],
    fields: dryRun.isGranted
      ? recordOf(dryRun.decision)
      : recordBounds(combineRestrictions(examined?.applied ?? [])).filter(({ value }) => value === null),
    ...(await outcomeOf(dryRun, options)),
  };
};
