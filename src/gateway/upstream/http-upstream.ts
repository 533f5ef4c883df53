/** Creates an upstream in another process from its settings: its transport, resilience and capabilities. */

import type { Capability } from '../../model/capability.js';
import type { Clock } from '../../model/ports.js';
import { anyOf } from '../../model/signals.js';
import { readText } from '../../platform/calls/outgoing.js';
import { type Transport, UpstreamRefusal, type WireRequest } from '../../platform/http/interface/client.js';
import type { Log } from '../../platform/logs/log.js';
import { withTraceHeaders } from '../../platform/traces/trace.js';
import type { GatewayMeters } from '../common/meters.js';
import { type Capabilities, discoverCapabilities, fixedCapabilities } from './capabilities.js';
import { createResilience, type ResilienceSettings, realTiming } from './resilience.js';
import { unavailable } from './unavailable.js';
import type { GatewayUpstream } from './upstream.js';

export type UpstreamSettings = ResilienceSettings & {
  /** Timeout of one attempt. */
  readonly timeoutMs: number;
  /** `auto` reads them from the service's OpenAPI document. */
  readonly capabilities: 'auto' | 'none' | readonly Capability[];
};

export type HttpUpstreamOptions = {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly settings: UpstreamSettings;
  readonly clock: Clock;
  readonly log: Log;
  readonly meters?: Pick<GatewayMeters, 'circuitChanged'> | undefined;
};

export const createHttpUpstream = (options: HttpUpstreamOptions): GatewayUpstream & { transport: Transport } => {
  const { baseUrl, apiKey, settings, clock, log, meters } = options;
  const transport = createHttpTransport({ baseUrl, timeoutMs: settings.timeoutMs });
  const resilience = createResilience(settings, log, realTiming, meters?.circuitChanged);
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

export type HttpTransportOptions = {
  /** URL of the service, with or without a path. The interface's paths are appended. */
  readonly baseUrl: string;
  readonly timeoutMs: number;
};

const maxAnswerBytes = 16 * 1024 * 1024;

const urlOf = (baseUrl: string, { path, query }: WireRequest): string => {
  const search = new URLSearchParams(query).toString();
  return `${baseUrl.replace(/\/+$/, '')}${path}${search === '' ? '' : `?${search}`}`;
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    // The body is not JSON. The client reports this for every status.
    return undefined;
  }
};

const dateMs = (text: string | null): number => (text?.endsWith(' GMT') === true ? Date.parse(text) : Number.NaN);

/**
 * Returns the delay of `Retry-After`, given as seconds or as a date, relative to the response's own `Date`. Returns
 * undefined if the value is not usable.
 */
const retryAfterMsOf = ({ headers }: Response): number | undefined => {
  const text = headers.get('retry-after');
  if (text === null) return undefined;
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : dateMs(text) - dateMs(headers.get('date'));
  return Number.isFinite(ms) ? Math.max(ms, 0) : undefined;
};

/**
 * Sends requests over HTTP. Follows no redirects, since they would forward the API key. The configuration names the
 * address, which is usually of the operator's own network, so no address is refused. Rejects with UPSTREAM_UNAVAILABLE if
 * there is no response.
 *
 * @internal Tests only: they call a service without the retries around it.
 */
export const createHttpTransport =
  ({ baseUrl, timeoutMs }: HttpTransportOptions): Transport =>
  async (request, signal) => {
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      const response = await withTraceHeaders((traceHeaders) =>
        fetch(urlOf(baseUrl, request), {
          method: request.method,
          headers: {
            ...(request.bearer === '' ? {} : { authorization: `Bearer ${request.bearer}` }),
            accept: 'application/json',
            ...traceHeaders,
            ...(request.gateway === undefined ? {} : { 'guestlist-gateway': request.gateway }),
            ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
          },
          ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
          redirect: 'error',
          signal: signal === undefined ? timeout : anyOf(signal, timeout),
        }),
      );
      const body = parse(await readText(response, maxAnswerBytes));
      return { status: response.status, body, retryAfterMs: retryAfterMsOf(response) };
    } catch (cause) {
      throw unavailable(
        timeout.aborted || signal?.aborted === true ? 'upstream-timeout' : 'upstream-unreachable',
        cause,
      );
    }
  };
