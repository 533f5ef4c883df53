/**
 * Why a user gets what they get: the decision of the gateway's own steps, and each part of it down to the file and line that
 * it comes from. Holds claim values and filters: it is for whoever supplied them, and never for a log.
 */
import { UpstreamRefusal } from '../contract/client.js';
import type { GuestTokenRequest } from '../contract/guest-tokens.js';
import { Refusal } from '../domain/refusal.js';
import { combineRestrictions } from '../gateway/policy/combine.js';
import { celClaims, ExpressionFault } from '../gateway/policy/expression.js';
import type { Policy } from '../gateway/policy/policy.js';
import { type FieldRecord, recordBounds, recordOf } from '../gateway/policy/record.js';
import type { TenantOf } from '../gateway/tenant/resolve.js';
import type { FindEmbeds } from '../gateway/token/granted-embeds.js';
import { guestRequestOf, needsMetrics } from '../gateway/token/guest-request.js';
import type { ListMetrics } from '../gateway/token/metric-lists.js';
import { isAboutTheRequest } from '../gateway/upstream/unavailable.js';
import { type DryRun, evaluateCase, type PolicyCase } from './dry-run.js';
import { type Examined, examinePolicy } from './examine.js';

export type Denial = {
  readonly code: string;
  readonly message: string;
  readonly reason: string;
  /** The expression that could not be evaluated, where that was it. */
  readonly fault: Examined['fault'];
};

/** Plain JSON. `now` is ISO 8601. */
export type Explanation = {
  readonly policy: { readonly file: string; readonly digest: string };
  readonly now: string;
  readonly user: string | null;
  readonly tenant: { readonly clientId: string; readonly expression: string; readonly at: string } | null;
  readonly roles: readonly string[] | null;
  /** What is odd about the claims or the body. */
  readonly notes: readonly string[];
  readonly rules: readonly Examined[];
  readonly restrictions: readonly Examined[];
  readonly fields: readonly FieldRecord[];
  readonly denial: Denial | null;
  /** What the gateway sends to its upstream; null where it is denied. */
  readonly request: GuestTokenRequest | null;
  /** Where the metrics of `request` are from. `placeholders`: what no upstream was asked, or has not yet, stands in angle brackets. */
  readonly metrics: 'listed' | 'placeholders' | 'not needed';
};

export type ExplainOptions = {
  readonly policy: Policy;
  readonly of: PolicyCase;
  /** The upstream's; left out, and where it has no such dashboard yet: placeholders. */
  readonly listMetrics?: ListMetrics | undefined;
  /** Left out: each stands for a dashboard of its own id. */
  readonly findEmbeds?: FindEmbeds | undefined;
  readonly tenantOf?: TenantOf | undefined;
};

const standIns: FindEmbeds = async (ids) => ids.map((id) => ({ id, name: id, shows: { dashboardId: id } }));

/** Stands for what only the upstream knows. */
const placeholderOf = (dashboardId: string) => [
  { metricId: `<each metric of ${dashboardId} that is not hidden>`, name: '' },
];

const claimNotes = ({ claims }: Policy, { claims: given }: PolicyCase): readonly string[] => {
  const registered = ['iss', 'sub', 'aud', 'exp', 'nbf', 'iat', 'jti'];
  const read = celClaims(given, claims);
  const mistyped = Object.keys(read).filter((name) => read[name] === null);
  const unread = Object.keys(given).filter((name) => !Object.hasOwn(claims, name) && !registered.includes(name));
  return [
    ...mistyped.map(
      (name) => `Claim "${name}" is no ${claims[name]}, as the policy declares it: what reads it is undecided.`,
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
  // An ExpressionFault's own text is for the log, and would say the same again.
  const why = cause instanceof Error && fault === null ? ` (${cause.message})` : '';
  return { code, message: `${message}${why}`, reason, fault };
};

type Outcome = Pick<Explanation, 'denial' | 'request' | 'metrics'>;

const denied = (refusal: Refusal): Outcome => ({ denial: denialOf(refusal), request: null, metrics: 'not needed' });

/** Whether the upstream answered, and has no such dashboard. */
const isAnswered = (error: unknown): boolean => {
  const cause = error instanceof Refusal ? error.cause : error;
  return cause instanceof UpstreamRefusal && isAboutTheRequest(cause);
};

/** The token request, or why there is none: a grant that cannot be put into one is denied as well. */
const outcomeOf = async (
  dryRun: DryRun,
  { listMetrics, findEmbeds = standIns }: Pick<ExplainOptions, 'listMetrics' | 'findEmbeds'>,
): Promise<Outcome> => {
  if (!dryRun.isGranted) return denied(dryRun.refusal);
  let hasPlaceholders = false;
  const list: ListMetrics = async (dashboardId, clientId) => {
    try {
      if (listMetrics !== undefined) return await listMetrics(dashboardId, clientId);
    } catch (error) {
      // It is made at the first login, which may be still to come.
      if (!isAnswered(error)) throw error;
    }
    hasPlaceholders = true;
    return placeholderOf(dashboardId);
  };
  try {
    const embeds = await findEmbeds(dryRun.grant.embeds);
    const request = await guestRequestOf({ ...dryRun, embeds, dataApp: dryRun.policy.dataApp }, list);
    if (!needsMetrics(dryRun.grant)) return { denial: null, request, metrics: 'not needed' };
    return { denial: null, request, metrics: hasPlaceholders ? 'placeholders' : 'listed' };
  } catch (error) {
    if (!(error instanceof Refusal) || error.code === 'UPSTREAM_UNAVAILABLE') throw error;
    return denied(error);
  }
};

/** Rejects with UPSTREAM_UNAVAILABLE where the upstream's metrics cannot be listed. */
export const explainGrant = async (options: ExplainOptions): Promise<Explanation> => {
  const { policy, of, tenantOf } = options;
  const dryRun = await evaluateCase(policy, of, tenantOf);
  const { session, clientId } = dryRun;
  const examined = examinePolicy(dryRun, of.now);
  const { at, source } = policy.tenant.key;
  return {
    policy: { file: policy.file, digest: policy.digest },
    now: of.now.toISOString(),
    user: session?.subject ?? null,
    tenant: clientId === null ? null : { clientId, expression: source, at },
    roles: examined?.roles ?? null,
    notes: [...claimNotes(policy, of), ...narrowingNotes(dryRun)],
    rules: examined?.rules ?? [],
    restrictions: examined?.restrictions ?? [],
    fields: dryRun.isGranted
      ? recordOf(dryRun.decision)
      : recordBounds(combineRestrictions(examined?.applied ?? [])).filter(({ value }) => value === null),
    ...(await outcomeOf(dryRun, options)),
  };
};
