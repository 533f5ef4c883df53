/** The process's meters for Prometheus. No label names a tenant, and every label has a limited set of values. */
import {
  collectDefaultMetrics,
  Histogram,
  type HistogramConfiguration,
  type OpenMetricsContentType,
  type PrometheusContentType,
  Registry,
} from 'prom-client';
import { sampledTraceId } from '../traces/trace.js';

export type Meters = {
  /** The registry, to which other parts add their meters. Each app has its own registry. */
  readonly registry: Registry;
  readonly observe: (request: {
    readonly operation: string;
    readonly status: number;
    readonly durationInSeconds: number;
    /** The trace of the request, if it is sampled. */
    readonly exemplar?: string | undefined;
  }) => void;
  /** `accept` is the header of the scraper: exemplars are in the text of OpenMetrics alone. */
  readonly render: (accept?: string) => Promise<{ readonly contentType: string; readonly body: string }>;
};

/**
 * Creates a histogram whose buckets name the trace of their last sampled observation. `exemplar` is the trace; left out,
 * it is the one of the open span.
 */
export const createHistogram = (
  registry: Registry,
  config: Omit<HistogramConfiguration<string>, 'enableExemplars' | 'registers'>,
) => {
  // Registered here, since the library itself adds exemplars to a registry of OpenMetrics alone.
  const histogram = new Histogram({ ...config, enableExemplars: true, registers: [] });
  registry.registerMetric(histogram);
  return (value: number, labels: Readonly<Record<string, string>> = {}, exemplar = sampledTraceId()): void =>
    histogram.observe({ labels, value, ...(exemplar === undefined ? {} : { exemplarLabels: { trace_id: exemplar } }) });
};

const openMetrics = 'application/openmetrics-text';

type Accepted = { readonly type: string; readonly version: string; readonly weight: number };

const acceptedOf = (part: string): Accepted => {
  const [type = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
  const find = (name: string): string | undefined =>
    parameters.find((parameter) => parameter.startsWith(`${name}=`))?.slice(name.length + 1);
  return { type, version: find('version') ?? '1.0.0', weight: Number(find('q') ?? 1) };
};

/** Whether the header names version 1 of OpenMetrics, and no other text with more weight. */
const asksForOpenMetrics = (accept: string): boolean => {
  const accepted = accept.split(',').map(acceptedOf);
  const weightOf = (isMeant: (one: Accepted) => boolean): number =>
    Math.max(0, ...accepted.filter((one) => isMeant(one) && one.weight > 0).map(({ weight }) => weight));
  const weight = weightOf(({ type, version }) => type === openMetrics && version === '1.0.0');
  return weight > 0 && weight >= weightOf(({ type }) => type === 'text/plain');
};

/** The library cuts `_total` off the names of the counters that it writes as OpenMetrics: so it gets others. */
const viewOf = <Metric extends object>(metric: Metric): Metric => Object.create(metric);

const asOpenMetrics = (registry: Registry): Registry<OpenMetricsContentType> => {
  const views = new Registry<OpenMetricsContentType>();
  views.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  for (const { name } of registry.getMetricsAsArray()) {
    const metric = registry.getSingleMetric(name);
    if (metric !== undefined) views.registerMetric(viewOf(metric));
  }
  return views;
};

/** Creates a new registry with the process's default meters. */
export const createMeters = (): Meters => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const observe = createHistogram(registry, {
    name: 'guestlist_request_duration_seconds',
    help: 'Time to answer a request, by operation and status.',
    labelNames: ['operation', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  });
  return {
    registry,
    observe: ({ operation, status, durationInSeconds, exemplar }) =>
      observe(durationInSeconds, { operation, status: String(status) }, exemplar),
    render: async (accept = '') => {
      const written: Registry<OpenMetricsContentType> | Registry<PrometheusContentType> = asksForOpenMetrics(accept)
        ? asOpenMetrics(registry)
        : registry;
      return { contentType: written.contentType, body: await written.metrics() };
    },
  };
};
