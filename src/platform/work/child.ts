/** A process of our own that answers one question at a time. It ends with this process, whatever ends this process. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export type ChildOptions<Told> = {
  /** The whole environment of the process, which other users of the machine may read. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Whether it has a session of its own, whose priority it may lower. Left out: it has that of this process. */
  readonly isApart?: boolean;
  /** Why a question fails whose process has ended. */
  readonly ended: (how: string) => Error;
  /** Takes what is no answer, and returns true for it. Left out: everything is an answer. */
  readonly noted?: (told: Told) => boolean;
};

export type Child<Asked, Told> = {
  /** Rejects with the error of `ended` where the process ends before its answer. */
  readonly ask: (asked: Asked) => Promise<Told>;
  /** Ends the process at once. Resolves when it has ended. */
  readonly kill: () => Promise<void>;
  /** Tells the process to end, as the end of this process tells it. Resolves when it has ended. */
  readonly leave: () => Promise<void>;
  /** Called when it has ended, also by itself. */
  readonly onEnd: (lost: () => void) => void;
};

/** It keeps no program running while nothing is asked, and its command line names the program alone. */
const start = (
  program: URL,
  { environment, isApart = false }: Pick<ChildOptions<never>, 'environment' | 'isApart'>,
): ChildProcess => {
  const child = fork(fileURLToPath(program), [], {
    serialization: 'advanced',
    env: environment,
    // On Windows it would have a window.
    detached: isApart && process.platform !== 'win32',
    execArgv: [],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  child.unref();
  child.channel?.unref();
  return child;
};

export const startChild = <Asked extends object, Told>(
  program: URL,
  { ended, noted = () => false, ...options }: ChildOptions<Told>,
): Child<Asked, Told> => {
  const child = start(program, options);
  const lost: (() => void)[] = [];
  let settle: { readonly resolve: (told: Told) => void; readonly reject: (error: Error) => void } | undefined;
  const answer = (give: (waiting: NonNullable<typeof settle>) => void): void => {
    child.channel?.unref();
    if (settle !== undefined) give(settle);
    settle = undefined;
  };
  const fail = (how: string): void => answer(({ reject }) => reject(ended(how)));
  child.on('message', (message) => {
    const told = message as Told;
    if (!noted(told)) answer(({ resolve }) => resolve(told));
  });
  const exited = new Promise<void>((resolve) => {
    child.on('error', ({ message }) => {
      fail(message);
      if (child.pid === undefined) resolve();
    });
    child.on('exit', (code, signal) => {
      fail(`it ended with ${signal ?? code}`);
      for (const one of lost) one();
      resolve();
    });
  });
  const until = (end: () => void): Promise<void> => {
    child.ref();
    end();
    return exited;
  };
  return {
    ask: (asked) =>
      new Promise((resolve, reject) => {
        settle = { resolve, reject };
        if (!child.connected) return fail('it has ended');
        child.channel?.ref();
        child.send(asked, (error) => {
          if (error !== null) fail(error.message);
        });
      }),
    kill: () => until(() => void child.kill('SIGKILL')),
    leave: () => until(() => child.connected && child.disconnect()),
    onEnd: (one) => void lost.push(one),
  };
};
