/**
 * One request of a host user, from session to guest token. Read this first: each line is one step, in a file of that
 * name. Every step runs at every request, whether or not a token is cached; none of them knows Express.
 */
import type { IncomingMessage } from 'node:http';
import type { Considered, Trace } from './accounting.js';
import type { GuestRequestOf } from './guest-request.js';
import type { Identity } from './identity.js';
import type { Limits } from './limits.js';
import type { Policies } from './policies.js';
import type { Decide } from './policy.js';
import type { Policy } from './policy-file.js';
import type { Provision } from './provision.js';
import type { Standing } from './standing.js';
import type { TenantOf } from './tenant.js';
import type { GuestToken } from './token.js';
import type { EmbedTokenAnswer, EmbedTokenBody } from './wire.js';

export type SessionSteps = {
  readonly identity: Identity;
  readonly limits: Pick<Limits, 'assertUser' | 'assertTenant'>;
  readonly policies: Policies;
  readonly tenant: TenantOf;
  readonly standing: Standing;
  readonly policy: Decide;
  readonly provision: Provision;
  readonly token: (of: Omit<GuestRequestOf, 'dataApp'>, policy: Policy) => Promise<GuestToken>;
  readonly serviceUrl: string;
};

export type SessionRequest = {
  /** Where the session is found; nothing else is read of it here. */
  readonly from: IncomingMessage;
  /** Read only once the session is known. */
  readonly body: () => EmbedTokenBody | Promise<EmbedTokenBody>;
};

/** Answers a request; what a step refuses is thrown as a Refusal. */
export const createSessions =
  (steps: SessionSteps) =>
  async (request: SessionRequest, trace: Trace, considered: Considered): Promise<EmbedTokenAnswer> => {
    const session = await steps.identity(request.from);
    trace.user = session.subject;
    considered.session = session;
    await steps.limits.assertUser(session);
    const asked = await request.body();
    const policy = steps.policies.current();
    Object.assign(considered, { asked, policy });
    const clientId = await steps.tenant(policy, session, asked.tenant);
    trace.tenant = clientId;
    await steps.limits.assertTenant(clientId);
    await steps.standing(session, clientId);
    const grant = steps.policy(policy, session, clientId, asked);
    const dashboards = await steps.provision.ensure(policy, grant.templates, clientId, trace.requestId);
    const token = await steps.token({ clientId, session, grant, dashboards }, policy);
    return {
      token: token.token,
      expiresAt: new Date(token.expiresAtMs).toISOString(),
      refreshAfter: new Date(token.refreshAfterMs).toISOString(),
      embeds: dashboards.map(({ id, name }) => ({ id, name, type: 'dashboard' })),
      serviceUrl: steps.serviceUrl,
    };
  };
