/** The process's meters for Prometheus. No label names a tenant, and every label has a limited set of values. */
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client';

export type Meters = {
  /** The registry, to which other parts add their meters. Each app has its own registry. */
  readonly registry: Registry;
  readonly observe: (request: {
    readonly operation: string;
    readonly status: number;
    readonly durationInSeconds: number;
  }) => void;
  readonly render: () => Promise<{ readonly contentType: string; readonly body: string }>;
};

/** Creates a new registry with the process's default meters. */
export const createMeters = (): Meters => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const durations = new Histogram({
    name: 'guestlist_request_duration_seconds',
    help: 'Time to answer a request, by operation and status.',
    labelNames: ['operation', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  });
  return {
    registry,
    observe: ({ operation, status, durationInSeconds }) =>
      durations.observe({ operation, status: String(status) }, durationInSeconds),
    render: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
  };
};
