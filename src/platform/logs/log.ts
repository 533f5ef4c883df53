/** The process's log: one JSON line for each event. Credentials are never written, at any level of the fields. */
import { type DestinationStream, type Logger, pino } from 'pino';
import type { Log as EventLog } from '../../model/log-events.js';
import { openTraceId, traceIdOfError } from '../traces/trace.js';

/** The log of this process. Any pino logger has this type. */
export type Log = EventLog & {
  readonly child: (bindings: Record<string, unknown>, options?: { redact?: string[] }) => Log;
};
export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';

const secretNames = [
  'authorization',
  'cookie',
  'token',
  'bearer',
  'apiKey',
  'serviceToken',
  'gatewayToken',
  'guestToken',
  'password',
  'secret',
  'encryptionKey',
  'backupKey',
  'rlsSettings',
  'appFilters',
];

/** Redacts the names at the top and up to three levels down. No event has deeper fields. */
const redactedPaths = secretNames.flatMap((name) => [name, `*.${name}`, `*.*.${name}`, `*.*.*.${name}`]);

type WrittenError = {
  readonly type: string;
  readonly message: string;
  readonly stack?: string | undefined;
  readonly code?: string;
  readonly reason?: string;
  readonly cause?: WrittenError;
};

const stringOf = (error: Error, name: 'code' | 'reason') => {
  const value: unknown = Reflect.get(error, name);
  return typeof value === 'string' ? { [name]: value } : {};
};

/** Writes name, message, stack and cause. Other properties are left out, because drivers store bound values in them. */
const writeError = (error: unknown, depth = 0): WrittenError => {
  if (!(error instanceof Error)) return { type: typeof error, message: 'something that is no Error was thrown' };
  return {
    type: error.name,
    message: error.message,
    stack: error.stack,
    ...stringOf(error, 'code'),
    ...stringOf(error, 'reason'),
    ...(error.cause === undefined || depth >= 5 ? {} : { cause: writeError(error.cause, depth + 1) }),
  };
};

/** Number of characters that are written at once. Each hand-over to the writer thread costs as much as a hundred lines. */
const blockLength = 32_768;
const flushEveryMs = 250;

/**
 * Writes standard output (or another file descriptor) in blocks, at least four times a second, because one write per
 * line is a significant part of a request's cost. Buffered lines are written when the process exits. A kill that cannot
 * be caught loses a quarter of a second. Lines are buffered here, because the stream below measures its whole buffer
 * for each new line.
 */
export const bufferedOutput = (dest = 1): DestinationStream & { readonly flushSync: () => void } => {
  const out = pino.destination({ dest, sync: false, minLength: blockLength, maxWrite: 2 * blockLength });
  let lines = '';
  const pass = (): void => {
    if (lines !== '') out.write(lines);
    lines = '';
  };
  const flushSync = (): void => {
    pass();
    out.flushSync();
  };
  setInterval(() => {
    pass();
    out.flush();
  }, flushEveryMs).unref();
  process.on('exit', flushSync);
  return {
    write: (line) => {
      lines += line;
      if (lines.length >= blockLength) pass();
    },
    flushSync,
  };
};

/**
 * A line names the trace in which it is written, or in which its error was thrown. A line's own `traceId` comes before
 * both.
 */
const traceOfLine = ({ err }: { readonly err?: unknown }): { readonly traceId?: string } => {
  const traceId = openTraceId() ?? traceIdOfError(err);
  return traceId === undefined ? {} : { traceId };
};

/** Creates the log. `destination` defaults to standard output, written line by line. */
export const createLog = ({
  level = 'info',
  destination,
}: {
  readonly level?: LogLevel;
  readonly destination?: DestinationStream;
} = {}): Logger =>
  pino(
    {
      level,
      base: null,
      mixin: traceOfLine,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: redactedPaths, censor: '[redacted]' },
      serializers: { err: (error: unknown) => writeError(error) },
    },
    destination ?? pino.destination(1),
  );
