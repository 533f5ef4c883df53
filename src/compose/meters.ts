/**
 * Prometheus meters of the gateway and the engine. docs/reference/monitoring.md lists them. No label names a tenant or a user.
 */
import { Counter, Gauge, type Registry } from 'prom-client';
import type { EngineMeters } from '../engine/rows.js';
import type { GatewayMeters, WorkKind } from '../gateway/common/meters.js';
import { createHistogram } from '../platform/logs/meters.js';

/** The gateway's meters, and whether dependencies that it can do without are available. */
export type ProductMeters = GatewayMeters & {
  readonly redisChanged: (of: 'cache' | 'limits', isDown: boolean) => void;
};

const createCounters =
  (registry: Registry) =>
  <Label extends string>(name: string, help: string, labelNames: readonly Label[]) => {
    const counter = new Counter({ name, help, labelNames, registers: [registry] });
    const bound = new Map<string, { readonly inc: (count?: number) => void }>();
    /** The label set is looked up once, since the counter is increased at every request. */
    return (count: number, ...values: readonly string[]): void => {
      const key = values.join(' ');
      const child = bound.get(key) ?? counter.labels(...values);
      bound.set(key, child);
      child.inc(count);
    };
  };

/**
 * Counts by one label. The counts are plain numbers, copied to the registry when the meters are read, since they
 * increase at every request. The label has few values, all defined by the gateway.
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
    help: 'Number of audit entries that wait to be written.',
    per: 1,
  },
  epochsAgeMs: {
    name: 'guestlist_gateway_epochs_age_seconds',
    help: "Age in seconds of the gateway's copy of the revocation epochs. Above 1, it reads the ledger before it answers. 0 if no other process writes.",
    per: 1000,
  },
} as const;

const createCounts = (registry: Registry) => {
  const counter = createCounters(registry);
  const name = (what: string): string => `guestlist_gateway_${what}_total`;
  return {
    answers: createTally(registry, name('answers'), 'Requests for a token, by outcome.', 'outcome'),
    limited: counter(name('limited'), 'Requests refused by a limit.', ['limit']),
    calls: counter(name('upstream_calls'), 'Calls to the service.', ['operation', 'outcome']),
    loads: counter(name('policy_loads'), 'Changed policies that were loaded or refused.', ['outcome']),
    entries: counter(name('audit_entries'), 'Audit entries written.', ['outcome']),
  };
};

const createStates = (registry: Registry) => {
  const gauge = (what: string, help: string, labelNames: readonly string[] = []): Gauge =>
    new Gauge({ name: `guestlist_gateway_${what}`, help, labelNames, registers: [registry] });
  return {
    circuit: gauge('circuit_open', '1 while the service is not called because it failed too often in a row.'),
    loaded: gauge('policy_loaded_timestamp_seconds', 'Time at which the current policy was loaded.'),
    refused: gauge('policy_refused', '1 while the policy files have faults and an earlier policy applies.'),
    redis: gauge('redis_down', '1 while Redis is unavailable and the gateway works without it.', ['of']),
  };
};

/** Sets how much work of a kind waits to be continued, and for how many seconds the oldest has waited. */
export type CountWork = (kind: WorkKind | 'delivery', count: number, seconds: number) => void;

/** Call it once for each registry. */
export const createCountWork = (registry: Registry): CountWork => {
  const gauge = (name: string, help: string): Gauge =>
    new Gauge({ name: `guestlist_${name}`, help, labelNames: ['kind'], registers: [registry] });
  const unfinished = gauge('unfinished_work', 'Long work that waits to be continued, by kind.');
  const waiting = gauge('unfinished_work_age_seconds', 'How long the oldest of it has waited.');
  return (kind, count, seconds) => {
    unfinished.set({ kind }, count);
    waiting.set({ kind }, seconds);
  };
};

export type CountDelivery = (state: string) => void;

/** Counts how deliveries ended. Call it once for each registry. */
export const createCountDelivery = (registry: Registry): CountDelivery => {
  const name = 'guestlist_deliveries_total';
  const help = 'Attempts to send a report or an alert, by how they ended. `due`: it is tried again.';
  const ended = new Counter({ name, help, labelNames: ['state'], registers: [registry] });
  return (state) => ended.inc({ state });
};

/** Shows by how much the clock of this process is ahead of the metadata server's. Call it once for each registry. */
export const showClockSkew = (registry: Registry, skewMs: () => number): void => {
  const shown: Gauge = new Gauge({
    name: 'guestlist_clock_skew_seconds',
    help: "Seconds by which the clock of this process is ahead of the metadata server's. 0 up to 2 seconds.",
    registers: [registry],
    collect: () => shown.set(skewMs() / 1000),
  });
};

/** Call it once for each registry. */
export const createGatewayMeters = (registry: Registry, countWork: CountWork): ProductMeters => {
  const { answers, limited, calls, loads, entries } = createCounts(registry);
  const { circuit, loaded, refused, redis } = createStates(registry);
  const observeMint = createHistogram(registry, {
    name: 'guestlist_gateway_mint_duration_seconds',
    help: 'Time the service took to mint a token.',
    buckets: mintBuckets,
  });
  return {
    answered: answers,
    limited: (limit) => limited(1, limit),
    minted: (durationMs) => observeMint(durationMs / 1000),
    called: (operation, outcome) => calls(1, operation, outcome),
    circuitChanged: (state) => circuit.set(state === 'open' ? 1 : 0),
    policyRead: (outcome) => {
      refused.set(outcome === 'refused' ? 1 : 0);
      if (outcome !== 'unchanged') loads(1, outcome === 'changed' ? 'ok' : 'refused');
      if (outcome === 'changed') loaded.setToCurrentTime();
    },
    audited: (count, outcome) => entries(count, outcome),
    unfinished: countWork,
    watch: (what, read) => {
      const { name, help, per } = gatewayGauges[what];
      const collect = (): void => shown.set(read() / per);
      const shown: Gauge = new Gauge({ name, help, registers: [registry], collect });
    },
    redisChanged: (of, isDown) => redis.set({ of }, isDown ? 1 : 0),
  };
};

const engineGauges = {
  cacheBytes: { name: 'guestlist_query_cache_bytes', help: 'Memory that cached answers use in this process.' },
  waiting: { name: 'guestlist_queries_waiting', help: 'Queries that wait in the fair queue of a datasource.' },
} as const;

/** Creates the engine's meters. Call it once for each registry. No label names a tenant. */
export const createEngineMeters = (registry: Registry): EngineMeters => {
  const registers = [registry];
  const answers = new Counter({
    name: 'guestlist_query_answers_total',
    help: 'Queries, by the source of their rows.',
    labelNames: ['from'],
    registers,
  });
  const evictions = new Counter({
    name: 'guestlist_query_cache_evictions_total',
    help: 'Cached answers that were evicted to make room.',
    registers,
  });
  const refusals = new Counter({
    name: 'guestlist_queries_refused_total',
    help: 'Queries refused because the queue was full or the wait was too long.',
    labelNames: ['why'],
    registers,
  });
  const observeWait = createHistogram(registry, {
    name: 'guestlist_query_wait_seconds',
    help: 'Time that a query waited for its turn at the datasource.',
    buckets: [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  });
  return {
    waited: (ms) => observeWait(ms / 1000),
    answered: (from) => answers.inc({ from }),
    evicted: () => evictions.inc(),
    refused: (why) => refusals.inc({ why }),
    watch: (what, read) => {
      const collect = (): void => shown.set(read());
      const shown: Gauge = new Gauge({ ...engineGauges[what], registers, collect });
    },
  };
};
