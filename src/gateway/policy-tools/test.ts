/** Runs the tests of a policy. Each test is a dry run whose whole result is compared with the expected one. */

import { noQuota } from '../../model/quota.js';
import { counted } from '../../model/texts/counted.js';
import { dashboardIdOf } from '../common/dashboard-id.js';
import { ExpressionFault } from '../policy/expression.js';
import { loadPolicyFile } from '../policy/load.js';
import type { Policy } from '../policy/policy.js';
import { type FieldRecord, recordOf } from '../policy/record.js';
import { type Denied, type DryRun, evaluateCase, type Granted } from './dry-run.js';
import { blamed, examinePolicy } from './examine.js';
import { loadEach, runEach } from './files.js';
import { type Fact, type Facts, factsOf, type GrantView, viewOf, writeFact } from './grant-facts.js';
import type { Expectation, PolicyTest, PolicyTestFile } from './test-file.js';

/** A field whose value is not the expected one. `because` has the places that the actual value comes from. */
export type Difference = {
  readonly field: string;
  readonly expected: string;
  readonly actual: string;
  readonly because: readonly string[];
};
export type TestResult = Pick<PolicyTest, 'name' | 'at'> & { readonly differences: readonly Difference[] };
export type TestReport = {
  readonly files: readonly {
    readonly file: string;
    readonly policy: string;
    readonly results: readonly TestResult[];
  }[];
  /** The policies that were tested, by path. */
  readonly policies: ReadonlyMap<string, Policy>;
  /** Rules and restrictions that match in no test, so no test would find a mistake in them. */
  readonly untried: readonly { readonly name: string; readonly at: string }[];
};

const mapOf = <Value>(record: Readonly<Record<string, Value>> | undefined): ReadonlyMap<string, Value> =>
  new Map(Object.entries(record ?? {}));

/** Returns the grant that a test expects. Left-out fields are empty. A left-out expiry is the policy's. */
const expectedView = (policy: Policy, expected: Expectation): GrantView => {
  const { tenant = '', templates = [], restrictions } = expected;
  return {
    dataApp: policy.dataApp,
    tenant,
    templates,
    embeds: expected.embeds ?? templates.map((template) => dashboardIdOf(template, tenant)),
    permissions: expected.permissions ?? [],
    accessPermissions: expected.accessPermissions ?? null,
    channels: mapOf(expected.channels),
    scheduling: mapOf(expected.schedule),
    expiryMinutes: expected.expiryMinutes ?? policy.expiryMinutes,
    timezone: expected.timezone ?? null,
    source: {
      ...(expected.datasource === undefined ? {} : { datasource: expected.datasource }),
      ...(expected.datamart === undefined ? {} : { datamart: expected.datamart }),
    },
    restriction: {
      dashboardFilters: mapOf(restrictions?.dashboardFilters),
      shownFilters: restrictions?.shownFilters ?? [],
      rls: mapOf(restrictions?.rls),
      appFilters: mapOf(restrictions?.appFilters),
      hideDashboardFilters: restrictions?.hideDashboardFilters ?? [],
      hideMetrics: mapOf(restrictions?.hideMetrics),
      hideColumns: restrictions?.hideColumns ?? [],
      maskColumns: mapOf(restrictions?.maskColumns),
      isDisableMetricCreation: restrictions?.isDisableMetricCreation ?? false,
      quota: restrictions?.quota ?? noQuota,
    },
  };
};

const isSame = (left: Fact | undefined, right: Fact | undefined): boolean =>
  JSON.stringify(left?.value) === JSON.stringify(right?.value);

/** Returns the path of a field in a test file. */
const pathOf = (name: string, fact: Fact | undefined): string =>
  fact?.kind === 'allowed' ||
  fact?.kind === 'hidden' ||
  fact?.kind === 'masked' ||
  fact?.kind === 'most' ||
  name === 'shownFilters'
    ? `restrictions.${name}`
    : name;

/** Returns a function that says where the value of a field comes from. */
const createSourcesOf = ({ decision }: Granted): ((field: string) => readonly string[]) => {
  const records = new Map<string, FieldRecord[]>();
  for (const record of recordOf(decision)) records.set(record.field, [...(records.get(record.field) ?? []), record]);
  return (field) =>
    (records.get(field) ?? []).flatMap(({ value, from: all }) =>
      all
        .filter(({ counts }) => counts)
        .map(({ name, at, valueAt, says }) => `${JSON.stringify(says ?? value)} from "${name}" at ${valueAt ?? at}`),
    );
};

const compareFacts = (wanted: Facts, dryRun: Granted): readonly Difference[] => {
  const actual = factsOf(viewOf(dryRun));
  const sourcesOf = createSourcesOf(dryRun);
  return [...new Set([...wanted.keys(), ...actual.keys()])]
    .filter((name) => !isSame(wanted.get(name), actual.get(name)))
    .map((name) => ({
      field: pathOf(name, wanted.get(name) ?? actual.get(name)),
      expected: writeFact(wanted.get(name)),
      actual: writeFact(actual.get(name)),
      because: sourcesOf(name),
    }));
};

const whyDenied = ({ refusal }: Denied): readonly string[] => {
  const { cause, message } = refusal;
  return cause instanceof ExpressionFault ? [`${cause.at}: ${cause.code} in ${cause.source}`] : [message];
};

const compareDenial = (test: PolicyTest, dryRun: Denied): readonly Difference[] => {
  const { denied, by } = test.expect;
  const because = whyDenied(dryRun);
  const { code } = dryRun.refusal;
  if (denied !== code) {
    return [{ field: 'denied', expected: denied ?? 'a grant', actual: `denied with ${code}`, because }];
  }
  const names = by === undefined ? [] : blamed(dryRun, test.now);
  if (by === undefined || names.includes(by)) return [];
  return [{ field: 'by', expected: by, actual: names.join(', ') || 'none of the rules', because }];
};

const compare = (test: PolicyTest, dryRun: DryRun): readonly Difference[] => {
  if (!dryRun.isGranted) return compareDenial(test, dryRun);
  const { denied } = test.expect;
  if (denied === undefined) return compareFacts(factsOf(expectedView(dryRun.policy, test.expect)), dryRun);
  const actual = `granted ${dryRun.dashboards.map(({ id }) => id).join(', ')}`;
  return [{ field: 'denied', expected: denied, actual, because: createSourcesOf(dryRun)('templates') }];
};

const matchedIn = ({ now }: PolicyTest, dryRun: DryRun): readonly string[] => {
  const examined = examinePolicy(dryRun, now);
  if (examined === null) return [];
  return [...examined.rules, ...examined.restrictions]
    .filter(({ result, at, fault }) => result === 'matches' || (fault !== null && fault.at !== at))
    .map(({ at }) => at);
};

/** Runs every test of every file, with the policies that `load` returns for their paths. Rejects with PolicyFaults if a policy cannot be loaded, or a test lacks a lookup answer. */
export const runPolicyTests = async (
  files: readonly PolicyTestFile[],
  load: (path: string) => Policy = loadPolicyFile,
): Promise<TestReport> => {
  const paths = [...new Set(files.map(({ policy }) => policy))];
  const policies = new Map(loadEach(paths, (path) => [path, load(path)] as const));
  const matched = new Set<string>();
  const run = async (policy: Policy, test: PolicyTest): Promise<TestResult> => {
    const dryRun = await evaluateCase(policy, test);
    for (const at of matchedIn(test, dryRun)) matched.add(at);
    return { name: test.name, at: test.at, differences: compare(test, dryRun) };
  };
  const runFile = async ({ file, policy: path, tests }: PolicyTestFile) => {
    const policy = policies.get(path) ?? load(path);
    return { file, policy: path, results: await runEach(tests, (test) => run(policy, test)) };
  };
  const results = await runEach(files, runFile);
  const conditional = [...policies.values()].flatMap(({ rules, restrictions }) => [...rules, ...restrictions]);
  return {
    files: results,
    policies,
    untried: conditional.filter(({ when }) => !matched.has(when.at)).map(({ name, when }) => ({ name, at: when.at })),
  };
};

const writeDifference = ({ field, expected, actual, because }: Difference): readonly string[] => [
  `       ${field}`,
  `         expected  ${expected}`,
  `         is        ${actual}`,
  ...because.map((line) => `                   ${line}`),
];

const writeResult = ({ name, at, differences }: TestResult): readonly string[] =>
  differences.length === 0 ? [`  ok   ${name}`] : [`  FAIL ${name} (${at})`, ...differences.flatMap(writeDifference)];

export const countFailed = ({ files }: TestReport): number =>
  files.flatMap(({ results }) => results).filter(({ differences }) => differences.length > 0).length;

/** Returns the text, without a final newline. */
export const writeTestReport = (report: TestReport): string => {
  const count = report.files.flatMap(({ results }) => results).length;
  const failed = countFailed(report);
  const untried =
    report.untried.length === 0
      ? []
      : ['', 'In no test does this match:', ...report.untried.map(({ name, at }) => `  "${name}" (${at})`)];
  return [
    ...report.files.flatMap(({ file, policy, results }) => [`${file} (of ${policy})`, ...results.flatMap(writeResult)]),
    ...untried,
    '',
    `${counted(count, 'test')}, ${failed === 0 ? 'all hold' : `${failed} failed`}`,
  ].join('\n');
};
