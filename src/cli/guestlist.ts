/** The command line: thin, over the same functions as everything else. */
import { parseArgs } from 'node:util';
import { runConformance } from '../conformance/conformance.js';
import { configuredPolicies, serve } from '../main.js';
import { runAudit } from './audit.js';
import { revoke, unrevoke } from './revoke.js';
import { WrongCall } from './wrong-call.js';

const usage = `guestlist: embedded analytics, each customer their own numbers

  guestlist serve [--only gateway|service]   run both halves, or one of them
                  [--accept-loss]            go on without what the embedded database lost, once a start said so
  guestlist policy test|explain|plan|schema ...
                                             try, explain and compare policies; --help says more
  guestlist conformance --base-url URL ...   check a server against the interface; --help says more
  guestlist revoke user|tenant|policy|all ... end tokens everywhere; --help says more
  guestlist unrevoke user|tenant|all ...     accept sessions again that a revocation refused
  guestlist audit verify|export              is the record of the gateway whole, and what is in it
  guestlist tenants list|provision|plan|apply|rollback ...
                                             who there is, what is made for them, a changed template; --help says more
  guestlist tenancy DATAMART                 whose the rows of each table are, and why; ends with 1 where a table cannot be read
  guestlist --help                           this text

Settings: config/guestlist.yaml, or the file that GUESTLIST_CONFIG names.`;

const refuse = (message: string): void => {
  console.error(`guestlist: ${message}\n\n${usage}`);
  process.exitCode = 2;
};

/** The first Ctrl-C ends the run, which then removes what it made; another ends the process. */
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
    console.log(usage);
    return;
  }
  if (command !== 'serve' || rest.length > 0) return refuse(`there is no command "${positionals.join(' ')}"`);
  if (values.only !== undefined && values.only !== 'gateway' && values.only !== 'service') {
    return refuse(`--only takes "gateway" or "service", not "${values.only}"`);
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
