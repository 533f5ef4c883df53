/**
 * One request of a host user, from session to guest token. Read this first: each line is one step, in a file of that
 * name. The steps up to the decision cache run at every request; those of `createDecide` only
 * where no cached decision holds. None of them knows Express.
 */
import type { IncomingMessage } from 'node:http';
import type { Accounting, Considered, Trace } from './audit/request-audit.js';
import type { Limits } from './authenticate/limits.js';
import type { Identity } from './authenticate/signed-session.js';
import type { EmbedTokenAnswer, EmbedTokenBody } from './common/wire.js';
import type { Decision, DecisionCache, DecisionInput } from './decision-cache.js';
import type { ServiceUrlOf } from './http/service-url.js';
import type { AssertAccess } from './lifecycle/access.js';
import type { Decide } from './policy/decide.js';
import type { Policies } from './policy/policies.js';
import type { Policy } from './policy/policy.js';
import type { Provision } from './provision/provision.js';
import type { TenantOf } from './tenant/resolve.js';
import type { HeldEmbeds } from './token/granted-embeds.js';
import { grantedEmbeds } from './token/granted-embeds.js';
import type { GuestRequestOf } from './token/guest-request.js';
import type { IssuedToken } from './token/issued-tokens.js';
import { type GuestToken, type MintAudit, Outdated } from './token/token.js';
import { unavailable } from './upstream/unavailable.js';

export type SessionSteps = {
  readonly identity: Identity;
  readonly limits: Pick<Limits, 'assertUser' | 'assertTenant'>;
  readonly policies: Policies;
  readonly tenant: TenantOf;
  readonly access: AssertAccess;
  readonly decisionCache: Pick<DecisionCache, 'find' | 'store'>;
  readonly policy: Decide;
  readonly provision: Provision;
  readonly embeds: HeldEmbeds;
  readonly token: (of: Omit<GuestRequestOf, 'dataApp'>, policy: Policy, account: MintAudit) => Promise<GuestToken>;
  /** Throws Outdated where the policy is not in force any more: nothing may come between this and the answer. */
  readonly remember: (token: Decision['token'], live: Omit<IssuedToken, 'expiresAtMs'>, policy: Policy) => void;
  readonly serviceUrl: ServiceUrlOf;
};

export type SessionRequest = {
  /** Where the session is found; nothing else is read of it here. */
  readonly from: IncomingMessage;
  /** Read only once the session is known. */
  readonly body: () => EmbedTokenBody | Promise<EmbedTokenBody>;
};

/** The body of the answer as it is sent: the JSON of an EmbedTokenAnswer. */
type Answer = (request: SessionRequest, trace: Trace, considered: Considered) => Promise<string>;

/** Answers a request; what a step refuses is thrown as a Refusal. */
export const createSessions = (steps: SessionSteps, accounting: Pick<Accounting, 'minted'>): Answer =>
  againWhereOutdated(createSequence(steps, createDecide(steps, accounting)));

type DecideAnew = (input: DecisionInput, trace: Trace, considered: Considered) => Promise<Decision>;

const createSequence =
  (steps: SessionSteps, decide: DecideAnew): Answer =>
  async (request, trace, considered) => {
    const session = await steps.identity(request.from);
    trace.user = session.subject;
    considered.session = session;
    await steps.limits.assertUser(session);
    const asked = await request.body();
    considered.asked = asked;
    const policy = steps.policies.current();
    considered.policy = policy;
    const clientId = await steps.tenant(policy, session, asked.tenant);
    trace.tenant = clientId;
    await steps.limits.assertTenant(clientId);
    await steps.access(session, clientId);
    const input = { policy, session, clientId, asked };
    const { grant, token, body } = steps.decisionCache.find(input) ?? (await decide(input, trace, considered));
    considered.because = grant.because;
    steps.remember(token, { clientId, session, asked, grant }, policy);
    if (token.mintedBy !== trace.requestId) trace.mintedBy = token.mintedBy;
    return `${body.slice(0, -1)},"serviceUrl":${JSON.stringify(steps.serviceUrl(request.from))}}`;
  };

const createDecide =
  (steps: SessionSteps, accounting: Pick<Accounting, 'minted'>): DecideAnew =>
  async (input, trace, considered) => {
    const { policy, session, clientId, asked } = input;
    const grant = steps.policy(policy, session, clientId, asked);
    considered.because = grant.because;
    const dashboards = await steps.provision.ensure(policy, grant.templates, clientId, trace.requestId);
    const embeds = await steps.embeds(grant.embeds);
    const account: MintAudit = {
      requestId: trace.requestId,
      minted: (minted) => accounting.minted(trace, considered, minted),
    };
    const token = await steps.token({ clientId, session, grant, dashboards, embeds }, policy, account);
    const body = answerOf(token, grantedEmbeds({ grant, dashboards, embeds }));
    // Revoked since the first look, it would have the token of what holds now: one that is for a later session of its user.
    await steps.access(session, clientId);
    const isComplete = dashboards.length === grant.templates.length;
    const isStill = (): boolean =>
      isComplete &&
      steps.provision.areVerified(policy, grant.templates, clientId) &&
      steps.embeds.areHeld(embeds) &&
      token.isStill();
    return steps.decisionCache.store(input, { grant, token, body, isStill });
  };

/** The service's address is left out: the caller may have named it, and nothing of that is kept. */
const answerOf = (token: GuestToken, embeds: EmbedTokenAnswer['embeds']): string => {
  const answer: Omit<EmbedTokenAnswer, 'serviceUrl'> = {
    token: token.token,
    expiresAt: new Date(token.expiresAtMs).toISOString(),
    refreshAfter: new Date(token.refreshAfterMs).toISOString(),
    embeds,
  };
  return JSON.stringify(answer);
};

/** What is revoked while a request is under way has it decided anew, by what holds now. */
const againWhereOutdated =
  (answer: Answer): Answer =>
  async (request, trace, considered) => {
    try {
      return await answer(request, trace, considered);
    } catch (error) {
      if (!(error instanceof Outdated)) throw error;
      return answer(request, trace, considered).catch((again: unknown) => {
        throw again instanceof Outdated ? unavailable('revoked-while-under-way', again) : again;
      });
    }
  };
