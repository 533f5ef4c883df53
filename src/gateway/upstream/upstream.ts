import type { Reason } from '../../model/reasons.js';
import { Refusal } from '../../model/refusal.js';
import { anyOf } from '../../model/signals.js';
import { type Call, createClient, type Transport, UpstreamRefusal } from '../../platform/http/interface/client.js';
import { inSpan } from '../../platform/traces/trace.js';
import { systemTiming, type Timing } from '../../platform/work/time.js';
import { listEmbeds } from '../../service/embeds/contract/embeds.js';
import { type GatewayMeters, noGatewayMeters } from '../common/meters.js';
import type { Capabilities } from './capabilities.js';
import { callOnce, type Resilience } from './resilience.js';
import { isAboutTheRequest, unavailable } from './unavailable.js';

const reasonOf = (error: unknown): Reason => {
  if (!(error instanceof UpstreamRefusal)) return 'upstream-unreachable';
  if (error.status === 401) return 'upstream-refuses-the-api-key';
  return error.status === 429 ? 'upstream-rate-limit' : 'upstream-failed';
};

/** The client that a call is for. Failures of one client's calls alone do not count as failures of the upstream. */
const clientOf = (input: unknown): string =>
  typeof input === 'object' && input !== null && 'clientId' in input ? String(input.clientId) : '';

const both = (one: AbortSignal | undefined, other: AbortSignal | undefined): AbortSignal | undefined =>
  one === undefined || other === undefined ? (one ?? other) : anyOf(one, other);

/** A connection to an upstream. `createHttpUpstream` creates one for a service in another process. */
export type GatewayUpstream = {
  /** A service in this process needs no API key: it is given the data app that the policy names instead. */
  readonly transport: Transport | { readonly ofDataApp: (name: string) => Transport };
  /** The API key; for a service in this process that needs none, a secret. Cached tokens are named and sealed with it. */
  readonly apiKey: string;
  /** URL of the upstream, part of the keys of cached tokens. */
  readonly baseUrl: string;
  /** If left out, each call is tried once and without limits. */
  readonly resilience?: Resilience | undefined;
  /** What the service supports beyond the interface. If left out, nothing. */
  readonly capabilities?: Capabilities | undefined;
};

export type UpstreamOptions = {
  readonly resilience?: Resilience | undefined;
  readonly meters?: Pick<GatewayMeters, 'called'> | undefined;
};

/**
 * Creates the gateway's client of its upstream. A call throws UpstreamRefusal if the service refuses this one request,
 * and UPSTREAM_UNAVAILABLE for any other failure. All calls to one upstream share its `resilience`. If left out, each
 * call is tried once.
 */
export const createUpstream = (
  transport: Transport,
  apiKey: string,
  { resilience = callOnce, meters = noGatewayMeters }: UpstreamOptions = {},
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
    // One span for all attempts.
    const span = { name: `call ${name}`, kind: 'client' } as const;
    try {
      const answer = await inSpan(span, () =>
        resilience(kind, (until) => attempt(operation, input, both(signal, until))),
      );
      meters.called(name, 'ok');
      return answer;
    } catch (error) {
      meters.called(name, error instanceof UpstreamRefusal ? 'refused' : 'failed');
      throw error;
    }
  };
};

/** Minimum time between two checks of the API key: every load balancer sends a probe every few seconds. */
const maxAgeMs = 10_000;
/** Maximum time that a probe waits for a slow upstream. */
const waitMs = 1_000;

const isRefused = (error: unknown): boolean =>
  error instanceof Refusal && error.reason === 'upstream-refuses-the-api-key';

/**
 * Creates the readiness check of the gateway's API key. The check rejects if the upstream refused the key at the last
 * check. If the upstream does not respond, the key's validity is unknown and cached tokens still work, so the gateway
 * stays ready.
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
      // A refused key is checked again at the next probe: it may have been created meanwhile.
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
