/** The port of traces, with the SDK of OpenTelemetry. */
import diagnostics from 'node:diagnostics_channel';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { context, createContextKey } from '@opentelemetry/api';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Refusal } from '../../src/model/refusal.js';
import { inSpan, remoteTraceOf, withTraceHeaders } from '../../src/platform/traces/trace.js';
import { pathsOf, registerTraces, writtenOf } from './traces.js';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const given = { traceparent: `00-${traceId}-b7ad6b7169203331-01`, tracestate: 'vendor=a,other=b' };

describe('without an SDK', () => {
  it('nothing is measured, nothing is asked, and no header is sent', async () => {
    const attributes = (): never => {
      throw new Error('asked for attributes');
    };
    const answered = await inSpan({ name: 'one', attributes }, async (span) => {
      span.note(attributes);
      span.failed('code');
      return [span.traceId, withTraceHeaders((headers) => headers)];
    });
    expect(answered).toEqual([undefined, {}]);
  });

  it('the trace that the caller named is known, for the log', () => {
    expect(inSpan({ name: 'one', from: remoteTraceOf(given) }, (span) => span.traceId)).toBe(traceId);
  });
});

describe('the headers of a caller', () => {
  it.each([
    ['no header', undefined],
    ['an empty one', ''],
    ['another version of the unknown', `ff-${traceId}-b7ad6b7169203331-01`],
    ['upper case', `00-${traceId.toUpperCase()}-b7ad6b7169203331-01`],
    ['a trace id of zeros', `00-${'0'.repeat(32)}-b7ad6b7169203331-01`],
    ['a span id of zeros', `00-${traceId}-${'0'.repeat(16)}-01`],
    ['too short an id', `00-${traceId.slice(1)}-b7ad6b7169203331-01`],
    ['more fields than the version has', `00-${traceId}-b7ad6b7169203331-01-x`],
    ['a second header', `00-${traceId}-b7ad6b7169203331-01, 00-${traceId}-b7ad6b7169203331-01`],
    ['a line break', `00-${traceId}-b7ad6b7169203331-01\n`],
    ['a text of a megabyte', '0'.repeat(1_000_000)],
  ])('are ignored if they are broken: %s', (_, traceparent) => {
    expect(remoteTraceOf({ traceparent })).toBeUndefined();
  });

  it('of a later version are read as far as this one goes', () => {
    expect(remoteTraceOf({ traceparent: `01-${traceId}-b7ad6b7169203331-01-more` })?.traceId).toBe(traceId);
  });

  it('say whether the caller samples, and a state that is too long is left out', () => {
    const flags = (traceparent: string) => remoteTraceOf({ traceparent })?.spanContext.traceFlags;
    expect([flags(given.traceparent), flags(given.traceparent.replace(/01$/, '00'))]).toEqual([1, 0]);
    const long = { ...given, tracestate: `vendor=${'a'.repeat(600)}` };
    expect(remoteTraceOf(long)?.spanContext.traceState).toBeUndefined();
  });
});

describe('with an SDK', () => {
  const exporter = registerTraces();
  const taken = () => {
    const spans = exporter.getFinishedSpans();
    exporter.reset();
    return spans;
  };

  it('spans have their parents after an await, and the answer passes through', async () => {
    const answered = await inSpan({ name: 'outer' }, async () => {
      await Promise.resolve();
      const sync = inSpan({ name: 'sync' }, () => 1);
      return sync + (await inSpan({ name: 'inner' }, async () => 2));
    });
    expect(answered).toBe(3);
    expect(pathsOf(taken())).toEqual(['outer', 'outer > inner', 'outer > sync']);
  });

  it('a span continues the trace of the caller, unless one of this process is open', () => {
    inSpan({ name: 'request', kind: 'server', from: remoteTraceOf(given) }, () =>
      inSpan(
        { name: 'inside', from: remoteTraceOf({ ...given, traceparent: given.traceparent.replace('0a', '0b') }) },
        () => {},
      ),
    );
    const spans = taken();
    expect(pathsOf(spans)).toEqual(['… > request', '… > request > inside']);
    expect(spans.map((span) => span.spanContext().traceId)).toEqual([traceId, traceId]);
  });

  it('an error passes through unchanged, and its text stays out of the span', async () => {
    const refusal = new Refusal('METRIC_QUERY_ERROR', 'no value ACME', { reason: 'datasource-timeout' });
    await expect(inSpan({ name: 'async' }, () => Promise.reject(refusal))).rejects.toBe(refusal);
    const fault = new TypeError('no value ACME');
    expect(() =>
      inSpan({ name: 'sync' }, () => {
        throw fault;
      }),
    ).toThrow(fault);
    const spans = taken();
    expect(spans.map(({ attributes, status }) => [attributes['error.type'], status])).toEqual([
      ['datasource-timeout', { code: 2 }],
      ['TypeError', { code: 2 }],
    ]);
    expect(writtenOf(spans)).not.toContain('ACME');
  });

  it('headers of a call continue the trace with the state of the caller', () => {
    const headers = inSpan({ name: 'request', from: remoteTraceOf(given) }, () => withTraceHeaders((sent) => sent));
    const [span] = taken();
    expect(headers).toEqual({
      traceparent: `00-${traceId}-${span?.spanContext().spanId}-01`,
      tracestate: 'vendor=a,other=b',
    });
  });

  it('instrumentation of calls knows that a call is traced, so no header is sent twice', async () => {
    const server = createServer((_, response) => response.end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const key = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING');
    const seen: unknown[] = [];
    const instrument = () => seen.push(context.active().getValue(key));
    diagnostics.subscribe('undici:request:create', instrument);
    onTestFinished(() => void diagnostics.unsubscribe('undici:request:create', instrument));
    const { port } = server.address() as AddressInfo;
    await inSpan({ name: 'call' }, () =>
      withTraceHeaders(async (headers) => (await fetch(`http://127.0.0.1:${port}`, { headers })).text()),
    );
    expect(seen).toEqual([true]);
    taken();
  });
});
