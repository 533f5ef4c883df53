/** The metrics of the engine for Prometheus: README.md lists them. No label names a tenant. */
import { Counter, Gauge, type Registry } from 'prom-client';
import type { EngineMetrics } from './engine/engine-metrics.js';

const watched = {
  cacheBytes: { name: 'guestlist_query_cache_bytes', help: 'What kept answers take in this process.' },
  waiting: { name: 'guestlist_queries_waiting', help: 'Queries that wait for their turn at a datasource.' },
} as const;

/** One for each registry. */
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
      const shown: Gauge = new Gauge({ ...watched[what], registers, collect });
    },
  };
};
