/**
 * One request of a host user, from session to guest token. Start reading the gateway here: `createSequence` has one step in each
 * line. The steps before the decision cache run at every request, `createDecide` only if no cached decision holds.
 * Knows nothing of Express; must not answer or log.
 */
import type { IncomingMessage } from 'node:http';
import { handled } from '../model/handled.js';
import type { RunningWork } from '../model/query/running.js';
import { Refusal } from '../model/refusal.js';
import { inSpan } from '../platform/traces/trace.js';
import { unlisted } from '../platform/work/running-work.js';
import type { DecisionContext, RequestAudit } from './audit/request-audit.js';
import type { Limits } from './authenticate/limits.js';
import type { Identity, Session } from './authenticate/signed-session.js';
import type { EmbedTokenAnswer, EmbedTokenRequestBody } from './common/wire.js';
import type { Decision, DecisionCache, DecisionInput } from './decision-cache.js';
import type { ServiceUrlOf } from './http/service-url.js';
import type { AssertAccess } from './lifecycle/access.js';
import type { Decide, Grant } from './policy/decide.js';
import type { Policies } from './policy/policies.js';
import type { Policy } from './policy/policy.js';
import type { Provision } from './provision/provision.js';
import type { NoteSession } from './recipients.js';
import type { NamedTenant, TenantNames } from './tenant/names.js';
import { type ResolveTenant, TenantRefusal } from './tenant/resolve.js';
import { grantedEmbeds, type HeldEmbeds } from './token/granted-embeds.js';
import type { GuestRequestOf } from './token/guest-request.js';
import type { IssuedToken } from './token/issued-tokens.js';
import { type GuestToken, isReplaced, type MintAudit, Outdated } from './token/token.js';
import { unavailable } from './upstream/unavailable.js';

export type EmbedTokenSteps = {
  readonly identity: Identity;
  readonly limits: Pick<Limits, 'assertUser' | 'assertTenant' | 'assertReplaces'>;
  readonly policies: Policies;
  readonly tenant: ResolveTenant;
  readonly tenantNames: Pick<TenantNames, 'ofSession' | 'load'>;
  readonly access: AssertAccess;
  readonly noteSession: NoteSession;
  readonly decisionCache: Pick<DecisionCache, 'find' | 'store'>;
  readonly policy: Decide;
  readonly provision: Provision;
  readonly embeds: HeldEmbeds;
  readonly token: (of: Omit<GuestRequestOf, 'dataApp'>, policy: Policy, mintAudit: MintAudit) => Promise<GuestToken>;
  /**
   * Records the token as issued, so that a later policy can revoke it. Throws Outdated if the policy is no longer in force.
   * No step may come between this one and the answer.
   */
  readonly remember: (token: Decision['token'], issued: Omit<IssuedToken, 'expiresAtMs'>, policy: Policy) => void;
  readonly serviceUrl: ServiceUrlOf;
  /** Lists the logins that run. Left out: nothing is listed. */
  readonly running?: Pick<RunningWork, 'during'> | undefined;
};

export type EmbedTokenRequest = {
  /** Carries the session, and names the host for `serviceUrl`. Only its headers and its socket are read here. */
  readonly from: IncomingMessage;
  /** Reads the body; called only once the session is known. */
  readonly body: () => EmbedTokenRequestBody | Promise<EmbedTokenRequestBody>;
};

/** The request of a session that none carries: the steps that would read it are replaced. */
export const nobody = { headers: {} } as IncomingMessage;

/** `context` has what was found until the end. `body` is the JSON of an EmbedTokenAnswer; `error` is what a step threw. */
export type EmbedTokenOutcome =
  | {
      readonly context: DecisionContext;
      readonly body: string;
      /** Whether this request minted the token, and did not find a cached one. */
      readonly isMinted: boolean;
      /** The id of the request that minted the token. */
      readonly mintedBy: string;
    }
  | {
      readonly context: DecisionContext;
      readonly error: unknown;
      /** The session's own tenants, if it must choose one of them. */
      readonly tenants?: readonly NamedTenant[];
    };

/** Answers one request. Never rejects: a refusal or failure of a step is in the outcome. */
export type EmbedTokenPipeline = (request: EmbedTokenRequest, context: DecisionContext) => Promise<EmbedTokenOutcome>;

/** The steps that may take long, each in a span of its own. */
const traced = (steps: EmbedTokenSteps): EmbedTokenSteps => ({
  ...steps,
  identity: (from) => inSpan({ name: 'authenticate' }, () => steps.identity(from)),
  tenant: (...of) => inSpan({ name: 'find tenant' }, () => steps.tenant(...of)),
  policy: (...of) => inSpan({ name: 'decide' }, () => steps.policy(...of)),
  provision: {
    ...steps.provision,
    ensure: (...of) => inSpan({ name: 'provision' }, () => steps.provision.ensure(...of)),
  },
  token: (...of) => inSpan({ name: 'find or mint token' }, () => steps.token(...of)),
});

/**
 * Makes the pipeline. A request during which something is revoked is decided a second time, by what holds then; if that happens
 * twice, the outcome is UPSTREAM_UNAVAILABLE.
 */
export const createEmbedTokenPipeline = (
  given: EmbedTokenSteps,
  audit: Pick<RequestAudit, 'minted'>,
): EmbedTokenPipeline => {
  const steps = traced(given);
  const sequence = createSequence(steps, createDecide(steps, audit));
  const { running = unlisted, policies } = steps;
  return (asked, context) => {
    const request = readingOnce(asked);
    const login = { kind: 'login', subject: policies.current().dataApp, canEnd: false } as const;
    return running.during({ ...login, requestId: context.requestId }, async ({ begins, isFor }) => {
      begins();
      const first = await sequence(request, context, isFor);
      if (!isOutdated(first)) return first;
      const second = await sequence(request, first.context, isFor);
      if (!isOutdated(second)) return second;
      return { context: second.context, error: unavailable('revoked-while-under-way', second.error) };
    });
  };
};

/** A body can be read only once, and a request may be decided twice. */
const readingOnce = ({ from, body }: EmbedTokenRequest): EmbedTokenRequest => {
  let read: ReturnType<EmbedTokenRequest['body']> | undefined;
  return {
    from,
    body: () => {
      read ??= body();
      return read;
    },
  };
};

const isOutdated = (outcome: EmbedTokenOutcome): outcome is Extract<EmbedTokenOutcome, { error: unknown }> =>
  'error' in outcome && outcome.error instanceof Outdated;

type Decided = { readonly decision: Decision; readonly isMinted: boolean };
type DecideAgain = (
  input: DecisionInput,
  grant: Grant,
  context: DecisionContext,
  replaces: string | undefined,
) => Promise<Decided>;

/** `isFor` is told the tenant of the session. */
const createSequence =
  (steps: EmbedTokenSteps, decide: DecideAgain) =>
  async (
    request: EmbedTokenRequest,
    before: DecisionContext,
    isFor: (clientId: string) => void,
  ): Promise<EmbedTokenOutcome> => {
    let context = before;
    try {
      const session = await steps.identity(request.from);
      context = { ...context, session };
      await steps.limits.assertUser(session);
      const { replaces, ...asked } = await request.body();
      const policy = steps.policies.current();
      context = { ...context, asked, policy };
      const { clientId, own } = await steps.tenant(policy, session, asked.tenant);
      context = { ...context, clientId };
      isFor(clientId);
      await steps.limits.assertTenant(clientId);
      if (replaces !== undefined) await steps.limits.assertReplaces(session);
      await steps.access(session, clientId);
      await steps.noteSession(session, clientId);
      const input = { policy, session, clientId, asked };
      const found = steps.decisionCache.find(input);
      // Only the token that this very request would get is looked at, so a caller cannot ask about another one.
      const cached = found !== undefined && isReplaced(found.token, replaces) ? undefined : found;
      const grant = cached?.grant ?? steps.policy(policy, session, clientId, asked);
      context = { ...context, because: grant.because };
      // A cached token waits for no name.
      const named = cached === undefined ? handled(loadNames(steps, policy, own)) : undefined;
      const { decision, isMinted } =
        cached === undefined ? await decide(input, grant, context, replaces) : { decision: cached, isMinted: false };
      if (named !== undefined) await named;
      const { token, body } = decision;
      steps.remember(token, { clientId, session, asked, grant: decision.grant }, policy);
      const serviceUrl = JSON.stringify(steps.serviceUrl(request.from));
      const whole = `${body.slice(0, -1)},"serviceUrl":${serviceUrl}${choiceOf(steps, policy, clientId, own)}}`;
      return { context, body: whole, isMinted, mintedBy: token.mintedBy };
    } catch (error) {
      return refusedOutcome(steps, context, error);
    }
  };

/** Tenants that an answer lists. A session of more may choose any of its own. */
const mostListed = 200;

/** With the chosen one, wherever it stands. */
const listed = (own: readonly string[], chosen?: string): readonly string[] => {
  if (own.length <= mostListed) return own;
  const first = own.slice(0, mostListed);
  return chosen === undefined || first.includes(chosen) ? first : [...first.slice(1), chosen];
};

/** Names are a help: nobody waits long for them. */
const namesWaitMs = 500;

const loadNames = ({ tenantNames }: EmbedTokenSteps, policy: Policy, own: readonly string[]): Promise<void> =>
  own.length > 1 ? tenantNames.load(policy, listed(own), namesWaitMs) : Promise.resolve();

const isNoAccess = (error: unknown): boolean =>
  error instanceof Refusal && (error.code === 'TENANT_SUSPENDED' || error.code === 'SESSION_INVALID');

/** Whether the session may still open one of these tenants: it was not ended, and not all of them are suspended. */
const opensOneOf = async ({ access }: EmbedTokenSteps, session: Session, own: readonly string[]): Promise<boolean> => {
  for (const clientId of own) {
    try {
      await access(session, clientId);
      return true;
    } catch (error) {
      if (!isNoAccess(error)) throw error;
    }
  }
  return false;
};

/** A session that must choose one of its tenants is told which these are. */
const refusedOutcome = async (
  steps: EmbedTokenSteps,
  context: DecisionContext,
  error: unknown,
): Promise<EmbedTokenOutcome> => {
  const { policy, session } = context;
  if (!(error instanceof TenantRefusal) || policy === undefined || session === undefined) return { context, error };
  const own = listed(error.own);
  try {
    if (own.length < 2 || !(await opensOneOf(steps, session, own))) return { context, error };
    await loadNames(steps, policy, own);
    return { context, error, tenants: steps.tenantNames.ofSession(policy, own) };
  } catch (unknownAccess) {
    return { context, error: unknownAccess };
  }
};

/** The fields of the answer that a session of one tenant does not have. */
const choiceOf = (
  { tenantNames }: EmbedTokenSteps,
  policy: Policy,
  clientId: string,
  own: readonly string[],
): string => {
  if (own.length === 1) return '';
  const choice = { tenant: clientId, tenants: tenantNames.ofSession(policy, listed(own, clientId)) };
  return `,${JSON.stringify(choice).slice(1, -1)}`;
};

const createDecide =
  (steps: EmbedTokenSteps, audit: Pick<RequestAudit, 'minted'>): DecideAgain =>
  async (input, grant, context, replaces) => {
    const { policy, session, clientId } = input;
    const dashboards = await steps.provision.ensure(policy, grant.templates, clientId, context.requestId);
    const embeds = await steps.embeds(grant.embeds);
    let isMinted = false;
    const mintAudit: MintAudit = {
      requestId: context.requestId,
      replaces,
      minted: (minted) => {
        isMinted = true;
        return audit.minted({ ...context, dashboards: grant.templates.map(({ commonName }) => commonName) }, minted);
      },
    };
    const token = await steps.token({ clientId, session, grant, dashboards, embeds }, policy, mintAudit);
    const body = answerOf(token, grantedEmbeds({ grant, dashboards, embeds }));
    // Checked again: after a revocation since the first check, the token belongs to a later session of the user.
    await steps.access(session, clientId);
    const isComplete = dashboards.length === grant.templates.length;
    const isStill = (): boolean =>
      isComplete &&
      steps.provision.areVerified(policy, grant.templates, clientId) &&
      steps.embeds.areHeld(embeds) &&
      token.isStill();
    return { decision: steps.decisionCache.store(input, { grant, token, body, isStill }), isMinted };
  };

/**
 * Without `serviceUrl`: it may depend on the Host header of the request, and the answer is cached. Without the tenants of
 * the session, whose names may come later.
 */
const answerOf = (token: GuestToken, embeds: EmbedTokenAnswer['embeds']): string => {
  const answer: Omit<EmbedTokenAnswer, 'serviceUrl'> = {
    token: token.token,
    expiresAt: new Date(token.expiresAtMs).toISOString(),
    refreshAfter: new Date(token.refreshAfterMs).toISOString(),
    embeds,
  };
  return JSON.stringify(answer);
};
