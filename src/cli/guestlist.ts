/** The command line. It parses arguments, calls the same functions as the servers, and prints. */
import { parseArgs } from 'node:util';
import { runConformance } from '../conformance/conformance.js';
import { configuredPolicies, serve } from '../main.js';
import { runAudit } from './audit.js';
import { revoke, unrevoke } from './revoke.js';
import { WrongCall } from './wrong-call.js';

const usage = `guestlist: embedded analytics that shows each customer only their own data

  guestlist serve [--only gateway|service]   run gateway and service, or one of them
                  [--accept-loss]            start although the embedded database lost acknowledged writes;
                                             use it only after a start said so
  guestlist policy test|explain|plan|schema ...
                                             test, explain and compare policies; each has --help
  guestlist conformance --base-url URL ...   check a server against the interface; see --help
  guestlist revoke user|tenant|policy|all ...
                                             revoke tokens at the gateway and at the service; see --help
  guestlist unrevoke user|tenant|all ...     accept sessions again that a revocation refuses
  guestlist audit verify|export              verify that the audit chain is complete and unmodified, or export it
  guestlist tenants list|provision|plan|apply|rollback ...
                                             list tenants, create their dashboards, roll out changed templates;
                                             each has --help
  guestlist tenancy DATAMART                 show which tenant the rows of each table belong to, and why;
                                             exit code 1 if a table cannot be read
  guestlist --help                           this text

The configuration is config/guestlist.yaml, or the file that GUESTLIST_CONFIG names.`;

const help = async (): Promise<string> => {
  // Loaded here only: building the list would slow every other command.
  const { renderVariables } = await import('./reference.js');
  return `${usage}\n\n${renderVariables()}`;
};

const refuse = (message: string): void => {
  console.error(`guestlist: ${message}\n\n${usage}`);
  process.exitCode = 2;
};

/** The first Ctrl-C ends the run, which then removes what it created; the second ends the process. */
const conformance = async (args: readonly string[]): Promise<void> => {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  process.exitCode = await runConformance(args, console, stop.signal);
};

const policy = async (args: readonly string[]): Promise<void> => {
  const [{ runPolicy }, { callGateway }] = await Promise.all([import('./policy.js'), import('./operator.js')]);
  process.exitCode = await runPolicy(args, console, { configuredPolicies, callGateway, now: () => new Date() });
};

const run = async (): Promise<void> => {
  const [first, ...others] = process.argv.slice(2);
  if (first === 'conformance') return conformance(others);
  if (first === 'revoke') return revoke(others);
  if (first === 'unrevoke') return unrevoke(others);
  if (first === 'policy') return policy(others);
  if (first === 'audit') {
    process.exitCode = await runAudit(others);
    return;
  }
  if (first === 'tenants') {
    const { runTenants } = await import('./tenants.js');
    process.exitCode = await runTenants(others);
    return;
  }
  if (first === 'tenancy') {
    const { runTenancy } = await import('./tenancy.js');
    process.exitCode = await runTenancy(others);
    return;
  }
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { only: { type: 'string' }, 'accept-loss': { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
  });
  const [command, ...rest] = positionals;
  if (values.help === true || command === undefined) {
    console.log(await help());
    return;
  }
  if (command !== 'serve' || rest.length > 0) return refuse(`unknown command "${positionals.join(' ')}"`);
  if (values.only !== undefined && values.only !== 'gateway' && values.only !== 'service') {
    return refuse(`--only must be "gateway" or "service", not "${values.only}"`);
  }
  await serve({
    gateway: values.only !== 'service',
    service: values.only !== 'gateway',
    acceptsLoss: values['accept-loss'] ?? false,
  });
};

try {
  await run();
} catch (error) {
  console.error(`guestlist: ${error instanceof Error ? error.message : String(error)}`);
  const isUnknownFlag =
    error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
  process.exitCode = isUnknownFlag || error instanceof WrongCall ? 2 : 1;
}
