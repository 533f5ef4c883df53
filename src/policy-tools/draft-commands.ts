/**
 * The commands for a policy that is being written: `policy-check` says its faults, which of its tests fail and what it
 * would change for the users who logged in lately; `policy-save` writes it to the file and puts it in force;
 * `policy-words` lists what an editor completes.
 */
import { randomUUID } from 'node:crypto';
import { rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import type { Clock } from '../domain/ports.js';
import { Refusal } from '../domain/refusal.js';
import { loadRecentSessions } from '../gateway/audit/read.js';
import { type AdminCommand, adminCommand } from '../gateway/common/admin-command.js';
import type { Ledger } from '../gateway/ledger/ledger.js';
import { loadPolicy } from '../gateway/policy/load.js';
import type { Policies } from '../gateway/policy/policies.js';
import type { Policy } from '../gateway/policy/policy.js';
import type { ReachOf } from '../gateway/policy/reach.js';
import { createSource, type PolicyFault, PolicyFaults } from '../gateway/policy/source.js';
import { tableOf } from '../gateway/policy/tenant-rule.js';
import { writeFaults } from '../http/faults.js';
import { listTestFiles } from './files.js';
import { policyWords } from './json-schema.js';
import { planPolicies } from './plan.js';
import type { SampleUser } from './sample.js';
import { runPolicyTests } from './test.js';
import { loadPolicyTestFile } from './test-file.js';

export type PolicyDraftOptions = {
  readonly ledger: Ledger;
  readonly policies: Policies;
  readonly reachOf: ReachOf;
  readonly clock: Clock;
  /** Whether `policy-save` may write the file. */
  readonly isSaving: boolean;
};

const maxBytes = 500_000;
const text = z.string().min(1).max(maxBytes);
const checkInput = z.strictObject({ text });
const saveInput = z.strictObject({ text, digest: z.string().regex(/^[0-9a-f]{64}$/, 'a digest from policy-read') });

const recentUsers = 200;

/** Leaves the names of files, without the folder of the server, wherever a text names the policy's. */
const withoutFolderOf =
  ({ file }: Pick<Policy, 'file'>) =>
  (told: string): string =>
    told.replaceAll(join(dirname(file), '/'), '');

const placed =
  (policy: Pick<Policy, 'file'>) =>
  ({ at, message }: PolicyFault): PolicyFault => ({ at: basename(at), message: withoutFolderOf(policy)(message) });

/** Reads nothing that the configuration does not list. */
const loadDraft = async ({ policies, reachOf }: PolicyDraftOptions, draft: string): Promise<Policy> => {
  const current = policies.current();
  const reach = await reachOf(createSource(draft, current.file), tableOf(current.tenant));
  return loadPolicy(draft, current.file, current.files.slice(1), reach);
};

/** The tests that name this policy, in the files beside it. */
const testsOf = ({ file }: Policy) =>
  listTestFiles([dirname(file)])
    .map((path) => loadPolicyTestFile(path))
    .filter(({ policy }) => policy === file);

const runTests = async (draft: Policy) => {
  const { files } = await runPolicyTests(testsOf(draft), () => draft);
  const results = files.flatMap((one) => one.results);
  const failed = results.filter(({ differences }) => differences.length > 0);
  return {
    count: results.length,
    failed: failed.map(({ name, at, differences }) => ({
      ...{ name, at: basename(at) },
      differences: differences.map((one) => ({ ...one, because: one.because.map(withoutFolderOf(draft)) })),
    })),
  };
};

const sampleOf = async (ledger: Ledger, now: Date): Promise<readonly SampleUser[]> => {
  const sessions = await loadRecentSessions(ledger, recentUsers);
  return sessions.map(({ session, asked, clientId }, index) => ({
    line: index + 1,
    user: session.subject,
    claims: { ...session.claims, sub: session.subject },
    body: { ...asked, embeds: asked.embeds === undefined ? undefined : [...asked.embeds] },
    now,
    // A policy that asks the host for tenants gets the answer of that time.
    ...(clientId === null ? {} : { lookup: [clientId] }),
  }));
};

/** The plan names the claims of users, so only people who see data get it. */
const check = async (options: PolicyDraftOptions, draftText: string, seesData: boolean) => {
  const { ledger, policies, clock } = options;
  const none = { tests: null, plan: null };
  try {
    const draft = await loadDraft(options, draftText);
    const pair = { name: basename(draft.file), old: policies.current(), new: draft };
    const plan = seesData ? await planPolicies([pair], await sampleOf(ledger, clock.now())) : null;
    return { faults: [], tests: await runTests(draft), plan };
  } catch (error) {
    if (!(error instanceof PolicyFaults)) throw error;
    return { faults: error.faults.map(placed(policies.current())), ...none };
  }
};

/** Replaces the file as a whole, with its earlier permissions. */
const replaceFile = async (file: string, content: string): Promise<void> => {
  const unfinished = `${file}.${randomUUID()}.part`;
  try {
    const { mode } = await stat(file);
    await writeFile(unfinished, content, { mode });
    await rename(unfinished, file);
  } catch (cause) {
    await rm(unfinished, { force: true });
    throw new Refusal(
      'NOT_SUPPORTED',
      'The policy file cannot be written on the server. Download the changed policy.',
      {
        cause,
      },
    );
  }
};

const save = async (options: PolicyDraftOptions, draftText: string, digest: string) => {
  const { policies, isSaving } = options;
  if (!isSaving) {
    const message =
      'This installation keeps its policy under version control. Download the changed file, or set studio.savesPolicy.';
    throw new Refusal('NOT_SUPPORTED', message);
  }
  if (policies.current().digest !== digest) {
    throw new Refusal(
      'POLICY_CHANGED',
      'Somebody changed the policy meanwhile. Read it again, and make your change to it.',
    );
  }
  try {
    await loadDraft(options, draftText);
  } catch (error) {
    if (!(error instanceof PolicyFaults)) throw error;
    const faults = error.faults.map(placed(policies.current())).map(({ at, message }) => `${at}: ${message}`);
    throw new Refusal('INVALID_REQUEST_BODY', writeFaults(faults));
  }
  await replaceFile(policies.current().file, draftText);
  return policies.reload();
};

export const policyDraftCommands = (options: PolicyDraftOptions): readonly AdminCommand[] => [
  adminCommand('policy-check', checkInput, (input, { seesData }) => check(options, input.text, seesData)),
  adminCommand('policy-save', saveInput, (input) => save(options, input.text, input.digest)),
  adminCommand('policy-words', z.strictObject({}), async () => ({ words: policyWords() })),
];
