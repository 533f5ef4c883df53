/** The metrics of the gateway and of the engine for Prometheus: docs/monitoring.md lists them. No label names a tenant or a user. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { EngineMetrics } from '../engine/rows.js';
import type { GatewayMetrics } from '../gateway/common/metrics.js';

/** Beside what the gateway tells: whether what it goes on without is away. */
export type ProductMetrics = GatewayMetrics & {
  readonly redisChanged: (of: 'cache' | 'limits', isDown: boolean) => void;
};

const createCounters =
  (registry: Registry) =>
  <Label extends string>(name: string, help: string, labelNames: readonly Label[]) => {
    const counter = new Counter({ name, help, labelNames, registers: [registry] });
    const bound = new Map<string, { readonly inc: (count?: number) => void }>();
    /** Its labels are looked up once for all their values: it is counted at every request. */
    return (count: number, ...values: readonly string[]): void => {
      const key = values.join(' ');
      const child = bound.get(key) ?? counter.labels(...values);
      bound.set(key, child);
      child.inc(count);
    };
  };

/**
 * Counts of one label, kept in plain numbers and handed over when the metrics are read: one is counted at every request. Its
 * values are few and the gateway's own words.
 */
const createTally = (registry: Registry, name: string, help: string, label: string) => {
  const counts = new Map<string, number>();
  const counter: Counter = new Counter({
    name,
    help,
    labelNames: [label],
    registers: [registry],
    collect: () => {
      counter.reset();
      for (const [value, count] of counts) counter.inc({ [label]: value }, count);
    },
  });
  return (value: string): void => {
    counts.set(value, (counts.get(value) ?? 0) + 1);
  };
};

const mintBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20];

const gatewayGauges = {
  auditWaiting: {
    name: 'guestlist_gateway_audit_waiting',
    help: 'Entries of the audit that wait to be written.',
    per: 1,
  },
  epochsAgeMs: {
    name: 'guestlist_gateway_epochs_age_seconds',
    help: 'How old is what the gateway knows of revocations; beyond 1 it asks before it answers. 0 where nobody else writes.',
    per: 1000,
  },
} as const;

const createCounts = (registry: Registry) => {
  const counter = createCounters(registry);
  const name = (what: string): string => `guestlist_gateway_${what}_total`;
  return {
    answers: createTally(registry, name('answers'), 'Requests for a token, by what was answered.', 'outcome'),
    limited: counter(name('limited'), 'Requests that were refused by a limit.', ['limit']),
    calls: counter(name('upstream_calls'), 'Calls to the service.', ['operation', 'outcome']),
    loads: counter(name('policy_loads'), 'Policies that were taken or refused.', ['outcome']),
    entries: counter(name('audit_entries'), 'Entries of the audit.', ['outcome']),
  };
};

const createStates = (registry: Registry) => {
  const gauge = (what: string, help: string, labelNames: readonly string[] = []): Gauge =>
    new Gauge({ name: `guestlist_gateway_${what}`, help, labelNames, registers: [registry] });
  return {
    circuit: gauge('circuit_open', '1 while the service is not asked, as it failed too often in a row.'),
    loaded: gauge('policy_loaded_timestamp_seconds', 'When the policy in force was taken.'),
    refused: gauge('policy_refused', '1 while the policy files hold faults, and an earlier policy is in force.'),
    redis: gauge('redis_down', '1 while Redis cannot be reached, and the gateway goes on without.', ['of']),
  };
};

/** One for each registry. */
export const createGatewayMetrics = (registry: Registry): ProductMetrics => {
  const { answers, limited, calls, loads, entries } = createCounts(registry);
  const { circuit, loaded, refused, redis } = createStates(registry);
  const mints = new Histogram({
    name: 'guestlist_gateway_mint_duration_seconds',
    help: 'Time that the service took to mint a token.',
    buckets: mintBuckets,
    registers: [registry],
  });
  return {
    answered: answers,
    limited: (limit) => limited(1, limit),
    minted: (durationMs) => mints.observe(durationMs / 1000),
    called: (operation, outcome) => calls(1, operation, outcome),
    circuitChanged: (state) => circuit.set(state === 'open' ? 1 : 0),
    policyRead: (outcome) => {
      refused.set(outcome === 'refused' ? 1 : 0);
      if (outcome !== 'unchanged') loads(1, outcome === 'changed' ? 'ok' : 'refused');
      if (outcome === 'changed') loaded.setToCurrentTime();
    },
    audited: (count, outcome) => entries(count, outcome),
    watch: (what, read) => {
      const { name, help, per } = gatewayGauges[what];
      const collect = (): void => shown.set(read() / per);
      const shown: Gauge = new Gauge({ name, help, registers: [registry], collect });
    },
    redisChanged: (of, isDown) => redis.set({ of }, isDown ? 1 : 0),
  };
};

const engineGauges = {
  cacheBytes: { name: 'guestlist_query_cache_bytes', help: 'What kept answers take in this process.' },
  waiting: { name: 'guestlist_queries_waiting', help: 'Queries that wait for their turn at a datasource.' },
} as const;

/** The engine's metrics; no label names a tenant. One for each registry. */
export const createEngineMetrics = (registry: Registry): EngineMetrics => {
  const registers = [registry];
  const answers = new Counter({
    name: 'guestlist_query_answers_total',
    help: 'Questions to the engine, by where the rows came from.',
    labelNames: ['from'],
    registers,
  });
  const evictions = new Counter({
    name: 'guestlist_query_cache_evictions_total',
    help: 'Kept answers that had to make room for others.',
    registers,
  });
  const refusals = new Counter({
    name: 'guestlist_queries_refused_total',
    help: 'Queries that found the line of their datasource full, or waited in it for too long.',
    labelNames: ['why'],
    registers,
  });
  return {
    answered: (from) => answers.inc({ from }),
    evicted: () => evictions.inc(),
    refused: (why) => refusals.inc({ why }),
    watch: (what, read) => {
      const collect = (): void => shown.set(read());
      const shown: Gauge = new Gauge({ ...engineGauges[what], registers, collect });
    },
  };
};
