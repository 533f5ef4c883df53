/** The command `guestlist policy`: reads its arguments and files, and prints; the rest is the gateway's. */
import { dirname, isAbsolute, relative } from 'node:path';
import { z } from 'zod';
import { Refusal } from '../domain/refusal.js';
import type { InputOf } from '../gateway/common/admin-command.js';
import { decodeBody } from '../gateway/common/wire.js';
import { loadPolicyFile } from '../gateway/policy/load.js';
import type { UnknownName } from '../gateway/policy/names.js';
import { PolicyFaults } from '../gateway/policy/source.js';
import { checkPolicyNames } from '../gateway/policy-names/name-check.js';
import { ConfigError } from '../platform/config.js';
import { explainGrant } from '../policy-tools/explain.js';
import { explainPolicy } from '../policy-tools/explain-command.js';
import { writeExplanation } from '../policy-tools/explain-text.js';
import { isFolder, listTestFiles, loadEach, loadPolicies, readInput } from '../policy-tools/files.js';
import { policyJsonSchema, tenantFileJsonSchema, writeJsonSchema } from '../policy-tools/json-schema.js';
import { unknownNamesOf, writeUnknownNames } from '../policy-tools/name-report.js';
import { type FailOn, failConditions, isStopped, pairPolicies, planPolicies, writePlan } from '../policy-tools/plan.js';
import { readSample } from '../policy-tools/sample.js';
import { countFailed, runPolicyTests, type TestReport, writeTestReport } from '../policy-tools/test.js';
import { loadPolicyTestFile } from '../policy-tools/test-file.js';
import { parseOptions } from './kit/options.js';
import type { callGateway } from './operator.js';
import { unknownSubcommand, WrongCall } from './wrong-call.js';

export type Output = { readonly log: (text: string) => void; readonly error: (text: string) => void };
export type PolicyCommandOptions = {
  /** The path of the configured policy; undefined without a configuration. */
  readonly configuredPolicies: () => string | undefined;
  readonly callGateway: typeof callGateway;
  readonly now: () => Date;
};

const policyUsage = `guestlist policy: try, explain and compare policies

  guestlist policy test [FILE|FOLDER ...]    run tests, such as flights.test.yaml beside flights.yaml;
                                             left out: those beside the configured policy
    --cover                                  fail also where a rule or restriction matches in no test
    --url URL                                the gateway whose service must have the names of filters, metrics, templates
                                             and embeds; left out: the configured one, and a warning if none answers
    --json

  guestlist policy explain --as CLAIMS.json  what a session with these claims gets, and which line is the reason
    --policy FILE                            left out: the configured one
    --tenant T  --embeds E (several times)  --timezone Z      the fields of the request's body
    --lookup TENANT (several times)          what the host answers, where the policy asks it for tenants
    --now TIME                               ISO 8601; left out: now
    --url URL                                ask the gateway that runs there: its policy, and the metrics that only it knows
    --json
  guestlist policy explain --request ID      the same for a request that was answered earlier, by its X-Request-Id
    --url URL                                the gateway; left out: where the configuration says that it listens
    --json

  guestlist policy plan OLD NEW --users SAMPLE.jsonl          who gains and who loses what
    OLD, NEW                                 policy files, or folders of them
    --users FILE                             JSON lines: the claims of a session, or {"claims", "body", "lookup", "now"}
    --fail-on loss|gain|any                  end with 1 where a user loses, gains, or gets anything else
    --now TIME                               ISO 8601; left out: now
    --json

  guestlist policy schema [--tenant-files]   the JSON Schema of a policy, or of a file of tenants' overrides, for editors

CLAIMS.json and SAMPLE.jsonl may be "-", the standard input.
Ends with 0; with 1 where a test fails, there is no test, the service lacks a name, or --fail-on finds what it names; with 2 where a file is faulty or it was
called wrongly. "explain" ends with 0 for a denial too: that is an explanation.`;

/** As the caller would write it. */
const shown = (path: string): string => {
  const near = relative('.', path);
  return near === '' || near.startsWith('..') || isAbsolute(near) ? path : near;
};

/** The demo's policy must not stand in for one that was not found. Throws WrongCall. */
const findConfigured = ({ configuredPolicies }: PolicyCommandOptions, instead: string): string => {
  const path = configuredPolicies();
  if (path !== undefined) return shown(path);
  throw new WrongCall(`this folder has no guestlist.yaml, and GUESTLIST_CONFIG names no other: ${instead}`);
};

const readMoment = (text: string | undefined, now: () => Date): Date => {
  if (text === undefined) return now();
  if (!z.iso.datetime({ offset: true }).safeParse(text).success) {
    throw new WrongCall(`--now takes a time such as 2026-01-31T09:00:00Z, not "${text}"`);
  }
  return new Date(text);
};

const json = (value: unknown): string => JSON.stringify(value, null, 2);

type Run = (args: readonly string[], output: Output, options: PolicyCommandOptions) => Promise<number>;

type Names = { readonly unknown: readonly UnknownName[] } | { readonly unchecked: string };

/** Without `--url`, tests also run where no gateway does: then the names are not checked, and a warning says so. */
const checkNames = async (
  { policies }: TestReport,
  { callGateway }: PolicyCommandOptions,
  url: string | undefined,
): Promise<Names> => {
  try {
    return { unknown: await unknownNamesOf(policies.values(), (input) => callGateway(checkPolicyNames, input, url)) };
  } catch (error) {
    if (url !== undefined || !(error instanceof Error)) throw error;
    return { unchecked: error.message };
  }
};

const runTests: Run = async (args, output, options) => {
  const { values, positionals } = parseOptions({
    args: [...args],
    allowPositionals: true,
    options: { cover: { type: 'boolean' }, json: { type: 'boolean' }, url: { type: 'string' } },
  });
  const beside = (): string => {
    const policies = findConfigured(options, 'name a file or a folder of tests');
    return isFolder(policies) ? policies : dirname(policies);
  };
  const paths = positionals.length === 0 ? [beside()] : positionals;
  const files = loadEach(listTestFiles(paths), loadPolicyTestFile);
  if (files.length === 0) {
    output.error(`guestlist: no policy test in ${paths.join(', ')}: tests are in files such as flights.test.yaml`);
    return 1;
  }
  const report = await runPolicyTests(files);
  const names = await checkNames(report, options, values.url);
  const { policies: _, ...results } = report;
  output.log(values.json === true ? json({ ...results, names }) : writeTestReport(report));
  if ('unchecked' in names)
    output.error(`guestlist: the names of filters, metrics, templates and embeds were not checked: ${names.unchecked}`);
  const unknown = 'unknown' in names ? names.unknown : [];
  if (unknown.length > 0 && values.json !== true) output.log(`\n${writeUnknownNames(unknown)}`);
  const isUncovered = values.cover === true && report.untried.length > 0;
  return countFailed(report) > 0 || isUncovered || unknown.length > 0 ? 1 : 0;
};

const readClaims = (path: string): Readonly<Record<string, unknown>> => {
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(readInput(path)));
  } catch (error) {
    if (error instanceof PolicyFaults) throw error;
    throw new PolicyFaults([{ at: `${path}:1:1`, message: 'is no JSON object of claims' }]);
  }
};

const explainFlags = {
  as: { type: 'string' },
  policy: { type: 'string' },
  tenant: { type: 'string' },
  embeds: { type: 'string', multiple: true },
  timezone: { type: 'string' },
  lookup: { type: 'string', multiple: true },
  now: { type: 'string' },
  url: { type: 'string' },
  request: { type: 'string' },
  json: { type: 'boolean' },
} as const;

const runExplain: Run = async (args, output, options) => {
  const { callGateway, now } = options;
  const { values } = parseOptions({ args: [...args], options: explainFlags });
  const { as, policy, tenant, embeds, timezone, lookup, url, request } = values;
  const ask = (input: InputOf<typeof explainPolicy>) => callGateway(explainPolicy, input, url);
  const explain = async () => {
    if (request !== undefined) {
      const other = Object.keys(values).find((name) => !['request', 'url', 'json'].includes(name));
      if (other !== undefined) throw new WrongCall(`--${other} has no place beside --request, which was made already`);
      return ask({ request });
    }
    if (as === undefined) throw new WrongCall('--as takes a file with the claims of a session');
    if (url !== undefined && policy !== undefined)
      throw new WrongCall('--policy has no place beside --url: it has its own');
    if (url !== undefined && lookup !== undefined)
      throw new WrongCall('--lookup has no place beside --url: the gateway there asks the host');
    const body = decodeBody(
      Object.fromEntries(Object.entries({ tenant, embeds, timezone }).filter(([, value]) => value !== undefined)),
    );
    const moment = readMoment(values.now, now);
    const claims = readClaims(as);
    if (url !== undefined) return ask({ claims, body, ...(values.now === undefined ? {} : { now: values.now }) });
    const loaded = loadPolicyFile(policy ?? findConfigured(options, 'name a policy by --policy'));
    const explanation = await explainGrant({ policy: loaded, of: { claims, body, now: moment, lookup } });
    return { explanation, text: writeExplanation(explanation) };
  };
  const { explanation, text } = await explain();
  output.log(values.json === true ? json(explanation) : text);
  return 0;
};

const readFailOn = (text: string | undefined): FailOn | undefined => {
  const known = failConditions.find((condition) => condition === text);
  if (text !== undefined && known === undefined) {
    throw new WrongCall(`--fail-on takes ${failConditions.join(', ')}, not "${text}"`);
  }
  return known;
};

const runPlan: Run = async (args, output, { now }) => {
  const { values, positionals } = parseOptions({
    args: [...args],
    allowPositionals: true,
    options: {
      users: { type: 'string' },
      'fail-on': { type: 'string' },
      now: { type: 'string' },
      json: { type: 'boolean' },
    },
  });
  const [before, after, ...others] = positionals;
  if (before === undefined || after === undefined || others.length > 0) {
    throw new WrongCall('"plan" takes two policies, or two folders of them: the old and the new');
  }
  if (values.users === undefined) throw new WrongCall('--users takes a file of sample users, as JSON lines');
  if (isFolder(before) !== isFolder(after))
    throw new WrongCall('"plan" takes two files or two folders, not one of each');
  const failOn = readFailOn(values['fail-on']);
  const users = readSample(readInput(values.users), values.users, readMoment(values.now, now));
  const pairs = pairPolicies(loadPolicies(before), loadPolicies(after));
  if (pairs.length === 0) throw new WrongCall(`there is no policy in ${before}, and none in ${after}`);
  const plan = await planPolicies(pairs, users);
  output.log(values.json === true ? json(plan) : writePlan(plan));
  return failOn !== undefined && isStopped(plan, failOn) ? 1 : 0;
};

const runSchema: Run = async (args, output) => {
  const { values } = parseOptions({ args: [...args], options: { 'tenant-files': { type: 'boolean' } } });
  const schema = values['tenant-files'] === true ? tenantFileJsonSchema() : policyJsonSchema();
  // What prints it ends the line.
  output.log(writeJsonSchema(schema).trimEnd());
  return 0;
};

const commands: Readonly<Record<string, Run>> = {
  test: runTests,
  explain: runExplain,
  plan: runPlan,
  schema: runSchema,
};

/** Runs the command and answers the exit code. */
export const runPolicy: Run = async (args, output, options) => {
  const [name = '', ...others] = args;
  if (args.length === 0 || args.includes('--help') || args.includes('-h')) {
    output.log(policyUsage);
    return 0;
  }
  try {
    const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
    if (command === undefined) throw unknownSubcommand('policy', name, Object.keys(commands));
    return await command(others, output, options);
  } catch (error) {
    if (error instanceof PolicyFaults || error instanceof ConfigError) {
      output.error(`guestlist: ${error.faults.length} fault(s):\n${error.message}`);
      return 2;
    }
    if (!(error instanceof WrongCall || error instanceof Refusal)) throw error;
    output.error(`guestlist: ${error.message}\n\n${policyUsage}`);
    return 2;
  }
};
