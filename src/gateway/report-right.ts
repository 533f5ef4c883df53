/**
 * Decides what a user who is away may see now, by the steps of `POST /embed-token`: the user's last session, the policy
 * in force, the tenant's state and every revocation count. Only the proof of the session is left out.
 */

import { type Code, Refusal } from '../model/refusal.js';
import type { FindReportRight, ReportRight } from '../model/schedule/open-report.js';
import type { RequestAudit } from './audit/request-audit.js';
import { noLimits } from './authenticate/limits.js';
import type { EmbedTokenAnswer } from './common/wire.js';
import { createEmbedTokenPipeline, type EmbedTokenSteps, nobody } from './embed-token.js';
import { type Grant, rolesOf } from './policy/decide.js';
import type { Policy } from './policy/policy.js';
import { noteNothing, type Recipients } from './recipients.js';

/** Refusals that say that there is no right. Any other failure may be over at the next attempt. */
const refusals: ReadonlySet<Code> = new Set([
  'SESSION_INVALID',
  'NO_TENANT',
  'NO_POLICY',
  'EMBED_NOT_GRANTED',
  'TENANT_SUSPENDED',
]);

type Options = {
  readonly steps: EmbedTokenSteps;
  readonly recipients: Pick<Recipients, 'find'>;
  readonly requestAudit: Pick<RequestAudit, 'minted'>;
};

/** How long a message to a channel waits for the name of its tenant. */
const namesWaitMs = 2_000;

const grantsNothing = { channels: new Map(), scheduling: new Map(), roles: [] };

/** The tenant's name, as its own users may know it. */
const nameOf = async (
  { tenantNames }: Pick<EmbedTokenSteps, 'tenantNames'>,
  policy: Policy | undefined,
  clientId: string,
): Promise<Pick<ReportRight, 'tenantName'>> => {
  if (policy === undefined) return {};
  await tenantNames.load(policy, [clientId], namesWaitMs);
  return { tenantName: tenantNames.ofSession(policy, [clientId])[0]?.name };
};

export const createFindReportRight =
  ({ steps, recipients, requestAudit }: Options): FindReportRight =>
  async (subject, requestId) => {
    const session = await recipients.find(subject);
    if (session === undefined || session.userIdentifier !== subject.userIdentifier) return null;
    let granted: Pick<Grant, 'channels' | 'scheduling'> & Pick<ReportRight, 'roles'> = grantsNothing;
    let policy: Policy | undefined;
    const own: EmbedTokenSteps = {
      ...steps,
      identity: () => session,
      limits: noLimits,
      noteSession: noteNothing,
      policy: (...asked) => {
        [policy] = asked;
        const grant = steps.policy(...asked);
        granted = { ...grant, roles: rolesOf(asked[0], session) };
        return grant;
      },
      decisionCache: { find: () => undefined, store: (_, decision) => decision },
      serviceUrl: () => '',
    };
    // The tenant is asked for, not given: it must still be one of those that the policy finds for the session.
    const request = { from: nobody, body: () => ({ tenant: subject.clientId }) };
    const outcome = await createEmbedTokenPipeline(own, requestAudit)(request, { requestId });
    if ('error' in outcome) {
      if (outcome.error instanceof Refusal && refusals.has(outcome.error.code)) return null;
      throw outcome.error;
    }
    const { token }: EmbedTokenAnswer = JSON.parse(outcome.body);
    const { channels, scheduling, roles } = granted;
    const named = channels.size === 0 ? {} : await nameOf(steps, policy, subject.clientId);
    return { token, claims: session.claims, channels, scheduling, roles, ...named };
  };
