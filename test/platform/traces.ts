/** The SDK of OpenTelemetry, with spans that a test reads. An operator registers theirs in the same way. */
import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterAll, beforeAll } from 'vitest';

/** Registers it until the tests of the file, or of the block, have ended: other files share the process. */
export const registerTraces = () => {
  const exporter = new InMemorySpanExporter();
  beforeAll(() => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
  });
  afterAll(() => {
    trace.disable();
    context.disable();
  });
  return exporter;
};

/** Each span as the names on the way to it, in the order of their starts. A caller's span outside is `…`. */
export const pathsOf = (spans: readonly ReadableSpan[]): readonly string[] => {
  const byId = new Map(spans.map((span) => [span.spanContext().spanId, span]));
  const pathOf = ({ name, parentSpanContext: parent }: ReadableSpan): string => {
    if (parent === undefined) return name;
    const above = byId.get(parent.spanId);
    return `${above === undefined ? '…' : pathOf(above)} > ${name}`;
  };
  return spans.map(pathOf).toSorted();
};

export const traceIdsOf = (spans: readonly ReadableSpan[]): readonly string[] => [
  ...new Set(spans.map((span) => span.spanContext().traceId)),
];

/** All that leaves the process about these spans. */
export const writtenOf = (spans: readonly ReadableSpan[]): string =>
  JSON.stringify(
    spans.map(({ name, attributes, events, status, links, resource }) => ({
      ...{ name, attributes, events, status, links, resource: resource.attributes },
    })),
  );
