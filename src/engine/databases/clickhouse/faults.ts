import { codeOf, createFaultOf, type FaultOf, isPlainError } from '../../connections/driver-faults.js';

/** ClickHouse's error codes. */
const faultOfCode = createFaultOf({
  // The server shuts down.
  lost: [236],
  busy: [
    // Queries at the same time, a quota's interval, threads, overload.
    ...[202, 201, 439, 745],
    // Memory, also of the whole server: a query that alone exceeds its own limit has the same code. Disk.
    ...[241, 173, 243],
    // Its own network: other servers, names, Keeper.
    ...[209, 210, 198, 203, 279, 999],
    // Locks.
    473,
  ],
  // Time limit, and the time that the server estimates.
  late: [159, 160],
  // Unknown column, unknown table.
  names: [16, 47, 60],
  // Number of arguments, type of an argument, unknown function, types that differ, aggregates in aggregates, and a type
  // that cannot be sorted (44).
  statement: [42, 43, 44, 46, 53, 184, 215, 386],
  credentials: [516, 192, 193, 194],
  database: [81, 291, 497],
  settings: [115, 164, 452],
});

/** The client's errors without a number: an answer that is no HTTP, or whose sender is no ClickHouse. */
const isForeign = (cause: unknown): boolean => codeOf(cause).startsWith('HPE_') || isPlainError(cause);

export const faultOf: FaultOf = (cause) => faultOfCode(cause) ?? (isForeign(cause) ? 'lost' : undefined);
