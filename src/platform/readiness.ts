import type { Log } from '../domain/log-events.js';

/** What `/readyz` asks of the parts of the process, each in bounded time. */
export type Check = {
  /** Slug that the answer names where the check fails: `metadata`, `data-folder`, `api-key`. */
  readonly name: string;
  /** Rejects where the part cannot serve. */
  readonly run: () => Promise<unknown>;
};

export type Readiness = {
  /** Names of the checks that failed; empty: ready. Resolves within `readinessTimeoutMs`, and never rejects. */
  readonly failed: () => Promise<readonly string[]>;
};

/** Less than the two seconds that a probe may take in all. */
const readinessTimeoutMs = 1_500;

type ReadinessLog = Pick<Log, 'warn'>;

const inTime = async ({ name, run }: Check): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`the check ${name} took longer than ${readinessTimeoutMs} ms`)),
      readinessTimeoutMs,
    );
  });
  try {
    await Promise.race([run(), late]);
  } finally {
    clearTimeout(timer);
  }
};

/** Probes that come while the checks run share their outcome. */
export const createReadiness = (checks: readonly Check[], log: ReadinessLog): Readiness => {
  let running: Promise<readonly string[]> | null = null;
  const runAll = async (): Promise<readonly string[]> => {
    const outcomes = await Promise.allSettled(checks.map(inTime));
    return outcomes.flatMap((outcome, index) => {
      if (outcome.status === 'fulfilled') return [];
      const name = checks[index]?.name ?? 'unknown';
      log.warn({ event: 'readiness.check_failed', check: name, err: outcome.reason }, 'a readiness check failed');
      return [name];
    });
  };
  return {
    failed: () => {
      running ??= runAll().finally(() => {
        running = null;
      });
      return running;
    },
  };
};
