/**
 * Mints the guest token of a user whose claims an operator names, by the steps of `POST /embed-token`: what it shows is
 * what that user would see. Only the session and the tenant are given instead of proved. The caller must be trusted.
 */

import { basename } from 'node:path';
import { z } from 'zod';
import type { Clock } from '../model/ports.js';
import { Refusal } from '../model/refusal.js';
import type { Unchanging } from '../platform/http/interface/callable.js';
import { identifier } from '../platform/http/interface/fields.js';
import type { Audit } from './audit/audit.js';
import type { RequestAudit } from './audit/request-audit.js';
import { noLimits } from './authenticate/limits.js';
import { identifierOf, type Session } from './authenticate/signed-session.js';
import type { EmbedTokenAnswer } from './common/wire.js';
import { createEmbedTokenPipeline, type EmbedTokenSteps, nobody } from './embed-token.js';
import { createPolicyStep } from './policy/decide.js';
import type { Provision } from './provision/provision.js';
import { noteNothing } from './recipients.js';

const subject = z.string().regex(/^[^\p{Cc}\p{Cs}]{1,255}$/u, 'the user, as text of at most 255 characters');

export const viewAsInput = z.strictObject({
  clientId: identifier,
  /** The claims that the host's session of this user would have. */
  claims: z.looseObject({ sub: subject, iss: z.string().max(255).optional() }),
  /** The moment at which the policy decides. Left out: now. */
  at: z.iso.datetime({ offset: true }).optional(),
  /** Dashboard ids or template names. Left out: everything that the user may open. */
  embeds: z.array(identifier).min(1).max(100).optional(),
});
export type ViewAsInput = z.output<typeof viewAsInput>;

/** An EmbedTokenAnswer, and why it is that. */
export const viewed = z.object({
  token: z.string(),
  expiresAt: z.string(),
  refreshAfter: z.string(),
  embeds: z.array(z.object({ id: z.string(), name: z.string(), type: z.enum(['dashboard', 'metric']) })),
  clientId: z.string(),
  /** The rules and restrictions that decided, with `file:line:column` of each. */
  because: z.array(z.object({ kind: z.enum(['rule', 'restriction']), name: z.string(), at: z.string() })),
  /** Templates that the user may open and that the tenant has no copy of, because who looks may create none. */
  missing: z.array(z.string()),
  serviceUrl: z.string(),
});
type Viewed = Unchanging<z.output<typeof viewed>>;

export type Viewing = {
  /** Who looks, as the audit names this person. */
  readonly by: string;
  readonly requestId: string;
  /** Whether this person may create dashboards of tenants. Without it, a view shows those that exist. */
  readonly mayProvision: boolean;
};

/** Rejects with the refusals of `POST /embed-token`. */
export type ViewAs = (input: ViewAsInput, viewing: Viewing) => Promise<Viewed>;

const sessionOf = (claims: ViewAsInput['claims'], now: Date): Session => {
  const issuer = claims.iss ?? null;
  const userIdentifier = identifierOf(issuer, claims.sub);
  return { issuer, subject: claims.sub, userIdentifier, issuedAtMs: now.getTime(), claims };
};

const becauseOf = (because: {
  readonly rules: readonly Named[];
  readonly restrictions: readonly { rule: Named }[];
}) => [
  ...because.rules.map(({ name, when }) => ({ kind: 'rule' as const, name, at: basename(when.at) })),
  ...because.restrictions.map(({ rule: { name, when } }) => ({
    kind: 'restriction' as const,
    name,
    at: basename(when.at),
  })),
];
type Named = { readonly name: string; readonly when: { readonly at: string } };

/** A provisioning step that creates nothing. It puts the templates without a copy into `missing`. */
const createLookup =
  ({ findVerified }: Provision, missing: Set<string>): Provision['ensure'] =>
  async (policy, templates, clientId) => {
    const found = await findVerified(policy, templates, clientId);
    for (const { template } of templates)
      if (!found.some((dashboard) => dashboard.template === template)) missing.add(template);
    if (found.length > 0 || templates.length === 0) return found;
    throw new Refusal(
      'NOT_FOUND',
      `This tenant has none of the dashboards that the user may open: ${[...missing].join(', ')}. Your roles do not create dashboards. They are created at the user's first login, or by someone with the role publisher or support.`,
      { reason: 'view-without-dashboards' },
    );
  };

type Options = {
  readonly steps: EmbedTokenSteps;
  readonly requestAudit: Pick<RequestAudit, 'minted'>;
  readonly audit: Audit;
  readonly clock: Clock;
};

export const createViewAs =
  ({ steps, requestAudit, audit, clock }: Options): ViewAs =>
  async ({ clientId, claims, at, embeds }, { by, requestId, mayProvision }) => {
    const session = sessionOf(claims, clock.now());
    const moment = at === undefined ? clock : { now: () => new Date(at) };
    const missing = new Set<string>();
    const { provision } = steps;
    const own: EmbedTokenSteps = {
      ...steps,
      provision: mayProvision ? provision : { ...provision, ensure: createLookup(provision, missing) },
      identity: () => session,
      limits: noLimits,
      tenant: () => ({ clientId, own: [clientId] }),
      // These claims come from an operator: the user has no such session.
      noteSession: noteNothing,
      policy: createPolicyStep(moment),
      token: (of, policy, mintAudit) => steps.token(of, policy, { ...mintAudit, isView: true }),
      decisionCache: { find: () => undefined, store: (_, decision) => decision },
      serviceUrl: () => '',
    };
    const pipeline = createEmbedTokenPipeline(own, requestAudit);
    const detail = { command: 'view-as', operator: by };
    await audit.record({ kind: 'admin', code: 'OK', requestId, clientId, user: session.userIdentifier, detail });
    const asked = embeds === undefined ? {} : { embeds };
    const outcome = await pipeline({ from: nobody, body: () => asked }, { requestId });
    if ('error' in outcome) throw outcome.error;
    const { because } = outcome.context;
    const answer: EmbedTokenAnswer = JSON.parse(outcome.body);
    return { ...answer, clientId, because: because === undefined ? [] : becauseOf(because), missing: [...missing] };
  };
