/** Tells failures of the metadata database itself from failures of a statement. */
import { DependencyUnavailable } from '../domain/unavailable.js';

const codeOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';

const isReadOnly = (code: string): boolean => code === '25006';
/** Class 53: disk full, out of memory, too many connections. */
const isExhausted = (code: string): boolean => /^53...$/.test(code);
/** Class 58: an I/O error, a file that is missing or in the way. XX001, XX002: damaged. 42501: a file, or a table, is not to be written by this user. */
const isSpoilt = (code: string): boolean => /^(58...|XX00[12]|42501)$/.test(code);
/** Classes 08 (connection) and 57P (shutdown, crash, starting up). 57014: the statement took longer than it may. */
const isAway = (code: string): boolean => /^(08...|57P0[1-5])$/.test(code);
const lateCode = '57014';

/** A SQLSTATE: five characters. Codes of Node (`ECONNRESET`) and of the driver are longer, or absent. */
const isSqlState = (code: string): boolean => /^[0-9A-Z]{5}$/.test(code) && !/^E[A-Z]{4}$/.test(code);

/** Undefined where the server understood the statement and refused it. A driver's error without a code is a lost connection. */
export const faultOf = (error: unknown): 'away' | 'read-only' | 'exhausted' | 'spoilt' | 'late' | undefined => {
  const code = codeOf(error);
  // A fault of this code, such as a parameter that the driver cannot write.
  if (error instanceof TypeError || error instanceof RangeError) return undefined;
  if (isReadOnly(code)) return 'read-only';
  if (isExhausted(code)) return 'exhausted';
  if (isSpoilt(code)) return 'spoilt';
  if (code === lateCode) return 'late';
  return isAway(code) || !isSqlState(code) ? 'away' : undefined;
};

const messages = {
  away: 'The metadata database does not answer.',
  'read-only': 'The metadata database takes no writes: it is a standby, or set to read-only.',
  exhausted: 'The metadata database is out of disk space, memory or connections.',
  spoilt: 'The metadata database cannot read or write its files, or refuses this user.',
  late: 'The metadata database took too long for a statement.',
} as const;

/** The error as the edges need it: DependencyUnavailable where the database is at fault, otherwise as it came. */
export const namedFault = (error: unknown): unknown => {
  if (error instanceof DependencyUnavailable) return error;
  const fault = faultOf(error);
  return fault === undefined ? error : new DependencyUnavailable(`database-${fault}`, messages[fault], error);
};
