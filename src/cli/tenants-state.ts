/** `guestlist tenants suspend`, `resume` and `erase`: what the hooks of the host do, by hand. */
import { deleteTenant, readErasure, resumeTenant, suspendTenant } from '../gateway/lifecycle/commands.js';
import { listTenantsCommand } from '../gateway/provision/tenants-list.js';
import type { AnswerOf } from '../platform/http/interface/callable.js';
import { gatewayCommand, printJson, yesOption } from './kit/declare.js';
import { Exit, WrongCall } from './kit/exit.js';
import { tableText } from './kit/terminal.js';
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

const change = async (by: Change, clientId: string, { new: isNew, json, url }: Given) => {
  if (!isNew) await assertKnown(clientId, url);
  const { command, state: wanted } = changes[by];
  // Before the change: an erased tenant has no name.
  const names = json ? new Map<string, string>() : await readTenantNames([clientId], url);
  const tenant = tenantText(names, clientId);
  const result = await callGateway(command, { clientId }, url);
  const { state } = result;
  const text =
    state === wanted
      ? `${tenant} is ${state}`
      : `${tenant} is still ${state}: a hook with a later time, or a deletion, says so`;
  return { result, text };
};

type Report = AnswerOf<typeof readErasure>['reports'][number];

/** Each step of an erasure: what was deleted, and what is left. */
const reportText = ({ deletedAt, finishedAt, isComplete, steps }: Report): string => {
  const rows = steps.map(({ where, erased, left }) => [
    left.length === 0 ? 'done' : 'unfinished',
    where,
    Object.entries(erased)
      .map(([what, count]) => `${count} ${what}`)
      .join(', ') || 'nothing',
    left.join(', ') || 'nothing',
  ]);
  const end = finishedAt === null ? 'not finished: the gateway goes on with it' : `finished at ${finishedAt}`;
  const whole = isComplete || finishedAt === null ? '' : '; something is left';
  return `${tableText(['STATE', 'WHERE', 'ERASED', 'LEFT'], rows)}\nDeleted at ${deletedAt}, ${end}${whole}.`;
};

/** Erases the tenant, and prints the report of it in full. Throws as `changeState` does. */
const erase = async (clientId: string, given: Given): Promise<void> => {
  const { result, text } = await change('erase', clientId, given);
  const { reports } = await callGateway(readErasure, { clientId }, given.url);
  const [report] = reports;
  if (given.json) printJson({ ...result, report: report ?? null });
  else {
    console.log(text);
    if (report !== undefined) console.log(reportText(report));
  }
  if (result.state !== changes.erase.state || report?.isComplete === false) throw new Exit();
};

/** Throws OperatorError, and Exit if the tenant is not in the wanted state. */
const changeState = async (by: Change, clientId: string, given: Given): Promise<void> => {
  const { result, text } = await change(by, clientId, given);
  if (given.json) printJson(result);
  else console.log(text);
  if (result.state !== changes[by].state) throw new Exit();
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
    await erase(clientId, given);
  });
