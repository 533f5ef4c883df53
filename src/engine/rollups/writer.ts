/** Starts the process that writes files of rollups, and asks it. It is told by messages what to do, and by nothing that others see. */
import { Refusal } from '../../model/refusal.js';
import { startChild } from '../../platform/work/child.js';
import { findThread } from '../../platform/work/thread.js';
import type { Timing } from '../../platform/work/time.js';
import type { Log } from '../connections/database.js';
import { type AnswerTo, type Asked, errorOf, type QuestionKind, type QuestionOf, type Told } from './wire.js';

/** Beside this file, or below the command line's bundle; tests run the sources, and the program as it was built. */
const places = ['./process.js', './engine/rollups/process.js', '../../../dist/engine/rollups/process.js'];

/** A process that was told to end and does not is killed: it may be short of memory, or stopped. */
const leaveMs = 10_000;

/** Asks one question at a time. Throws what the process threw, and METRIC_QUERY_ERROR where it has ended. */
export type Writer = {
  readonly [Kind in Exclude<QuestionKind, 'open' | 'close'>]: (question: QuestionOf<Kind>) => Promise<AnswerTo<Kind>>;
};

export type WriterProcess = Pick<QuestionOf<'open'>, 'niceness'> & {
  /** The whole environment of the process: where the certificates are that it trusts, and the time zone. */
  readonly environment: Readonly<Record<string, string>>;
};

type WriterOptions = QuestionOf<'open'> &
  WriterProcess & {
    readonly log: Log;
    readonly timing: Timing;
    readonly signal?: AbortSignal | undefined;
  };

const ended = (how: string): Refusal =>
  new Refusal('METRIC_QUERY_ERROR', 'The process that builds rollups ended too early. Nothing was changed; retry.', {
    ...{ reason: 'rollup-process-ended', cause: new Error(how) },
  });

/** Writes a line of the process into the log of this one. */
const passLine = (log: Log, { level, line, message }: Extract<Told, { kind: 'line' }>): void => {
  const err: Parameters<typeof errorOf>[0] | undefined = Reflect.get(line, 'err');
  const known = err === undefined ? line : { ...line, err: errorOf(err) };
  (log[level] as (line: object, message: string) => void)(known, message);
};

/** Runs the work with a process of its own. Throws the signal's reason once it aborts, and cancels what runs. */
export const withWriter = async <R>(
  { environment, log, timing, signal, ...opening }: WriterOptions,
  work: (writer: Writer) => Promise<R>,
): Promise<R> => {
  signal?.throwIfAborted();
  const child = startChild<Asked, Told>(findThread(import.meta.url, places), {
    ...{ environment, ended, isApart: true },
    noted: (told) => {
      if (told.kind !== 'line') return false;
      passLine(log, told);
      return true;
    },
  });
  const leave = async (): Promise<void> => {
    const cancel = timing.after(leaveMs, () => void child.kill());
    await child.leave();
    cancel();
  };
  const stop = (): void => void leave();
  signal?.addEventListener('abort', stop, { once: true });
  const ask = async <Kind extends QuestionKind>(kind: Kind, question: QuestionOf<Kind>): Promise<AnswerTo<Kind>> => {
    try {
      const told = await child.ask({ kind, question } as Asked);
      if (told.kind !== 'answer') throw told.kind === 'fault' ? errorOf(told.error) : new TypeError('no answer');
      return told.answer as AnswerTo<Kind>;
    } catch (cause) {
      signal?.throwIfAborted();
      throw cause;
    }
  };
  try {
    await ask('open', opening);
    const done = await work({
      read: (question) => ask('read', question),
      write: (question) => ask('write', question),
      rewrite: (question) => ask('rewrite', question),
    });
    await ask('close', null);
    return done;
  } finally {
    signal?.removeEventListener('abort', stop);
    await leave();
  }
};
