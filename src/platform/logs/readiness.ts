import { handled } from '../../model/handled.js';
import type { Log } from '../../model/log-events.js';

/** A check that `/readyz` runs on one part of the process. Each check has a time limit. */
export type Check = {
  /** The slug that the response shows if the check fails: `metadata`, `data-folder`, `api-key`. */
  readonly name: string;
  /** Rejects if this part cannot serve. */
  readonly run: () => Promise<unknown>;
  /** How to fix it, if that does not depend on the failure. */
  readonly fix?: string;
};

export type Readiness = {
  /**
   * Returns the names of the failed checks. An empty list means ready. Resolves within `readinessTimeoutMs` and never
   * rejects.
   */
  readonly failed: () => Promise<readonly string[]>;
  /** How to fix a failed check, if that is known. */
  readonly fixOf: (name: string) => string | undefined;
  /** How long the last run of a check took, in milliseconds. Undefined: it has not ended yet. */
  readonly tookMs: (name: string) => number | undefined;
};

/** Milliseconds for all checks. Less than the two seconds that a probe may take in total. */
const readinessTimeoutMs = 1_500;

type ReadinessLog = Pick<Log, 'warn'>;

const inTime = async ({ name, run }: Check): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const late = handled(
    new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new Error(`the check ${name} took longer than ${readinessTimeoutMs} ms`)),
        readinessTimeoutMs,
      );
    }),
  );
  try {
    await Promise.race([run(), late]);
  } finally {
    clearTimeout(timer);
  }
};

/** Creates the readiness check. Probes that arrive while the checks run share their result. */
export const createReadiness = (checks: readonly Check[], log: ReadinessLog): Readiness => {
  let running: Promise<readonly string[]> | null = null;
  const durations = new Map<string, number>();
  const timed = async (check: Check): Promise<void> => {
    const startedMs = performance.now();
    try {
      await inTime(check);
    } finally {
      durations.set(check.name, performance.now() - startedMs);
    }
  };
  const runAll = async (): Promise<readonly string[]> => {
    const outcomes = await Promise.allSettled(checks.map(timed));
    return outcomes.flatMap((outcome, index) => {
      if (outcome.status === 'fulfilled') return [];
      const { name, fix } = checks[index] ?? { name: 'unknown', fix: undefined };
      const line = { event: 'readiness.check_failed', check: name, err: outcome.reason, fix } as const;
      log.warn(line, 'a readiness check failed');
      return [name];
    });
  };
  return {
    failed: () => {
      running ??= handled(
        runAll().finally(() => {
          running = null;
        }),
      );
      return running;
    },
    fixOf: (name) => checks.find((check) => check.name === name)?.fix,
    tookMs: (name) => durations.get(name),
  };
};
