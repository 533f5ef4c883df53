/** The command `guestlist policy`: reads its arguments and files, and prints; the rest is the gateway's. */

import { dirname, isAbsolute, relative } from 'node:path';
import { Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { z } from 'zod';
import { decodeBody } from '../gateway/common/wire.js';
import { loadPolicyFile } from '../gateway/policy/load.js';
import { findUnknownNames, type UnknownName } from '../gateway/policy/names.js';
import type { Policy } from '../gateway/policy/policy.js';
import { PolicyFaults } from '../gateway/policy/source.js';
import { checkPolicyNames } from '../gateway/policy-names/name-check.js';
import { askedNames } from '../gateway/policy-names/read-catalogue.js';
import { explainGrant } from '../gateway/policy-tools/explain.js';
import { explainPolicy } from '../gateway/policy-tools/explain-command.js';
import { writeExplanation } from '../gateway/policy-tools/explain-text.js';
import { isFolder, listTestFiles, loadEach, loadPolicies, readInput } from '../gateway/policy-tools/files.js';
import { policyJsonSchema, tenantFileJsonSchema, writeJsonSchema } from '../gateway/policy-tools/json-schema.js';
import { failConditions, isStopped, pairPolicies, planPolicies, writePlan } from '../gateway/policy-tools/plan.js';
import { readSample } from '../gateway/policy-tools/sample.js';
import { countFailed, runPolicyTests, type TestReport, writeTestReport } from '../gateway/policy-tools/test.js';
import { loadPolicyTestFile } from '../gateway/policy-tools/test-file.js';
import type { AnswerOf, InputOf } from '../platform/http/interface/callable.js';
import { collect, jsonOption, printAnswer } from './kit/declare.js';
import { Exit, WrongCall } from './kit/exit.js';
import { withFaults } from './kit/with-faults.js';
import type { callGateway } from './operator.js';

/** Runs the command `policy-names` of a gateway. */
type AskGateway = (input: InputOf<typeof checkPolicyNames>) => Promise<AnswerOf<typeof checkPolicyNames>>;

/** Returns the unknown names of all policies. Rejects as `ask` does. */
const unknownNamesOf = async (policies: Iterable<Policy>, ask: AskGateway): Promise<readonly UnknownName[]> => {
  const unknown: UnknownName[] = [];
  for (const policy of policies) {
    const found = await ask({ asked: askedNames(policy) });
    if (!('catalogue' in found)) throw new Error('the gateway answers names that it was not asked for');
    unknown.push(...findUnknownNames(policy.names, found.catalogue));
  }
  return unknown;
};

/** Returns the text, without a final newline. */
const writeUnknownNames = (unknown: readonly UnknownName[]): string =>
  ['Names that the service does not have:', ...unknown.map(({ at, message }) => `  ${at}: ${message}`)].join('\n');

export type PolicyCommandOptions = {
  /** The path of the configured policy; undefined without a configuration. */
  readonly configuredPolicies: () => string | undefined;
  readonly callGateway: typeof callGateway;
  readonly now: () => Date;
};

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

const readMoment = (text: string): string => {
  if (z.iso.datetime({ offset: true }).safeParse(text).success) return text;
  throw new InvalidArgumentError('Give a time such as 2026-01-31T09:00:00Z.');
};

const nowOption = new Option('--now <time>', 'ISO 8601; left out: now').argParser(readMoment);

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

const testCommand = (options: PolicyCommandOptions) =>
  new Command('test')
    .summary('run the tests of policies')
    .description(
      `Runs tests, such as flights.test.yaml beside flights.yaml. Ends with 1 if a test fails, there is no test, or the service
lacks a name.`,
    )
    .argument('[paths...]', 'files or folders; left out: the tests beside the configured policy')
    .option('--cover', 'fail also where a rule or restriction matches in no test')
    .addOption(jsonOption)
    .option(
      '--url <url>',
      'whose service must have the names of filters, metrics, templates and embeds; left out: the configured gateway, and a warning if none answers',
    )
    .action((given, { cover, json, url }) =>
      withFaults(async () => {
        const beside = (): string => {
          const policies = findConfigured(options, 'name a file or a folder of tests');
          return isFolder(policies) ? policies : dirname(policies);
        };
        const paths = given.length === 0 ? [beside()] : given;
        const files = loadEach(listTestFiles(paths), loadPolicyTestFile);
        if (files.length === 0)
          throw new Error(`no policy test in ${paths.join(', ')}: tests are in files such as flights.test.yaml`);
        const report = await runPolicyTests(files);
        const names = await checkNames(report, options, url);
        const { policies: _, ...results } = report;
        printAnswer(json, { json: { ...results, names }, text: writeTestReport(report) });
        if ('unchecked' in names)
          console.error(
            `guestlist: the names of filters, metrics, templates and embeds were not checked: ${names.unchecked}`,
          );
        const unknown = 'unknown' in names ? names.unknown : [];
        if (unknown.length > 0 && !json) console.log(`\n${writeUnknownNames(unknown)}`);
        const isUncovered = cover === true && report.untried.length > 0;
        if (countFailed(report) > 0 || isUncovered || unknown.length > 0) throw new Exit();
      }),
    );

const readClaims = (path: string): Readonly<Record<string, unknown>> => {
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(readInput(path)));
  } catch (error) {
    if (error instanceof PolicyFaults) throw error;
    throw new PolicyFaults([{ at: `${path}:1:1`, message: 'is no JSON object of claims' }]);
  }
};

const explainOptions = () =>
  new Command('explain')
    .summary('what a session gets, and which line is the reason')
    .description(
      `Says what a session with these claims gets, and which line of the policy is the reason; or what was decided for an
earlier request. Ends with 0 for a denial too: that is an explanation.`,
    )
    .option('--as <file>', 'the claims of a session as JSON; - is standard input')
    .addOption(new Option('--policy <file>', 'left out: the configured one').conflicts('url'))
    .option('--tenant <id>', "a field of the request's body")
    .option('--embeds <id>', "a field of the request's body; may be given several times", collect)
    .option('--timezone <zone>', "a field of the request's body")
    .addOption(
      new Option(
        '--lookup <tenant>',
        'what the host answers, where the policy asks it for tenants; may be given several times',
      )
        .argParser(collect)
        .conflicts('url'),
    )
    .addOption(nowOption)
    .addOption(
      new Option('--request <id>', 'explain a request that was answered earlier, by its X-Request-Id').conflicts(
        'as policy tenant embeds timezone lookup now'.split(' '),
      ),
    )
    .option('--url <url>', 'ask the gateway there: its policy, and the metrics that only it knows')
    .addOption(jsonOption);

type ExplainValues = ReturnType<ReturnType<typeof explainOptions>['opts']>;

const explain = async (options: PolicyCommandOptions, values: ExplainValues) => {
  const { as, policy, tenant, embeds, timezone, lookup, now, request, url } = values;
  const ask = (input: InputOf<typeof explainPolicy>) => options.callGateway(explainPolicy, input, url);
  if (request !== undefined) return ask({ request });
  if (as === undefined) throw new WrongCall('--as takes a file with the claims of a session');
  const body = decodeBody(
    Object.fromEntries(Object.entries({ tenant, embeds, timezone }).filter(([, value]) => value !== undefined)),
  );
  const claims = readClaims(as);
  if (url !== undefined) return ask({ claims, body, now });
  const loaded = loadPolicyFile(policy ?? findConfigured(options, 'name a policy by --policy'));
  const moment = now === undefined ? options.now() : new Date(now);
  const explanation = await explainGrant({ policy: loaded, of: { claims, body, now: moment, lookup } });
  return { explanation, text: writeExplanation(explanation) };
};

const explainCommand = (options: PolicyCommandOptions) =>
  explainOptions().action((values) =>
    withFaults(async () => {
      const { explanation, text } = await explain(options, values);
      printAnswer(values.json, { json: explanation, text });
    }),
  );

const planCommand = (options: PolicyCommandOptions) =>
  new Command('plan')
    .summary('who gains and who loses what by a change')
    .argument('<old>', 'a policy file, or a folder of them')
    .argument('<new>', 'the same after the change')
    .requiredOption(
      '--users <file>',
      'JSON lines: the claims of a session, or {"claims", "body", "lookup", "now"}; - is standard input',
    )
    .addOption(
      new Option('--fail-on <effect>', 'end with 1 if a user loses, gains, or gets anything else').choices(
        failConditions,
      ),
    )
    .addOption(nowOption)
    .addOption(jsonOption)
    .action((before, after, { users, failOn, now, json }) =>
      withFaults(async () => {
        if (isFolder(before) !== isFolder(after))
          throw new WrongCall('"plan" takes two files or two folders, not one of each');
        const sample = readSample(readInput(users), users, now === undefined ? options.now() : new Date(now));
        const pairs = pairPolicies(loadPolicies(before), loadPolicies(after));
        if (pairs.length === 0) throw new WrongCall(`there is no policy in ${before}, and none in ${after}`);
        const plan = await planPolicies(pairs, sample);
        printAnswer(json, { json: plan, text: writePlan(plan) });
        if (failOn !== undefined && isStopped(plan, failOn)) throw new Exit();
      }),
    );

const schemaCommand = new Command('schema')
  .summary('print the JSON Schema of a policy, for editors')
  .option('--tenant-files', "the one of a file of tenants' overrides")
  .action(({ tenantFiles }) =>
    // What prints it ends the line.
    console.log(writeJsonSchema(tenantFiles ? tenantFileJsonSchema() : policyJsonSchema()).trimEnd()),
  );

/** Tries, explains and compares policies. Ends with 2 if a file is faulty. */
export const policyCommand = (options: PolicyCommandOptions) =>
  new Command()
    .description('Tries, explains and compares policies. Ends with 2 if a file is faulty.')
    .addCommand(testCommand(options))
    .addCommand(explainCommand(options))
    .addCommand(planCommand(options))
    .addCommand(schemaCommand);
