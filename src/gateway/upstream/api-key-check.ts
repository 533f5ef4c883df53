/** Whether the upstream takes the gateway's API key: part of readiness. */
import type { Call } from '../../contract/client.js';
import { listEmbeds } from '../../contract/embeds.js';
import { Refusal } from '../../domain/refusal.js';
import { systemTiming, type Timing } from '../../platform/timing.js';

/** The upstream is not asked more often: probes come every few seconds, from each balancer. */
const maxAgeMs = 10_000;
/** A probe waits this long for an upstream that is slow. */
const waitMs = 1_000;

const isRefused = (error: unknown): boolean =>
  error instanceof Refusal && error.reason === 'upstream-refuses-the-api-key';

/**
 * Rejects where the upstream refused the key when it was last asked. An upstream that does not answer says nothing about the
 * key, and cached tokens are answered meanwhile: the gateway stays ready.
 */
export const createApiKeyCheck = (upstream: Call, timing: Timing = systemTiming): (() => Promise<void>) => {
  let refusal: unknown = null;
  let askedAtMs = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | null = null;
  const ask = async (): Promise<void> => {
    try {
      await upstream(listEmbeds, { isPagination: true, pageNumber: 1 });
      refusal = null;
    } catch (error) {
      if (isRefused(error)) refusal = error;
    } finally {
      // A key that was refused is asked about again at once: it may have been made meanwhile.
      if (refusal === null) askedAtMs = timing.nowMs();
      asking = null;
    }
  };
  return async () => {
    if (timing.nowMs() - askedAtMs > maxAgeMs) {
      asking ??= ask();
      let cancel = (): void => {};
      const late = new Promise<void>((resolve) => {
        cancel = timing.after(waitMs, resolve);
      });
      await Promise.race([asking, late]).finally(() => cancel());
    }
    if (refusal !== null) throw refusal;
  };
};
