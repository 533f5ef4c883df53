/**
 * The users who opened dashboards lately, with the claims of their last session, so that people who may see data choose
 * through whose eyes they look. It only says who they are: what one of them sees is decided by view-as.ts.
 */
import { z } from 'zod';
import { Refusal } from '../model/refusal.js';
import { loadRecentSessions, type RecentSession } from './audit/read.js';
import { identifierOf, type Session } from './authenticate/signed-session.js';
import { type AdminCommand, adminCommand, declareCommand, moment, readBy, written } from './common/admin-command.js';
import type { EmbedTokenSteps } from './embed-token.js';
import type { Ledger } from './ledger/ledger.js';
import { rolesOf } from './policy/decide.js';
import { ExpressionFault } from './policy/expression.js';
import { templateName } from './policy/schema.js';

const viewer = z.object({
  clientId: z.string(),
  /** The claim `sub`. */
  user: z.string(),
  /** What reports and tokens call the user. */
  userIdentifier: z.string(),
  /** As the session says. Null: it has no name. */
  name: z.string().nullable(),
  roles: z.array(z.string()),
  /** Those of the last session. */
  claims: written<Session['claims'] & { readonly sub: string }>(),
  lastAt: moment,
  /** How many of the latest decisions were made for this user. */
  times: z.number(),
});
type Viewer = z.input<typeof viewer>;

// Claims are personal data.
export const listViewers = declareCommand(
  'viewers-list',
  z.strictObject({
    template: templateName.optional().describe('Only users who may open a dashboard of this template.'),
  }),
  z.object({ viewers: z.array(viewer) }),
  { ...readBy('author', 'publisher', 'policyAdmin', 'support', 'auditor'), reads: 'rows' },
);

/** How many of the latest decisions are looked through. */
const mostDecisions = 500;

type Options = {
  readonly ledger: Ledger;
  readonly steps: Pick<EmbedTokenSteps, 'access' | 'policies' | 'policy'>;
};

/** Refusals that say that this user sees nothing now. INVALID_REQUEST_BODY: a claim is a number that may be rounded. */
const notNow: ReadonlySet<string> = new Set([
  'SESSION_INVALID',
  'TENANT_SUSPENDED',
  'NO_POLICY',
  'POLICY_UNDECIDED',
  'INVALID_REQUEST_BODY',
]);

const nameIn = ({ name, email }: Session['claims']): string | null =>
  [name, email].find((text): text is string => typeof text === 'string' && text !== '') ?? null;

/** The user as the policy in force sees it. Undefined: nothing is granted, or not the template. */
const viewerOf = async (
  { steps: { access, policies, policy: decide } }: Options,
  { session: { issuer, subject, claims }, clientId, at, times }: RecentSession,
  template: string | undefined,
): Promise<Viewer | undefined> => {
  if (clientId === null) return undefined;
  const session = { issuer, subject, userIdentifier: identifierOf(issuer, subject), issuedAtMs: at.getTime(), claims };
  const policy = policies.current();
  try {
    await access(session, clientId);
    const { templates } = decide(policy, session, clientId, {});
    if (template !== undefined && !templates.some((one) => one.template === template)) return undefined;
    const roles = [...rolesOf(policy, session)];
    const own = { ...claims, sub: subject };
    const { userIdentifier } = session;
    return { clientId, userIdentifier, user: subject, name: nameIn(claims), roles, claims: own, lastAt: at, times };
  } catch (error) {
    if (error instanceof ExpressionFault || (error instanceof Refusal && notNow.has(error.code))) return undefined;
    throw error;
  }
};

/** Newest first. Views of Studio are no sessions of users, and erased tenants have none. */
export const viewersCommand = (options: Options): AdminCommand =>
  adminCommand(listViewers, async ({ template }) => {
    const sessions = await loadRecentSessions(options.ledger, mostDecisions);
    const viewers: Viewer[] = [];
    for (const session of sessions) {
      const one = await viewerOf(options, session, template);
      if (one !== undefined) viewers.push(one);
    }
    return { viewers };
  });
