/** `guestlist tenants suspend`, `resume` and `erase`: what the hooks of the host do, by hand. */
import { deleteTenant, resumeTenant, suspendTenant } from '../gateway/lifecycle/commands.js';
import { listTenantsCommand } from '../gateway/provision/tenants-list.js';
import { parseOptions } from './kit/options.js';
import { callGateway, OperatorError } from './operator.js';
import { WrongCall } from './wrong-call.js';

export const stateUsage = `  guestlist tenants suspend ID                refuse the tenant's users from now on; nothing is deleted
  guestlist tenants resume ID                 let the users of a suspended tenant in again
  guestlist tenants erase ID --yes            end the tenant's tokens and delete its dashboards, embeds and records.
                                              Cannot be undone: without --yes, nothing is done. --new: also a tenant
                                              that nobody has heard of yet`;

const changes = {
  suspend: { command: suspendTenant, state: 'suspended' },
  resume: { command: resumeTenant, state: 'active' },
  erase: { command: deleteTenant, state: 'deleted' },
} as const;
type Change = keyof typeof changes;

/** A misspelt id would store a tenant that nobody has, and leave the one that was meant as it is. */
const assertKnown = async (clientId: string, url: string | undefined): Promise<void> => {
  const { tenants } = await callGateway(listTenantsCommand, { clientId }, url);
  if (tenants.length > 0) return;
  throw new OperatorError(
    `The gateway knows no tenant "${clientId}". "guestlist tenants list" lists those that it knows; if this one is right, add --new.`,
  );
};

/** Answers the exit code. Throws WrongCall and OperatorError. */
const changeState = async (change: Change, args: readonly string[]): Promise<number> => {
  const { values, positionals } = parseOptions({
    args: [...args],
    allowPositionals: true,
    options: { yes: { type: 'boolean' }, new: { type: 'boolean' }, json: { type: 'boolean' }, url: { type: 'string' } },
  });
  const [clientId, ...others] = positionals;
  if (clientId === undefined || others.length > 0) {
    throw new WrongCall(`"tenants ${change}" takes the id of one tenant\n\n${stateUsage}`);
  }
  if (change === 'erase' && values.yes !== true) {
    throw new WrongCall(`erasing the tenant "${clientId}" cannot be undone. To erase it, add --yes`);
  }
  if (values.new !== true) await assertKnown(clientId, values.url);
  const { command, state: wanted } = changes[change];
  const result = await callGateway(command, { clientId }, values.url);
  const { state } = result;
  if (values.json === true) console.log(JSON.stringify(result, null, 2));
  else if (state === wanted) console.log(`${clientId} is ${state}`);
  else console.log(`${clientId} is still ${state}: a hook with a later time, or a deletion, says so`);
  return state === wanted ? 0 : 1;
};

export const tenantsSuspend = (args: readonly string[]): Promise<number> => changeState('suspend', args);
export const tenantsResume = (args: readonly string[]): Promise<number> => changeState('resume', args);
export const tenantsErase = (args: readonly string[]): Promise<number> => changeState('erase', args);
