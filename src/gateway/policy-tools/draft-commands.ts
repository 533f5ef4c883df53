/**
 * The commands for a policy that is being written: `policy-check` says its faults, which of its tests fail and what it
 * would change for the users who logged in lately; `policy-save` writes it to the file and puts it in force;
 * `policy-words` lists what an editor completes.
 */
import { randomUUID } from 'node:crypto';
import { rename, rm, stat, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import type { Clock } from '../../model/ports.js';
import { Refusal } from '../../model/refusal.js';
import { writeFaults } from '../../platform/http/wire/faults.js';
import { loadRecentSessions } from '../audit/read.js';
import {
  type AdminCommand,
  adminCommand,
  changedBy,
  declareCommand,
  noInput,
  readBy,
  written,
} from '../common/admin-command.js';
import type { Ledger } from '../ledger/ledger.js';
import { type Policies, reloaded } from '../policy/policies.js';
import type { ReachOf } from '../policy/reach.js';
import { tableOf } from '../policy/tenant-rule.js';
import type { DraftEffects, DraftWork } from './draft-check.js';
import { createDraftThread, type DraftReads } from './draft-thread.js';
import { policyWords } from './json-schema.js';
import type { SampleUser } from './sample.js';

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

/** The draft is checked in a thread of its own, which reads nothing that the configuration does not list. */
const createCheck = ({ ledger, policies, reachOf, clock }: PolicyDraftOptions) => {
  const inThread = createDraftThread();
  return (text: string, tells: DraftWork['tells'], signal: AbortSignal): Promise<DraftEffects> => {
    const { files, file, tenant } = policies.current();
    const reads: DraftReads = {
      openTable: async (table) => (await reachOf(table, tableOf(tenant))).openTable(table, file),
      findLookup: async (lookup) => (await reachOf(undefined)).findLookup(lookup),
      users: () => sampleOf(ledger, clock.now()),
    };
    return inThread({ text, files, tells }, reads, signal);
  };
};
type Check = ReturnType<typeof createCheck>;

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

const save = async (
  { policies, isSaving }: PolicyDraftOptions,
  check: Check,
  input: { readonly text: string; readonly digest: string },
  signal: AbortSignal,
) => {
  if (!isSaving) {
    const message =
      'This installation keeps its policy under version control. Download the changed file, or set studio.savesPolicy.';
    throw new Refusal('NOT_SUPPORTED', message);
  }
  if (policies.current().digest !== input.digest) {
    throw new Refusal(
      'POLICY_CHANGED',
      'Somebody changed the policy meanwhile. Read it again, and make your change to it.',
    );
  }
  const { faults } = await check(input.text, 'faults', signal);
  if (faults.length > 0) {
    throw new Refusal('INVALID_REQUEST_BODY', writeFaults(faults.map(({ at, message }) => `${at}: ${message}`)));
  }
  await replaceFile(policies.current().file, input.text);
  return policies.reload();
};

export const checkPolicy = declareCommand(
  'policy-check',
  checkInput,
  written<DraftEffects>(),
  readBy('author', 'publisher', 'policyAdmin', 'auditor'),
  { title: 'Check the policy', description: 'Says what is wrong with the policy files.' },
);

// Who decides what others see may see it.
export const savePolicy = declareCommand('policy-save', saveInput, reloaded, {
  ...changedBy('policyAdmin'),
  reads: 'rows',
});

export const listPolicyWords = declareCommand(
  'policy-words',
  noInput,
  z.object({ words: z.array(z.object({ label: z.string(), detail: z.string() })) }),
  readBy('author', 'publisher', 'policyAdmin'),
);

export const policyDraftCommands = (options: PolicyDraftOptions): readonly AdminCommand[] => {
  const check = createCheck(options);
  return [
    adminCommand(checkPolicy, ({ text }, { seesData }, signal) => check(text, seesData ? 'plan' : 'tests', signal)),
    adminCommand(savePolicy, (input, _by, signal) => save(options, check, input, signal)),
    adminCommand(listPolicyWords, async () => ({ words: policyWords() })),
  ];
};
