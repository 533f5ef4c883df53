/** The process's log: one JSON line for each event. No credential is ever written, wherever it stands. */
import { type DestinationStream, type Logger, pino } from 'pino';

export type Log = Logger;
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

/**
 * Standard output, written in blocks and at least four times a second: a write for each line is a good part of a
 * request. What is still held is written when the process exits; a kill that cannot be caught loses a quarter of a second.
 */
export const bufferedOutput = (): DestinationStream =>
  pino.destination({ dest: 1, sync: false, minLength: 4096, periodicFlush: 250 });

/** Makes the log. `destination` is standard output, line by line, unless given. */
export const createLog = ({
  level = 'info',
  destination,
}: {
  readonly level?: LogLevel;
  readonly destination?: DestinationStream;
} = {}): Log =>
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
