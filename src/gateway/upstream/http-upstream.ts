/** An upstream in another process: how it is reached, how it is spared and what it can do, from its settings. */
import { UpstreamRefusal } from '../../contract/client.js';
import type { Capability } from '../../domain/capability.js';
import type { Clock } from '../../domain/ports.js';
import type { Log } from '../../platform/log.js';
import type { GatewayMetrics } from '../common/metrics.js';
import { type Capabilities, discoverCapabilities, fixedCapabilities } from './capabilities.js';
import { createHttpTransport } from './http-transport.js';
import { createResilience, type ResilienceSettings, realTiming } from './resilience.js';
import { unavailable } from './unavailable.js';
import type { GatewayUpstream } from './upstream.js';

export type UpstreamSettings = ResilienceSettings & {
  /** Of one try. */
  readonly timeoutMs: number;
  /** `auto` asks the service itself. */
  readonly capabilities: 'auto' | 'none' | readonly Capability[];
};

/** Those of the shipped configuration, for hosts that give none. */
export const usualUpstreamSettings: UpstreamSettings = {
  timeoutMs: 10_000,
  deadlineMs: 20_000,
  retries: 2,
  maxConcurrent: 64,
  maxQueued: 1_000,
  breakerFailures: 8,
  breakerOpenMs: 2_000,
  capabilities: 'auto',
};

export type HttpUpstreamOptions = {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly settings: UpstreamSettings;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics?: Pick<GatewayMetrics, 'circuitChanged'> | undefined;
};

export const createHttpUpstream = (options: HttpUpstreamOptions): GatewayUpstream => {
  const { baseUrl, apiKey, settings, clock, log, metrics } = options;
  const transport = createHttpTransport({ baseUrl, timeoutMs: settings.timeoutMs });
  const resilience = createResilience(settings, log, realTiming, metrics?.circuitChanged);
  const document = { method: 'GET', path: '/openapi.json', query: {}, body: undefined, bearer: apiKey } as const;
  const readDocument = () =>
    resilience({ operation: 'openapi', method: 'GET', client: '' }, async (until) => {
      const answer = await transport(document, until);
      const { status } = answer;
      if (status !== 429 && status < 500) return answer;
      throw unavailable('capabilities-unknown', new UpstreamRefusal(status, 'UNKNOWN', 'no document', answer));
    });
  const capabilitiesOf = (): Capabilities => {
    if (settings.capabilities === 'auto') return discoverCapabilities(readDocument, clock);
    return fixedCapabilities(settings.capabilities === 'none' ? [] : settings.capabilities);
  };
  return { baseUrl, apiKey, transport, resilience, capabilities: capabilitiesOf() };
};
