/** `guestlist tenants`: which function each of its commands is. */
import { templateUsage, tenantsCheck, tenantsHistory } from './tenants-history.js';
import { tenantsList } from './tenants-list.js';
import { tenantsPlan } from './tenants-plan.js';
import { tenantsProvision } from './tenants-provision.js';
import { rolloutUsage, tenantsApply, tenantsRollback, tenantsRollouts } from './tenants-rollout.js';
import { stateUsage, tenantsErase, tenantsResume, tenantsSuspend } from './tenants-state.js';
import { unknownSubcommand } from './wrong-call.js';

export const tenantsUsage = `guestlist tenants: the tenants of a running gateway

  guestlist tenants list [--tenant ID] [--state active|suspended|deleted]
                         [--outcome complete|failed|unfinished|none] [--template T] [--version V]
                         [--limit N] [--after CURSOR]
                                             who there is, and what there is of their dashboards
  guestlist tenants provision --all [--after CURSOR] | ID ... | --file PATH|-
                         [--new] [--template T ...] [--parallel N]
                                             make what is missing; left out, the templates are those of the policy's
                                             onSignUp. --file: one tenant a line, - is standard input. --new: also tenants
                                             that nobody has heard of yet. Ends with a summary, and 1 where one is not
                                             complete. Safe to repeat
${templateUsage}
${rolloutUsage}
${stateUsage}
All take --json, and --url, where the gateway is.`;

/** Each answers the exit code. */
const commands: Readonly<Record<string, (args: readonly string[]) => Promise<number>>> = {
  list: tenantsList,
  provision: tenantsProvision,
  history: tenantsHistory,
  check: tenantsCheck,
  plan: tenantsPlan,
  apply: tenantsApply,
  rollback: tenantsRollback,
  rollouts: tenantsRollouts,
  suspend: tenantsSuspend,
  resume: tenantsResume,
  erase: tenantsErase,
};

/** Runs one of them. Answers the exit code; throws WrongCall. */
export const runTenants = async ([name = '', ...args]: readonly string[]): Promise<number> => {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  const isHelp = [name, ...args].some((word) => word === '--help' || word === '-h');
  if (command !== undefined && !isHelp) return command(args);
  if (isHelp) console.log(tenantsUsage);
  else throw unknownSubcommand('tenants', name, Object.keys(commands), tenantsUsage);
  return 0;
};
