/** `guestlist tenants suspend`, `resume` and `erase`: what the hooks of the host do, by hand. */
import { deleteTenant, resumeTenant, suspendTenant } from '../gateway/lifecycle/commands.js';
import { listTenantsCommand } from '../gateway/provision/tenants-list.js';
import { gatewayCommand, printJson, yesOption } from './kit/declare.js';
import { Exit, WrongCall } from './kit/exit.js';
import { callGateway, OperatorError } from './operator.js';
import { readTenantNames, tenantText } from './tenant-names.js';

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

type Given = { readonly new?: true; readonly json?: true; readonly url?: string };

/** Throws OperatorError, and Exit if the tenant is not in the wanted state. */
const changeState = async (change: Change, clientId: string, { new: isNew, json, url }: Given): Promise<void> => {
  if (!isNew) await assertKnown(clientId, url);
  const { command, state: wanted } = changes[change];
  // Before the change: an erased tenant has no name.
  const names = json ? new Map<string, string>() : await readTenantNames([clientId], url);
  const tenant = tenantText(names, clientId);
  const result = await callGateway(command, { clientId }, url);
  const { state } = result;
  if (json) printJson(result);
  else if (state === wanted) console.log(`${tenant} is ${state}`);
  else console.log(`${tenant} is still ${state}: a hook with a later time, or a deletion, says so`);
  if (state !== wanted) throw new Exit();
};

const stateCommand = (change: Change, summary: string) =>
  gatewayCommand(change)
    .summary(summary)
    .argument('<id>')
    .option('--new', 'also a tenant that the gateway does not know yet');

export const tenantsSuspend = stateCommand(
  'suspend',
  "refuse the tenant's users from now on; nothing is deleted",
).action((clientId, given) => changeState('suspend', clientId, given));

export const tenantsResume = stateCommand('resume', 'let the users of a suspended tenant in again').action(
  (clientId, given) => changeState('resume', clientId, given),
);

export const tenantsErase = stateCommand(
  'erase',
  "end the tenant's tokens and delete its dashboards, embeds and records",
)
  .addOption(yesOption)
  .action(async (clientId, { yes, ...given }) => {
    if (!yes) throw new WrongCall(`erasing the tenant "${clientId}" cannot be undone. To erase it, add --yes`);
    await changeState('erase', clientId, given);
  });
