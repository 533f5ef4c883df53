/**
 * The thread that checks one draft (draft-thread.ts starts it). It asks the main thread for everything outside the text,
 * and waits for each answer, so that it reads no table, host or user by itself.
 */
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { PolicyFaults } from '../policy/source.js';
import type { TenantTableFile } from '../policy/tenant-table.js';
import { checkDraft, type DraftWork } from './draft-check.js';
import type { Answers, DraftOutcome, Questions } from './draft-thread.js';

const { work, questions, turn, mostCharacters } = workerData as {
  readonly work: DraftWork;
  readonly questions: MessagePort;
  /** 1 while an answer lies at the port. */
  readonly turn: Int32Array;
  readonly mostCharacters: number;
};

// The parser makes an error for each fault of the syntax, and each would keep its stack.
Error.stackTraceLimit = 0;

const ask = <Kind extends keyof Questions>(kind: Kind, asked: Questions[Kind]): Answers[Kind] => {
  questions.postMessage({ kind, asked });
  Atomics.wait(turn, 0, 0);
  Atomics.store(turn, 0, 0);
  return (receiveMessageOnPort(questions) as { message: Answers[Kind] }).message;
};

const openTable = (name: string): TenantTableFile => {
  const opened = ask('table', name);
  if ('faults' in opened) throw new PolicyFaults(opened.faults);
  const table = { size: opened.size, find: (key: string) => ask('tenants', { file: opened.file, key }) };
  return {
    file: opened.file,
    current: () => table,
    reload: async () => {},
    watch: () => {},
    close: () => {},
  };
};

const effects = await checkDraft(work, {
  reach: { openTable, findLookup: ({ url, secretVariable }) => ask('lookup', { url, secretVariable }) },
  users: () => ask('users', null),
});
const isTooLong = JSON.stringify(effects).length > mostCharacters;
parentPort?.postMessage((isTooLong ? 'too-long' : effects) satisfies DraftOutcome);
questions.close();
