/**
 * What a changed policy would do: its faults, which of its tests fail, and what changes for the users who logged in
 * lately. Takes seconds for the largest texts, so it runs in a thread of its own (draft-worker.ts). It reads the
 * test files beside the policy; everything else comes as arguments.
 */
import { basename, dirname, join } from 'node:path';
import { loadPolicy } from '../policy/load.js';
import type { Policy } from '../policy/policy.js';
import type { PolicyReach } from '../policy/reach.js';
import { type PolicyFault, PolicyFaults } from '../policy/source.js';
import type { PolicyFile } from '../policy/texts.js';
import { listTestFiles } from './files.js';
import { type Plan, planPolicies } from './plan.js';
import type { SampleUser } from './sample.js';
import { runPolicyTests, type TestResult } from './test.js';
import { loadPolicyTestFile } from './test-file.js';

/** A draft to check. Plain values: they are copied into the thread. */
export type DraftWork = {
  readonly text: string;
  /** The texts of the policy in force. The policy file is the first, and the draft replaces it. */
  readonly files: readonly PolicyFile[];
  /** How far to go. The plan names the claims of users, so only people who see data get it. */
  readonly tells: 'faults' | 'tests' | 'plan';
};

/** `tests` and `plan` are null where they were not asked for, and if the draft has faults. */
export type DraftEffects = {
  readonly faults: readonly PolicyFault[];
  readonly tests: { readonly count: number; readonly failed: readonly TestResult[] } | null;
  readonly plan: Plan | null;
};

export type DraftSurroundings = {
  readonly reach: PolicyReach;
  /** The users of the plan. */
  readonly users: () => readonly SampleUser[];
};

/** Leaves the names of files, without the folder of the server, wherever a text names the policy's. */
const withoutFolderOf =
  (file: string) =>
  (told: string): string =>
    told.replaceAll(join(dirname(file), '/'), '');

const placed =
  (file: string) =>
  ({ at, message }: PolicyFault): PolicyFault => ({ at: basename(at), message: withoutFolderOf(file)(message) });

/** The tests that name this policy, in the files beside it. */
const testsOf = ({ file }: Policy) =>
  listTestFiles([dirname(file)])
    .map((path) => loadPolicyTestFile(path))
    .filter(({ policy }) => policy === file);

const runTests = async (draft: Policy): Promise<NonNullable<DraftEffects['tests']>> => {
  const { files } = await runPolicyTests(testsOf(draft), () => draft);
  const results = files.flatMap((one) => one.results);
  const failed = results.filter(({ differences }) => differences.length > 0);
  return {
    count: results.length,
    failed: failed.map(({ name, at, differences }) => ({
      ...{ name, at: basename(at) },
      differences: differences.map((one) => ({ ...one, because: one.because.map(withoutFolderOf(draft.file)) })),
    })),
  };
};

const planOf = (old: PolicyFile, draft: Policy, beside: readonly PolicyFile[], from: DraftSurroundings) => {
  const inForce = loadPolicy(old.text, old.file, beside, from.reach);
  return planPolicies([{ name: basename(old.file), old: inForce, new: draft }], from.users());
};

/** Checks the draft. Reads the tests beside the policy, and nothing else. */
export const checkDraft = async ({ text, files, tells }: DraftWork, from: DraftSurroundings): Promise<DraftEffects> => {
  const [old, ...beside] = files;
  if (old === undefined) throw new Error('a policy in force has a file');
  try {
    const draft = loadPolicy(text, old.file, beside, from.reach);
    const plan = tells === 'plan' ? await planOf(old, draft, beside, from) : null;
    return { faults: [], tests: tells === 'faults' ? null : await runTests(draft), plan };
  } catch (error) {
    if (!(error instanceof PolicyFaults)) throw error;
    return { faults: error.faults.map(placed(old.file)), tests: null, plan: null };
  }
};
