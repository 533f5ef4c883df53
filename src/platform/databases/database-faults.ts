/** SQLSTATEs of PostgreSQL by their meaning; distinguishes failures of the metadata database from failures of a statement. */
import { DependencyUnavailable } from '../../model/unavailable.js';

/**
 * The classes of connections and of an administrator's command: a crash, a shutdown, a start, a session's time limit.
 * PgBouncer reports its own limits by 08P01.
 */
export const lostStates = [
  ...['08000', '08001', '08003', '08004', '08006', '08007', '08P01'],
  ...['57P01', '57P02', '57P03', '57P05'],
] as const;

/** Disk, memory and connections. */
export const fullStates = ['53000', '53100', '53200', '53300'] as const;

/** Locks and conflicts, also with the recovery of a standby: the server ended one of two that waited for each other. */
export const conflictStates = ['40001', '40P01', '55P03'] as const;

/** Input and output. */
export const inputStates = ['58000', '58030'] as const;

/** The statement exceeded its time limit. */
export const lateState = '57014';

const codeOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';

const isReadOnly = (code: string): boolean => code === '25006';
/**
 * SQLSTATE class 58: an I/O error, or a missing or conflicting file. XX001 and XX002: damaged data. 42501: this user
 * may not write a file or a table.
 */
const isSpoilt = (code: string): boolean => /^(58...|XX00[12]|42501)$/.test(code);
const among =
  (states: readonly string[]) =>
  (code: string): boolean =>
    states.includes(code);
/** 53400: a limit of the configuration, such as that of temporary files. A datasource's query has reached it by itself. */
const isExhausted = among([...fullStates, '53400']);
const isConflict = among(conflictStates);
/** 57P04: the database was dropped. */
const isAway = among([...lostStates, '57P04']);

/**
 * Whether the code is a SQLSTATE, which has five characters. Codes of Node (`ECONNRESET`) and of the driver are longer
 * or missing.
 */
const isSqlState = (code: string): boolean => /^[0-9A-Z]{5}$/.test(code) && !/^E[A-Z]{4}$/.test(code);

/**
 * Returns which fault the database has. Returns undefined if the server understood the statement and refused it. A
 * driver error without a code means a lost connection.
 */
export const faultOf = (
  error: unknown,
): 'away' | 'read-only' | 'exhausted' | 'conflict' | 'spoilt' | 'late' | undefined => {
  const code = codeOf(error);
  // These errors are bugs in the calling code, for example a parameter that the driver cannot serialize.
  if (error instanceof TypeError || error instanceof RangeError) return undefined;
  if (isReadOnly(code)) return 'read-only';
  if (isExhausted(code)) return 'exhausted';
  if (isConflict(code)) return 'conflict';
  if (isSpoilt(code)) return 'spoilt';
  if (code === lateState) return 'late';
  return isAway(code) || !isSqlState(code) ? 'away' : undefined;
};

const messages = {
  away: 'The metadata database does not answer.',
  'read-only': 'The metadata database takes no writes: it is a standby, or set to read-only.',
  exhausted: 'The metadata database is out of disk space, memory or connections.',
  conflict: 'Two changes of the metadata database were in conflict, and it ended this one.',
  spoilt: 'The metadata database cannot read or write its files, or refuses this user.',
  late: 'The metadata database took too long for a statement.',
} as const;

/** Returns DependencyUnavailable if the database is at fault. Otherwise returns the error unchanged. */
export const namedFault = (error: unknown): unknown => {
  if (error instanceof DependencyUnavailable) return error;
  const fault = faultOf(error);
  return fault === undefined ? error : new DependencyUnavailable(`database-${fault}`, messages[fault], error);
};
