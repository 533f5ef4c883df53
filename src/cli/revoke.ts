/** `guestlist revoke` and `guestlist unrevoke`: what a running gateway is told to end, and to accept again. */
import { revoke as revokeCommand, unrevoke as unrevokeCommand } from '../gateway/revocation/commands.js';
import { parseOptions } from './kit/options.js';
import { callGateway } from './operator.js';
import { unknownSubcommand, WrongCall } from './wrong-call.js';

const usage = `guestlist revoke user <subject> --issuer ISS | --no-issuer [--tenant ID] --reason TEXT
guestlist revoke tenant <clientId> [--end-sessions] --reason TEXT
guestlist revoke policy [<digest>] --reason TEXT
guestlist revoke all [--end-sessions] --reason TEXT
guestlist unrevoke user|tenant|all ...     the same way

Ends every guest token of a user (in one tenant, or in all), of a tenant, of the policy in force, or all, in every gateway and at the
service. A user's sessions from before are refused from then on; a new login works. Sessions of a tenant, or all, are refused
where --end-sessions says so. unrevoke accepts such sessions again; tokens stay ended.
  --url URL   the gateway; left out: where the configuration says that it listens`;

const options = {
  issuer: { type: 'string' },
  'no-issuer': { type: 'boolean' },
  tenant: { type: 'string' },
  'end-sessions': { type: 'boolean' },
  reason: { type: 'string' },
  url: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

const parse = (args: readonly string[]) => parseOptions({ args: [...args], allowPositionals: true, options });
type Values = ReturnType<typeof parse>['values'];

const refuse = (message: string): never => {
  throw new WrongCall(`${message}\n\n${usage}`);
};

const issuerOf = (values: Values): string | null => {
  if (values.issuer !== undefined) return values.issuer;
  return values['no-issuer'] === true
    ? null
    : refuse('name the issuer of the user: --issuer, or --no-issuer where sessions have none');
};

const kindsOf = { revoke: ['user', 'tenant', 'policy', 'all'], unrevoke: ['user', 'tenant', 'all'] } as const;

/** What the gateway is sent; whether it makes sense is for the gateway to say. */
const inputOf = (by: string, subject: string | undefined, values: Values): Record<string, unknown> => {
  const reason = values.reason ?? refuse('give --reason: it is kept in the audit');
  const ends = values['end-sessions'] === true ? { endsSessions: true } : {};
  switch (by) {
    case 'user':
      return {
        by,
        subject: subject ?? refuse('name the user'),
        issuer: issuerOf(values),
        ...(values.tenant === undefined ? {} : { tenant: values.tenant }),
        ...ends,
        reason,
      };
    case 'tenant':
      return { by, tenant: subject ?? refuse('name the tenant'), ...ends, reason };
    case 'policy':
      return { by, ...(subject === undefined ? {} : { digest: subject }), ...ends, reason };
    default:
      return { by, ...ends, reason };
  }
};

const run = async (command: typeof revokeCommand | typeof unrevokeCommand, args: readonly string[]): Promise<void> => {
  const { values, positionals } = parse(args);
  if (values.help === true) {
    console.log(usage);
    return;
  }
  const [by = '', subject, ...rest] = positionals;
  const kinds: readonly string[] = kindsOf[command.name];
  if (!kinds.includes(by)) throw unknownSubcommand(command.name, by, kinds, usage);
  if (rest.length > 0) refuse(`there is too much: ${rest.join(' ')}`);
  const answer = await callGateway(command, inputOf(by, subject, values), values.url);
  const revoked = 'revoked' in answer ? answer.revoked : null;
  console.log(revoked === null ? answer.message : `${answer.message} Tokens that worked until now: ${revoked}.`);
};

/** Rejects with OperatorError or WrongCall, whose messages are for the terminal. */
export const revoke = (args: readonly string[]): Promise<void> => run(revokeCommand, args);
export const unrevoke = (args: readonly string[]): Promise<void> => run(unrevokeCommand, args);
