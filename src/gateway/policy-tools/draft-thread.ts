/**
 * Checks drafts of a policy in a thread of their own, one at a time, so that no text delays other requests. The thread
 * gets the texts and no environment. The main thread reads what the draft names, as far as `ReachOf` allows it.
 */
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { Refusal } from '../../model/refusal.js';
import { anyOf } from '../../model/signals.js';
import { BulkheadFull, createBulkhead } from '../../platform/work/bulkhead.js';
import { findThread, runThread } from '../../platform/work/thread.js';
import type { PolicyReach } from '../policy/reach.js';
import { type PolicyFault, PolicyFaults } from '../policy/source.js';
import type { TenantTableFile } from '../policy/tenant-table.js';
import type { DraftEffects, DraftWork } from './draft-check.js';
import type { SampleUser } from './sample.js';

type Lookup = Parameters<PolicyReach['findLookup']>[0];

/** What the thread asks. */
export type Questions = {
  /** Opens the table of tenants of this name. */
  readonly table: string;
  /** The tenants of a key in a table that was opened. */
  readonly tenants: { readonly file: string; readonly key: string };
  readonly lookup: Lookup;
  readonly users: null;
};
export type Answers = {
  readonly table: { readonly file: string; readonly size: number } | { readonly faults: readonly PolicyFault[] };
  readonly tenants: readonly string[] | undefined;
  readonly lookup: ReturnType<PolicyReach['findLookup']>;
  readonly users: readonly SampleUser[];
};
/** The thread's last message. */
export type DraftOutcome = DraftEffects | 'too-long';

export type DraftReads = {
  /** Rejects with PolicyFaults if the draft may not read the table, or the table has faults. */
  readonly openTable: (table: string) => Promise<TenantTableFile>;
  readonly findLookup: (lookup: Lookup) => Promise<Answers['lookup']>;
  readonly users: () => Promise<readonly SampleUser[]>;
};

export type DraftLimits = { readonly seconds: number; readonly megabytes: number };

/** Far more than a draft of the greatest length needs, on a busy machine too. */
const usualLimits: DraftLimits = { seconds: 60, megabytes: 512 };
const mostCharacters = 5_000_000;
const mostWaiting = 50;

const tooMuch = ({ seconds, megabytes }: DraftLimits, reason: unknown): Refusal =>
  new Refusal(
    'INVALID_REQUEST_BODY',
    `To check this draft takes more than ${seconds} seconds or ${megabytes} MB of memory. Make it shorter: fewer rules, values or faults.`,
    { cause: reason },
  );

const tooLong = (): Refusal =>
  new Refusal(
    'INVALID_REQUEST_BODY',
    `What this draft changes takes more than ${mostCharacters.toLocaleString('en')} characters to tell. Make the change in several steps.`,
  );

/** Beside this file, also in a package; and below the command line's bundle. */
const places = ['draft-worker.js', 'gateway/policy-tools/draft-worker.js'];

/** Answers the thread's questions, in their order. */
const createAnswers = (reads: DraftReads) => {
  const opened = new Map<string, TenantTableFile>();
  const answers: { readonly [Kind in keyof Questions]: (asked: Questions[Kind]) => Promise<Answers[Kind]> } = {
    table: async (name) => {
      try {
        const table = await reads.openTable(name);
        opened.set(table.file, table);
        return { file: table.file, size: table.current().size };
      } catch (error) {
        if (error instanceof PolicyFaults) return { faults: error.faults };
        throw error;
      }
    },
    tenants: async ({ file, key }) => opened.get(file)?.current().find(key),
    lookup: reads.findLookup,
    users: reads.users,
  };
  return answers;
};

type Question = {
  [Kind in keyof Questions]: { readonly kind: Kind; readonly asked: Questions[Kind] };
}[keyof Questions];

const serve = (port: MessagePort, turn: Int32Array, reads: DraftReads, failed: (cause: unknown) => void): void => {
  const answers = createAnswers(reads);
  const answer = async ({ kind, asked }: Question): Promise<void> => {
    try {
      port.postMessage(await answers[kind](asked as never));
      Atomics.store(turn, 0, 1);
      Atomics.notify(turn, 0);
    } catch (error) {
      failed(error);
    }
  };
  port.on('message', (question: Question) => void answer(question));
};

/** Runs the thread until its answer. Ends it when the signal aborts, and rejects with the signal's reason. */
const runDraft = async (work: DraftWork, reads: DraftReads, { megabytes }: DraftLimits, signal: AbortSignal) => {
  const { port1: port, port2: questions } = new MessageChannel();
  const turn = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const failed = new AbortController();
  serve(port, turn, reads, (cause) => failed.abort(cause));
  try {
    return await runThread<DraftOutcome>(findThread(import.meta.url, places), {
      data: { work, questions, turn, mostCharacters },
      transfer: [questions],
      ...{ megabytes, signal: anyOf(signal, failed.signal) },
    });
  } finally {
    port.close();
  }
};

const isOutOfMemory = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';

/**
 * Checks a draft. Rejects with INVALID_REQUEST_BODY if that takes more than the limits, with RATE_LIMITED if many drafts
 * wait already, and with the signal's reason once it aborts.
 */
export type CheckDraft = (work: DraftWork, reads: DraftReads, signal: AbortSignal) => Promise<DraftEffects>;

export const createDraftThread = (limits: DraftLimits = usualLimits): CheckDraft => {
  const inTurn = createBulkhead({ maxConcurrent: 1, maxQueued: mostWaiting });
  const run = async (work: DraftWork, reads: DraftReads, gone: AbortSignal): Promise<DraftEffects> => {
    const late = AbortSignal.timeout(limits.seconds * 1000);
    try {
      const outcome = await runDraft(work, reads, limits, anyOf(gone, late));
      if (outcome === 'too-long') throw tooLong();
      return outcome;
    } catch (error) {
      if (isOutOfMemory(error) || (error === late.reason && !gone.aborted)) throw tooMuch(limits, error);
      throw error;
    }
  };
  return async (work, reads, signal) => {
    try {
      return await inTurn(() => run(work, reads, signal), signal);
    } catch (error) {
      if (!(error instanceof BulkheadFull)) throw error;
      const message = 'Other drafts of a policy are being checked. Try again in some seconds.';
      throw new Refusal('RATE_LIMITED', message, { retryAfterSeconds: 10, cause: error });
    }
  };
};
