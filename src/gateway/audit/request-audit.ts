/**
 * The audit entries of `POST /embed-token`: each minted token, written before the token is answered, and each denial.
 * It never changes the outcome of a request, except that a mint that cannot be recorded is not answered.
 */
import type { Clock } from '../../model/ports.js';
import { Refusal } from '../../model/refusal.js';
import type { Log } from '../../platform/logs/log.js';
import { createCounts } from '../../platform/work/window-counts.js';
import type { GuestTokenRequest } from '../../service/guest-tokens/contract/guest-tokens.js';
import type { Session } from '../authenticate/signed-session.js';
import { type GatewayMeters, noGatewayMeters } from '../common/meters.js';
import { type EmbedTokenBody, gatewayErrors, isGatewayCode } from '../common/wire.js';
import type { Grant } from '../policy/decide.js';
import { ExpressionFault } from '../policy/expression.js';
import type { Policy } from '../policy/policy.js';
import type { Audit, Explanation } from './audit.js';

/**
 * The known facts of one request. Each step adds its own, so a denied request has those of the steps before the denial.
 */
export type DecisionContext = {
  readonly requestId: string;
  readonly session?: Session;
  /** The body of the request. */
  readonly asked?: EmbedTokenBody;
  readonly policy?: Policy;
  readonly clientId?: string;
  /** The rules and restrictions that matched. */
  readonly because?: Grant['because'];
  /** What the policy calls the dashboards that are opened. */
  readonly dashboards?: readonly string[];
};

export type Minted = {
  readonly request: GuestTokenRequest;
  readonly requestDigest: string;
  readonly tokenDigest: string;
  readonly durationMs: number;
};

const explanationOf = ({ session, asked, policy }: DecisionContext, clock: Clock): Explanation | undefined =>
  session === undefined || policy === undefined
    ? undefined
    : {
        policyDigest: policy.digest,
        session: { issuer: session.issuer, subject: session.subject, claims: session.claims },
        asked: {
          ...(asked?.tenant === undefined ? {} : { tenant: asked.tenant }),
          ...(asked?.embeds === undefined ? {} : { embeds: asked.embeds }),
          ...(asked?.timezone === undefined ? {} : { timezone: asked.timezone }),
        },
        now: clock.now().toISOString(),
      };

/** `file:line:column` of each rule and restriction that matched. */
const placesOf = ({ because }: DecisionContext): readonly string[] | undefined =>
  because === undefined
    ? undefined
    : [...because.rules.map(({ when }) => when.at), ...because.restrictions.map(({ rule }) => rule.when.at)];

const placeOf = (error: Refusal): readonly string[] | undefined =>
  error.cause instanceof ExpressionFault ? [error.cause.at] : undefined;

/** Names of dashboards that an entry has. */
const mostNamed = 5;

const openedIn = ({ dashboards = [] }: DecisionContext): { readonly dashboards?: string } => {
  if (dashboards.length === 0) return {};
  const more = dashboards.length - mostNamed;
  const named = dashboards.slice(0, mostNamed).join(', ');
  return { dashboards: more > 0 ? `${named} and ${more} more` : named };
};

/**
 * Whether the request was refused because of its content. A failure of the gateway or of the upstream is not a denial.
 */
const isDenial = (error: unknown): error is Refusal =>
  error instanceof Refusal && isGatewayCode(error.code) && gatewayErrors[error.code] < 500;

export type RequestAudit = {
  /** Resolves once the entry is stored. Rejects if it cannot be stored; then the token must not be returned. */
  readonly minted: (context: DecisionContext, minted: Minted) => Promise<void>;
  /** Records a denial in the background. If it cannot be stored, logs it. Ignores errors that are not denials. */
  readonly failed: (context: DecisionContext, error: unknown, durationMs: number) => void;
};

/**
 * Maximum number of audited denials per minute, counted for denials without a known user and for users beyond the rate
 * limit. A flood of requests must not fill the audit.
 */
const denialsPerMinute = 60;

/** Decides which denials get an entry. The others are only in the log and the meters. */
const createSampling = (clock: Clock) => {
  const counts = createCounts(60_000);
  return ({ session }: DecisionContext, { code }: Refusal): boolean => {
    if (session !== undefined && code !== 'RATE_LIMITED') return true;
    const key = session?.userIdentifier ?? '';
    const nowMs = clock.now().getTime();
    if (counts.waitMs(key, denialsPerMinute, nowMs) > 0) return false;
    counts.add(key, nowMs);
    return true;
  };
};

export const createRequestAudit = ({
  audit,
  clock,
  log,
  meters = noGatewayMeters,
}: {
  readonly audit: Audit;
  readonly clock: Clock;
  readonly log: Log;
  readonly meters?: GatewayMeters | undefined;
}): RequestAudit => {
  const isAudited = createSampling(clock);
  return {
    minted: (context, { requestDigest, tokenDigest, durationMs, request }) => {
      meters.minted(durationMs);
      return audit.record({
        kind: 'mint',
        code: 'OK',
        requestId: context.requestId,
        clientId: context.clientId,
        user: context.session?.userIdentifier,
        policyAt: placesOf(context),
        requestDigest,
        upstreamId: tokenDigest,
        durationMs,
        detail: {
          ...openedIn(context),
          ...{ embeds: request.params?.allowedEmbeds?.length ?? 0, expiryMs: request.expiryTime ?? null },
        },
        explanation: explanationOf(context, clock),
      });
    },
    failed: (context, error, durationMs) => {
      if (!isDenial(error) || !isAudited(context, error)) return;
      audit
        .record({
          kind: 'denial',
          code: error.code,
          requestId: context.requestId,
          clientId: context.clientId,
          user: context.session?.userIdentifier,
          policyAt: placeOf(error) ?? placesOf(context),
          durationMs,
          detail: { reason: error.reason },
          explanation: explanationOf(context, clock),
        })
        .catch((err: unknown) => {
          const line = { event: 'audit.write_failed', err, requestId: context.requestId, count: 1 } as const;
          log.error(line, 'failed to write a denial to the audit');
        });
    },
  };
};
