/**
 * Revokes tokens in three steps: raise the epochs in the ledger, revoke at the service, raise the epochs again.
 * 1. After the first raise, every gateway drops its cached tokens and discards mints in flight, within one second at most.
 * 2. After the service revoked, it refuses the tokens at the next read. A mint that reaches the service later is discarded by
 *    its gateway, which reads the ledger after each mint and finds the raised epoch.
 * 3. The second raise drops the tokens that were minted for permitted users between the steps: the service revoked them too.
 * A revocation that the service did not take stays in the ledger, and is retried until it is done.
 */
import { z } from 'zod';
import type { Clock } from '../../model/ports.js';
import { Refusal } from '../../model/refusal.js';
import type { Log } from '../../platform/logs/log.js';
import type { Audit } from '../audit/audit.js';
import { liftRevocation } from '../ledger/epochs.js';
import type { Ledger } from '../ledger/ledger.js';
import {
  claimPending,
  dropPending,
  finishPending,
  insertPending,
  type PendingRow,
  postponePending,
} from '../ledger/pending-revocations.js';
import type { Epochs } from './epochs.js';
import type { Scope, Scopes } from './scopes.js';
import type { ServiceTokens, TokensOf } from './service-tokens.js';

const name = z.string().min(1).max(1000);

/** True: at the service, only tokens that this gateway minted. Another gateway has a policy of its own. */
const isOwn = z.literal(true).optional();

const revocationTarget = z.discriminatedUnion('by', [
  /** If `clientId` is null, the user in every tenant. */
  z.strictObject({ by: z.literal('user'), userIdentifier: name, clientId: name.nullable(), isOwn }),
  z.strictObject({ by: z.literal('tenant'), clientId: name }),
  /**
   * The tokens that were issued under the policy with this digest. The service knows no policies, so every token of the
   * data app is revoked there.
   */
  z.strictObject({ by: z.literal('policy'), digest: name }),
  z.strictObject({ by: z.literal('all'), isOwn }),
]);
export type RevocationTarget = z.output<typeof revocationTarget>;

export type RevokeOptions = {
  /** The operator's reason, for the audit. */
  readonly reason: string;
  /**
   * Whether to refuse sessions that were issued before now too. Default: false, but true for a user unless
   * `keepsSessions`.
   */
  readonly endsSessions?: boolean | undefined;
  /** Whether the user's sessions stay valid, so that they can get new tokens at once. */
  readonly keepsSessions?: boolean | undefined;
  readonly requestId?: string | undefined;
};

export const revocationAnswer = z.object({
  /**
   * `pending`: the service could not be reached, and the revocation is retried. Until then, the service still accepts
   * the issued tokens.
   */
  service: z.enum(['done', 'pending', 'not-supported']),
  /** Number of tokens that the service revoked. Null if unknown. */
  revoked: z.number().nullable(),
  message: z.string(),
});
export type RevocationAnswer = Readonly<z.output<typeof revocationAnswer>>;

export type Revocations = {
  /**
   * Revokes tokens. After it resolves, no gateway returns an earlier token for longer than one second. Throws
   * UPSTREAM_UNAVAILABLE if the ledger fails.
   */
  readonly revoke: (target: RevocationTarget, options: RevokeOptions) => Promise<RevocationAnswer>;
  /** Completes a revocation whose pending row and raised epochs were written in another transaction. */
  readonly resume: (pending: PendingRow, options: Pick<RevokeOptions, 'reason'>) => Promise<RevocationAnswer>;
  /**
   * Accepts the sessions again that a revocation refused. The tokens stay revoked. Resolves to whether any session was
   * refused.
   */
  readonly lift: (target: RevocationTarget, options: RevokeOptions) => Promise<boolean>;
  /**
   * Retries the pending revocations that are due. Resolves to 0, because a revocation that fails again gets a later due
   * time.
   */
  readonly retry: () => Promise<number>;
};

export type RevocationsOptions = {
  readonly ledger: Ledger;
  readonly epochs: Epochs;
  readonly scopes: Scopes;
  readonly tokens: ServiceTokens;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly log: Log;
};

const scopeOf = (scopes: Scopes, target: RevocationTarget): Scope => {
  switch (target.by) {
    case 'user':
      return target.clientId === null
        ? scopes.user(target.userIdentifier)
        : scopes.member({ userIdentifier: target.userIdentifier, clientId: target.clientId });
    case 'tenant':
      return scopes.tenant(target.clientId);
    case 'policy':
      return scopes.policy(target.digest);
    case 'all':
      return scopes.all;
  }
};

/** Returns the scopes whose epochs are raised. They cover every token that the service revokes for this target. */
const scopesEnded = (scopes: Scopes, target: RevocationTarget): readonly Scope[] =>
  target.by === 'policy' ? [scopes.policy(target.digest), scopes.all] : [scopeOf(scopes, target)];

const tokensOf = (target: RevocationTarget): TokensOf => {
  if (target.by === 'user') {
    const { userIdentifier, clientId, isOwn } = target;
    return { of: 'user', userIdentifier, clientId, isOwn };
  }
  if (target.by === 'tenant') return { of: 'tenant', clientId: target.clientId };
  return { of: 'all', isOwn: target.by === 'all' ? target.isOwn : undefined };
};

const clientOf = (target: RevocationTarget): string | null => ('clientId' in target ? target.clientId : null);

const messages: Readonly<Record<RevocationAnswer['service'], string>> = {
  done: 'Revoked: no gateway answers these tokens any more, and the service refuses those already issued.',
  pending:
    'No gateway answers these tokens any more. The service could not be reached, so issued tokens still work there. The gateway retries until they are revoked.',
  'not-supported':
    'No gateway answers these tokens any more. Not supported here: this service cannot revoke, so issued tokens stay valid until they expire.',
};

const retryAfterMs = (attempts: number): number => Math.min(1_000 * 2 ** (attempts - 1), 30_000);
const claimedAtOnce = 20;

/**
 * Returns the function for steps 2 and 3. A failure of the service is retried later. A failure of the ledger is thrown.
 */
const createRevokeAtService = (options: RevocationsOptions) => {
  const { ledger, epochs, scopes, tokens, clock, log } = options;
  const putOff = async ({ id, attempts }: PendingRow, target: RevocationTarget, error: unknown) => {
    const isForeign = error instanceof Refusal && error.code === 'NOT_SUPPORTED';
    log.warn(
      { event: 'revocation.delayed', err: error, by: target.by, attempts },
      'failed to revoke tokens at the service',
    );
    if (isForeign) await dropPending(ledger, id);
    else await postponePending(ledger, id, new Date(clock.now().getTime() + retryAfterMs(attempts)));
    return isForeign ? 'not-supported' : 'pending';
  };
  return async (row: PendingRow, target: RevocationTarget): Promise<RevocationAnswer> => {
    let revoked: number;
    try {
      revoked = await tokens.revoke(tokensOf(target));
    } catch (error) {
      const service = await putOff(row, target, error);
      return { service, revoked: null, message: messages[service] };
    }
    await finishPending(ledger, row.id, scopesEnded(scopes, target), clientOf(target));
    await epochs.publish();
    return { service: 'done', revoked, message: messages.done };
  };
};

type Detail = Readonly<Record<string, string | number | boolean>>;

const createNote =
  ({ audit }: RevocationsOptions) =>
  (target: RevocationTarget, { reason, requestId }: RevokeOptions, detail: Detail): Promise<void> =>
    audit.record({
      kind: 'revocation',
      code: 'OK',
      requestId,
      clientId: clientOf(target) ?? undefined,
      user: target.by === 'user' ? target.userIdentifier : undefined,
      detail: { by: target.by, reason, ...detail },
    });

const decodeTarget = ({ target }: PendingRow): RevocationTarget => revocationTarget.parse(JSON.parse(target));

export const createRevocations = (options: RevocationsOptions): Revocations => {
  const { ledger, epochs, scopes, clock } = options;
  const settle = createRevokeAtService(options);
  const note = createNote(options);
  const resume = async (
    pending: PendingRow,
    chosen: RevokeOptions,
    endsSessions = false,
  ): Promise<RevocationAnswer> => {
    const target = decodeTarget(pending);
    try {
      await epochs.publish();
      const answer = await settle(pending, target);
      await note(target, chosen, { service: answer.service, endsSessions });
      return answer;
    } finally {
      ledger.self.claims.delete(pending.id);
    }
  };
  const tryAgain = async (row: PendingRow): Promise<void> => {
    const target = decodeTarget(row);
    const { service } = await settle(row, target);
    if (service !== 'pending') await note(target, { reason: 'tried again' }, { service, attempts: row.attempts });
  };
  return {
    resume,
    revoke: async (target, chosen) => {
      const now = clock.now();
      const endsSessions = (target.by === 'user' && chosen.keepsSessions !== true) || chosen.endsSessions === true;
      const raise = { scopes: scopesEnded(scopes, target), revokedAt: endsSessions ? now : null };
      const pending = await insertPending(ledger, raise, { target: JSON.stringify(target), now });
      return resume(pending, chosen, endsSessions);
    },
    lift: async (target, chosen) => {
      const isLifted = await liftRevocation(ledger, scopeOf(scopes, target));
      await epochs.publish();
      if (isLifted) await note(target, chosen, { isLifted });
      return isLifted;
    },
    retry: async () => {
      const rows = await claimPending(ledger, clock.now(), claimedAtOnce);
      try {
        for (const row of rows) await tryAgain(row);
      } finally {
        for (const { id } of rows) ledger.self.claims.delete(id);
      }
      return 0;
    },
  };
};
