/** What operators can revoke, and lift. */
import { z } from 'zod';
import { identifierOf } from '../authenticate/signed-session.js';
import { type AdminCommand, adminCommand } from '../common/admin-command.js';
import type { Policies } from '../policy/policies.js';
import type { Revocations, RevocationTarget } from './revocations.js';

const name = z.string().min(1).max(255);
/** The whole of it: part of one would revoke nothing, and look as if it had. */
const policyDigest = z.string().regex(/^[0-9a-f]{64}$/, 'must be the whole digest of a policy, 64 hexadecimal digits');
const reason = z.string().min(1).max(500);

/** Which user: as the host's sessions name them. The issuer is asked for, since without it another user would be meant. */
const user = { by: z.literal('user'), subject: name, issuer: name.nullable(), tenant: name.optional(), reason };
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

/** `revoke` and `unrevoke`. */
export const revocationCommands = (revocations: Revocations, policies: Policies): readonly AdminCommand[] => [
  adminCommand('revoke', revokeInput, (input) =>
    revocations.revoke(targetOf(input, policies), {
      reason: input.reason,
      endsSessions: 'endsSessions' in input && input.endsSessions,
    }),
  ),
  adminCommand('unrevoke', unrevokeInput, async (input) => {
    const isLifted = await revocations.lift(targetOf(input, policies), { reason: input.reason });
    return {
      isLifted,
      message: isLifted
        ? 'Sessions from before the revocation are accepted again. Tokens that it ended stay ended.'
        : 'There was nothing to lift: no session of these is refused.',
    };
  }),
];
