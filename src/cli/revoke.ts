/** `guestlist revoke` and `guestlist unrevoke`: what a running gateway is told to end, and to accept again. */
import { Command } from '@commander-js/extra-typings';
import { revoke, unrevoke } from '../gateway/revocation/commands.js';
import { gatewayUrl } from './kit/declare.js';
import { WrongCall } from './kit/exit.js';
import { callGateway } from './operator.js';

type Revocation = typeof revoke | typeof unrevoke;

/** The gateway says whether the input makes sense. */
const send = async (command: Revocation, input: object, url: string | undefined): Promise<void> => {
  const answer = await callGateway(command, input, url);
  const revoked = 'revoked' in answer ? answer.revoked : null;
  console.log(revoked === null ? answer.message : `${answer.message} Tokens that worked until now: ${revoked}.`);
};

const withReason = (by: string) =>
  new Command(by).requiredOption('--reason <text>', 'why; it is kept in the audit').addOption(gatewayUrl);

const ofUser = (command: Revocation) =>
  withReason('user')
    .summary('the tokens and sessions of a user, in one tenant or in all')
    .argument('<subject>')
    .option('--issuer <iss>', 'the issuer of the user')
    .option('--no-issuer', 'the sessions have no issuer')
    .option('--tenant <id>', 'the tenant; all if left out')
    .action(async (subject, { issuer, tenant, reason, url }) => {
      if (issuer === undefined)
        throw new WrongCall('name the issuer of the user: --issuer, or --no-issuer where sessions have none');
      const named = issuer === false ? null : issuer;
      await send(command, { by: 'user', subject, issuer: named, tenant, reason }, url);
    });

const endSessions = ['--end-sessions', 'refuse the sessions from before, too'] as const;

const revokeTenant = withReason('tenant')
  .summary('the tokens of a tenant')
  .argument('<client-id>')
  .option(...endSessions)
  .action((tenant, { endSessions: endsSessions, reason, url }) =>
    send(revoke, { by: 'tenant', tenant, endsSessions, reason }, url),
  );

const revokePolicy = withReason('policy')
  .summary('the tokens of a policy')
  .argument('[digest]', 'the whole digest; the policy in force if left out')
  .action((digest, { reason, url }) => send(revoke, { by: 'policy', digest, reason }, url));

const revokeAll = withReason('all')
  .summary('all tokens')
  .option(...endSessions)
  .action(({ endSessions: endsSessions, reason, url }) => send(revoke, { by: 'all', endsSessions, reason }, url));

export const revokeCommand = new Command()
  .description(
    `Ends every guest token of a user, of a tenant, of a policy, or all, in every gateway and at the service. A user's
sessions from before are refused from then on; a new login works. Sessions of a tenant, or all, are refused only with
--end-sessions.`,
  )
  .addCommand(ofUser(revoke))
  .addCommand(revokeTenant)
  .addCommand(revokePolicy)
  .addCommand(revokeAll);

const unrevokeTenant = withReason('tenant')
  .summary('the sessions of a tenant')
  .argument('<client-id>')
  .action((tenant, { reason, url }) => send(unrevoke, { by: 'tenant', tenant, reason }, url));

const unrevokeAll = withReason('all')
  .summary('all sessions')
  .action(({ reason, url }) => send(unrevoke, { by: 'all', reason }, url));

export const unrevokeCommand = new Command()
  .description('Accepts sessions again that a revocation refuses. Tokens that were ended stay ended.')
  .addCommand(ofUser(unrevoke))
  .addCommand(unrevokeTenant)
  .addCommand(unrevokeAll);
