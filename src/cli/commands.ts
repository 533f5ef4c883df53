/**
 * The table of commands. Each loads its code only when it runs, so that help and completion start at once: this file
 * and what it imports must stay small.
 */
import { nearestName } from '../domain/nearest-name.js';
import { type ResourceName, resourceNames, resourceWords } from './resource-names.js';
import { WrongCall } from './wrong-call.js';

export type Command = {
  readonly name: string;
  /** What follows the name in the list of commands. */
  readonly usage: string;
  readonly summary: string;
  readonly subcommands: readonly string[];
  /** Returns the exit code. Throws WrongCall. `--help` prints the command's own text. */
  readonly run: (args: readonly string[]) => Promise<number>;
};

/** The first Ctrl-C ends the run, which then removes what it created; the second ends the process. */
const runConformanceUntilSignal = async (args: readonly string[]): Promise<number> => {
  const [{ runConformance }, { parseOptions }] = await Promise.all([
    import('../conformance/conformance.js'),
    import('./kit/options.js'),
  ]);
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  return runConformance(args, console, stop.signal, parseOptions);
};

const runPolicyCommand = async (args: readonly string[]): Promise<number> => {
  const [{ runPolicy }, { callGateway }, { configuredPolicies }, { systemClock }] = await Promise.all([
    import('./policy.js'),
    import('./operator.js'),
    import('../main.js'),
    import('../platform/clock.js'),
  ]);
  return runPolicy(args, console, { configuredPolicies, callGateway, ...systemClock });
};

const runInitCommand = async (args: readonly string[]): Promise<number> => {
  const [{ runInit }, { storedToken }] = await Promise.all([import('./init/init.js'), import('./operator.js')]);
  return runInit(args, (dataDir) => storedToken(dataDir, 'service'));
};

/** Of the commands that answer nothing but their text. */
const exitsGood = async (run: Promise<void>): Promise<number> => {
  await run;
  return 0;
};

/** `keys reseal` is about the encryption keys, and works on the database instead of the running service. */
const runOnResource = async (name: ResourceName, args: readonly string[]): Promise<number> =>
  name === 'keys' && args[0] === 'reseal'
    ? (await import('./reseal.js')).runReseal(args.slice(1))
    : (await import('./resources.js')).runResource(name, args);

const command = (
  name: string,
  usage: string,
  summary: string,
  run: Command['run'],
  subcommands: readonly string[] = [],
): Command => ({ name, usage, summary, subcommands, run });

export const commands: readonly Command[] = [
  command('serve', '[--only gateway|service]', 'run gateway and service, or one of them', async (args) =>
    (await import('./serve.js')).runServe(args),
  ),
  command(
    'init',
    '[--database URL] ...',
    'set up a folder for a database of yours, with a first dashboard',
    runInitCommand,
  ),
  command('policy', 'COMMAND ...', 'test, explain, plan, schema: test and compare policies', runPolicyCommand, [
    'test',
    'explain',
    'plan',
    'schema',
  ]),
  command(
    'tenants',
    'COMMAND ...',
    'tenants and their dashboards; suspend, resume or erase a tenant',
    async (args) => (await import('./tenants.js')).runTenants(args),
    ['list', 'provision', 'history', 'check', 'plan', 'apply', 'rollback', 'rollouts', 'suspend', 'resume', 'erase'],
  ),
  ...resourceNames.map((name) =>
    command(
      name,
      'COMMAND ...',
      resourceWords[name].summary,
      (args) => runOnResource(name, args),
      name === 'keys' ? [...resourceWords.keys.subcommands, 'reseal'] : resourceWords[name].subcommands,
    ),
  ),
  command('pull', '[FOLDER]', 'write datamarts, dashboards, embeds and policy into YAML files', async (args) =>
    (await import('./definitions.js')).runDefinitions('pull', args),
  ),
  command('plan', '[FOLDER]', 'say what push would create and change', async (args) =>
    (await import('./definitions.js')).runDefinitions('plan', args),
  ),
  command('push', '[FOLDER]', 'create and change what the files of a folder describe', async (args) =>
    (await import('./definitions.js')).runDefinitions('push', args),
  ),
  command('tenancy', 'DATAMART', 'show which tenant the rows of each table belong to, and why', async (args) =>
    (await import('./tenancy.js')).runTenancy(args),
  ),
  command(
    'revoke',
    'user|tenant|policy|all ...',
    'revoke tokens at the gateway and at the service',
    async (args) => exitsGood((await import('./revoke.js')).revoke(args)),
    ['user', 'tenant', 'policy', 'all'],
  ),
  command(
    'unrevoke',
    'user|tenant|all ...',
    'accept sessions again that a revocation refuses',
    async (args) => exitsGood((await import('./revoke.js')).unrevoke(args)),
    ['user', 'tenant', 'all'],
  ),
  command(
    'audit',
    'verify|export ...',
    'verify the audit chain, or export it',
    async (args) => (await import('./audit.js')).runAudit(args),
    ['verify', 'export'],
  ),
  command('studio-link', '[--url URL]', 'print a link that logs in to Studio, once', async (args) =>
    exitsGood((await import('./studio-link.js')).runStudioLink(args)),
  ),
  command(
    'operator-key',
    'create|list|end ...',
    'keys with which assistants of operators call /studio/mcp',
    async (args) => exitsGood((await import('./operator-key.js')).runOperatorKey(args)),
    ['create', 'list', 'end'],
  ),
  command(
    'conformance',
    '--base-url URL ...',
    'check a server against the interface specification',
    runConformanceUntilSignal,
  ),
  command(
    'completion',
    'bash|zsh|fish',
    'print a completion script for a shell',
    async (args) => (await import('./completion.js')).runCompletion(args, commands),
    ['bash', 'zsh', 'fish'],
  ),
];

const nameWidth = Math.max(...commands.map(({ name, usage }) => name.length + usage.length)) + 1;

/** The text of `guestlist help`. */
export const helpText = (): string => {
  const lines = commands.map(
    ({ name, usage, summary }) => `  guestlist ${`${name} ${usage}`.padEnd(nameWidth)}  ${summary}`,
  );
  return `guestlist: embedded analytics that shows each customer only their own data

${lines.join('\n')}

  guestlist help COMMAND        the options of a command; the same as guestlist COMMAND --help
  guestlist help variables      the environment variables of all settings and secrets
  guestlist --version           the version

Exit codes: 0 for success, 1 if the command failed or found a fault, 2 if it was called wrongly. The configuration is
guestlist.yaml in this folder with guestlist.env beside it, the file that GUESTLIST_CONFIG names, or the demo's.`;
};

/** Throws WrongCall, with the command that was probably meant. */
export const findCommand = (name: string): Command => {
  const found = commands.find((each) => each.name === name);
  if (found !== undefined) return found;
  const names = commands.map((each) => each.name);
  const near = nearestName(name, names);
  const hint = near === undefined ? `The commands are ${names.join(', ')}` : `Did you mean "${near}"`;
  throw new WrongCall(`there is no command "${name}". ${hint}${near === undefined ? '.' : '?'}\nSee guestlist help.`);
};
