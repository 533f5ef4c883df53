/** The process's log: one JSON line for each event. No credential is ever written, wherever it stands. */
import { type DestinationStream, type Logger, pino } from 'pino';
import type { Log as EventLog } from '../domain/log-events.js';

/** The log that this process writes. Any pino logger is one. */
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
  'rlsSettings',
  'appFilters',
];

/** At the top and up to three levels down: nothing here is logged deeper. */
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

/** Name, message, stack and cause; not the other members, in which drivers keep bound values. */
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

/** Characters of lines that are written at once: the hand-over to the thread that writes costs as much as a hundred lines. */
const blockLength = 32_768;
const flushEveryMs = 250;

/**
 * Standard output (or another file descriptor), written in blocks and at least four times a second: a write for each line is a
 * good part of a request. What is still held is written when the process exits; a kill that cannot be caught loses a quarter of
 * a second. Lines are gathered here, since the stream below measures all that it holds at each line that it is given.
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

/** Makes the log. `destination` is standard output, line by line, unless given. */
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
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: redactedPaths, censor: '[redacted]' },
      serializers: { err: (error: unknown) => writeError(error) },
    },
    destination ?? pino.destination(1),
  );
