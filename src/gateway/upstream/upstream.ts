import { type Call, createClient, type Transport, UpstreamRefusal } from '../../contract/client.js';
import { listEmbeds } from '../../contract/embeds.js';
import { Refusal } from '../../domain/refusal.js';
import { systemTiming, type Timing } from '../../platform/timing.js';
import { type GatewayMetrics, noGatewayMetrics } from '../common/metrics.js';
import type { Capabilities } from './capabilities.js';
import { callOnce, type Resilience } from './resilience.js';
import { isAboutTheRequest, unavailable } from './unavailable.js';

export { unavailable } from './unavailable.js';

const reasonOf = (error: unknown): string => {
  if (!(error instanceof UpstreamRefusal)) return 'upstream-unreachable';
  if (error.status === 401) return 'upstream-refuses-the-api-key';
  return error.status === 429 ? 'upstream-rate-limit' : 'upstream-failed';
};

/** The client that a call is about: one client's failures alone say nothing about the upstream. */
const clientOf = (input: unknown): string =>
  typeof input === 'object' && input !== null && 'clientId' in input ? String(input.clientId) : '';

const both = (one: AbortSignal | undefined, other: AbortSignal | undefined): AbortSignal | undefined =>
  one === undefined || other === undefined ? (one ?? other) : AbortSignal.any([one, other]);

/** `createHttpUpstream` makes one of a service elsewhere. */
export type GatewayUpstream = {
  readonly transport: Transport;
  readonly apiKey: string;
  /** Names the upstream in the keys of cached tokens. */
  readonly baseUrl: string;
  /** Left out: each call is tried once. */
  readonly resilience?: Resilience | undefined;
  /** Beyond the interface; left out: none. */
  readonly capabilities?: Capabilities | undefined;
};

export type UpstreamOptions = {
  readonly resilience?: Resilience | undefined;
  readonly metrics?: Pick<GatewayMetrics, 'called'> | undefined;
};

/**
 * The gateway's way to its upstream. Throws UpstreamRefusal where the service refuses this very request, and
 * UPSTREAM_UNAVAILABLE for everything else that is not a good answer. All calls to one upstream share its `resilience`;
 * left out: each is tried once.
 */
export const createUpstream = (
  transport: Transport,
  apiKey: string,
  { resilience = callOnce, metrics = noGatewayMetrics }: UpstreamOptions = {},
): Call => {
  const call = createClient(transport, apiKey);
  const attempt: Call = async (operation, input, signal) => {
    try {
      return await call(operation, input, signal);
    } catch (error) {
      if (error instanceof Refusal) throw error;
      if (error instanceof UpstreamRefusal && isAboutTheRequest(error)) throw error;
      throw unavailable(reasonOf(error), error);
    }
  };
  return async (operation, input, signal) => {
    const { name, bindings } = operation;
    const kind = { operation: name, method: bindings[0]?.method, client: clientOf(input) };
    try {
      const answer = await resilience(kind, (until) => attempt(operation, input, both(signal, until)));
      metrics.called(name, 'ok');
      return answer;
    } catch (error) {
      metrics.called(name, error instanceof UpstreamRefusal ? 'refused' : 'failed');
      throw error;
    }
  };
};

/** Whether the upstream takes the gateway's API key: part of readiness. */
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
