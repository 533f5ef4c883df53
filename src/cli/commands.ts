/**
 * The table of commands. Each has its options and its code in a file that loads only when the command is called, so that
 * help and a start are fast: this file and what it imports must stay small.
 */
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { nearestName } from '../model/nearest-name.js';
import { WrongCall } from './kit/exit.js';

type Entry = {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<CommandUnknownOpts>;
};

const loadInit = async () => {
  const [{ initCommand }, { storedToken }] = await Promise.all([import('./init/init.js'), import('./operator.js')]);
  return initCommand((dataDir) => storedToken(dataDir, 'service'));
};

const loadPolicy = async () => {
  const [{ policyCommand }, { callGateway }, { configuredPolicies }, { systemClock }] = await Promise.all([
    import('./policy.js'),
    import('./operator.js'),
    import('../main.js'),
    import('../platform/work/time.js'),
  ]);
  return policyCommand({ configuredPolicies, callGateway, ...systemClock });
};

const resources = () => import('./resources.js');

export const commands: readonly Entry[] = [
  {
    name: 'serve',
    summary: 'run gateway and service, or one of them',
    load: async () => (await import('./serve.js')).serveCommand,
  },
  {
    name: 'init',
    summary: 'set up a folder for a database of yours, with a first dashboard',
    load: loadInit,
  },
  { name: 'policy', summary: 'try, explain and compare policies', load: loadPolicy },
  {
    name: 'session',
    summary: 'say what a session of the host is worth here',
    load: async () => (await import('./session.js')).sessionCommand,
  },
  {
    name: 'tenants',
    summary: 'tenants and their dashboards; suspend, resume or erase a tenant',
    load: async () => (await import('./tenants.js')).tenantsCommand,
  },
  {
    name: 'hooks',
    summary: 'try captured webhooks of login and billing providers',
    load: async () => (await import('./hooks.js')).hooksCommand,
  },
  {
    name: 'datasources',
    summary: 'databases that are connected, and their tables',
    load: async () => (await resources()).datasourcesCommand,
  },
  {
    name: 'datamarts',
    summary: 'tables and columns that metrics may read',
    load: async () => (await resources()).datamartsCommand,
  },
  {
    name: 'rollups',
    summary: 'sums that are kept beside the databases',
    load: async () => (await resources()).rollupsCommand,
  },
  {
    name: 'workspaces',
    summary: 'workspaces, which hold dashboards',
    load: async () => (await resources()).workspacesCommand,
  },
  {
    name: 'dashboards',
    summary: 'dashboards of a workspace, such as templates',
    load: async () => (await resources()).dashboardsCommand,
  },
  {
    name: 'data-apps',
    summary: 'data apps, each with its own API keys and embeds',
    load: async () => (await resources()).dataAppsCommand,
  },
  {
    name: 'keys',
    summary: 'API keys of a data app; reseal: stored secrets',
    load: async () => (await resources()).keysCommand,
  },
  {
    name: 'service-tokens',
    summary: 'credentials of operators at the service',
    load: async () => (await resources()).serviceTokensCommand,
  },
  {
    name: 'guest-tokens',
    summary: 'guest tokens of the data app of GUESTLIST_API_KEY',
    load: async () => (await resources()).guestTokensCommand,
  },
  {
    name: 'pull',
    summary: 'write datamarts, dashboards, embeds and policy into YAML files',
    load: async () => (await import('./definitions.js')).pullCommand,
  },
  {
    name: 'plan',
    summary: 'say what push would create and change',
    load: async () => (await import('./definitions.js')).planCommand,
  },
  {
    name: 'push',
    summary: 'create and change what the files of a folder describe',
    load: async () => (await import('./definitions.js')).pushCommand,
  },
  {
    name: 'model',
    summary: 'compare a datamart with its database, and take over what has changed',
    load: async () => (await import('./model-sync.js')).modelCommand,
  },
  {
    name: 'tenancy',
    summary: 'show which tenant the rows of each table belong to, and why',
    load: async () => (await import('./tenancy.js')).tenancyCommand,
  },
  {
    name: 'revoke',
    summary: 'revoke tokens at the gateway and at the service',
    load: async () => (await import('./revoke.js')).revokeCommand,
  },
  {
    name: 'unrevoke',
    summary: 'accept sessions again that a revocation refuses',
    load: async () => (await import('./revoke.js')).unrevokeCommand,
  },
  {
    name: 'audit',
    summary: 'verify the audit chain or its archive, or export it',
    load: async () => (await import('./audit.js')).auditCommand,
  },
  {
    name: 'hold',
    summary: 'keep what is of a tenant beyond its time, and end that',
    load: async () => (await import('./hold.js')).holdCommand,
  },
  {
    name: 'retention',
    summary: 'say what is old enough to be deleted, and what holds keep',
    load: async () => (await import('./retention.js')).retentionCommand,
  },
  {
    name: 'usage',
    summary: 'say what each tenant used, by hour, day or month',
    load: async () => (await import('./usage.js')).usageCommand,
  },
  {
    name: 'running',
    summary: 'say what runs now in all processes, and end it',
    load: async () => (await import('./running.js')).runningCommand,
  },
  {
    name: 'move',
    summary: 'move the metadata from the data folder to PostgreSQL, or back',
    load: async () => (await import('./move.js')).moveCommand,
  },
  {
    name: 'backup',
    summary: 'write everything into one sealed file, while Guestlist runs',
    load: async () => (await import('./backup.js')).backupCommand,
  },
  {
    name: 'restore',
    summary: 'restore a backup into an empty installation',
    load: async () => (await import('./backup.js')).restoreCommand,
  },
  {
    name: 'step-down',
    summary: 'let the previous release start on the tables of this one',
    load: async () => (await import('./step-down.js')).stepDownCommand,
  },
  {
    name: 'rotate',
    summary: 'replace the secrets of an installation while it serves, step by step',
    load: async () => (await import('./rotate.js')).rotateCommand,
  },
  {
    name: 'export-tenant',
    summary: 'write what one tenant has into one sealed file',
    load: async () => (await import('./tenant-file.js')).exportTenantCommand,
  },
  {
    name: 'import-tenant',
    summary: 'import the file of a tenant, here or under another id',
    load: async () => (await import('./tenant-file.js')).importTenantCommand,
  },
  {
    name: 'doctor',
    summary: 'say what is wrong with an installation, and how it is mended',
    load: async () => (await import('./doctor.js')).doctorCommand,
  },
  {
    name: 'studio-link',
    summary: 'print a link that logs in to Studio, once',
    load: async () => (await import('./studio-link.js')).studioLinkCommand,
  },
  {
    name: 'operator-key',
    summary: 'keys with which assistants of operators call /studio/mcp',
    load: async () => (await import('./operator-key.js')).operatorKeyCommand,
  },
  {
    name: 'mail',
    summary: 'send a test message with the configured mail server',
    load: async () => (await import('./mail.js')).mailCommand,
  },
  {
    name: 'conformance',
    summary: 'check a server against the interface specification',
    load: async () => (await import('./conformance.js')).conformanceCommand,
  },
  {
    name: 'completion',
    summary: 'print a completion script for a shell',
    load: async () => (await import('./completion.js')).completionCommand(loadCommands),
  },
];

/** Loads the declaration and the code of a command. */
export const loadCommand = async ({ name, summary, load }: Entry): Promise<CommandUnknownOpts> =>
  (await load()).name(name).summary(summary);

export const loadCommands = (): Promise<readonly CommandUnknownOpts[]> => Promise.all(commands.map(loadCommand));

export const exitCodes =
  'Exit codes: 0 for success, 1 if the command failed or found a fault, 2 if it was called wrongly.';

const nameWidth = Math.max(...commands.map(({ name }) => name.length));

/** The text of `guestlist help`. */
export const helpText = (): string => `guestlist: embedded analytics that shows each customer only their own data

${commands.map(({ name, summary }) => `  guestlist ${name.padEnd(nameWidth)}  ${summary}`).join('\n')}

  guestlist help COMMAND        the options of a command; the same as guestlist COMMAND --help
  guestlist help variables      the environment variables of all settings and secrets
  guestlist --version           the version

${exitCodes} The configuration is
guestlist.yaml in this folder with guestlist.env beside it, the file that GUESTLIST_CONFIG names, or the demo's.`;

/** Throws WrongCall, with the command that was probably meant. */
export const findCommand = (name: string): Entry => {
  const found = commands.find((each) => each.name === name);
  if (found !== undefined) return found;
  const names = commands.map((each) => each.name);
  const near = nearestName(name, names);
  const hint = near === undefined ? `The commands are ${names.join(', ')}.` : `Did you mean "${near}"?`;
  throw new WrongCall(`there is no command "${name}". ${hint}\nSee guestlist help.`);
};
