/** How the process ends: by a signal, or by a fault that nothing handled. */

const stopSignals: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT'];

/**
 * Makes SIGTERM and SIGINT end the process while it starts, until the returned function is called. The first process of
 * a container needs this, because the kernel ignores a signal that it has no handler for.
 */
export const endWhileStarting = (): (() => void) => {
  const end = (_: NodeJS.Signals, code: number): never => process.exit(128 + code);
  for (const signal of stopSignals) process.on(signal, end);
  return () => {
    for (const signal of stopSignals) process.off(signal, end);
  };
};

export type Endable = {
  /** Stops serving: readiness fails at once, and running requests may finish. */
  readonly close: () => Promise<void>;
  /** Aborts the running requests, so that `close` does not wait for them. */
  readonly hurry: () => void;
  /** Logs a fault that nothing handled. */
  readonly fault: (error: unknown) => void;
};

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * The first signal closes the servers; a second one also aborts running requests. A fault that nothing handled closes
 * them too, since the state of the process may be broken, and the process then ends with 1. The process ends within
 * `graceMs`, even if closing hangs.
 */
export const endOnSignalOrFault = ({ close, hurry, fault }: Endable, graceMs: number): void => {
  let exitCode = 0;
  let isClosing = false;
  const end = async (): Promise<void> => {
    isClosing = true;
    setTimeout(() => {
      console.error(`guestlist: not everything could be closed within ${graceMs / 1_000} s; ending all the same`);
      process.exit(1);
    }, graceMs).unref();
    await close();
    process.exit(exitCode);
  };
  const begin = (): void => {
    end().catch((error: unknown) => {
      console.error(`guestlist: the end failed: ${messageOf(error)}`);
      process.exit(1);
    });
  };
  for (const signal of stopSignals) process.on(signal, () => (isClosing ? hurry() : begin()));
  // Node passes rejections that nothing handled to this too.
  process.on('uncaughtException', (error) => {
    exitCode = 1;
    fault(error);
    if (isClosing) return;
    console.error(`guestlist: ending after a fault that nothing handled: ${messageOf(error)}`);
    begin();
  });
};
