/** Exemplars of histograms in the text of OpenMetrics, read by the grammar of the specification, and `traceId` of lines. */
import { TraceFlags, trace } from '@opentelemetry/api';
import { expect, it } from 'vitest';
import { createEngineMeters } from '../../src/compose/meters.js';
import { createMeters } from '../../src/platform/logs/meters.js';
import { inSpan } from '../../src/platform/traces/trace.js';
import { createMemoryLog } from './http/sample.js';
import { registerTraces } from './traces.js';

registerTraces();

const labels = String.raw`\{(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\n"])*"(?:,(?!\})|(?=\})))*\}`;
/** The names of numbers are of any case. */
const number = String.raw`[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?|[+-]?[iI][nN][fF]|[nN][aA][nN]`;
const sampleLine = new RegExp(
  String.raw`^(?<name>[a-zA-Z_:][\w:]*)(?<labels>${labels})? (?<value>${number})(?: # (?<exemplar>${labels}) (?<seen>${number}) (?<at>${number}))?$`,
);

type Sample = { readonly name: string; readonly labels?: string; readonly value: string; readonly exemplar?: string };

const suffixes: Readonly<Record<string, readonly string[]>> = {
  counter: ['_total', '_created'],
  gauge: [''],
  histogram: ['_bucket', '_sum', '_count', '_created'],
  summary: ['', '_sum', '_count', '_created'],
};

/** Reads the text by the grammar. Throws at a line that is none of it, or is of no family. */
const readOpenMetrics = (text: string): readonly Sample[] => {
  const lines = text.split('\n');
  expect(lines.slice(-2)).toEqual(['# EOF', '']);
  const families = new Map<string, string>();
  const samples: Sample[] = [];
  let family = '';
  for (const line of lines.slice(0, -2)) {
    const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE|UNIT) (\S+) (.*)$/.exec(line) ?? [];
    if (keyword !== undefined) {
      if (name !== family) expect(families).not.toContain(name);
      family = name;
      if (keyword === 'TYPE') families.set(name, rest);
      continue;
    }
    const sample = sampleLine.exec(line)?.groups as Sample | undefined;
    if (sample === undefined) throw new Error(`no line of OpenMetrics: ${line}`);
    const names = (suffixes[families.get(family) ?? ''] ?? []).map((suffix) => family + suffix);
    expect(names).toContain(sample.name);
    if (sample.exemplar !== undefined) expect(sample.name).toMatch(/_(bucket|total)$/);
    samples.push(sample);
  }
  return samples;
};

const scraper =
  'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2';

const waitsOf = ({ registry }: ReturnType<typeof createMeters>): ((ms: number) => void) => {
  const { waited } = createEngineMeters(registry);
  if (waited === undefined) throw new Error('the engine measures how long queries wait');
  return waited;
};

const exemplarsOf = async (meters: ReturnType<typeof createMeters>) => {
  const { body } = await meters.render(scraper);
  return readOpenMetrics(body).flatMap(({ name, labels = '', exemplar }) =>
    exemplar === undefined ? [] : [{ name, le: /le="([^"]*)"/.exec(labels)?.[1], exemplar }],
  );
};

it('a bucket names the trace of its last sampled observation', async () => {
  const meters = createMeters();
  const waited = waitsOf(meters);
  const traceIds = [3, 4_000, 99_000].map((ms) =>
    inSpan({ name: 'answer' }, ({ traceId }) => {
      waited(ms);
      return traceId;
    }),
  );
  meters.observe({ operation: 'op', status: 200, durationInSeconds: 0.2, exemplar: 'a'.repeat(32) });
  expect(await exemplarsOf(meters)).toEqual([
    { name: 'guestlist_request_duration_seconds_bucket', le: '0.25', exemplar: `{trace_id="${'a'.repeat(32)}"}` },
    ...['0.005', '5', '+Inf'].map((le, at) => ({
      ...{ name: 'guestlist_query_wait_seconds_bucket', le, exemplar: `{trace_id="${traceIds[at]}"}` },
    })),
  ]);
});

it('no bucket names a trace that is not sampled, nor one where none is open', async () => {
  const meters = createMeters();
  const waited = waitsOf(meters);
  waited(3);
  const from = { traceId: 'b'.repeat(32), spanId: 'c'.repeat(16), traceFlags: TraceFlags.NONE, isRemote: true };
  inSpan({ name: 'answer', from: { traceId: from.traceId, spanContext: from } }, () => waited(3));
  expect(await exemplarsOf(meters)).toEqual([]);
});

it('the plain text stays as it is, before and after one of OpenMetrics', async () => {
  const meters = createMeters();
  const waited = waitsOf(meters);
  inSpan({ name: 'answer' }, () => waited(3));
  const plain = async (accept?: string) => {
    const { contentType, body } = await meters.render(accept);
    expect(contentType).toBe('text/plain; version=0.0.4; charset=utf-8');
    return body.split('\n').filter((line) => line.startsWith('#') || line.startsWith('guestlist_'));
  };
  const before = await plain();
  expect(before.join('\n')).toContain('# TYPE guestlist_query_cache_evictions_total counter');
  expect(before.join('\n')).not.toMatch(/trace_id|EOF/);
  expect((await meters.render(scraper)).contentType).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
  expect(await plain()).toEqual(before);
  for (const accept of [
    '*/*',
    'text/plain;version=0.0.4',
    'application/openmetrics-text;version=0.0.1',
    'application/openmetrics-text;q=0',
    'application/openmetrics-text;q=0.2,text/plain;q=0.3',
    'application/openmetrics-text;q=x',
  ])
    expect(await plain(accept)).toEqual(before);
});

it('a line that is written during the work of a span names its trace, and another line none', () => {
  const { log, lines } = createMemoryLog();
  const traceId = inSpan({ name: 'delivery' }, (span) => {
    log.info({ event: 'schedule.delivered' }, 'sent');
    log.child({}).info({ event: 'schedule.delivered', traceId: 'own' }, 'sent');
    return span.traceId;
  });
  log.info({ event: 'schedule.delivered' }, 'sent');
  expect(lines.map((line) => JSON.parse(line).traceId)).toEqual([traceId, 'own', undefined]);
  expect(trace.getActiveSpan()).toBeUndefined();
});

it('a line that tells of an error after its span has ended names the trace', async () => {
  const { log, lines } = createMemoryLog();
  const traceIds: unknown[] = [];
  const fault = new Error('the ledger is away');
  const work = inSpan({ name: 'rollout' }, ({ traceId }) => {
    traceIds.push(traceId);
    return inSpan({ name: 'inner' }, () => Promise.reject(fault));
  });
  await expect(work).rejects.toBe(fault);
  log.error({ event: 'rollout.interrupted', err: fault, rollout: 'r' }, 'interrupted');
  log.error({ event: 'rollout.interrupted', err: new Error('another'), rollout: 'r' }, 'interrupted');
  expect(lines.map((line) => JSON.parse(line).traceId)).toEqual([...traceIds, undefined]);
});
