/** The admin commands `revoke` and `unrevoke`. */
import { z } from 'zod';
import { hintOf } from '../../model/nearest-name.js';
import { Refusal } from '../../model/refusal.js';
import { identifierOf } from '../authenticate/signed-session.js';
import { type AdminCommand, adminCommand, changedBy, declareCommand } from '../common/admin-command.js';
import type { Policies } from '../policy/policies.js';
import { tenantId } from '../policy/tenant-id.js';
import { type Revocations, type RevocationTarget, revocationAnswer } from './revocations.js';

/** As in sessions: the service knows no other users and tenants, so it would refuse their revocation for ever. */
const name = tenantId;
const issuer = z.string().min(1).max(255);
/** The complete digest. A part of it would match no policy, and the command would still report success. */
const policyDigest = z.string().regex(/^[0-9a-f]{64}$/, 'must be the whole digest of a policy, 64 hexadecimal digits');
const reason = z.string().min(1).max(500);

/**
 * A user, as identified by the host's sessions. The issuer is required, since the same subject of another issuer is
 * another user.
 */
const user = { by: z.literal('user'), subject: name, issuer: issuer.nullable(), tenant: name.optional(), reason };
const endsSessions = z.boolean().default(false);

const revokeInput = z.discriminatedUnion('by', [
  z.strictObject(user),
  z.strictObject({ by: z.literal('tenant'), tenant: name, endsSessions, reason }),
  z.strictObject({ by: z.literal('policy'), digest: policyDigest.optional(), reason }),
  z.strictObject({ by: z.literal('all'), endsSessions, reason }),
]);

const unrevokeInput = z.discriminatedUnion('by', [
  z.strictObject(user),
  z.strictObject({ by: z.literal('tenant'), tenant: name, reason }),
  z.strictObject({ by: z.literal('all'), reason }),
]);

export const revoke = declareCommand('revoke', revokeInput, revocationAnswer, changedBy('support'), {
  title: 'Revoke tokens',
  description: 'Ends the guest tokens of a user, a tenant or a policy, or all.',
  isDestructive: true,
});

const lifted = z.object({ isLifted: z.boolean(), message: z.string() });

export const unrevoke = declareCommand('unrevoke', unrevokeInput, lifted, changedBy('support'), {
  title: 'Accept sessions again',
  description: 'Accepts sessions again that a revocation refuses.',
});

const targetOf = (
  input: z.output<typeof revokeInput> | z.output<typeof unrevokeInput>,
  policies: Policies,
): RevocationTarget => {
  switch (input.by) {
    case 'user': {
      const userIdentifier = identifierOf(input.issuer, input.subject);
      return { by: 'user', userIdentifier, clientId: input.tenant ?? null };
    }
    case 'tenant':
      return { by: 'tenant', clientId: input.tenant };
    case 'policy':
      return { by: 'policy', digest: input.digest ?? policies.current().digest };
    case 'all':
      return { by: 'all' };
  }
};

/** The issuers whose sessions are accepted. Null: sessions may have any issuer, or none. */
export type KnownIssuers = readonly string[] | null;

/** A misspelt issuer would name a user that nobody is, and the one that was meant would keep every token. */
const assertIssuer = (input: z.output<typeof revokeInput>, known: KnownIssuers): void => {
  if (input.by !== 'user' || known === null || (input.issuer !== null && known.includes(input.issuer))) return;
  const given = input.issuer === null ? 'Every session has an issuer' : `No session has the issuer "${input.issuer}"`;
  throw new Refusal(
    'INVALID_REQUEST_BODY',
    `issuer: ${given}, so nothing was revoked (${hintOf(input.issuer ?? '', known, 'the configured issuers are')}). ` +
      'For users of an issuer that was removed, revoke their tenants.',
    { reason: 'issuer-not-configured' },
  );
};

/** The gateway keeps no list of users: only tokens tell that a user was here. */
const ofNobody =
  'No token of this user worked, so the subject may be misspelt: it is the claim "sub" of the session. Sessions of this user from before now are refused.';

/** `revoke` and `unrevoke`. */
export const revocationCommands = (
  revocations: Revocations,
  policies: Policies,
  issuers: KnownIssuers,
): readonly AdminCommand[] => [
  adminCommand(revoke, async (input) => {
    assertIssuer(input, issuers);
    const answer = await revocations.revoke(targetOf(input, policies), {
      reason: input.reason,
      endsSessions: 'endsSessions' in input && input.endsSessions,
    });
    return input.by === 'user' && answer.revoked === 0
      ? { ...answer, message: `${answer.message} ${ofNobody}` }
      : answer;
  }),
  adminCommand(unrevoke, async (input) => {
    const isLifted = await revocations.lift(targetOf(input, policies), { reason: input.reason });
    return {
      isLifted,
      message: isLifted
        ? 'Sessions from before the revocation are accepted again. Tokens that it revoked stay revoked.'
        : 'Nothing was changed: these sessions are not revoked.',
    };
  }),
];
