/** What of a request is put down in the audit: a token that was minted, before it leaves; a denial, whatever the reason. */
import type { GuestTokenRequest } from '../../contract/guest-tokens.js';
import type { Clock } from '../../domain/ports.js';
import { Refusal } from '../../domain/refusal.js';
import type { Log } from '../../platform/log.js';
import { createCounts } from '../../platform/window-counts.js';
import type { Session } from '../authenticate/signed-session.js';
import { type GatewayMetrics, noGatewayMetrics } from '../common/metrics.js';
import { type EmbedTokenBody, gatewayErrors, isGatewayCode } from '../common/wire.js';
import type { Grant } from '../policy/decide.js';
import { ExpressionFault } from '../policy/expression.js';
import type { Policy } from '../policy/policy.js';
import type { Audit, Explanation } from './audit.js';

/** How far a request came, for its log line and the audit. */
export type Trace = {
  readonly requestId: string;
  user?: string;
  tenant?: string;
  /** The request whose mint is answered, where it is an earlier one. */
  mintedBy?: string;
};

/** What a decision was made on, as far as it was known, and whether it made a token. */
export type Considered = {
  isMinted?: boolean;
  session?: Session;
  asked?: EmbedTokenBody;
  policy?: Policy;
  because?: Grant['because'];
};

export type Minted = {
  readonly request: GuestTokenRequest;
  readonly requestDigest: string;
  readonly tokenDigest: string;
  readonly durationMs: number;
};

const explanationOf = ({ session, asked, policy }: Considered, clock: Clock): Explanation | undefined =>
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

/** Each rule and restriction that applied. */
const placesOf = ({ because }: Considered): readonly string[] | undefined =>
  because === undefined
    ? undefined
    : [...because.rules.map(({ when }) => when.at), ...because.restrictions.map(({ rule }) => rule.when.at)];

const placeOf = (error: Refusal): readonly string[] | undefined =>
  error.cause instanceof ExpressionFault ? [error.cause.at] : undefined;

/** A refusal of this user or session; what is our own or the upstream's failure is none. */
const isDenial = (error: unknown): error is Refusal =>
  error instanceof Refusal && isGatewayCode(error.code) && gatewayErrors[error.code] < 500;

export type Accounting = {
  /** Resolves once it is put down. */
  readonly minted: (trace: Trace, considered: Considered, minted: Minted) => Promise<void>;
  /** Nobody waits for it; one that cannot be put down is in the log. */
  readonly failed: (trace: Trace, considered: Considered, error: unknown, durationMs: number) => void;
};

/** How many denials without a known user, or of one user who asks too often, are audited in a minute: a flood must not fill the audit. */
const denialsPerMinute = 60;

/** Decides which denials get an entry in the audit. The others are in the log and the metrics alone. */
const createSampling = (clock: Clock) => {
  const counts = createCounts(60_000);
  return ({ session }: Considered, { code }: Refusal): boolean => {
    if (session !== undefined && code !== 'RATE_LIMITED') return true;
    const key = session?.userIdentifier ?? '';
    const nowMs = clock.now().getTime();
    if (counts.waitMs(key, denialsPerMinute, nowMs) > 0) return false;
    counts.add(key, nowMs);
    return true;
  };
};

/** Puts requests down. */
export const createAccounting = ({
  audit,
  clock,
  log,
  metrics = noGatewayMetrics,
}: {
  readonly audit: Audit;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics?: GatewayMetrics | undefined;
}): Accounting => {
  const isKept = createSampling(clock);
  return {
    minted: (trace, considered, { requestDigest, tokenDigest, durationMs, request }) => {
      considered.isMinted = true;
      metrics.minted(durationMs);
      return audit.record({
        kind: 'mint',
        code: 'OK',
        requestId: trace.requestId,
        clientId: trace.tenant,
        user: considered.session?.userIdentifier,
        policyAt: placesOf(considered),
        requestDigest,
        upstreamId: tokenDigest,
        durationMs,
        detail: { embeds: request.params?.allowedEmbeds?.length ?? 0, expiryMs: request.expiryTime ?? null },
        explanation: explanationOf(considered, clock),
      });
    },
    failed: (trace, considered, error, durationMs) => {
      if (!isDenial(error) || !isKept(considered, error)) return;
      audit
        .record({
          kind: 'denial',
          code: error.code,
          requestId: trace.requestId,
          clientId: trace.tenant,
          user: considered.session?.userIdentifier,
          policyAt: placeOf(error) ?? placesOf(considered),
          durationMs,
          detail: { reason: error.reason },
          explanation: explanationOf(considered, clock),
        })
        .catch((err: unknown) => log.error({ err, requestId: trace.requestId }, 'a denial is missing in the audit'));
    },
  };
};
