/**
 * The format of policy tests, e.g. `flights.test.yaml` for `flights.yaml`. A test expects the whole result. Fields that
 * a test leaves out must be empty, so a missing filter or an extra grant fails the test.
 */
import { basename, dirname, isAbsolute, join } from 'node:path';
import { z } from 'zod';
import { guestPermissionNames } from '../../model/guest/grant.js';
import { isRecord } from '../../model/is-record.js';
import { domainName } from '../../platform/config/settings.js';
import { schemaFaults } from '../../platform/files/schema-faults.js';
import { createSource, type Source } from '../../platform/files/yaml-source.js';
import { identifier } from '../../platform/http/interface/fields.js';
import { quota } from '../../service/guest-tokens/contract/guest-tokens.js';
import { embedTokenBody } from '../common/wire.js';
import { grantedAccess, minutes, templateName } from '../policy/schema.js';
import { createFaults, PolicyFaults } from '../policy/source.js';
import { lookupAnswer } from '../tenant/lookup.js';
import { readInput } from './files.js';

/** The default clock of tests: a fixed time, so that results do not change over time. */
const defaultNow = '2026-01-01T12:00:00Z';

/** All codes of denials by a policy. */
const denials = [
  'SESSION_INVALID',
  'NO_TENANT',
  'NO_POLICY',
  'POLICY_UNDECIDED',
  'EMBED_NOT_GRANTED',
  'INVALID_REQUEST_BODY',
] as const;

const filterText = z.string().min(1);
const values = z
  .record(identifier, z.union([filterText, z.number(), z.boolean(), z.array(filterText).min(1)]))
  .default({});

const restrictions = z.strictObject({
  dashboardFilters: values,
  shownFilters: z.array(identifier).min(1).default([]),
  rls: values,
  appFilters: values,
  hideDashboardFilters: z.array(identifier).min(1).default([]),
  hideMetrics: z.record(templateName, z.array(identifier).min(1)).default({}),
  hideColumns: z.array(identifier).min(1).default([]),
  maskColumns: z.record(identifier, z.string()).default({}),
  isDisableMetricCreation: z.literal(true).optional(),
  quota: quota.default({}),
});

const expectation = z
  .strictObject({
    denied: z.enum(denials).optional(),
    /** The rule or restriction whose expression could not be evaluated. */
    by: identifier.optional(),
    tenant: identifier.optional(),
    templates: z.array(templateName).min(1).optional(),
    embeds: z.array(identifier).min(1).optional(),
    permissions: z.array(z.enum(guestPermissionNames).exclude(['isDisableMetricCreation'])).optional(),
    accessPermissions: grantedAccess.optional(),
    channels: z.record(identifier, z.array(identifier).min(1)).optional(),
    /** Domains of addresses by dashboard or embed. */
    schedule: z.record(identifier, z.array(domainName)).optional(),
    expiryMinutes: minutes.optional(),
    timezone: z.string().min(1).optional(),
    datasource: identifier.optional(),
    datamart: identifier.optional(),
    restrictions: restrictions.optional(),
  })
  .superRefine(({ denied, by, ...grant }, context) => {
    const refuse = (message: string, ...path: string[]) => context.addIssue({ code: 'custom', message, path });
    const granted = Object.entries(grant).flatMap(([name, value]) => (value === undefined ? [] : [name]));
    if (denied === undefined) {
      if (by !== undefined) refuse('belongs to `denied: POLICY_UNDECIDED`', 'by');
      if (grant.tenant === undefined || grant.templates === undefined) {
        refuse('expects too little: give `tenant` and the `templates` that are granted, or `denied` with a code');
      }
      return;
    }
    if (by !== undefined && denied !== 'POLICY_UNDECIDED') refuse('belongs to `denied: POLICY_UNDECIDED`', 'by');
    for (const name of granted) refuse('cannot be used with `denied`: a denied user has no grant', name);
  });

const moment = z.iso.datetime({ offset: true });

const testFile = z.strictObject({
  policy: z.string().min(1).optional(),
  now: moment.default(defaultNow),
  tests: z
    .array(
      z.strictObject({
        name: identifier,
        user: z.record(z.string(), z.unknown()),
        body: embedTokenBody.default({}),
        lookup: lookupAnswer.optional(),
        now: moment.optional(),
        expect: expectation,
      }),
    )
    .min(1, 'has no test: a file without tests would always pass'),
});
export type Expectation = z.output<typeof expectation>;

/** One test. `at` is the `file:line:column` of its name. */
export type PolicyTest = {
  readonly name: string;
  readonly at: string;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly body: z.output<typeof embedTokenBody>;
  readonly lookup?: readonly string[] | undefined;
  readonly now: Date;
  readonly expect: Expectation;
};
export type PolicyTestFile = {
  readonly file: string;
  /** Path of the policy that is tested. */
  readonly policy: string;
  readonly tests: readonly PolicyTest[];
};

const assertUnique = (tests: readonly { readonly name: string }[], source: Source): void => {
  const faults = createFaults(source);
  const names = tests.map(({ name }) => name);
  names.forEach((name, index) => {
    if (names.indexOf(name) !== index) {
      faults.add(source.offsetOf(['tests', index, 'name']), `"${name}" names another test too; rename one`);
    }
  });
  if (faults.list().length > 0) throw new PolicyFaults(faults.list());
};

/** Returns the policy's file name: `flights.yaml` for `flights.test.yaml`. */
const policyBeside = (file: string): string => basename(file).replace(/\.test\.(ya?ml)$/, '.$1');

const assertNoPolicy = (source: Source, file: string): void => {
  const { content } = source;
  if (!isRecord(content) || 'tests' in content || !('rules' in content || 'dataApp' in content)) return;
  const tests = basename(file).replace(/(?:\.ya?ml)?$/, '.test.yaml');
  const mend = `its tests belong in ${tests} beside it: run "guestlist policy test ${join(dirname(file), tests)}"`;
  throw new PolicyFaults([{ at: source.at(0), message: `is a policy, not a file of policy tests; ${mend}` }]);
};

/** Reads tests from their text. Throws PolicyFaults. */
const loadPolicyTests = (text: string, file: string): PolicyTestFile => {
  const source = createSource(text, file);
  if (source.problems.length > 0) throw new PolicyFaults(source.problems);
  assertNoPolicy(source, file);
  const result = testFile.safeParse(source.content);
  if (!result.success) throw new PolicyFaults(schemaFaults(source, result.error, testFile, 'a file of policy tests'));
  const { policy, now, tests } = result.data;
  assertUnique(tests, source);
  return {
    file,
    policy: policy !== undefined && isAbsolute(policy) ? policy : join(dirname(file), policy ?? policyBeside(file)),
    tests: tests.map((test, index) => ({
      name: test.name,
      at: source.at(source.offsetOf(['tests', index, 'name'])),
      claims: test.user,
      body: test.body,
      lookup: test.lookup,
      now: new Date(test.now ?? now),
      expect: test.expect,
    })),
  };
};

/** Reads a file of tests. Throws PolicyFaults, also if the file cannot be read. */
export const loadPolicyTestFile = (file: string): PolicyTestFile => loadPolicyTests(readInput(file), file);
